"""Ask until the answer is known: rounds of a fit, what to ask next, and asking."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.adaptive.revealed import reveal
    from voirdire.adaptive.verb import collect_until

__all__ = ["collect_until", "reveal"]

_PLACES = {"collect_until": "voirdire.adaptive.verb", "reveal": "voirdire.adaptive.revealed"}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'voirdire.adaptive' has no attribute {name!r}")
