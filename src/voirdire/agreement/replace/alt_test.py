"""The alternative annotator test (Calderon, Reichart and Dror, "The Alternative Annotator Test", ACL 2025, section 3).

One person is left out at a time. For unit u and person j who answered it, with O the other people who answered u (at
least one), agreement of the judge and of the person with the others is

    S[u, j] = s(judge's answer to u, O)        T[u, j] = s(j's answer to u, O)

with a likeness s of an answer and those of others:

- equality    1 if equal, else 0; mean over others: votes, labels
- weighted    1 - ((x - y) / range)^2; mean over others: ordered levels, such as scores from 1 to 5 (see weighted kappa)
- distance    minus the root mean square of x - y over others: scores with many levels, as in the paper

For person j, d = 1 on units where j agrees better with the others than the judge does, -1 where the judge does, 0 where
both agree equally. A one-sided t-test tests the hypothesis E[d] >= epsilon. The judge wins against a person if the
procedure of Benjamini and Yekutieli at rate q rejects the hypothesis. The winning rate omega is the share of wins; the
judge may replace people if it is at least 1/2. rho is the mean over people of the share of units on which the judge
agrees with the others at least as well as the person. epsilon allows for the lower cost of a judge: 0.2 where people
are experts, 0.15 where they are skilled, 0.1 for a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.typing import Bools

Measure: TypeAlias = Literal["equality", "weighted", "distance"]
MEASURES = get_args(Measure)


@dataclass(frozen=True)
class Likeness:
    """Measure of the likeness of two answers, and the range ``reach`` of answers."""

    measure: Measure
    reach: float = 1.0

    @property
    def difference_span(self) -> float:
        """Largest possible distance between two differences of likeness."""
        return self.reach if self.measure == "distance" else 2.0

    def mean_likeness(self, answer: FloatArray, others: FloatArray, answered: Bools) -> FloatArray:
        """Likeness of answers with those of others; NaN where nobody else answered.

        Parameters
        ----------
        answer : float array, shape (units,)
            Answers, NaN where missing.
        others : float array, shape (units, people)
            Answers of other people.
        answered : bool array, shape (units, people)
            True for answers of others to use.

        Examples
        --------
        >>> people = np.array([[1.0, 5.0]])
        >>> there = np.ones((1, 2), bool)
        >>> [Likeness(m, 4.0).mean_likeness(np.array([2.0]), people, there).round(2).item() for m in MEASURES]
        [0.0, 0.69, -2.24]
        """
        gap = np.where(answered, others - answer[:, None], 0.0)
        number = answered.sum(axis=1)
        if self.measure == "equality":
            likeness = (answered & (gap == 0)).sum(axis=1) / np.maximum(number, 1)
        else:
            square = (gap**2).sum(axis=1) / np.maximum(number, 1)
            likeness = -np.sqrt(square) if self.measure == "distance" else 1 - square / self.reach**2
        return np.where((number > 0) & ~np.isnan(answer), likeness, np.nan)


@dataclass(frozen=True)
class Coefficients:
    """Kappa (weighted for ordered levels), correlation and mean absolute error of pairs of answers."""

    kappa: float
    correlation: float
    error: float


def pair_coefficients(answer: FloatArray, others: FloatArray, likeness: Likeness, ordered: bool) -> Coefficients:
    """Compute coefficients over all pairs of an answer and another person's answer to the same unit.

    Undefined coefficients are NaN.

    Parameters
    ----------
    answer : float array, shape (units,)
        Answers, NaN where missing.
    others : float array, shape (units, people)
        Answers of other people, NaN where missing.
    likeness : Likeness
        Not used.
    ordered : bool
        True if answers are numbers.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> pair_coefficients(x, np.array([[1.0], [2.0], [3.0], [5.0]]), Likeness("weighted", 4.0), True).error
    0.25
    """
    x, y = np.tile(answer, others.shape[1]), others.T.ravel()
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y, nan = x[known], y[known], float("nan")
    if not len(x):
        return Coefficients(nan, nan, nan)
    if ordered:
        # centred and scaled, so that large and small scores lose no digits
        a, b = x - x.mean(), y - x.mean()
        scale = max(np.abs(a).max(), np.abs(b).max()) or 1.0
        a, b = a / scale, b / scale
        chance_level, observed = ((a**2).mean() + (b**2).mean() - 2 * a.mean() * b.mean(), ((a - b) ** 2).mean())
    else:
        chance_level = 1 - sum((x == level).mean() * (y == level).mean() for level in np.unique(np.append(x, y)))
        observed = (x != y).mean()
    kappa = float(1 - observed / chance_level) if chance_level > 1e-12 else nan
    varies = ordered and np.ptp(x) > 0 and np.ptp(y) > 0
    return Coefficients(
        kappa, float(np.corrcoef(x, y)[0, 1]) if varies else nan, float(np.abs(x - y).mean()) if ordered else nan
    )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Scores of a judge and of each person against the other people.

    Attributes
    ----------
    judge, person : float array, shape (units, people)
        S and T; NaN where the judge, the person, or every other person did not answer.
    """

    judge: FloatArray
    person: FloatArray

    @property
    def judge_agreement(self) -> FloatArray:
        """The judge's agreement with people by unit, the mean over left-out people; NaN where there is none."""
        return mean_without_missing(self.judge)

    @property
    def of_people(self) -> FloatArray:
        """People's agreement with each other by unit; NaN where there is none."""
        return mean_without_missing(self.person)


