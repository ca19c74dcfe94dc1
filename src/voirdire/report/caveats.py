"""Caveats on the claims of a fit, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.kinds.checks import ORIENTATION_CHECKS

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
