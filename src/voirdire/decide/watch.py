"""Monitoring of judges over time: tests for changes that are valid at any number of looks, and the stored state."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import rows_of
from voirdire.decide.audit import read_people_table
from voirdire.decide.audit_answers import pair_with_reference
from voirdire.decide.watch_look import measure_rows
from voirdire.decide.watch_series import build_timeline, row_texts
from voirdire.errors import InputError, raise_problems
from voirdire.folders import write_file
from voirdire.settings import PROB, share_problems
from voirdire.tables.detect import read_table
from voirdire.tables.people import join_people_answers, split_people
from voirdire.tables.problems import Problems
from voirdire.tables.times import answer_times, format_time
from voirdire.typing import Bools, Floats

STATE_SCHEMA = "watch-state/1"
DIGEST_DIGITS = 8  # number of hexadecimal digits of a digest
MAX_SHOWN = 5  # largest number of missing rows in a message
REMEDY = "a watch is right only of tables that grow: bring it back, or begin anew with another --state file"


def check_state(path: Path, tables: Mapping[str, Sequence[str]], *, ordered: bool) -> None:
    """Check tables against the state of the last look; accepts all tables where there is no state.

    Parameters
    ----------
    path : Path
        File of the state.
    tables : mapping of str to sequence of str
        Rows of each table as texts, by table ("answers", "people").
    ordered : bool
        True where the order of rows matters, because answers have no times.

    Raises
    ------
    InputError
        The file is not a state, a table is missing, or rows are missing, changed or moved.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "state.json")
    ...     write_state(path, {"answers": ["a x pass", "b x fail"]})
    ...     check_state(path, {"answers": ["a x pass", "b x fail", "a y pass"]}, ordered=True)
    ...     check_state(path, {"answers": ["a x pass", "b x pass"]}, ordered=True)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: answers: row 2 of the last look, after 'a x pass', is gone or was changed; a watch is \
right only of tables that grow: bring it back, or begin anew with another --state file
    """
    if not path.exists():
        return
    problems = []
    for name, kept in _read_state(path).items():
        if name not in tables:
            raise InputError(f"{name}: at the last look there were some, and now there are none; give them again")
        problems += _describe_changes(name, kept, tables[name], ordered)
    raise_problems(problems)


def write_state(path: Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write the digests of the rows of tables."""
    kept = {name: "".join(map(_digest_row, rows)) for name, rows in tables.items()}
    write_file(path, json.dumps({"schema": STATE_SCHEMA, **kept}) + "\n")


def _read_state(path: Path) -> dict[str, list[str]]:
    try:
        state: Any = json.loads(path.read_text())
        if state.pop("schema") != STATE_SCHEMA:
            raise ValueError
        return {
            name: [text[start : start + DIGEST_DIGITS] for start in range(0, len(text), DIGEST_DIGITS)]
            for name, text in state.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"state {path}: it is no state of a watch ({STATE_SCHEMA}); name another file (a missing one is made)"
        ) from None


def _describe_changes(name: str, old_digests: Sequence[str], rows: Sequence[str], ordered: bool) -> list[str]:
    """Describe the faults of a table."""
    digests = [_digest_row(row) for row in rows]
    counts = Counter(digests)
    counts.subtract(old_digests)
    missing: list[int] = []
    for index in range(len(old_digests) - 1, -1, -1):
        if counts[old_digests[index]] < 0:
            counts[old_digests[index]] += 1
            missing.append(index)
    if missing:
        return _describe_missing_rows(name, sorted(missing), old_digests, dict(zip(digests, rows, strict=True)))
    if (
        ordered
        and (first_moved := next((index for index, digest in enumerate(old_digests) if digests[index] != digest), None))
        is not None
    ):
        return [
            f"{name}: row {first_moved + 1:,} is another than at the last look, and nothing is gone: rows were put "
            "before it; add new rows at the end (files of a folder are read by name), or give a column time"
        ]
    return []


