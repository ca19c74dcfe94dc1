"""Answers about two versions, paired, from two tables or from one; and their correction by people's answers.

Difference between two versions in people's view, from their answers to some units and judges' answers to all.

It is the prediction-powered estimate of the mean difference (:mod:`voirdire.agreement.ppi.estimate`), with a bound that
is asymptotically valid at every look: after n human answers it is z_n standard errors away, where z_n is the value at
which the mean over effects of the likelihood ratio

    2 (1 + m)^(-1/2) exp(m z^2 / (2 (1 + m))) Phi(z (m / (1 + m))^(1/2)),        m = 6 n / `PLANNED_ANSWERS`,

is 1 / a (a half-normal mixture, so that each bound is one-sided; it is narrowest near `PLANNED_ANSWERS` answers).
Robbins, Annals of Mathematical Statistics 41, 1970; for asymptotically normal estimates: Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.ppi.estimate import Sample, powered_estimate
from voirdire.agreement.ppi.rows import MAX_STANDARD_ERRORS, MIN_HUMAN_ANSWERS, standardised_prediction_difference
from voirdire.decide.gate_pairs import ABOUT, VALUES, Differences, Versions, differences_of_votes, pair_answers
from voirdire.decide.gate_verdicts import POWERED, DifferenceVerdict, verdict_from_bounds
from voirdire.errors import InputError
from voirdire.tables.answer_table import AnswerTable
from voirdire.tables.detect import read_table
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

PLANNED_ANSWERS = 100  # number of human answers at which the bounds are narrowest
MAX_ANSWERS = 1_000_000  # largest number of human answers that is projected


def bound_distance(answers: int, alpha: float) -> float:
    """Standard errors between an estimate and its bound, valid at every look.

    Examples
    --------
    >>> round(bound_distance(100, 0.05), 2), round(bound_distance(20, 0.05), 2)
    (2.77, 3.15)
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    m = 6.0 * answers / PLANNED_ANSWERS

    def bound_excess(z: float) -> float:
        ratio = math.log(2) - 0.5 * math.log1p(m) + m * z * z / (2 * (1 + m))
        return ratio + float(log_ndtr(z * math.sqrt(m / (1 + m)))) + math.log(alpha)

    return float(brentq(bound_excess, 0.0, 100.0))


def prediction_powered_verdict(
    judged: Differences, people_differences: Differences, margin: float, alpha: float
) -> DifferenceVerdict:
    """The verdict on the difference in people's view; its bounds are the ends of the scale with too few answers.

    Parameters
    ----------
    judged : Differences
        From judges, for all units.
    people_differences : Differences
        From people, for a random sample of the units.
    margin : float
        Largest difference by which the new version may be worse.
    alpha : float
        Error probability of each bound over all looks.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> units, y = tuple(map(str, range(300))), rng.integers(0, 2, 300).astype(float)
    >>> judged = Differences(units, y, (0.0, 1.0), ("gpt",), "item", "share")
    >>> found = prediction_powered_verdict(judged, judged.in_order(np.arange(60)), 0.0, 0.05)
    >>> found.verdict, found.counted, found.low < found.value < found.high
    ('pass', 60, True)
    """
    place = level_positions(people_differences.units, judged.units)
    values, answered = np.zeros(len(judged.units)), np.zeros(len(judged.units), dtype=bool)
    values[place], answered[place] = people_differences.values, True
    # people and judges may use different scales: predictions are converted to people's
    predicted = judged.values * (people_differences.largest_difference / judged.largest_difference)
    sample = Sample.of_values(values, predicted, answered)
    estimate = powered_estimate(sample)
    value, humans, reach = estimate.value, int(answered.sum()), people_differences.largest_difference
    low, high, error, needed, notes = -reach, reach, math.nan, None, []
    distance = standardised_prediction_difference(sample)
    if abs(distance) > MAX_STANDARD_ERRORS:
        notes.append(
            f"judges answer people's {judged.unit}s otherwise than the rest ({distance:+.1f} standard errors): these "
            "are no random sample, and the difference is of such as them"
        )
    if humans < MIN_HUMAN_ANSWERS:
        notes.append(f"{humans} human answers are too few to decide by; give {MIN_HUMAN_ANSWERS} or more")
    else:
        notes.append("bounds with people's answers hold as these become many (a confidence sequence in the limit)")
        # an imagined further answer that differs by the whole scale keeps equal answers from appearing certain
        error = math.sqrt(max(estimate.variance_small, (reach / (humans + 1)) ** 2 / humans))
        unanswered = sample.other_count
        fixed = estimate.weight**2 * float(np.var(predicted[~answered])) / unanswered if unanswered else 0.0
        half = bound_distance(humans, alpha) * error
        low, high = max(value - half, -reach), min(value + half, reach)
        needed = _answers_needed(abs(value + margin), error, humans, max(1 - fixed / error**2, 0.0), alpha)
    verdict, count = verdict_from_bounds(low, high, margin), len(judged.units)
    return DifferenceVerdict(verdict, value, low, high, error, count, humans, needed, POWERED, tuple(notes))


