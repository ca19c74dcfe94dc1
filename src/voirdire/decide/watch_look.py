"""One look of a watch: the measures that changed, with the false alarm probability divided among judges.

Judges in the first `MIN_VALUES` questions share 1 - `LATE_ALPHA_SHARE` of alpha; judges who join later share the
rest (the i-th of them gets 1 / (i (i + 1)) of it). Every judge's share is divided among its measures. A judge that
changed also affects the measures of judges compared with it: the judge with the strongest evidence is left out, and the
others are tested again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.decide.e_values import MIN_SPACING, find_change, log_change_evidence
from voirdire.decide.watch_series import (
    AGREEMENT,
    DISTANCE,
    MAX_MEASURES,
    PEOPLE_AGREEMENT,
    PEOPLE_DISTANCE,
    POSITION,
    SEVERITY,
    SHARE_MEASURES,
    Series,
    Timeline,
)
from voirdire.tables.times import format_time
from voirdire.typing import Floats

MIN_VALUES = 50  # smallest number of values of a measure
LATE_ALPHA_SHARE = 0.1  # share of alpha for judges who join later
COURSE_BLOCKS = 24  # number of blocks in the course of a measure
MAX_EXAMPLES = 5
_SUFFIXES = ("", "_low", "_high")
#: Columns that are empty without a change.
CHANGE_COLUMNS = (
    *("before", "after", "change", "change_low", "change_high"),
    *(f"since{end}" for end in _SUFFIXES),
    *(f"since_value{end}" for end in _SUFFIXES),
)
MEASURE_WORDS = {
    AGREEMENT: "agreement with most other judges",
    DISTANCE: "mean distance from the other judges' scores",
    SEVERITY: "mean answer less that of the other judges",
    POSITION: "share of answers for what was shown first",
    PEOPLE_AGREEMENT: "agreement with people",
    PEOPLE_DISTANCE: "mean distance from people's scores",
}
_PEOPLE_ADVICE = (
    "let people answer some of the questions since then (--humans), and run voirdire audit on the answers since then"
)
ADVICE = {
    AGREEMENT: f"Look at its answers since then; {_PEOPLE_ADVICE}.",
    DISTANCE: f"Look at its answers since then; {_PEOPLE_ADVICE}.",
    SEVERITY: "Do not compare its answers before and after; recalibrate it, or fit the times apart.",
    POSITION: "Ask it in both orders, and run voirdire audit on the answers since then.",
    PEOPLE_AGREEMENT: "Do not let it stand in for people until voirdire audit says that it may.",
    PEOPLE_DISTANCE: "Do not let it stand in for people until voirdire audit says that it may.",
}
TWO_JUDGES_NOTE = "There are only two judges, so that either of them may have changed. "


Row = dict[str, Any]


def measure_rows(timeline: Timeline, alpha: float, prob: float) -> list[Row]:
    """Rows of all measures of all judges, by judge; see :func:`voirdire.decide.watch.watch`.

    Parameters
    ----------
    timeline : Timeline
    alpha : float
        Probability of a false alarm, over all looks.
    prob : float
        Probability of the intervals.
    """
    judge_alpha = _split_alpha(timeline, alpha)
    judges = [int(code) for code in np.unique(timeline.answers.judge)]
    settled: dict[int, list[Row]] = {}
    while True:
        remaining = [judge for judge in judges if judge not in settled]
        rows = {
            judge: [
                _measure_row(timeline, series, judge_alpha[judge], prob)
                for series in timeline.judge_series(judge, settled)
            ]
            for judge in remaining
        }
        changed = [judge for judge in remaining if any(row["found"] for row in rows[judge])]
        if len(remaining) <= 2 or not changed:
            break
        worst = max(changed, key=lambda judge: max(row["evidence"] for row in rows[judge] if row["found"]))
        settled[worst] = rows[worst]
    if len(remaining) == 2:
        _note_either_judge(rows)
    settled |= rows
    return [row for judge in judges for row in settled[judge]]


def _split_alpha(timeline: Timeline, alpha: float) -> Floats:
    """Share of alpha for one measure of each judge."""
    count = len(timeline.answers.judges)
    late = timeline.joined_late(MIN_VALUES)
    parts = np.full(count, (1.0 - LATE_ALPHA_SHARE) / max(count - len(late), 1))
    place = np.arange(1, len(late) + 1)
    parts[late] = LATE_ALPHA_SHARE / (place * (place + 1.0))
    return np.asarray(alpha * parts / MAX_MEASURES)


def _note_either_judge(rows: dict[int, list[Row]]) -> None:
    """Note, in a panel of two, that either judge may have changed."""
    for row in (row for judge_rows in rows.values() for row in judge_rows):
        if row["found"] and row["measure"] in (AGREEMENT, DISTANCE, SEVERITY):
            row["note"] = TWO_JUDGES_NOTE + row["note"]


def _measure_row(timeline: Timeline, series: Series, alpha: float, prob: float) -> Row:
    x, count = series.values, len(series.values)
    evidence = log_change_evidence(x) if count > MIN_SPACING else np.zeros(0)
    row: Row = {
        "judge": timeline.answers.judges[series.judge],
        "measure": series.measure,
        "what": MEASURE_WORDS[series.measure],
        "found": None if count < MIN_VALUES else False,
        "n": count,
        "value": float(x.mean()) if count else None,
        **dict.fromkeys(CHANGE_COLUMNS),
        "evidence": float(evidence.max() / np.log(10.0)) if count > MIN_SPACING else None,
        "needed": float(-np.log10(alpha)),
        "against": list(series.against),
        "note": "" if count >= MIN_VALUES else _missing_data_message(series),
        "examples": [],
        "course": _block_means(timeline, series),
    }
    if count < MIN_VALUES:
        return row
    detected = find_change(x, evidence, alpha, prob, shares=series.measure in SHARE_MEASURES)
    if detected is not None:
        change = (detected.before, detected.after, detected.after - detected.before, detected.low, detected.high)
        since = (detected.since, detected.since_low, detected.since_high)
        times = (_time_of_value(timeline, series, index) for index in since)
        examples = _differing_examples(timeline, series, detected.since)
        row |= dict(zip(CHANGE_COLUMNS, (*change, *times, *since), strict=True))
        row |= {"found": True, "note": ADVICE[series.measure], "examples": examples}
    return row


def _missing_data_message(series: Series) -> str:
    """Describe the data that a measure with too few values requires."""
    if series.measure in (PEOPLE_AGREEMENT, PEOPLE_DISTANCE):
        return f"It takes people's answers to {MIN_VALUES} of its questions (--humans FILE)."
    if series.measure == POSITION:
        return f"It takes {MIN_VALUES} answers with a record of what was shown first."
    if series.measure == SEVERITY:
        return (
            f"It takes {MIN_VALUES} questions that other judges answered, too; for labels also the good one "
            "(--positive)."
        )
    return f"It takes {MIN_VALUES} questions that other judges answered, too."


def _time_of_value(timeline: Timeline, series: Series, before: int) -> str:
    """Time, or row, of the first value after ``before`` values."""
    row = int(series.rows[min(before, len(series.rows) - 1)])
    time = timeline.answers.time
    return f"row {row + 1:,}" if time is None else format_time(float(time[row]))


def _differing_examples(timeline: Timeline, series: Series, since: int) -> list[str]:
    """The newest questions since a change in which a judge differs from its reference."""
    if series.measure not in (AGREEMENT, PEOPLE_AGREEMENT):
        return []
    differs = series.rows[since:][series.values[since:] < 0.5]
    return list(dict.fromkeys(map(str, timeline.names[differs[::-1]])))[:MAX_EXAMPLES]


def _block_means(timeline: Timeline, series: Series) -> list[dict[str, Any]]:
    """Means of a measure in blocks of equal size, with the time of the last answer in each."""
    parts: Sequence[Any] = np.array_split(np.arange(len(series.values)), COURSE_BLOCKS)
    return [
        {
            "until": _time_of_value(timeline, series, int(part[-1])),
            "n": len(part),
            "mean": float(series.values[part].mean()),
        }
        for part in parts
        if len(part)
    ]
