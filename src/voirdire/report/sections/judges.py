"""Sections on judges: reliability, position bias, ties, agreement of pairs; and the checks.

Section on groups of judges: mean scores and severity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.kinds.checks import ORIENTATION_CHECKS
from voirdire.report.figure_blocks import calibration_blocks, figure_blocks, predictive_check_blocks
from voirdire.report.figures.forest import chance_reliability
from voirdire.report.page import Block, Text, findings_of, isolate_name
from voirdire.report.pair_agreement import FALSE_DISCOVERY_RATE, observed_over_expected
from voirdire.report.provenance import caveat_sentence
from voirdire.report.table import is_missing, make_table, make_wide_table

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


def groups_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the section on groups: the one with the highest scores, and the table."""
    rows = sorted(result["groups"], key=lambda row: -row["mean"])
    yield Text(
        f"{isolate_name(rows[0]['group'])} gives the highest scores, {rows[0]['mean']:.2f} on average; "
        f"{isolate_name(rows[-1]['group'])} the lowest, {rows[-1]['mean']:.2f}.",
        "lead",
    )
    has_severity = not all(is_missing(row.get("severity")) for row in rows)
    yield make_table(
        "groups",
        "Groups of judges, by their mean score",
        rows,
        heads={"votes": "answers", "severity": f"severity ({fit.kind.unit(fit.problem)})"},
        decimals={"mean": 2},
        notes=(
            "The mean averages the group's judges, each judge's scores first"
            + ("; severity is what remains once the items are taken into account." if has_severity else "."),
        ),
    )


_MIN_POSITION_BIAS = 0.1  # minimum position bias of a judge that is called swayed
_MAX_PAIRS = 12  # pairs of judges listed
_MAX_CELL_COLUMNS = 12  # maximum number of cells of a confusion matrix with a column each
_COLUMN_ORDER = (
    *("judge", "family", "group", "votes", "scores", "reliability", "accuracy", "severity", "discrimination"),
    *("position_bias", "tie_rate", "first_rate"),
)


