"""May a judge, or the panel's majority, replace people: within a margin, by how people agree with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.majority import add_tie_level, majority_answer
from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.ppi.humans import join_humans, match_columns
from voirdire.agreement.ppi.tasks import MAJORITY, MANY_LEVELS
from voirdire.agreement.replace.alt_test import (
    MEASURES,
    AltTest,
    LeftOut,
    Likeness,
    Measure,
    alt_test,
    leave_one_person_out,
    pair_coefficients,
)
from voirdire.agreement.replace.estimate import Mean, additional_answers_needed, estimate_mean
from voirdire.agreement.replace.people import read_people
from voirdire.errors import InputError, raise_problems
from voirdire.settings import PROB
from voirdire.tables.detect import read_table
from voirdire.tables.people import join_people_answers, split_people
from voirdire.tables.problems import Problems

if TYPE_CHECKING:
    import pandas as pd

YES, NO, UNSURE = "yes", "no", "not sure yet"
LEAST = 10  # units without which nothing is said
MEAN = "mean of the judges"

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
    """Compare how judges agree with people with how people agree with each other.

    Of each unit that two people answered at the least, one person after the other is left out: the judge's agreement
    with the others, less that person's, is the difference (see `voirdire.agreement.replace.alt_test`; of scores with
    many levels agreement is minus the root mean square distance). Its mean over all units of the table is estimated
    with what judges say of the units that nobody answered, see `voirdire.agreement.replace.estimate`. The verdict is
    "yes" where the whole interval lies above minus the margin, "no" where it lies below, else "not sure yet" with how
    many more units people must answer. Beside it stand omega and rho of the alternative annotator test.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        The judges' answers.
    humans : path or dataframe, or a list of them
        People's answers with a column ``person`` (or ``judge``), or a file for each; optionally ``probability``: in
        proportion to how likely a unit was to be asked, where not all were alike.
    people : sequence of str, optional
        Judges of the table who are people, instead of ``humans`` or beside them.
    margin : float
        By how much a judge may fall short of people.
    bar : float, optional
        Where each unit has one person's answer: how well people are known to agree with each other.
    epsilon : float
        Of the alternative annotator test.
    measure : "equality", "weighted" or "distance", optional
        Of agreement, see :mod:`.alt_test`. By default equality of votes and labels, weighted of scores with at most 20
        whole levels, distance of other scores.
    prob : float
        Coverage of the intervals.
    judges : sequence of str, optional
        Whom to look at; all and the panel by default.
    levels : sequence, optional
        The labels there may be.

    Returns
    -------
    pandas.DataFrame
        For each criterion and judge: criterion, judge, verdict, difference, low, high, more (units that people must
        answer more; missing where the table has too few), agreement (with people), people (with each other), n, units,
        weight (of the judges' predictions), omega, rho (of equal answers, or of distances of more than 20 levels, as in
        the paper), measure, kappa (weighted of numbers), correlation and error (mean absolute) of all pairs of a
        judge's answer and a person's, means (in one sentence), note. ``attrs["people"]`` lists people, each against the
        others: criterion, judge, agreement, n, kappa, correlation, error, means.

    Raises
    ------
    InputError
        A table or the request is wrong, or no unit is answered by people as often as is needed.

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

    _check_settings(margin, bar, epsilon, prob)
    if measure is not None and measure not in MEASURES:
        raise InputError(f"measure {measure!r} is none of {', '.join(MEASURES)}")
    table, answers, levels = split_people(table, people, levels)
    given = join_people_answers(humans, answers)
    if given is None:
        raise InputError(
            "say who are people: their answers (--humans FILE), or judges of the table (--people NAMES)"
        )
    read = read_table(table, levels=levels)
    asked, chances = read_people(given)
    persons = read_table(asked, levels=levels, name="humans")
    problems = Problems("humans")
    if persons.answer != read.answer:
        problems.stop(f"they have a column {persons.answer!r} and the judges' table has {read.answer!r}")
    for name in sorted(set(persons.judges) & set(read.judges)):
        problems.table(f"{name!r} is a judge of the table, too; rename one of them")
    persons = match_columns(persons, read, problems)
    problems.raise_any()
    strange = sorted(set(judges or ()) - set(read.judges))
    if strange:
        raise InputError(f"judge {strange[0]!r} is not in the table; its judges are {', '.join(read.judges)}")
    rows, of_people = [], []
    for ratings in ratings_by_criterion(
        join_humans(read, persons), repeats=None, levels=levels if read.answer == "score" else None
    ):
        chance = chances.of(ratings) if chances is not None else None
        for judge, panel in _judges_and_majority(ratings, read.judges, judges, measure):
            rows.append(
                _result_row(
                    ratings, judge, panel, persons.judges, chance, margin, bar, epsilon, measure, prob
                )
            )
        of_people += _people_rows(ratings, persons.judges, measure)
    if all(row["n"] == 0 for row in rows):
        raise InputError(_no_answers_sentence(bar))
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    found.attrs["people"] = of_people
    return found


