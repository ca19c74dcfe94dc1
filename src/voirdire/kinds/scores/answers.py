"""Answers of a fit of scores with their predictive probabilities; see :mod:`voirdire.kinds.answers`.

Answers are single scores, votes on criteria and human scores. Repeated scores of a judge for an item under a criterion
are one answer. Probabilities are held-out (of scores that the model has not seen) or leave-one-out (of each score given
all others).

Predictions with tastes are means over draws: the mode of a judge's taste for an item that it was not seen to score is
zero, as if judges had no tastes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.answers import Answers, Calibration, PredictionScores, repeated_indices, score_predictions
from voirdire.kinds.criteria_votes import criteria_vote_answers
from voirdire.kinds.scores import baseline, continuous, ordinal
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.layout import distinct_combinations
from voirdire.kinds.scores.predict import log_score_density, score_probabilities
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.model.specs import Model
from voirdire.model.terms.score_probabilities import NODE_COUNT
from voirdire.model.terms.term import Values
from voirdire.tables.scores import Scores
from voirdire.typing import Bools, Floats, Ints

PREDICTION_DRAWS = 100
DENSITY_DRAWS = 1000  # of a continuous scale, on which densities are narrower than the spread of unseen perceptions


def score_held_out(
    model: Model,
    table: Scores,
    held_out: Bools,
    levels: Sequence[object] | None = None,
    families: dict[str, str] | None = None,
) -> PredictionScores:
    """Return the log probability of held-out scores, and True where the score was the most probable one.

    On a continuous scale no score is the most probable: the second value is NaN.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = score_form_module(model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {model.name} gives no probability of single scores; leave it out")
    problem = encode_scores(model, table, levels=levels, families=families)
    names = problem.codes(table)
    options = {"levels": problem.scale.levels, "repeats": problem.density.repeats, "complete": False}
    options["families"] = families
    options["contexts"] = problem.density.contexts > 0
    seen = encode_scores(model, table.subset(~held_out), **options)  # type: ignore[arg-type]
    draws = _prediction_values(seen)
    held_out_codes = {name: code[held_out] for name, code in names.items()}
    if "context" in held_out_codes:  # -1: a new context
        is_known = np.isin(held_out_codes["context"], names["context"][~held_out])
        held_out_codes["context"] = np.where(is_known, held_out_codes["context"], -1)
    # the problem of the whole table knows the group of a judge whose scores are all held out
    rows = tuple(held_out_codes.values())
    if form is continuous:
        logs = [log_score_density(problem, values, table.score[held_out], rows) for values in draws]
        log = np.logaddexp.reduce(logs) - np.log(len(logs))
        return log, np.full(len(log), np.nan)
    probability = np.mean([score_probabilities(problem, values, rows) for values in draws], axis=0)
    return score_predictions(probability, np.searchsorted(problem.scale.levels, table.score[held_out]))


def _prediction_values(problem: ScoresProblem) -> list[Values]:
    """Parameter values from which held-out scores are predicted: the mode's, or draws."""
    mode, density = find_mode(problem), problem.density
    if not isinstance(mode, LatentMode):
        return [density.values(mode.x, np)]
    count = DENSITY_DRAWS if problem.in_points else PREDICTION_DRAWS
    return [density.values(x, np) for x in draw_about_mode(mode, np.random.default_rng(0), count)]


MAX_PROBABILITIES = 20_000_000  # approximate number of probabilities that calibration computes


def score_calibration(problem: ScoresProblem, posterior: Posterior) -> Calibration:
    """Calibration of P(score > level | all other scores), shape (cells, levels - 1).

    Every score counts once for each level but the highest. Probabilities given the score itself would lie off the
    diagonal where items have few scores; without draws (``map``) there are no others.
    """
    counts, probability = leave_one_out_probabilities(problem, thinned_draws(posterior, _affordable_draws(problem)))
    total = counts.sum(axis=1, keepdims=True)
    hits = total - counts.cumsum(axis=1)[:, :-1]
    return Calibration(1.0 - probability.cumsum(axis=1)[:, :-1], hits, np.broadcast_to(total, hits.shape))


def leave_one_out_probabilities(problem: ScoresProblem, draws: list[Values]) -> tuple[Floats, Floats]:
    """Counts of the levels in each cell, and the levels' probabilities given the scores of all other cells.

    A cell is a combination of judge, criterion, item and context. With y the scores of the cell and p_s(.) their
    probability under draw s, draws are weighted by 1 / p_s(y), as if y had not been seen (Gelfand, Dey and Chang 1992).
    Weights are at most their mean times the square root of the number of draws (Ionides 2008, JCGS 17).

    Returns
    -------
    counts, probability : array, shape (cells, levels)
    """
    table, part = problem.table, problem.data["scores"]
    row_codes = problem.codes(table)
    all_codes = {name: np.concatenate([code, part[name]]) for name, code in row_codes.items()}
    combinations, cell = distinct_combinations(all_codes)
    row, answers, codes = (cell[: table.rows], cell[table.rows :], tuple(combinations.values()))
    cells = codes[0]
    counts = np.zeros((len(cells), len(problem.scale.levels)))
    np.add.at(counts, (row, problem.answer_codes(table)), 1.0)
    log = np.empty((len(draws), len(cells)))
    for number, values in enumerate(draws):
        answer, weight = problem.density.log_parts(values, problem.data, np)[0]
        log[number] = np.bincount(answers, answer * weight, len(cells))
    draw_weight = np.exp(log.min(axis=0) - log)  # the largest is 1
    draw_weight = np.minimum(draw_weight, draw_weight.mean(axis=0) * np.sqrt(len(draws)))
    draw_weight /= draw_weight.sum(axis=0)
    probability = np.zeros_like(counts)
    for share, values in zip(draw_weight, draws, strict=True):
        probability += share[:, None] * score_probabilities(problem, values, codes)
    return counts, probability


def _affordable_draws(problem: ScoresProblem) -> int:
    """Number of draws, 100 to 1,000, that takes seconds; each repeated score costs a quadrature rule."""
    numbers_per_draw = (
        problem.table.rows * len(problem.scale.levels) * (NODE_COUNT if problem.density.integrates_repeats else 1)
    )
    return int(np.clip(MAX_PROBABILITIES // numbers_per_draw, 100, 1000))


ITEM_SCORES, PEOPLE_SCORES = "scores", "scores of people"


def score_answers(problem: ScoresProblem) -> list[Answers]:
    """List the answers of a problem; repeated scores of a judge for an item under a criterion give their mean.

    Empty for baselines, which pool scores.
    """
    density, part = problem.density, problem.data["scores"]
    if problem.form is baseline:
        return []
    nodes = 200 if density.integrates_repeats else 20

    def log_probability(values: Values) -> Floats:
        return np.asarray(density.form.score_log_densities(density, values, problem.data, np)[0])

    answer_row = repeated_indices(problem.times(part))
    score, about = _given_scores(problem, part)[answer_row], _answer_names(problem, part, answer_row)
    answers = [Answers(ITEM_SCORES, log_probability, answer_row, score, about, nodes * len(part["weight"]))]
    if density.voted:
        answers.append(criteria_vote_answers(problem, problem.times(problem.data["criteria"])))
    if density.anchors:
        people = problem.data["anchors"]

        def log_people(values: Values) -> Floats:
            return np.asarray(density.people_log_probabilities(values, problem.data, np)[0][0])

        answer_row = repeated_indices(people["weight"])
        about = _answer_names(problem, people, answer_row) | {"judge": np.full(len(answer_row), "people")}
        score = _given_scores(problem, people)[answer_row]
        answers.append(Answers(PEOPLE_SCORES, log_people, answer_row, score, about, 20 * len(people["weight"])))
    return answers


def _given_scores(problem: ScoresProblem, part: dict[str, Floats]) -> Floats:
    """Scores in the units of the table, shape (rows,)."""
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
    origin, unit = problem.unit
    return np.asarray(origin + unit * mean)


def _answer_names(problem: ScoresProblem, part: dict[str, Ints], rows: Ints) -> dict[str, np.ndarray]:
    names = {"judge": problem.judges, "criterion": problem.criteria, "item": problem.items}
    columns = {name: np.array(levels)[part[name]][rows] for name, levels in names.items() if name in part}
    if "context" in part and problem.density.contexts:
        columns["context"] = np.array(problem.table.contexts)[part["context"]][rows]
    return columns
