"""One look at the judges of a watch: which measures changed, with false alarms spread over judges.

Judges who are there in the first `MIN_VALUES` questions share 1 - `LATE_ALPHA_SHARE` of alpha, those who join later the
rest (the i-th of them 1 / (i (i + 1)) of it), and every judge's part is shared by its measures. A judge that changed
takes others with it, who are compared with it: the one with the strongest evidence is left out, and the others are
looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.decide.change_point import MIN_SPACING, find_change, log_change_evidence
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

MIN_VALUES = 50  # values of a measure
LATE_ALPHA_SHARE = 0.1  # part of alpha for judges who join later
COURSE_BLOCKS = 24  # of the course of a measure
MAX_EXAMPLES = 5
_SUFFIXES = ("", "_low", "_high")
#: What is not known without a change.
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
    "let people answer some of the questions since then (--humans), and run voirdire audit on the answers "
    "since then"
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


def measure_rows(line: Timeline, alpha: float, prob: float) -> list[Row]:
    """Rows of all measures of all judges, by judge; see :func:`voirdire.decide.watch.watch`.

    Parameters
    ----------
    line : Timeline
    alpha : float
        Probability of a false alarm, over all looks.
    prob : float
        Of intervals.
    """
    judge_alpha = _split_alpha(line, alpha)
    judges = [int(code) for code in np.unique(line.answers.judge)]
    settled: dict[int, list[Row]] = {}
    while True:
        remaining = [judge for judge in judges if judge not in settled]
        rows = {
            judge: [
                _measure_row(line, series, judge_alpha[judge], prob)
                for series in line.judge_series(judge, settled)
            ]
            for judge in remaining
        }
        changed = [judge for judge in remaining if any(row["found"] for row in rows[judge])]
        if len(remaining) <= 2 or not changed:
            break
        worst = max(changed, key=lambda judge: max(row["evidence"] for row in rows[judge] if row["found"]))
        settled[worst] = rows[worst]
    if len(remaining) == 2:
        _name_either_judge(rows)
    settled |= rows
    return [row for judge in judges for row in settled[judge]]


def _split_alpha(line: Timeline, alpha: float) -> Floats:
    """Share of alpha of one measure of each judge."""
    count = len(line.answers.judges)
    late = line.joined_late(MIN_VALUES)
    parts = np.full(count, (1.0 - LATE_ALPHA_SHARE) / max(count - len(late), 1))
    place = np.arange(1, len(late) + 1)
    parts[late] = LATE_ALPHA_SHARE / (place * (place + 1.0))
    return np.asarray(alpha * parts / MAX_MEASURES)


def _name_either_judge(rows: dict[int, list[Row]]) -> None:
    """Note, in a panel of two, that either judge may have changed."""
    for row in (row for judge_rows in rows.values() for row in judge_rows):
        if row["found"] and row["measure"] in (AGREEMENT, DISTANCE, SEVERITY):
            row["note"] = TWO_JUDGES_NOTE + row["note"]


def _measure_row(line: Timeline, series: Series, alpha: float, prob: float) -> Row:
    x, count = series.values, len(series.values)
    evidence = log_change_evidence(x) if count > MIN_SPACING else np.zeros(0)
    row: Row = {
        "judge": line.answers.judges[series.judge],
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
        "course": _block_means(line, series),
    }
    if count < MIN_VALUES:
        return row
    detected = find_change(x, evidence, alpha, prob, shares=series.measure in SHARE_MEASURES)
    if detected is not None:
        change = (
            detected.before,
            detected.after,
            detected.after - detected.before,
            detected.low,
            detected.high,
        )
        since = (detected.since, detected.since_low, detected.since_high)
        times = (_value_time(line, series, index) for index in since)
        examples = _differing_examples(line, series, detected.since)
        row |= dict(zip(CHANGE_COLUMNS, (*change, *times, *since), strict=True))
        row |= {"found": True, "note": ADVICE[series.measure], "examples": examples}
    return row


def _missing_data_message(series: Series) -> str:
    """Needs of a measure that has too few values."""
    if series.measure in (PEOPLE_AGREEMENT, PEOPLE_DISTANCE):
        return f"It takes people's answers to {MIN_VALUES} of its questions (--humans FILE)."
    if series.measure == POSITION:
        return f"It takes {MIN_VALUES} answers of which it is known what was shown first."
    if series.measure == SEVERITY:
        return (
            f"It takes {MIN_VALUES} questions that other judges answered, too; of labels one that is good "
            "(--positive)."
        )
    return f"It takes {MIN_VALUES} questions that other judges answered, too."


def _value_time(line: Timeline, series: Series, before: int) -> str:
    """Time of the first value after ``before`` values."""
    row = int(series.rows[min(before, len(series.rows) - 1)])
    time = line.answers.time
    return f"row {row + 1:,}" if time is None else format_time(float(time[row]))


def _differing_examples(line: Timeline, series: Series, since: int) -> list[str]:
    """The newest questions since a change in which a judge differs from whom it is compared with."""
    if series.measure not in (AGREEMENT, PEOPLE_AGREEMENT):
        return []
    differs = series.rows[since:][series.values[since:] < 0.5]
    return list(dict.fromkeys(map(str, line.names[differs[::-1]])))[:MAX_EXAMPLES]


def _block_means(line: Timeline, series: Series) -> list[dict[str, Any]]:
    """Means of a measure in blocks of as many values, with when the last of a block was given."""
    parts: Sequence[Any] = np.array_split(np.arange(len(series.values)), COURSE_BLOCKS)
    return [
        {
            "until": _value_time(line, series, int(part[-1])),
            "n": len(part),
            "mean": float(series.values[part].mean()),
        }
        for part in parts
        if len(part)
    ]