def _answers_needed(gap: float, error: float, humans: int, part: float, alpha: float) -> int | None:
    """Total human answers until a value at a distance is rejected, if the difference stays; None for never.

    ``part`` is the share of the variance that more human answers reduce.
    """
    fixed = (1 - part) * error**2

    def is_refuted(answers: int) -> bool:
        variance = fixed + part * error**2 * humans / answers
        return gap > bound_distance(answers, alpha) * math.sqrt(variance)

    if gap == 0 or not is_refuted(MAX_ANSWERS):
        return None
    return humans + bisect_left(range(humans, MAX_ANSWERS), True, key=is_refuted)


SIDES = ("NEW", "OLD")


def read_differences(
    new: object,
    old: object,
    versions: Versions,
    *,
    positive: object = None,
    levels: Sequence[object] | None = None,
    name: str = "table",
    scale_from: Differences | None = None,
) -> Differences:
    """Read two tables, or one with both versions, and pair them.

    Parameters
    ----------
    new, old, positive, levels
        As in :func:`voirdire.decide.gate.gate`.
    versions : Versions
    name : str
        Name of the table in messages, where one table has both versions.
    scale_from : Differences, optional
        Other differences with the same labels or scale.

    Raises
    ------
    InputError
        A table is wrong, the tables are of different kinds, or they have no question or no judge in common.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"judge": "gpt", "item": [1, 2, 3], "label": ["pass", "fail", "pass"]})
    >>> found = read_differences(old.assign(label="pass"), old, Versions())
    >>> found.units, found.values.tolist(), found.scale
    (('1', '2', '3'), [0.0, 1.0, 0.0], (0.0, 1.0))
    """
    if old is None:
        answers = _read_answers(new, levels, name)
        _check_positive([answers], positive if scale_from is None else None)
        if answers.compares_items:
            return differences_of_votes(answers, versions)
        if answers.system is None:
            raise InputError(
                f"{name}: there is no column 'system' that says which version each row is about; give it, or two "
                "tables NEW and OLD"
            )
        sides = [_version_rows(answers, version) for version in versions.check_names(answers.systems).values()]
    else:
        tables = [_read_answers(table, levels, side) for side, table in zip(SIDES, (new, old), strict=True)]
        if any(answers.compares_items for answers in tables):
            raise InputError(
                "votes compare the two versions already: give one table of votes, with --new NAME and --old NAME"
            )
        new_side, old_side = (answers.data for answers in tables)
        if new_side != old_side:
            raise InputError(f"NEW has {new_side} and OLD has {old_side}; give two tables of one kind")
        _check_positive(tables, positive)
        version_names = (versions.new, versions.old)
        sides = [_select_version(*arguments) for arguments in zip(tables, version_names, SIDES, strict=True)]
        versions = _version_names(sides, versions)
    known = () if scale_from is None else scale_from.known
    values, meaning = VALUES[sides[0].data](sides, positive, levels, known)
    new_side, old_side = (_answer_frame(answers, value) for answers, value in zip(sides, values, strict=True))
    return pair_answers(new_side, old_side, meaning, versions)


def _read_answers(table: object, levels: Sequence[object] | None, name: str) -> Any:
    answers = read_table(table, levels=levels, name=name)
    if answers.has_levels and answers.members is not None:
        raise InputError(f"{name}: its labels are sets, and a gate takes one label an item; choose one of them")
    return answers


def _version_rows(table: Any, version: str) -> Any:
    return table.subset(table.system == table.systems.index(version))


def _select_version(table: Any, version: str | None, side: str) -> Any:
    """Rows of one version: the whole table, or the rows of the named system."""
    if version is not None and table.systems:
        if version not in table.systems:
            raise InputError(
                f"{side}: {version!r} is none of its systems {known_names(table.systems)}"
                f"{nearest_name(version, table.systems)}"
            )
        return _version_rows(table, version)
    if len(table.systems) > 1:
        raise InputError(
            f"{side} has several systems ({known_names(table.systems)}); say which is meant: --{side.lower()} NAME"
        )
    return table


def _check_positive(tables: Sequence[AnswerTable], positive: object) -> None:
    """Raise where a good label is named and the tables have no labels."""
    if positive is not None and not any(table.has_levels for table in tables):
        raise InputError(
            f"positive {positive!r} names a good label, and the tables have {tables[0].data}, compared as they are; "
            "leave it out"
        )


def _version_names(sides: Sequence[Any], versions: Versions) -> Versions:
    """Names of the versions in two tables where they exist and differ, else "new" and "old"."""
    names = [
        name or (side.systems[0] if len(side.systems) == 1 else None)
        for name, side in zip((versions.new, versions.old), sides, strict=True)
    ]
    if names[0] == names[1]:
        return Versions("new", "old")
    return Versions(names[0] or "new", names[1] or "old")


def _answer_frame(table: Any, value: Floats) -> pd.DataFrame:
    import pandas as pd

    plural = {"criterion": "criteria"}
    columns: dict[str, Any] = {"judge": np.array(table.judges, dtype=object)[table.judge]}
    present = {"criterion": table.has_criteria, "item": table.has_items}
    for name in ABOUT:
        code = getattr(table, name)
        if code is not None and present.get(name, True):
            columns[name] = np.array(getattr(table, plural.get(name, f"{name}s")), dtype=object)[code]
    time = np.zeros(table.rows) if table.time is None else table.time
    return pd.DataFrame({**columns, "value": value, "time": time, "place": np.arange(table.rows)})
