"""Scores one by one, votes on criteria and people's scores; what a judge scores repeatedly is one answer."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.answers import Answers, repeated_indices
from voirdire.kinds.scores import baseline
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

ITEMS, CRITERIA, PEOPLE = "scores", "votes on criteria", "scores of people"


def score_answers(problem: ScoresProblem) -> list[Answers]:
    """Every score; of repeated ones the mean of the judge's for the item under the criterion.

    None where a model pools scores before it looks at them.
    """
    density, part = problem.density, problem.data["scores"]
    if form_of(problem.model) is baseline:
        return []
    weight = np.asarray(part["weight"], dtype=float)
    if problem.answer_weight is not None:
        weight = weight / problem.answer_weight[part["judge"]]
    nodes = 200 if density.repeats else 20

    def log_probability(values: Values) -> Floats:
        return np.asarray(density.form.log_part(density, values, problem.data, np)[0])

    which = repeated_indices(weight)
    found = [
        Answers(
            ITEMS,
            log_probability,
            which,
            _given_scores(problem, part)[which],
            _answer_names(problem, part, which),
            nodes * len(weight),
        )
    ]
    if density.voted:
        found.append(_on_criteria(problem))
    if density.anchors:
        people = problem.data["anchors"]

        def log_people(values: Values) -> Floats:
            return np.asarray(density.people_parts(values, problem.data, np)[0][0])

        which = repeated_indices(people["weight"])
        about = _answer_names(problem, people, which) | {"judge": np.full(len(which), "people")}
        given = _given_scores(problem, people)[which]
        found.append(Answers(PEOPLE, log_people, which, given, about, 20 * len(people["weight"])))
    return found


def _on_criteria(problem: ScoresProblem) -> Answers:
    votes = problem.data["criteria"]
    weight = np.asarray(votes["weight"], dtype=float)
    if problem.answer_weight is not None:
        weight = weight / problem.answer_weight[votes["judge"]]

    def log_probability(values: Values) -> Floats:
        return np.asarray(problem.density.log_parts(values, problem.data, np)[1][0])

    which = repeated_indices(weight)
    judges, criteria = np.array(problem.judges), np.array(problem.criteria)
    about = {"judge": judges[votes["judge"]][which]}
    about |= {side: criteria[votes[side]][which] for side in ("first", "second")}
    return Answers(CRITERIA, log_probability, which, which * 0, about, 20 * len(weight))


def _given_scores(problem: ScoresProblem, part: dict[str, Floats]) -> Floats:
    """Scores on their own scale, shape (rows,)."""
    scale = problem.scale
    levels = np.array(scale.levels, dtype=float)
    if "level" in part:
        return np.asarray(levels[part["level"]])
    if "counts" in part:
        return np.asarray(part["counts"] @ levels / part["counts"].sum(axis=1))
    if "score" in part:
        mean = part["score"]
    else:
        number = part["inside"] + part["at_low"] + part["at_high"]
        mean = (part["inside"] * part["mean"] + 0.5 * (part["at_high"] - part["at_low"])) / number
    zero, one = problem.unit
    return np.asarray(zero + one * mean)


def _answer_names(problem: ScoresProblem, part: dict[str, Ints], which: Ints) -> dict[str, np.ndarray]:
    names = {"judge": problem.judges, "criterion": problem.criteria, "item": problem.items}
    found = {name: np.array(of)[part[name]][which] for name, of in names.items() if name in part}
    if "context" in part and problem.density.contexts:
        found["context"] = np.array(problem.table.contexts)[part["context"]][which]
    return found
