"""Claims of a fit in words: its first item, and caveats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from voirdire.kinds.checks import ORIENTATION_CHECKS
from voirdire.report.page import isolate_name

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def caveat_text(fit: Fit) -> str:
    """Return the caveat on claims about items and judges; empty where no check calls for one.

    A failed check of any kind has priority over a warning of a check of orientation.
    """
    if fit.level == "fail":
        return "checks failed"
    doubted = any(check.check in ORIENTATION_CHECKS and check.level != "ok" for check in fit.all_checks)
    return fit.kind.page_words.possible_error if doubted else ""


def caveat_sentence(fit: Fit) -> str:
    """Return the sentence to add to a claim that has a caveat; empty where it has none."""
    caveat = caveat_text(fit)
    return f" But {caveat}: see what the checks say before trusting this." if caveat else ""


def winner_sentence(fit: Fit, rows: Sequence[dict[str, Any]]) -> str:
    """Return a sentence with the first item, and the data that would settle the ranking."""
    if fit.kind.has_unlinked_pairs(fit.problem):
        return (
            "No item is first of all: each pair stands by itself, as no vote links it with another, and scores compare "
            "the two items of a pair alone. Collect votes between the pairs, or give people's answers to some of them "
            "(anchors)."
        )
    if fit.decision is None:
        return (
            f"{isolate_name(rows[0]['item'])} has the highest score. This fit has no intervals, so how sure that is "
            "remains open."
        )
    return f"{fit.decision.sentence(isolate_name)} {fit.decision.settle()}".strip()