def _describe_missing_rows(
    name: str, missing: Sequence[int], old_digests: Sequence[str], rows_by_digest: Mapping[str, str]
) -> list[str]:
    """Describe missing rows by their positions, and by the rows before them that still exist."""
    messages = []
    for index in missing[:MAX_SHOWN]:
        before = rows_by_digest.get(old_digests[index - 1], "").replace("\t", " ") if index else ""
        after = f", after {before!r}," if before else ""
        messages.append(f"{name}: row {index + 1:,} of the last look{after} is gone or was changed")
    others_note = f", and so are {len(missing) - MAX_SHOWN:,} more" if len(missing) > MAX_SHOWN else ""
    messages[-1] += f"{others_note}; {REMEDY}"
    return messages


def _digest_row(row: str) -> str:
    return hashlib.blake2s(row.encode("utf-8", "surrogatepass"), digest_size=DIGEST_DIGITS // 2).hexdigest()


SCHEMA = "watch/1"
CHANGED, NO_CHANGE, NOT_ENOUGH = "changed", "no change", "not enough"
ALPHA = 0.05
RULE = (
    "A change is found where the evidence for it exceeds the judge's share of alpha. The probability that any is "
    "found where there is none is designed to be {alpha:.2g} at most, over all judges and all looks together; in "
    "simulations at 0.05 it was 0.015 to 0.033."
)
ROW_ORDER_NOTE = (
    "No column has the times of the answers: the order of the rows is taken instead. Where a column has them, "
    "map={'time': COLUMN} of read() (--map time=COLUMN) names it; rows in another order show false "
    "changes, and hide true ones."
)


def watch(
    table: object,
    humans: object = None,
    *,
    people: Sequence[str] | str = (),
    positive: object = None,
    levels: Sequence[object] | None = None,
    since: object = None,
    alpha: float = ALPHA,
    prob: float = PROB,
    state: str | Path | None = None,
) -> dict[str, Any]:
    """Test each judge for changes of its agreement with others or with people, its severity, and its position bias.

    Parameters
    ----------
    table : path, dataframe, Votes, Labels or Scores
        All answers so far, at every look, in the order of arrival or with a column ``time``.
    humans : path or dataframe, or a list of them
        People's answers of the same kind.
    people : sequence of str, optional
        Judges of the table who are people.
    positive, levels
        As in :func:`voirdire.fit`.
    since : date or number, optional
        Ignore answers before this time: to restart after a known change.
    alpha : float
        Probability of a false alarm, over all judges and all looks together.
    prob : float
        Probability of the intervals.
    state : path, optional
        A file with a digest of the answers: answers that are missing or changed at the next look are an error.

    Returns
    -------
    dict
        schema, verdict ("changed", "no change" or "not enough"), rule, alpha, prob, answers, judges, order ("time" or
        "table"), notes, measures: judge, measure, what, found (True, False, or None with too few values), n
        (values), value (mean), before, after, change, change_low, change_high, since, since_low, since_high (time, or
        row of the table), since_value, since_value_low, since_value_high (values before the change), evidence (largest
        so far) and needed (base-10 logarithms), against (names of the reference), note (advice), examples (newest
        answers since then that differ), course (means of blocks: until, n, mean).

    Raises
    ------
    InputError
        A table or an argument is wrong; answers of the last look are missing or changed.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> right = np.where(rng.random((400, 3)) < 0.9, 1, 0)
    >>> right[250:, 2] = rng.integers(0, 2, 150)
    >>> said = [(f"judge {j}", at, ["no", "yes"][row[j]]) for at, row in enumerate(right) for j in range(3)]
    >>> found = watch(pd.DataFrame(said, columns=["judge", "item", "label"]))
    >>> found["verdict"], [(row["judge"], row["measure"]) for row in found["measures"] if row["found"]][0]
    ('changed', ('judge 2', 'agreement'))
    """
    raise_problems(share_problems(alpha=(alpha, ALPHA), prob=(prob, PROB)))
    table, people_rows, levels = split_people(table, people, levels)
    people_answers = join_people_answers(humans, people_rows)
    judge_table: Any = read_table(table, levels=levels)
    persons = None if people_answers is None else read_people_table(people_answers, judge_table, levels)
    ordered = rows_of(judge_table).time is None
    texts = {"answers": row_texts(judge_table)} | ({} if persons is None else {"people": row_texts(persons)})
    if state is not None:
        check_state(Path(state), texts, ordered=ordered)
    recent = judge_table if since is None else judge_table.subset(_mask_since(rows_of(judge_table).time, since))
    timeline = build_timeline(recent, pair_with_reference(recent, persons, positive, (), None, None))
    rows = measure_rows(timeline, alpha, prob)
    result = {
        "schema": SCHEMA,
        "verdict": _watch_verdict(rows),
        "rule": RULE.format(alpha=alpha),
        "alpha": alpha,
        "prob": prob,
        "answers": len(timeline.order),
        "judges": list(dict.fromkeys(row["judge"] for row in rows)),
        "order": "table" if ordered else "time",
        "notes": [ROW_ORDER_NOTE] if ordered else [],
        "measures": rows,
    }
    if state is not None:
        write_state(Path(state), texts)
    return result


def watch_headline(result: Mapping[str, Any], name: Callable[[str], str] = str) -> str:
    """Write in one sentence how many judges changed; ``name`` formats a name.

    Examples
    --------
    >>> rows = [{"judge": "a", "found": False}, {"judge": "b", "found": True}]
    >>> watch_headline({"verdict": "changed", "judges": ["a", "b"], "answers": 900, "measures": rows})
    'Changed: 1 of 2 judges (b) in 900 answers.'
    """
    count = len(result["judges"])
    judges = f"{count} judge{'' if count == 1 else 's'}"
    if result["verdict"] == CHANGED:
        names = list(dict.fromkeys(row["judge"] for row in result["measures"] if row["found"]))
        return f"Changed: {len(names)} of {judges} ({', '.join(map(name, names))}) in {result['answers']:,} answers."
    if result["verdict"] == NO_CHANGE:
        return f"No change: {judges}, {result['answers']:,} answers."
    return f"Not enough to say: {judges}, {result['answers']:,} answers."


def change_sentence(row: Mapping[str, Any], prob: float) -> str:
    """Describe a change in one sentence.

    Examples
    --------
    >>> row = {"what": "agreement with people", "before": 0.9, "after": 0.6, "change": -0.3, "change_low": -0.4}
    >>> row |= {"change_high": -0.2, "since": "row 41", "since_low": "row 9", "since_high": "row 52"}
    >>> print(change_sentence(row, 0.9))
    agreement with people went from 0.90 to 0.60 (-0.30, 90% interval -0.40 to -0.20) at row 41 (row 9 to row 52).
    """
    ends = f"{100 * prob:g}% interval {row['change_low']:+.2f} to {row['change_high']:+.2f}"
    return (
        f"{row['what']} went from {row['before']:.2f} to {row['after']:.2f} ({row['change']:+.2f}, {ends}) at "
        f"{row['since']} ({row['since_low']} to {row['since_high']})."
    )


def _watch_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    if any(row["found"] for row in rows):
        return CHANGED
    return NOT_ENOUGH if all(row["found"] is None for row in rows) else NO_CHANGE


def _mask_since(time: Floats | None, since: object) -> Bools:
    """Mask of the answers from a time on."""
    problems = Problems("since")
    moment = answer_times({"time": [since]}, problems)
    problems.raise_any()
    if time is None or moment is None:
        raise InputError("since: the answers have no times; add a column time, or leave the earlier rows out")
    kept = time >= moment[0]
    if not kept.any():
        raise InputError(
            f"since {since}: no answer is as late as that; the last is of {format_time(float(time.max()))}"
        )
    return np.asarray(kept)
