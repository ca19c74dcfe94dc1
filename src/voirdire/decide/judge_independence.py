"""Independence of judges: the original part of each judge's answers, and the effective number of judges in the panel.

If judges copy each other's answers with probability s, and otherwise answer independently, their mistakes have the
correlation s. The independence of a judge is 1 - s for the judge most similar to it: 1 for an independent judge, 0 for
an exact copy and its original. Between copies (:func:`.detect_families`) it is the distance of the two judges relative
to that of independent judges of the same quality,

    1 - s = D_jk / (e_j + e_k),   D the mean squared distance of two judges, 0 for copies,

with the noise e_j = (D_ja + D_jb - D_ab) / 2 averaged over all pairs a, b of other judges that are not copies (Grubbs
1948, Journal of the American Statistical Association 43). For judges without copies, s is the correlation of the
residuals of the default model at its mode (:mod:`voirdire.trust.residuals`), with one answer for each judge and unit.
Copies are excluded because a model that treats them as independent judges attributes their agreement to accuracy and
leaves no shared residuals. For labels with people's answers to `MIN_PEOPLE_UNITS` units, residuals are mistakes: 1
where a judge differs from people, minus its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import rows_of
from voirdire.decide.audit_answers import MIN_PEOPLE_UNITS, Answers
from voirdire.decide.audit_measures import MeasureRow
from voirdire.fit.answer_weight import detect_families
from voirdire.fit.verb import fit
from voirdire.trust.dependence import leave_one_out_sizes, residual_correlations
from voirdire.trust.families import answer_correlations, divide_into_families
from voirdire.trust.residuals import Residuals, SharedErrors
from voirdire.typing import Bools, Floats

MIN_JUDGES = 3


@dataclass(frozen=True)
class PanelIndependence:
    """Independence of a panel's judges: effective sizes, the most similar judge of each, and copies.

    Attributes
    ----------
    size : float
        Effective number of independent judges in the panel.
    without : tuple of float
        Effective number without each judge.
    nearest : tuple of (str, float)
        For each judge, the judge with the most similar residuals, and their correlation.
    copy_of : tuple of str or None
        For each judge, an earlier judge that it is a copy of.
    counted : str
        Rule that selects one of a judge's answers to a question, in words; empty where there is one each.
    """

    size: float
    without: tuple[float, ...]
    nearest: tuple[tuple[str, float], ...]
    copy_of: tuple[str | None, ...]
    counted: str = ""

    def panel_sizes(self, judges: Sequence[str]) -> dict[str, Any]:
        """Effective numbers of judges, for the whole panel and without each judge, as in the JSON output."""
        rows = zip(judges, self.without, strict=True)
        without = [{"judge": name, "effective": size} for name, size in rows]
        return {"judges": len(judges), "effective": self.size, "without": without}

    def result_row(self, judge: int) -> MeasureRow:
        """The measure ``independence`` of a judge, as a row."""
        name, rho = self.nearest[judge]
        note = (
            f"independence from {name}, the judge with the most similar answers: 0 is a copy, 1 "
            f"independent; the panel has {self.size:.1f} effective judges, {self.without[judge]:.1f} without it"
            f"{self.counted}"
        )
        copied = self.copy_of[judge] is not None
        return MeasureRow("independence", min(1.0 - rho, 1.0), None, None, len(self.without), copied, note)


def judge_independence(table: Any, answers: Answers) -> PanelIndependence | None:
    """Measure the independence of judges; None with fewer than three.

    Raises
    ------
    InputError
        No model can be fitted to the table.
    """
    if len(table.judges) < MIN_JUDGES:
        return None
    rows = rows_of(table)
    questions = np.column_stack([rows.judge, *table.question_codes])
    # Repeats of one judge add no independent answer: the first run counts, at any position in the table.
    run, counted = None, "votes on a pair, in either order, the first in the table"
    if not table.compares_items:
        run, counted = table.run, "repeated answers the first"
    order = np.arange(table.rows) if run is None else np.argsort(run, kind="stable")
    first_answer = np.zeros(table.rows, dtype=bool)
    first_answer[order[np.unique(questions[order], axis=0, return_index=True)[1]]] = True
    known = first_answer & (answers.people_level[answers.unit] >= 0)
    names = table.judges
    by_people = bool(rows.classes) and len(np.unique(answers.unit[known])) >= MIN_PEOPLE_UNITS
    if by_people:
        mistakes = _mistake_residuals(answers, known)
        groups = divide_into_families(*answer_correlations(mistakes))
        first = np.arange(len(names))
        first[mistakes.judges] = [mistakes.judges[groups == group][0] for group in groups]
    else:
        fitted = fit(table.subset(first_answer), method="map", families={})
        family = detect_families(fitted.problem, fitted.posterior.centre)
        first = np.array([names.index(family.get(name, name)) for name in names])
    single = first == np.arange(len(names))  # the first judge of each group of copies
    kept = first_answer & single[answers.judge]
    residuals: Residuals | SharedErrors
    if by_people:
        residuals = _mistake_residuals(answers, known & kept)
        judges = residuals.judges
    else:
        if not single.all():
            fitted = fit(table.subset(kept), method="map", families={})
        residuals = fitted.kind.residuals(fitted.problem, fitted.posterior)
        judges = np.array([names.index(fitted.problem.judges[judge]) for judge in residuals.judges])
    size, sizes_without = leave_one_out_sizes(residuals)
    sizes = np.full(len(names), size)
    sizes[judges] = sizes_without
    copied = np.bincount(first, minlength=len(names)) > 1
    sizes[copied | ~single] = size  # without a judge that has a copy, the copy replaces it
    rho: Floats = np.full((len(names), len(names)), -np.inf)
    rho[np.ix_(judges, judges)] = residual_correlations(residuals).rho
    rho = rho[np.ix_(first, first)]
    same_copy = first[:, None] == first
    rho[same_copy] = 1.0 - independence_ratios(answers, single, same_copy)[same_copy]
    np.fill_diagonal(rho, -np.inf)
    nearest = [int(np.argmax(row)) for row in rho]
    return PanelIndependence(
        size,
        tuple(map(float, sizes)),
        tuple((names[index], float(np.clip(rho[place, index], -1.0, 1.0))) for place, index in enumerate(nearest)),
        tuple(None if is_single else names[index] for is_single, index in zip(single, first, strict=True)),
        "" if first_answer.all() else f"; of a judge's {counted} counts",
    )


def independence_ratios(answers: Answers, others: Bools, selected: Bools) -> Floats:
    """Distance of two judges relative to that of independent judges, shape (judges, judges), from 0 to 1.

    Parameters
    ----------
    answers : Answers
    others : bool array, shape (judges,)
        Judges that serve to estimate the noise of two: no copies of each other. With only one, its noise is taken as 0.
    selected : bool array, shape (judges, judges)
        Pairs to compute; others are 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.decide.audit_answers import pair_with_reference
    >>> from voirdire.tables.detect import read_table
    >>> rng = np.random.default_rng(0)
    >>> given = rng.normal(size=500) + rng.normal(size=(4, 500))
    >>> given[3] = np.where(rng.random(500) < 0.7, given[0], given[3])
    >>> rows = [(j, i, given[j, i]) for j in range(4) for i in range(500)]
    >>> table = read_table(pd.DataFrame(rows, columns=["judge", "item", "score"]).astype({"judge": str}))
    >>> answers = pair_with_reference(table, None, None, (), None, None)
    >>> float(independence_ratios(answers, np.arange(4) < 3, np.ones((4, 4), bool))[0, 3].round(1))
    0.3
    """
    ratios: Floats = np.ones((len(answers.judges), len(answers.judges)))
    pairs = [(j, k) for j, k in np.argwhere(selected).tolist() if k < j]
    if not pairs:
        return ratios
    distance, known = _pairwise_distances(answers)
    for j, k in pairs:
        witnesses = np.flatnonzero(others & known[j] & known[k])
        witnesses = witnesses[(witnesses != j) & (witnesses != k)]
        if not known[j, k] or not len(witnesses):
            continue
        shared = known[np.ix_(witnesses, witnesses)] & ~np.eye(len(witnesses), dtype=bool)
        between = distance[np.ix_(witnesses, witnesses)][shared].mean() if shared.any() else 0.0
        noise = distance[j, witnesses].mean() + distance[k, witnesses].mean() - between
        ratios[j, k] = ratios[k, j] = np.clip(distance[j, k] / noise, 0.0, 1.0) if noise > 0.0 else 0.0
    return ratios


def _pairwise_distances(answers: Answers) -> tuple[Floats, Bools]:
    """Mean squared distance of two judges in units that both answered, and a mask of pairs with such units."""
    from scipy.sparse import csr_matrix

    shape = len(answers.judges), len(answers.people)
    cell, place = np.unique(answers.judge * shape[1] + answers.unit, return_inverse=True)
    judge, unit = np.divmod(cell, shape[1])
    number = np.bincount(place)

    def by_judge_and_unit(values: Floats) -> Any:
        return csr_matrix((values, (judge, unit)), shape=shape)

    answered = by_judge_and_unit(np.ones(len(cell)))
    shared = (answered @ answered.T).toarray()
    square: Floats = np.zeros((shape[0], shape[0]))
    nominal = bool(np.isnan(answers.value).all())
    for level in range(answers.levels) if nominal else [None]:
        answer = answers.value if level is None else (answers.level == level).astype(float)
        mean = np.bincount(place, answer) / number
        if not answers.paired:
            mean = mean - (np.bincount(judge, mean) / np.bincount(judge))[judge]
        y, squares = by_judge_and_unit(mean), (by_judge_and_unit(mean**2) @ answered.T).toarray()
        square += squares + squares.T - 2.0 * (y @ y.T).toarray()
    # remove rounding errors, which are all that remains for copies
    square = np.where(square > 1e-9 * np.maximum(np.abs(square).max(), 1e-300), square, 0.0)
    return np.where(shared > 0, square / np.maximum(shared, 1.0), 0.0), np.asarray(shared > 0)


def _mistake_residuals(answers: Answers, known: Any) -> Residuals:
    """Mistakes of judges according to people, minus their mean; units take the role of comparisons."""
    judge, unit = answers.judge[known], answers.unit[known]
    judge_codes, judge = np.unique(judge, return_inverse=True)
    judges, size = len(judge_codes), len(answers.people)
    r, v = np.zeros((2, 1, judges, size))
    wrong = (answers.level[known] != answers.people_level[unit]).astype(float)
    mean = np.bincount(judge, wrong, minlength=judges) / np.maximum(np.bincount(judge, minlength=judges), 1)
    r[0, judge, unit] = wrong - mean[judge]
    v[0, judge, unit] = (mean * (1 - mean))[judge]
    none, zero = np.zeros(size, dtype=np.int64), np.zeros((1, judges))
    return Residuals(judge_codes, r, v, zero, zero, none, none, none)
