"""Section on trust: the checks, and the posterior predictive checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voirdire.kinds.checks import ORIENTATION_CHECKS
from voirdire.report.figure_blocks import calibration_blocks, figure_blocks, predictive_check_blocks
from voirdire.report.page import Block, Text, findings_of
from voirdire.report.table import make_table

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

_LEVEL_SENTENCES = {
    "fail": "Do not rely on this result before the failed checks are resolved.",
    "warn": "Usable with care: read the warnings first.",
    "ok": "No check found anything wrong.",
}


def trust_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the checks, worst first, and the figures of calibration and posterior predictive checks."""
    yield Text(_LEVEL_SENTENCES[fit.level], "lead")
    yield findings_of(result["checks"])
    doubted = {row["check"] for row in result["checks"] if row["level"] != "ok"}
    if doubted.intersection(ORIENTATION_CHECKS):
        words = fit.kind.page_words
        yield from figure_blocks(
            fit,
            "mirror",
            words.mirror_heading,
            f"How much less probable the prior finds each draw with {words.mirrored_draw}; the data fit both alike.",
        )
    if result.get("over_time") and "drift" in doubted:
        yield make_table(
            "over-time",
            f"Judges in stretches of time, with {100 * fit.prob:g}% intervals",
            result["over_time"],
            notes=("A random walk whose steps are learned for each judge; items are taken as the whole fit has them.",),
        )
    yield from calibration_blocks(fit)
    yield from predictive_check_blocks(fit)
    if fit.method == "nuts":
        yield from figure_blocks(fit, "trace", "Chains", "Draws of the value whose chains agree least.")
