"""Selection of the panel's answers to accept, at a guaranteed agreement with people; the others go to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.ppi.rows import MAX_STANDARD_ERRORS
from voirdire.decide.answer_rows import rows_of
from voirdire.decide.audit import read_people_table
from voirdire.decide.selective import Part, answers_needed, candidate_parts, guaranteed_parts
from voirdire.errors import raise_problems
from voirdire.kinds.answers import Claims
from voirdire.kinds.columns import Columns, to_data_frame, to_records
from voirdire.kinds.fit import Fit
from voirdire.settings import PROB, is_number, share_problems
from voirdire.tables.output_library import convert_to_library
from voirdire.tables.problems import Problems
from voirdire.typing import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

ACCEPT, ASK, KNOWN = "accept", "ask", "known"


@dataclass(frozen=True, eq=False)
class Escalation:
    """Answers to accept, and those to ask people about.

    Attributes
    ----------
    columns : dict of array
        Columns that identify each answer, ``answer``, ``confidence``, and ``do``: accept, ask, or known where people
        answered.
    error, prob : float
        With probability ``prob``, at most the share ``error`` of the accepted answers differs from people's.
    part : Part or None
        The accepted answers: their lowest confidence, how many of them people answered, and how many of these differ.
        None where nothing is accepted.
    possible : int
        Number of answers that could be accepted, including known ones.
    known : int
        Number of people's answers that were used.
    needed : int or None
        Where nothing is accepted: approximate number of people's answers needed; None where no number suffices.
    cost : dict or None
        Expected costs, in the unit of the prices: ``advised``, ``people`` (people answer all), ``panel`` (people answer
        none; only where people answered some).
    notes : tuple of str
    """

    columns: Columns
    error: float
    prob: float
    part: Part | None
    possible: int
    known: int
    needed: int | None
    cost: dict[str, float] | None
    notes: tuple[str, ...]
    frames: str = "pandas"

    @property
    def items(self) -> pd.DataFrame:
        """The answers as a table."""
        return convert_to_library(to_data_frame(self.columns), self.frames)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of answers to accept, to ask about, and known."""
        return {name: int((self.columns["do"] == name).sum()) for name in (ACCEPT, ASK, KNOWN)}

    def sentence(self) -> str:
        """Describe the recommended action in words."""
        counts, part = self.counts, self.part
        if counts[ACCEPT] + counts[ASK] == 0:
            return "People answered all of them: there is nothing to accept or to ask."
        if part is not None:
            return (
                f"Accept {counts[ACCEPT]:,} of {counts[ACCEPT] + counts[ASK]:,} answers, those of confidence "
                f"{part.threshold:.3g} and more: people agree with at least {1 - self.error:.0%} of them (with "
                f"probability {self.prob:.0%}; they differ in {part.wrong:,} of the {part.known:,} that are known). "
                f"Ask people about the other {counts[ASK]:,}."
            )
        if self.possible:
            return (
                f"Ask people about all {counts[ASK]:,}: that costs less than the errors of the {self.possible:,} that "
                f"could be accepted at an error of {self.error:.0%}."
            )
        remedy = (
            "no number of people's answers is known to change that: allow a larger error, or better judges"
            if self.needed is None
            else f"about {self.needed:,} known answers of a random sample would do, and {self.known:,} are known"
        )
        return f"Nothing can be accepted at an error of {self.error:.0%}: {remedy}."

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict, as ``voirdire escalate --json``."""
        part = {} if self.part is None else self.part._asdict()
        return {
            "error": self.error,
            "prob": self.prob,
            **self.counts,
            "threshold": part.get("threshold"),
            "checked": part.get("known", 0),
            "wrong": part.get("wrong", 0),
            "of_people": self.known,
            "possible": self.possible,
            "needed": self.needed,
            "cost": self.cost,
            "notes": list(self.notes),
            "items": to_records(self.columns),
        }


def escalate(
    fit: Fit,
    people: object,
    *,
    error: float = 0.1,
    prob: float = PROB,
    cost_human: float | None = None,
    cost_error: float = 1.0,
    tolerance: float | None = None,
) -> Escalation:
    """Choose which answers of a fit to accept and which to send to people.

    It accepts as many answers as the guarantee allows, see :mod:`voirdire.decide.selective`; with a price of people's
    answers, the subset of these with the lowest expected cost.

    Parameters
    ----------
    fit : Fit
        Fit of labels (a class for every item), votes (the better of every pair), or scores.
    people : path or dataframe, or a list of them
        People's answers to a random sample of the fit's answers, in the columns of the judges' table. Answers that the
        fit used itself (``anchors``) are not counted as checks.
    error : float
        Largest share of the accepted answers that differ from people's. A tie among people counts as a difference.
    prob : float
        Probability that this holds.
    cost_human, cost_error : float
        Price of one human answer, and of one error among the accepted answers.
    tolerance : float
        Required for scores: largest distance in points from people's mean score that counts as agreement.

    Raises
    ------
    InputError
        A share is not between 0 and 1, or a price is negative; people's table is wrong, of another kind, or about
        something that no judge answered; the fit is of rankings, or of votes and scores.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> labels = pd.DataFrame({"judge": ["a", "b"] * 200, "item": [n // 2 for n in range(400)], "label": "yes"})
    >>> labels.loc[labels["item"] % 2 == 0, "label"] = "no"
    >>> known = labels.drop_duplicates("item").head(40)[["item", "label"]]
    >>> escalate(fit(labels, method="map"), known).counts
    {'accept': 160, 'ask': 0, 'known': 40}
    """
    check_escalation(error, prob, cost_human, cost_error)
    claims = fit.kind.claims(fit.problem, fit.posterior)
    claims = claims if fit.anchored is None else claims.with_pair_predictions(fit.anchored.pairs)
    right = _agrees_with_people(fit, claims, people, tolerance)
    free = ~claims.taught
    confidence, checked = claims.confidence[free], right[free]
    candidates = candidate_parts(confidence, checked, error, prob)
    guaranteed = guaranteed_parts(candidates, error, prob)
    known = ~np.isnan(checked)
    chosen = guaranteed[-1] if guaranteed else None
    cost = None
    if cost_human is not None:
        costs = [_expected_cost(part, known, cost_human, cost_error) for part in guaranteed]
        everyone = cost_human * float((~known).sum())
        chosen = guaranteed[int(np.argmin(costs))] if costs and min(costs) < everyone else None
        cost = {"advised": min([everyone, *costs]), "people": everyone}
        if known.any():
            cost["panel"] = cost_error * float((checked[known] == 0.0).mean() * (~known).sum())
    accepted = np.zeros(len(right), dtype=bool) if chosen is None else claims.confidence >= chosen.threshold
    action = np.where(claims.taught | ~np.isnan(right), KNOWN, np.where(accepted, ACCEPT, ASK))
    about = {
        name: values for name, values in claims.about.items() if name != "criterion" or len(set(values.tolist())) > 1
    }
    answers = _readable_answers(claims)
    order = np.argsort(-claims.confidence, kind="stable")
    columns = about | {"answer": answers, "confidence": claims.confidence, "do": action.astype(object)}
    more_needed = (
        None if guaranteed else answers_needed(candidates[0] if candidates else None, int(known.sum()), error, prob)
    )
    return Escalation(
        {name: values[order] for name, values in columns.items()},
        error,
        prob,
        chosen,
        guaranteed[-1].size if guaranteed else 0,
        int(known.sum()),
        more_needed if more_needed is None or more_needed < len(known) else None,
        cost,
        (*_sampling_notes(confidence, known), *_notes_on_criteria(claims, free, known)),
        fit.frames,
    )


def check_escalation(error: float, prob: float, cost_human: float | None, cost_error: float) -> None:
    """Refuse shares and prices that are invalid in :func:`escalate`.

    Raises
    ------
    InputError
    """
    problems = share_problems(error=(error, 0.1), prob=(prob, PROB))
    problems += [
        f"{name} {value!r} is no price; give a number from 0 on"
        for name, value in (("cost_human", cost_human), ("cost_error", cost_error))
        if value is not None and not (is_number(value) and value >= 0)
    ]
    raise_problems(problems)


def _agrees_with_people(fit: Fit, claims: Claims, people: object, tolerance: float | None) -> Floats:
    """1 where people agree with the fit's answer, 0 where not, NaN where they were not asked."""
    table = fit.kind.table_of(fit.problem)
    levels = table.labels if getattr(table, "declared", False) else None
    persons = fit.kind.answers_to_fit(read_people_table(people, table, levels))
    rows = rows_of(persons)
    names = rows.subject_columns()
    claimed = zip(*(column.tolist() for column in claims.about.values()), strict=True)
    place = {unit: index for index, unit in enumerate(claimed)}
    asked_units = zip(*(names[name].tolist() for name in claims.about), strict=True)
    unit = np.array([place.get(key, -1) for key in asked_units])
    problems = Problems("humans")
    if (unit < 0).any():
        missing = (np.flatnonzero(unit < 0) + 1).tolist()
        problems.rows(missing, "no judge answered this; leave it out, or have judges answer it")
    problems.raise_any()
    return rows.agreement_with_claims(unit, claims.answer, tolerance)


def _expected_cost(part: Part, known: np.ndarray[Any, Any], human: float, mistake: float) -> float:
    """Expected cost of accepting a part; of its unknown answers the share (k + 1/2) / (n + 1) is wrong."""
    accepted = part.size - part.known
    wrong = (part.wrong + 0.5) / (part.known + 1.0)
    return human * (float((~known).sum()) - accepted) + mistake * wrong * accepted


def _readable_answers(claims: Claims) -> np.ndarray[Any, Any]:
    """Answers for display: for comparisons the better item."""
    if "first" not in claims.about:
        return claims.answer
    return np.where(claims.answer == "first", claims.about["first"], claims.about["second"]).astype(object)


def _sampling_notes(confidence: Floats, known: np.ndarray[Any, Any]) -> tuple[str, ...]:
    """Warn where people answered items of higher, or lower, confidence than the rest."""
    if known.sum() < 2 or (~known).sum() < 2 or np.ptp(confidence) == 0.0:
        return ()
    gap = confidence[known].mean() - confidence[~known].mean()
    distance = gap / (confidence.std() * np.sqrt(1.0 / known.sum() + 1.0 / (~known).sum()))
    if abs(distance) <= MAX_STANDARD_ERRORS:
        return ()
    return (
        f"People were asked about {'surer' if distance > 0 else 'less sure'} answers than the rest ({distance:+.1f} "
        "standard errors): these are no random sample, and nothing is guaranteed.",
    )


def _notes_on_criteria(claims: Claims, free: Bools, known: Bools) -> tuple[str, ...]:
    """Warn where people answered all criteria of each item: such answers are not independent draws."""
    if "criterion" not in claims.about:
        return ()
    about = zip(*(values[free].tolist() for name, values in claims.about.items() if name != "criterion"), strict=True)
    place: dict[tuple[str, ...], int] = {}
    unit = np.array([place.setdefault(key, len(place)) for key in about], dtype=np.int64)
    size, answered = np.bincount(unit), np.bincount(unit, known)
    is_asked = answered > 0
    if is_asked.all() or (answered[is_asked] < size[is_asked]).any() or size[is_asked].max(initial=1) == 1:
        return ()
    return (
        f"People answered {answered.sum():,.0f} questions about {is_asked.sum():,} items, each under all of its "
        "criteria: errors about one item may be correlated, and the guarantee is for answers that are drawn one by "
        "one. Take one criterion at a time (--where criterion=NAME).",
    )
