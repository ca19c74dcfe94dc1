"""Claims in a paper's text or figures, from the scores of a run's parts.

``[[texts]]`` of a run: ``claim``, ``kind`` and its settings. Kinds:

value
    ``part``, ``judge``, ``criterion``, ``coefficient``: the value of the coefficient.
order
    ``parts`` (names by part), ``judge``, ``coefficient``: the names by falling average, as "a > b".
best-iteration, best-runs
    ``part``, ``judge``, ``coefficient``, ``most``, ``criterion``: the number of iterations, or of Monte Carlo runs,
    with the highest coefficient (the smallest such number, at most ``most``).
gains
    ``part``, ``criterion``, ``coefficient``: number of groups that correlate more with people after the debate.
average-gain
    The same settings: "rises" or "falls", the change of the mean coefficient of the groups in the debate.
seconds
    ``part``: mean over cases and runs of the time of a protocol's answers, in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from voirdire.collect.journal import JOURNAL_FILE
from voirdire_repro.fill import scores as of
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    "value": ("part", "judge", "criterion", "coefficient"),
    "order": ("parts", "judge", "coefficient"),
    "best-iteration": ("part", "judge", "coefficient", "criterion", "most"),
    "best-runs": ("part", "judge", "coefficient", "criterion", "most"),
    "gains": ("part", "criterion", "coefficient"),
    "average-gain": ("part", "criterion", "coefficient"),
    "seconds": ("part",),
}
Coefficients = Callable[[Job, "pd.DataFrame"], list[dict[str, Any]]]


def text_of(
    job: Job,
    text: Mapping[str, Any],
    every: Mapping[str, pd.DataFrame],
    coefficients: Coefficients,
    curves: dict[str, dict[int, float]],
) -> float | str | None:
    """Compute the value of a claim, None without its scores; add values by iterations or runs to ``curves``."""

    def coefficient_value(scores: pd.DataFrame, criterion: str) -> float | None:
        for row in coefficients(job, scores):
            if (row["judge"], row["criterion"], row["coefficient"]) == (text["judge"], criterion, text["coefficient"]):
                return float(row["value"])
        return None

    kind = text["kind"]
    if kind == "order":
        values = {
            name: coefficient_value(_part_results(every, part), "average") for part, name in text["parts"].items()
        }
        return _falling_order(values)
    if every[text["part"]].empty:
        return None
    scores = every[text["part"]]
    if kind == "value":
        return coefficient_value(of.final_results(scores), text["criterion"])
    if kind in ("best-iteration", "best-runs"):
        stage = of.results_after if kind == "best-iteration" else of.of_runs
        first = 0 if kind == "best-iteration" else 1
        stages = {n: coefficient_value(stage(scores, n), text["criterion"]) for n in range(first, text["most"] + 1)}
        known = {n: value for n, value in stages.items() if value is not None and value == value}
        curves[text["claim"]] = known
        return float(max(known, key=lambda n: (known[n], -n))) if known else None
    if kind in ("gains", "average-gain"):
        return _group_gains(job, text, scores, coefficients)
    return _seconds_per_case(job, text["part"])


def _part_results(every: Mapping[str, pd.DataFrame], part: str) -> pd.DataFrame:
    return every[part] if every[part].empty else of.final_results(every[part])


def _falling_order(values: Mapping[str, float | None]) -> str | None:
    if any(value is None or value != value for value in values.values()):
        return None
    return " > ".join(sorted(values, key=lambda name: -(values[name] or 0.0)))


def _group_gains(
    job: Job, text: Mapping[str, Any], scores: pd.DataFrame, coefficients: Coefficients
) -> float | str | None:
    phases = {}
    for phase in ("initial", "final"):
        phases[phase] = {
            row["judge"]: row["value"]
            for row in coefficients(job, of.of_groups(scores, phase))
            if (row["criterion"], row["coefficient"]) == (text["criterion"], text["coefficient"])
        }
    if not phases["final"]:
        return None
    gains = [phases["final"][group] - phases["initial"][group] for group in phases["final"]]
    if text["kind"] == "average-gain":
        return "rises" if sum(gains) > 0 else "falls"
    return float(sum(gain > 0 for gain in gains))


def _seconds_per_case(job: Job, part: str) -> float | None:
    import sqlite3
    from contextlib import closing

    spent, cases = 0.0, set()
    for path in sorted((job.folder / "collected" / part).glob(f"*/{JOURNAL_FILE}")):
        with closing(sqlite3.connect(path)) as journal:
            rows = journal.execute("select judge, key, seconds from answers where seconds is not null").fetchall()
        spent += sum(seconds for _, _, seconds in rows)
        # the key of a question ends with its item, criterion and run
        cases |= {(path.parent.name, judge, *_key_ending(key)) for judge, key, _ in rows}
    return spent / len(cases) if cases else None


def _key_ending(key: str) -> tuple[str, ...]:
    import json

    return tuple(map(str, json.loads(key)[-3:]))