def judges_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Yield the section on judges: number better than chance, figures and table; for labels, confusion matrices."""
    words, votes, scores = fit.kind.page_words, fit.problem.part("votes"), fit.problem.part("scores")
    rows = result["judges"]
    order = fit.kind.fixed_order(fit.problem)
    unit = fit.kind.unit(fit.problem)
    if fit.families:
        rows = [row | {"family": fit.families[row["judge"]]} for row in rows]
    has_reliability = any(not is_missing(row.get("reliability")) for row in rows)
    if has_reliability:
        yield Text(
            better_than_chance_sentence(rows, chance_reliability(fit), full_sentence=True, position=order is None)
            + caveat_sentence(fit),
            "lead",
        )
        rows = sorted(rows, key=lambda row: -(row["reliability"] or 0.0))
        yield from figure_blocks(fit, "judges", "Reliability", words.reliability_caption)
    else:
        yield Text(_no_reliability_sentence(fit, rows), "lead")
    if scores is not None:
        yield from figure_blocks(
            fit,
            "severity",
            "Severity",
            f"How low a judge scores items of the same quality, with {100 * fit.prob:g}% intervals: right of the "
            "dashed line it is more severe than the panel, left of it milder.",
        )
    if votes is not None and order is None:
        yield from figure_blocks(
            fit,
            "position",
            "Position bias",
            "How often a judge picks the better item when it is shown first, and when second: where the marks lie "
            "apart, the order of the items sways the answer. The most biased judges first.",
        )
    missing = {} if fit.posterior.draws is not None else {"p_best": f"No intervals: method {fit.method}."}
    yield make_table(
        "judges",
        f"Judges{', most reliable first' if has_reliability else ''}, with {100 * fit.prob:g}% intervals",
        rows,
        heads=fit.kind.heading | ({"severity": f"severity ({unit})", "noise": f"noise ({unit})"}),
        order=_COLUMN_ORDER,
        missing=missing if has_reliability else {},
        drop=() if order is None else ("position_bias",),
        notes=(words.judges_note, *([] if order is None else [f"Position bias is left out: {order}."])),
    )
    if "confusion" in result:
        yield from figure_blocks(
            fit,
            "confusion",
            "What each judge says of each class",
            "Probability of every label (columns) where an item is of a class (blocks); the most reliable judges on "
            "top. A good judge is dark on its own class's label alone.",
        )
        yield from _confusion_table(fit, [row["judge"] for row in rows], result["confusion"])
    if votes is not None:
        yield from figure_blocks(
            fit,
            "agreement",
            words.agreement_heading,
            "Agreement observed over agreement expected from the fit. Full colour where chance alone would hardly do "
            f"it (false discovery rate {FALSE_DISCOVERY_RATE:g}), pale elsewhere; blank where fewer than five "
            "votes are on the same comparisons. Blue: more alike than the items' order explains, as copies, models of "
            "one family or common errors make them.",
        )
        yield from _pair_agreement_blocks(fit)


def _no_reliability_sentence(fit: Fit, rows: Sequence[dict[str, Any]]) -> str:
    """Return the sentence on judges for a model without reliability."""
    with_severity = [row for row in rows if not is_missing(row.get("severity"))]
    if not with_severity:
        return f"{fit.model.name} takes all judges alike: it says nothing about which to trust."
    if len(with_severity) == 1:
        return (
            f"{fit.model.name} knows judges by their severity beside each other: that of one judge alone is fixed at "
            "0, and nothing says how well it tells items apart."
        )
    severe, mild = (extreme(with_severity, key=lambda row: row["severity"]) for extreme in (max, min))
    return (
        f"{fit.model.name} takes all judges to distinguish items equally well, and to differ in severity: "
        f"{isolate_name(severe['judge'])} is the most severe, {isolate_name(mild['judge'])} the mildest."
    )


def _confusion_table(fit: Fit, judges: Sequence[str], rows: Sequence[dict[str, Any]]) -> Iterator[Block]:
    """Yield a table with one row per judge if a matrix has at most 12 cells, else one row per cell."""
    if not rows:
        return
    caption = f"Probability of each label, given the class, with {100 * fit.prob:g}% intervals"
    cells = list(dict.fromkeys((row["class"], row["label"]) for row in rows))
    if len(cells) > _MAX_CELL_COLUMNS:
        yield make_table("confusion", caption, rows)
        return
    yield make_wide_table(
        "confusion",
        caption,
        rows,
        "judge",
        judges,
        {cell: f"{cell[0]} \u2192 {cell[1]}" for cell in cells},
        lambda row: (row["class"], row["label"]),
        "probability",
        notes=("a \u2192 b: the judge says b of an item of class a.",),
    )


def _pair_agreement_blocks(fit: Fit) -> Iterator[Block]:
    try:
        pairs = observed_over_expected(fit).pair_records()
    except InputError:
        return
    if not pairs:
        return
    clear = sum(row["clear"] and row["ratio"] > 1 for row in pairs)
    sentence = (
        f"{clear:,} of {len(pairs):,} pairs agree more than expected, beyond chance."
        if clear
        else (f"None of the {len(pairs):,} pairs agrees more than expected beyond chance.")
    )
    yield Text(sentence)
    yield make_table(
        "pairs",
        f"Pairs of judges that agree most beyond what the fit expects (first {min(_MAX_PAIRS, len(pairs))})",
        pairs[:_MAX_PAIRS],
        heads={"clear": "beyond chance"},
        decimals={"observed": 2, "expected": 2, "ratio": 2, "z": 1},
        notes=(
            "z is the difference in standard errors of independent votes: of many pairs a few lie above 3 by chance. "
            f"“beyond chance” takes their number into account (false discovery rate {FALSE_DISCOVERY_RATE:g}).",
        ),
    )


def better_than_chance_sentence(
    rows: Sequence[dict[str, Any]], chance: float = 0.5, full_sentence: bool = False, position: bool = True
) -> str:
    """Count judges better than chance, not distinguishable from it, worse; and those swayed by ``position``."""
    with_interval = [row for row in rows if not is_missing(row.get("reliability_low"))]
    if not with_interval:
        return "Reliabilities have no intervals here: which judges beat chance remains open." if full_sentence else ""
    above = sum(row["reliability_low"] > chance for row in with_interval)
    below = sum(row["reliability_high"] < chance for row in with_interval)
    biased = [
        row
        for row in with_interval
        if position
        and not is_missing(row.get("position_bias_low"))
        and (row["position_bias_low"] > _MIN_POSITION_BIAS or row["position_bias_high"] < -_MIN_POSITION_BIAS)
    ]
    if not full_sentence:
        parts = [f"{above} better than chance", *([f"{below} worse"] if below else [])]
        return ", ".join(parts + ([f"{len(biased)} swayed by position"] if biased else []))
    undecided = len(with_interval) - above - below
    verb = "judge is" if len(with_interval) == 1 else "judges are"
    clauses = [f"{above:,} of {len(with_interval):,} {verb} better than chance"]
    clauses += [f"{undecided:,} {'is' if undecided == 1 else 'are'} not distinguishable from it"] if undecided else []
    clauses += [f"{below:,} {'is' if below == 1 else 'are'} worse"] if below else []
    if biased:
        biased_text = "one judge is" if len(biased) == 1 else f"{len(biased):,} judges are"
        clauses[-1] += (
            f"; {biased_text} swayed by the order in which items are shown (position bias above {_MIN_POSITION_BIAS:g})"
        )
    return ", ".join(clauses) + "."