def leave_one_person_out(judge: FloatArray, people: FloatArray, likeness: Likeness) -> LeftOut:
    """Score the judge and each person against the other people, leaving out each person in turn.

    Parameters
    ----------
    judge : float array, shape (units,)
        Answers as codes, or as numbers; NaN where missing.
    people : float array, shape (units, people)
        Answers of people, NaN where missing.
    likeness : Likeness
        Likeness of two answers.

    Examples
    --------
    >>> people = np.array([[1.0, 1.0, 2.0], [2.0, np.nan, 2.0]])
    >>> found = leave_one_person_out(np.array([1.0, 2.0]), people, Likeness("equality"))
    >>> found.judge.tolist(), found.person.tolist()
    ([[0.5, 0.5, 1.0], [1.0, nan, 1.0]], [[0.5, 0.5, 0.0], [1.0, nan, 1.0]])
    """
    answered = ~np.isnan(people)

    def scores_against_others(answers: FloatArray) -> FloatArray:
        """Scores of answers, shape (units, people or 1), against all people except that of each column."""
        scores = np.full(people.shape, np.nan)
        for person in range(people.shape[1]):
            answer = answers[:, min(person, answers.shape[1] - 1)]
            others = answered.copy()
            others[:, person] = False
            scores[:, person] = np.where(answered[:, person], likeness.mean_likeness(answer, people, others), np.nan)
        return scores

    judge_scores = scores_against_others(judge[:, None])
    return LeftOut(judge_scores, np.where(np.isnan(judge_scores), np.nan, scores_against_others(people)))


def mean_without_missing(values: FloatArray) -> FloatArray:
    """Mean of each row over its values that are not NaN; NaN without any."""
    known = ~np.isnan(values)
    number = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


DISCOVERY_RATE = 0.05  # q, the false discovery rate
_ROUNDING = 1e-9  # rounding error as a share of the largest likeness
MIN_UNITS = 30  # fewest units of a person in the test, as in the paper


@dataclass(frozen=True)
class AltTest:
    """Result of the test.

    Attributes
    ----------
    omega, rho : float
        Winning rate and average advantage probability; NaN where no person has enough units.
    p_values : dict of str to float
        P-value of each person with enough units.
    """

    omega: float
    rho: float
    p_values: dict[str, float]


def alt_test(left_out: LeftOut, people: Sequence[str], *, epsilon: float = 0.2) -> AltTest:
    """Run the alternative annotator test.

    Examples
    --------
    >>> from voirdire.agreement.replace.alt_test import leave_one_person_out
    >>> from voirdire.agreement.replace.alt_test import Likeness
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 100)
    >>> people = np.where(rng.random((100, 3)) < 0.8, truth[:, None], 1 - truth[:, None]).astype(float)
    >>> alt_test(leave_one_person_out(truth.astype(float), people, Likeness("equality")), "abc").omega
    1.0
    """
    p_values, advantages = {}, []
    for column, name in enumerate(people):
        known = ~np.isnan(left_out.person[:, column])
        if known.sum() < MIN_UNITS:
            continue
        judge, person = left_out.judge[known, column], left_out.person[known, column]
        advantage = judge - person
        advantage[np.abs(advantage) <= _ROUNDING * np.abs(person).max()] = 0.0  # .3 - .2 and .2 - .1 are equal
        p_values[name] = _p_value(-np.sign(advantage), epsilon)
        advantages.append(float(np.mean(advantage >= 0)))
    if not p_values:
        return AltTest(float("nan"), float("nan"), {})
    wins = benjamini_yekutieli(np.array(list(p_values.values())), DISCOVERY_RATE)
    return AltTest(wins / len(p_values), float(np.mean(advantages)), p_values)


def _p_value(differences: FloatArray, epsilon: float) -> float:
    """P-value of a t-test that the mean is below epsilon; 0 or 1 where all differences are equal."""
    from scipy.stats import ttest_1samp

    if np.ptp(differences) == 0:
        return 0.0 if differences[0] < epsilon else 1.0
    return float(ttest_1samp(differences, epsilon, alternative="less").pvalue)


def benjamini_yekutieli(p_values: FloatArray, q: float) -> int:
    """Count the hypotheses that are rejected at a false discovery rate of q, under any dependence of the tests.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.001, 0.02, 0.6]), 0.05)
    1
    """
    from scipy.stats import false_discovery_control

    return int((false_discovery_control(p_values, method="by") <= q).sum())