def _check_settings(margin: float, bar: float | None, epsilon: float, prob: float) -> None:
    problems = []
    if not margin >= 0:
        problems.append(f"margin {margin} is negative; it is how much worse than people a judge may be")
    if bar is not None and not bar <= 1:
        problems.append(f"bar {bar} is above 1; it is how well people agree with each other")
    if not 0 <= epsilon < 1:
        problems.append(f"epsilon {epsilon} is not between 0 and 1")
    if not 0 < prob < 1:
        problems.append(f"prob {prob} is not between 0 and 1")
    raise_problems(problems)


def _no_answers_sentence(bar: float | None) -> str:
    if bar is not None:
        return "humans: nobody answered what the judges answered; name items as in the judges' table"
    return (
        "humans: no unit has the answers of two people, so how people agree with each other is not known; ask a "
        "second person, or say what it is (--bar 0.8, bar=0.8)"
    )


def _answers_and_likeness(ratings: Ratings, measure: Measure | None) -> tuple[FloatArray, Likeness]:
    """Answers as numbers, NaN without one, and how alike two are."""
    numbers = ratings.values is not None
    if measure not in (None, "equality") and not numbers:
        raise InputError(f"measure {measure!r} is of numbers, and the answers are words; leave it out")
    if measure is None:
        few = len(ratings.levels) <= MANY_LEVELS
        measure = "equality" if not (numbers and ratings.ordered) else "weighted" if few else "distance"
    answers = (
        ratings.numbers() if numbers else np.where(ratings.codes >= 0, ratings.codes, np.nan).astype(float)
    )
    return answers, Likeness(measure, float(np.nanmax(answers) - np.nanmin(answers)) or 1.0)


def _judges_and_majority(
    ratings: Ratings, known: Sequence[str], judges: Sequence[str] | None, measure: Measure | None
) -> list[tuple[str, FloatArray]]:
    """Whom to look at, with their answers; of several judges also what they say together."""
    ratings = add_tie_level(ratings)
    answers, likeness = _answers_and_likeness(ratings, measure)
    own = [ratings.judges.index(name) for name in known]
    found = [
        (name, answers[:, at])
        for name, at in zip(known, own, strict=True)
        if judges is None or name in judges
    ]
    if judges is None and len(known) > 2:
        if likeness.measure != "equality":
            there = ~np.isnan(answers[:, own])
            number = there.sum(axis=1)
            total = np.where(there, answers[:, own], 0.0).sum(axis=1)
            average = np.where(number > 0, total / np.maximum(number, 1), np.nan)
            worth = np.empty(0) if ratings.values is None else ratings.values
            whole = likeness.measure == "weighted" and bool(np.all(worth == np.round(worth)))
            found.append((MEAN, np.asarray(np.round(average) if whole else average, dtype=float)))
        else:
            most = majority_answer(replace(ratings.select(known), values=None))
            levels = np.arange(len(ratings.levels), dtype=float) if ratings.values is None else ratings.values
            found.append((MAJORITY, np.where(most >= 0, levels[most], np.nan)))
    return found


