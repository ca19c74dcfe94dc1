"""The verb `may_replace`: test that a judge, or the panel's majority, agrees with people as well as people do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer
from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.ppi.humans import add_missing_contexts, join_humans
from voirdire.agreement.ppi.tasks import MAJORITY, MAX_MAJORITY_LEVELS
from voirdire.agreement.replace.alt_test import (
    MEASURES,
    AltTest,
    LeftOut,
    Likeness,
    Measure,
    alt_test,
    leave_one_person_out,
    mean_without_missing,
    pair_coefficients,
)
from voirdire.agreement.replace.estimate import (
    Mean,
    additional_answers_needed,
    choose_judges,
    estimate_mean,
    read_people,
    required_people,
)
from voirdire.errors import InputError, raise_problems
from voirdire.settings import PROB, is_number
from voirdire.tables.detect import read_table
from voirdire.tables.people import split_people
from voirdire.tables.problems import Problems

if TYPE_CHECKING:
    import pandas as pd

YES, NO, UNSURE = "yes", "no", "not sure yet"
MIN_UNITS = 10  # fewest units for a verdict
JUDGES_MEAN = "mean of the judges"

COLUMNS = (
    *("criterion", "judge", "verdict", "difference", "low", "high", "more"),
    *("agreement", "people", "n", "units", "weight", "omega", "rho"),
    *("measure", "kappa", "correlation", "error", "means", "note"),
)


def may_replace(
    table: object,
    humans: object = None,
    *,
    people: Sequence[str] | str = (),
    margin: float = 0.05,
    bar: float | None = None,
    epsilon: float = 0.2,
    measure: Measure | None = None,
    prob: float = PROB,
    judges: Sequence[str] | None = None,
    levels: Sequence[object] | None = None,
) -> pd.DataFrame:
    """Compare judges' agreement with people with people's agreement with each other.

    On each unit that at least two people answered, one person after the other is left out. The difference is the
    judge's agreement with the other people minus the person's agreement with them (see
    `voirdire.agreement.replace.alt_test`; for scores with many levels, agreement is minus the root mean square
    distance). Its mean over all units of the table is estimated with the help of the judges' answers to the other
    units, see `voirdire.agreement.replace.estimate`; units of one context may be dependent. The verdict is "yes" if
    the whole interval lies above minus the margin, "no" if it lies below, else "not sure yet", with the number of
    further units to answer. The result also has omega and rho of the alternative annotator test.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        The judges' answers.
    humans : path or dataframe, or a list of them
        People's answers with a column ``person`` (or ``judge``), or a file for each person. An optional column
        ``probability`` is proportional to the probability that a unit was asked, if not equal for all units.
    people : sequence of str, optional
        Judges of the table who are people, instead of or in addition to ``humans``.
    margin : float
        Largest acceptable shortfall of a judge's agreement against people's.
    bar : float, optional
        Known agreement of people with each other, for units with one person's answer each.
    epsilon : float
        epsilon of the alternative annotator test.
    measure : "equality", "weighted" or "distance", optional
        Measure of agreement, see :mod:`.alt_test`. By default equality for votes and labels, weighted for scores with
        at most 20 levels, distance for other scores.
    prob : float
        Coverage of the intervals.
    judges : sequence of str, optional
        The judges to examine; by default all, and the panel.
    levels : sequence, optional
        All possible labels.

    Returns
    -------
    pandas.DataFrame
        One row per criterion and judge: criterion, judge, verdict, difference, low, high, more (further units to
        answer; missing where the table has too few), agreement (of the judge with people), people (their agreement
        with each other), n, units, weight (of the judges' predictions), omega, rho (with measure "distance" by
        distances, else by equality, as in the paper), measure, kappa (weighted for numbers), correlation and error
        (mean absolute) over all pairs of a judge's answer and a person's, means (a sentence), note.
        ``attrs["people"]`` lists each person against the others: criterion, judge, agreement, n, kappa, correlation,
        error, means.

    Raises
    ------
    InputError
        If a table or the request is not valid, or no unit has enough people's answers.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 300)
    >>> def said(who, right):
    ...     answers = np.where(rng.random(300) < right, truth, 1 - truth)
    ...     return pd.DataFrame({"judge": who, "item": range(300), "label": np.array(["no", "yes"])[answers]})
    >>> people = pd.concat([said(name, 0.8) for name in "abc"])
    >>> may_replace(pd.concat([said("good", 0.95), said("coin", 0.5)]), people)[["judge", "verdict"]].values.tolist()
    [['coin', 'no'], ['good', 'yes']]
    """
    import pandas as pd

    settings = _Settings(margin, bar, epsilon, prob)
    settings.check()
    if measure is not None and measure not in MEASURES:
        raise InputError(f"measure {measure!r} is none of {', '.join(MEASURES)}")
    table, answers, levels = split_people(table, people, levels)
    people_answers = required_people(humans, answers)
    judge_table = read_table(table, levels=levels)
    people_frame, probabilities = read_people(people_answers)
    persons = read_table(people_frame, levels=levels, name="humans")
    problems = Problems("humans")
    if persons.answer != judge_table.answer:
        problems.stop(f"they have a column {persons.answer!r} and the judges' table has {judge_table.answer!r}")
    for name in sorted(set(persons.judges) & set(judge_table.judges)):
        problems.table(f"{name!r} is a judge of the table, too; rename one of them")
    persons = add_missing_contexts(persons, judge_table, problems)
    problems.raise_any()
    judges = choose_judges(judges, judge_table.judges)
    rows, people_rows = [], []
    declared = levels if judge_table.answer == "score" else None
    matched = ratings_by_criterion(join_humans(judge_table, persons), repeats=None, levels=declared)
    if phases := [phase for phase in dict.fromkeys(ratings.phase for ratings in matched) if phase is not None][1:]:
        raise InputError(
            f"replace would mix phases; keep the rows of one, such as the last (--where {quote('phase=' + phases[-1])})"
        )
    for ratings in matched:
        panel = _Panel.from_ratings(add_tie_level(ratings), judge_table.judges, persons.judges, measure)
        probability = probabilities.of_units(ratings) if probabilities is not None else None
        rows += [
            _result_row(panel, *named_answers, probability, settings)
            for named_answers in panel.judges_and_majority(judges)
        ]
        people_rows += _people_rows(panel)
    if all(row["n"] == 0 for row in rows):
        raise InputError(_no_answers_sentence(bar))
    result = pd.DataFrame(rows, columns=list(COLUMNS))
    result.attrs["people"] = people_rows
    return result


class _Settings(NamedTuple):
    """Settings: the margin, the known agreement of people, the epsilon of the test, and the coverage."""

    margin: float
    bar: float | None
    epsilon: float
    prob: float

    def check(self) -> None:
        """Raise `InputError` unless all settings are in range."""
        margin, bar, epsilon, prob = self
        problems = []
        if not (is_number(margin) and margin >= 0):
            problems.append(f"margin {margin!r} is not 0 or more; it is how much worse than people a judge may be")
        if bar is not None and not (is_number(bar) and bar <= 1):
            problems.append(f"bar {bar!r} is not at most 1; it is how well people agree with each other")
        if not (is_number(epsilon) and 0 <= epsilon < 1):
            problems.append(f"epsilon {epsilon!r} is not between 0 and 1")
        if not (is_number(prob) and 0 < prob < 1):
            problems.append(f"prob {prob!r} is not between 0 and 1")
        raise_problems(problems)


def _no_answers_sentence(bar: float | None) -> str:
    if bar is not None:
        return "humans: nobody answered what the judges answered; name items as in the judges' table"
    return (
        "humans: no unit has the answers of two people, so how people agree with each other is not known; ask a "
        "second person, or say what it is (--bar 0.8, bar=0.8)"
    )


@dataclass(frozen=True, eq=False)
class _Panel:
    """Answers of judges and people as numbers, shape (units, judges), NaN where missing, and their likeness."""

    ratings: Ratings
    judges: Sequence[str]
    people: Sequence[str]
    answers: FloatArray
    likeness: Likeness

    @classmethod
    def from_ratings(
        cls, ratings: Ratings, judges: Sequence[str], people: Sequence[str], measure: Measure | None
    ) -> _Panel:
        """Build from ratings with a level for ties; the default measure is the one that suits the ratings."""
        numbers = ratings.values is not None
        if measure not in (None, "equality") and not numbers:
            raise InputError(f"measure {measure!r} is of numbers, and the answers are words; leave it out")
        if measure is None:
            few_levels = len(ratings.levels) <= MAX_MAJORITY_LEVELS
            measure = "equality" if not (numbers and ratings.ordered) else "weighted" if few_levels else "distance"
        codes = ratings.codes
        answers = ratings.numeric_answers() if numbers else np.where(codes >= 0, codes, np.nan).astype(float)
        score_range = float(np.nanmax(answers) - np.nanmin(answers)) or 1.0
        return cls(ratings, judges, people, answers, Likeness(measure, score_range))

    def answers_of(self, names: Sequence[str]) -> FloatArray:
        """Answers of the named judges or people, shape (units, names)."""
        return self.answers[:, [self.ratings.judges.index(name) for name in names]]

    def agreement_coefficients(self, answer: FloatArray, others: FloatArray) -> dict[str, float]:
        """Coefficients of answers with those of others, by name."""
        return asdict(pair_coefficients(answer, others, self.likeness, self.ratings.values is not None))

    def judges_and_majority(self, chosen: Sequence[str] | None) -> list[tuple[str, FloatArray]]:
        """Judges to compare, with their answers; with three or more judges also their majority or mean."""
        answers, values = self.answers_of(self.judges), self.ratings.values
        columns = [
            (name, column)
            for name, column in zip(self.judges, answers.T, strict=True)
            if chosen is None or name in chosen
        ]
        if chosen is not None or len(self.judges) < 3:
            return columns
        if self.likeness.measure != "equality":
            level_values = np.empty(0) if values is None else values
            whole_numbers = self.likeness.measure == "weighted" and bool(np.all(level_values == np.round(level_values)))
            return [
                *columns,
                (
                    JUDGES_MEAN,
                    np.round(mean_without_missing(answers)) if whole_numbers else mean_without_missing(answers),
                ),
            ]
        majority = majority_answer(replace(self.ratings.select_judges(self.judges), values=None))
        levels = np.arange(len(self.ratings.levels), dtype=float) if values is None else values
        return [*columns, (MAJORITY, np.where(majority >= 0, levels[majority], np.nan))]


def _result_row(
    panel: _Panel, judge: str, judge_answers: FloatArray, chance: FloatArray | None, settings: _Settings
) -> dict[str, Any]:
    likeness, margin, bar = panel.likeness, settings.margin, settings.bar
    answered = ~np.isnan(judge_answers)
    others = [name for name in panel.ratings.judges if name not in panel.people and name != judge]
    judge_answers = judge_answers[answered]
    people_answers, other_answers = (panel.answers_of(names)[answered] for names in (panel.people, others))
    if bar is None:
        left_out = leave_one_person_out(judge_answers, people_answers, likeness)
        judge_agreement, people_agreement = left_out.judge_agreement, left_out.of_people
        exact = Likeness("distance" if likeness.measure == "distance" else "equality")
        test = alt_test(
            leave_one_person_out(judge_answers, people_answers, exact), panel.people, epsilon=settings.epsilon
        )
    else:
        judge_agreement = _agreement_with_people(judge_answers, people_answers, likeness)
        people_agreement = np.full(len(judge_answers), bar)
        test = AltTest(float("nan"), float("nan"), {})
    y = np.where(np.isnan(judge_agreement), np.nan, judge_agreement - people_agreement)
    contexts = panel.ratings.contexts
    groups = None if contexts is None else contexts[answered]
    estimate_settings = (None if chance is None else chance[answered], settings.prob, likeness.difference_span, groups)
    estimate = estimate_mean(y, _predicted_difference(judge_answers, other_answers, likeness, bar), *estimate_settings)
    # shown together: weighted means over the units that people answered
    agreement, people = (
        estimate_mean(np.where(np.isnan(y), np.nan, values), None, *estimate_settings).value
        for values in (judge_agreement, people_agreement)
    )
    criterion, verdict = panel.ratings.criterion, _verdict_of_mean(estimate, margin)
    more_units = (
        additional_answers_needed(estimate, margin, settings.prob)
        if estimate.n >= MIN_UNITS
        else MIN_UNITS - estimate.n
    )
    about = {
        "criterion": criterion,
        "judge": judge,
        "verdict": verdict,
        "difference": estimate.value,
        "more": more_units,
    }
    counts = {name: getattr(estimate, name) for name in ("low", "high", "n", "units", "weight")}
    agreements = {"agreement": agreement, "people": people, "omega": test.omega, "rho": test.rho}
    sentence = _verdict_sentence(judge, criterion, verdict, agreement, people, estimate, margin)
    texts = {"measure": likeness.measure, "means": sentence, "note": _note_on_row(estimate, test, bar)}
    return about | counts | agreements | panel.agreement_coefficients(judge_answers, people_answers) | texts


def _people_rows(panel: _Panel) -> list[dict[str, Any]]:
    """Build a row for each person who shares units with other people: agreement with these."""
    answers, criterion, rows = panel.answers_of(panel.people), panel.ratings.criterion, []
    for column, name in enumerate(panel.people):
        own_answers, other_answers = answers[:, column], np.delete(answers, column, axis=1)
        agreements = _agreement_with_people(own_answers, other_answers, panel.likeness)
        n = int((~np.isnan(agreements)).sum())
        if not n:
            continue
        value = float(np.nanmean(agreements))
        row: dict[str, Any] = {"criterion": criterion, "judge": name, "agreement": value, "n": n}
        row |= {
            key: None if np.isnan(coefficient) else coefficient
            for key, coefficient in panel.agreement_coefficients(own_answers, other_answers).items()
        }
        suffix = f" by {criterion}" if criterion else ""
        rows.append(row | {"means": f"{name} agrees with the other people {value:.2f}{suffix}."})
    return rows


def _verdict_sentence(
    judge: str, criterion: str | None, verdict: str, agrees: float, people: float, now: Mean, margin: float
) -> str:
    """Describe a row in one sentence."""
    suffix = f" by {criterion}" if criterion else ""
    text = {
        YES: f"may replace a person{suffix}: it falls short by less than {margin:g}",
        NO: f"may not replace a person{suffix}: it falls short by more than {margin:g}",
        UNSURE: f"may or may not replace a person{suffix} within {margin:g}, which these answers do not settle",
    }[verdict]
    return f"{judge} {text} (agreement {agrees:.2f}, people {people:.2f}, {now.n:,} units)."


def _verdict_of_mean(now: Mean, margin: float) -> str:
    if now.n < MIN_UNITS or np.isnan(now.error):
        return UNSURE
    return YES if now.low > -margin else NO if now.high < -margin else UNSURE


def _note_on_row(now: Mean, test: AltTest, bar: float | None) -> str:
    notes = []
    if now.n < MIN_UNITS:
        notes.append(f"only {now.n} units have people's answers; {MIN_UNITS} are the least")
    if bar is None and not test.p_values:
        notes.append("no omega: nobody answered 30 units that others answered too")
    return "; ".join(notes)


def _agreement_with_people(judge_answers: FloatArray, people: FloatArray, likeness: Likeness) -> FloatArray:
    """Agreement with people on each unit, with nobody left out."""
    return likeness.mean_likeness(judge_answers, people, ~np.isnan(people))


def _predicted_difference(
    judge_answers: FloatArray, other_answers: FloatArray, likeness: Likeness, bar: float | None
) -> FloatArray | None:
    """Predict the difference by that against the other judges instead of people; None where there are too few."""
    if bar is not None:
        f = (
            _agreement_with_people(judge_answers, other_answers, likeness)
            if other_answers.shape[1]
            else np.full(len(judge_answers), np.nan)
        )
    elif other_answers.shape[1] > 1:
        left_out: LeftOut = leave_one_person_out(judge_answers, other_answers, likeness)
        f = left_out.judge_agreement - left_out.of_people
    else:
        return None
    known = ~np.isnan(f)
    return np.where(known, f, f[known].mean()) if known.any() else None
