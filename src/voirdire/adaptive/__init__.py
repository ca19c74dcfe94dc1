"""Adaptive collection: rounds of questions, fit and choice of the next questions, until enough is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.doors import lazy_attributes

if TYPE_CHECKING:
    from voirdire.adaptive.rounds import replay_votes
    from voirdire.adaptive.verb import collect_until

__all__ = ["collect_until", "replay_votes"]

__getattr__, __dir__ = lazy_attributes(__name__, {"collect_until": "verb", "replay_votes": "rounds"})