def _result_row(
    ratings: Ratings,
    judge: str,
    said: FloatArray,
    people: Sequence[str],
    chance: FloatArray | None,
    margin: float,
    bar: float | None,
    epsilon: float,
    measure: Measure | None,
    prob: float,
) -> dict[str, Any]:
    ratings = add_tie_level(ratings)
    answers, likeness = _answers_and_likeness(ratings, measure)
    there = ~np.isnan(said)
    of_people = answers[:, [ratings.judges.index(name) for name in people]][there]
    rest = answers[:, [at for at, name in enumerate(ratings.judges) if name not in people and name != judge]][
        there
    ]
    said = said[there]
    if bar is None:
        found = leave_one_person_out(said, of_people, likeness)
        with_people, among = found.judge_agreement, found.of_people
        exact = Likeness("distance" if likeness.measure == "distance" else "equality")
        test = alt_test(leave_one_person_out(said, of_people, exact), people, epsilon=epsilon)
    else:
        with_people, among = _agreement_with_people(said, of_people, likeness), np.full(len(said), bar)
        test = AltTest(float("nan"), float("nan"), {})
    y = np.where(np.isnan(with_people), np.nan, with_people - among)
    drawn = None if chance is None else chance[there]
    now = estimate_mean(
        y, _predicted_difference(said, rest, likeness, bar), drawn, prob, likeness.difference_span
    )
    # shown beside each other: plain weighted means over the units that people answered
    of_judge, of_them = (
        estimate_mean(np.where(np.isnan(y), np.nan, one), None, drawn, prob, likeness.difference_span).value
        for one in (with_people, among)
    )
    verdict = _verdict_of_mean(now, margin)
    pairs = pair_coefficients(said, of_people, likeness, ratings.values is not None)
    return {
        "criterion": ratings.criterion,
        "judge": judge,
        "verdict": verdict,
        "difference": now.value,
        "low": now.low,
        "high": now.high,
        "more": additional_answers_needed(now, margin, prob) if now.n >= LEAST else LEAST - now.n,
        "agreement": of_judge,
        "people": of_them,
        "n": now.n,
        "units": now.units,
        "weight": now.weight,
        "omega": test.omega,
        "rho": test.rho,
        "measure": likeness.measure,
        **asdict(pairs),
        "means": _verdict_sentence(judge, ratings.criterion, verdict, of_judge, of_them, now, margin),
        "note": _note_on_row(now, test, bar),
    }


def _people_rows(ratings: Ratings, people: Sequence[str], measure: Measure | None) -> list[dict[str, Any]]:
    """A row for each person who answered what others did: agreement with these."""
    ratings = add_tie_level(ratings)
    answers, likeness = _answers_and_likeness(ratings, measure)
    of_people, rows = answers[:, [ratings.judges.index(name) for name in people]], []
    for at, name in enumerate(people):
        rest = np.delete(of_people, at, axis=1)
        alike = likeness.mean_likeness(of_people[:, at], rest, ~np.isnan(rest))
        n = int((~np.isnan(alike)).sum())
        if not n:
            continue
        value = float(np.nanmean(alike))
        pairs = pair_coefficients(of_people[:, at], rest, likeness, ratings.values is not None)
        row: dict[str, Any] = {"criterion": ratings.criterion, "judge": name, "agreement": value, "n": n}
        row |= {key: None if np.isnan(one) else one for key, one in asdict(pairs).items()}
        under = f" by {ratings.criterion}" if ratings.criterion else ""
        rows.append(row | {"means": f"{name} agrees with the other people {value:.2f}{under}."})
    return rows


def _verdict_sentence(
    judge: str, criterion: str | None, verdict: str, agrees: float, people: float, now: Mean, margin: float
) -> str:
    """A row in one sentence."""
    under = f" by {criterion}" if criterion else ""
    what = {
        YES: f"may replace a person{under}: it falls short by less than {margin:g}",
        NO: f"may not replace a person{under}: it falls short by more than {margin:g}",
        UNSURE: f"may or may not replace a person{under} within {margin:g}, which these answers do not settle",
    }[verdict]
    return f"{judge} {what} (agreement {agrees:.2f}, people {people:.2f}, {now.n:,} units)."


def _verdict_of_mean(now: Mean, margin: float) -> str:
    if now.n < LEAST or np.isnan(now.error):
        return UNSURE
    return YES if now.low > -margin else NO if now.high < -margin else UNSURE


def _note_on_row(now: Mean, test: AltTest, bar: float | None) -> str:
    notes = []
    if now.n < LEAST:
        notes.append(f"only {now.n} units have people's answers; {LEAST} are the least")
    if bar is None and not test.p_values:
        notes.append("no omega: nobody answered 30 units that others answered too")
    return "; ".join(notes)


def _agreement_with_people(said: FloatArray, people: FloatArray, likeness: Likeness) -> FloatArray:
    """Agreement with people of each unit, without anybody left out."""
    return likeness.mean_likeness(said, people, ~np.isnan(people))


def _predicted_difference(
    said: FloatArray, rest: FloatArray, likeness: Likeness, bar: float | None
) -> FloatArray | None:
    """The same difference with the other judges in people's place, which predicts it; None where there are too few."""
    if bar is not None:
        f = _agreement_with_people(said, rest, likeness) if rest.shape[1] else np.full(len(said), np.nan)
    elif rest.shape[1] > 1:
        of: LeftOut = leave_one_person_out(said, rest, likeness)
        f = of.judge_agreement - of.of_people
    else:
        return None
    there = ~np.isnan(f)
    return np.where(there, f, f[there].mean()) if there.any() else None
