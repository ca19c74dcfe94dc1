"""Scores one by one, votes on criteria and people's scores; what a judge scores repeatedly is one answer.

Probability of scores that a model has not seen; see :mod:`voirdire.kinds.answers`.

Where judges have tastes it is the mean over draws: of an item that a judge was not seen to score the mode of its taste
is zero, as if judges had none.

Probability of each score by all the others, from a fit of scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.answers import Answers, Calibration, Seen, repeated_indices, score_predictions
from voirdire.kinds.criteria_votes import criteria_vote_answers
from voirdire.kinds.scores import baseline, continuous, ordinal
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.kinds.scores.response_probabilities import log_score_density, score_probabilities
from voirdire.model.specs import Model
from voirdire.model.terms.cumulative import NODE_COUNT
from voirdire.model.terms.reliability import Values
from voirdire.tables.scores import Scores
from voirdire.typing import Bools, Floats, Ints

DRAWS = 100
DENSITY_DRAWS = (
    1000  # of a density, which is sharper than the spread of what a judge was not seen to make of items
)


def score_held_out(
    model: Model,
    table: Scores,
    here: Bools,
    levels: Sequence[object] | None = None,
    families: dict[str, str] | None = None,
) -> Seen:
    """Log probability of some scores, of a fit that has not seen them, and whether each was the most probable.

    On a continuous scale no score is the most probable: NaN.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = score_form_module(model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {model.name} gives no probability of single scores; leave it out")
    whole = encode_scores(model, table, levels=levels, families=families)
    names = whole.codes(table)
    how = {"levels": whole.scale.levels, "repeats": whole.density.repeats, "complete": False}
    how["families"] = families
    how["contexts"] = whole.density.contexts > 0
    seen = encode_scores(model, table.subset(~here), **how)  # type: ignore[arg-type]
    every = _prediction_values(seen)
    asked = {name: code[here] for name, code in names.items()}
    if "context" in asked:  # one that was not seen is any
        known = np.isin(asked["context"], names["context"][~here])
        asked["context"] = np.where(known, asked["context"], -1)
    # asked of the whole table's problem, which knows the group of a judge whose scores are all held out
    if form is continuous:
        logs = [log_score_density(whole, one, table.score[here], tuple(asked.values())) for one in every]
        log = np.logaddexp.reduce(logs) - np.log(len(logs))
        return log, np.full(len(log), np.nan)
    chance = np.mean([score_probabilities(whole, one, tuple(asked.values())) for one in every], axis=0)
    return score_predictions(chance, np.searchsorted(whole.scale.levels, table.score[here]))


def _prediction_values(problem: ScoresProblem) -> list[Values]:
    """Values by which other scores are predicted: those at the mode, or draws."""
    mode, density = find_mode(problem), problem.density
    if not isinstance(mode, LatentMode):
        return [density.values(mode.x, np)]
    count = DENSITY_DRAWS if problem.in_points else DRAWS
    return [density.values(x, np) for x in draw_about_mode(mode, np.random.default_rng(0), count)]


WORK = 20_000_000  # probabilities that calibration computes, about


def score_calibration(problem: ScoresProblem, posterior: Posterior) -> Calibration:
    """Scores by the probability of exceeding a level that the other scores give, shape (cells, levels - 1).

    Every score counts once for each level but the highest: P(score > level | all other scores). What a fit says of the
    very scores that it has seen would lie off the diagonal wherever items have few; that is all that there is where it
    has no draws (``map``).
    """
    counts, chance = leave_one_out_probabilities(
        problem, thinned_draws(posterior, _affordable_draws(problem))
    )
    total = counts.sum(axis=1, keepdims=True)
    hits = total - counts.cumsum(axis=1)[:, :-1]
    return Calibration(1.0 - chance.cumsum(axis=1)[:, :-1], hits, np.broadcast_to(total, hits.shape))


def leave_one_out_probabilities(problem: ScoresProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """Counts of the levels that each judge gave to an item by a criterion, and their probability by all other scores.

    With y what the judge scored there and p_s(.) under draw s, the draws are weighted by 1 / p_s(y), as if that had not
    been seen (Gelfand, Dey and Chang 1992); no weight is above the square root of their number times their mean
    (Ionides 2008, JCGS 17).

    Returns
    -------
    counts, chance : array, shape (combinations of judge, criterion, item and context, levels)
    """
    table, part = problem.table, problem.data["scores"]
    about = problem.codes(table)
    found, at = distinct_combinations(
        {name: np.concatenate([code, part[name]]) for name, code in about.items()}
    )
    row, place, codes = at[: table.rows], at[table.rows :], tuple(found.values())
    cells = codes[0]
    counts = np.zeros((len(cells), len(problem.scale.levels)))
    np.add.at(counts, (row, problem.given(table)), 1.0)
    log = np.empty((len(draws), len(cells)))
    for number, values in enumerate(draws):
        answer, weight = problem.density.log_parts(values, problem.data, np)[0]
        log[number] = np.bincount(place, answer * weight, len(cells))
    own = np.exp(log.min(axis=0) - log)  # the largest is 1
    own = np.minimum(own, own.mean(axis=0) * np.sqrt(len(draws)))
    own /= own.sum(axis=0)
    chance = np.zeros_like(counts)
    for share, values in zip(own, draws, strict=True):
        chance += share[:, None] * score_probabilities(problem, values, codes)
    return counts, chance


def _affordable_draws(problem: ScoresProblem) -> int:
    """Draws, 100 to 1,000, that take seconds: repeated scores cost a rule of points each."""
    each = (
        problem.table.rows
        * len(problem.scale.levels)
        * (NODE_COUNT if problem.density.integrates_repeats else 1)
    )
    return int(np.clip(WORK // each, 100, 1000))


ITEMS, PEOPLE = "scores", "scores of people"


def score_answers(problem: ScoresProblem) -> list[Answers]:
    """Every score; of repeated ones the mean of the judge's for the item under the criterion.

    None where a model pools scores before it looks at them.
    """
    density, part = problem.density, problem.data["scores"]
    if problem.form is baseline:
        return []
    nodes = 200 if density.integrates_repeats else 20

    def log_probability(values: Values) -> Floats:
        return np.asarray(density.form.log_part(density, values, problem.data, np)[0])

    which = repeated_indices(problem.times(part))
    given, about = _given_scores(problem, part)[which], _answer_names(problem, part, which)
    found = [Answers(ITEMS, log_probability, which, given, about, nodes * len(part["weight"]))]
    if density.voted:
        found.append(criteria_vote_answers(problem, problem.times(problem.data["criteria"])))
    if density.anchors:
        people = problem.data["anchors"]

        def log_people(values: Values) -> Floats:
            return np.asarray(density.people_log_probabilities(values, problem.data, np)[0][0])

        which = repeated_indices(people["weight"])
        about = _answer_names(problem, people, which) | {"judge": np.full(len(which), "people")}
        given = _given_scores(problem, people)[which]
        found.append(Answers(PEOPLE, log_people, which, given, about, 20 * len(people["weight"])))
    return found


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
