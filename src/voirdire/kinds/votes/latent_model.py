"""Latent Gaussian model of votes: the votes of a judge on a question depend on four sums of latent values.

The sums are the perceived difference of the two items, the log-odds of the judge's two coins (or the logarithm of its
sharpness, and its shift; 0 where it has neither), log nu and the log scale of ties. Judges are independent given
the values that all judges share; contexts are independent given strengths and judges. The blocks of the matrix of
second derivatives are judges or contexts, whichever makes its factor cheaper.

People's answers are further cells: among those of the judges, or after them with a formula of their own.

Where judges have coins, people are a judge with one coin. With several criteria, people may compare items as a whole.
The difference is then d = g + sum_c softmax(w)_c d_c: g is the difference under all criteria alike (0 in models
without it), and d_c the further difference under criterion c. d is not a sum of latent values, but g, every d_c and
every w_c are. They are the predictors of such a cell, with the log-odds of people's coin and log nu of ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.latent_gaussian.answers import Answers, CellAnswers
from voirdire.infer.latent_gaussian.hessian_pattern import distinct_codes
from voirdire.infer.latent_gaussian.joined_answers import AnsweredSums, AnswerKind, SeveralAnswers
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.panel import build_latent_model, centre_zero_sum
from voirdire.kinds.votes.layout import VotesLayout, criteria_terms, pair_codes, people_terms, vote_terms
from voirdire.model.density import Data
from voirdire.model.design import Cells, Design, LatentPositions, Term, build_design, stack_designs
from voirdire.model.family.family import LogProbabilities
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.family.two_coin import DIFFERENCE, FIRST, TIE, TIE_SCALE, two_coin_family
from voirdire.model.terms.person import person_log_probabilities, softmax_shares
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

FIRST_PEOPLE_PREDICTOR = TIE_SCALE + 1  # first predictor that only people's cells have


def _concerns_whole_items(density: VotesLayout, part: dict[str, Any]) -> bool:
    """True if people's answers are about items as a whole (either all of them are, or none)."""
    return bool((part["criterion"] >= density.criteria).any())


def has_people_formula(density: VotesLayout, part: dict[str, Any]) -> bool:
    """True if the formula of people's answers is not that of judges with coins."""
    return not density.coin_names or _concerns_whole_items(density, part)


def cells_of_people(density: VotesLayout, part: dict[str, Any]) -> tuple[Cells, Floats]:
    """Make cells of people's answers, and their counts, shape (cells, 4): first, second, ties, decided.

    Cells about items as a whole have no criterion.
    """
    overall, counts = _concerns_whole_items(density, part), part["counts"]
    names = [] if overall else ["criterion", "context"]
    factors: dict[str, Any] = {name: part[name] for name in names if name in part}
    cells = Cells(len(counts), factors, (part["first"], part["second"]))
    decided = counts[:, 0] + counts[:, 1]
    return cells, np.stack([counts[:, 0], counts[:, 1], counts[:, 2], decided], axis=1)


def separate_people_cells(
    density: VotesLayout, part: dict[str, Any], places: LatentPositions, design: Design, answers: Answers
) -> tuple[Design, SeveralAnswers]:
    """Separate people's cells, which are the last, into a kind of answers with its own formula.

    Parameters
    ----------
    density : VotesLayout
    part : dict
        People's answers, ``data["anchors"]``.
    places : LatentPositions
    design : Design
        Design of all cells.
    answers : Answers
        Answers of all cells, with the formula of judges.
    """
    index, coefficients, predictor = design.index, design.coefficients, design.predictor
    judge_cells = len(index) - len(part["criterion"])
    counts, tie_predictors = answers.counts, (TIE, TIE_SCALE)[: density.ties + density.has_tie_scale]
    criteria = density.criteria if _concerns_whole_items(density, part) else 0
    if criteria:
        people_design = _people_design(density, part, places)
        padding = np.full((judge_cells, len(people_design.predictor)), places.size)  # no values for judges' cells
        index = np.concatenate([index, np.concatenate([padding, people_design.index])], axis=1)
        coefficients = np.concatenate(
            [coefficients, np.concatenate([0.0 * padding, people_design.coefficients])], axis=1
        )
        predictor = np.concatenate([predictor, people_design.predictor])
    predictors = (
        DIFFERENCE,
        FIRST,
        *tie_predictors,
        *range(FIRST_PEOPLE_PREDICTOR, FIRST_PEOPLE_PREDICTOR + 2 * criteria),
    )
    of_people = Answers(_log_probabilities(criteria, len(tie_predictors)), counts[..., judge_cells:])
    of_judges = answers.with_counts(counts[..., :judge_cells])
    kinds = (
        AnswerKind((*range(TIE), *tie_predictors), judge_cells, of_judges),
        AnswerKind(predictors, len(index) - judge_cells, of_people),
    )
    return Design(index, coefficients, predictor), SeveralAnswers(kinds)


def _people_design(density: VotesLayout, part: dict[str, Any], places: LatentPositions) -> Design:
    """Build the design of the sums d_c and w_c.

    d_c consists of strengths and, if people were asked in contexts, of the deviations of strengths there.
    """
    criteria = range(density.criteria)
    terms = [
        Term(name, factors, FIRST_PEOPLE_PREDICTOR + c, fixed_levels=(("criterion", c),))
        for c in criteria
        for name, factors in (
            ("strength", ("criterion", "item")),
            ("context_strength", ("criterion", "item", "context")),
        )
    ]
    weight_start = FIRST_PEOPLE_PREDICTOR + density.criteria
    terms += [Term("weight", ("criterion",), weight_start + c, fixed_levels=(("criterion", c),)) for c in criteria]
    factors = {"context": part["context"]} if "context" in part else {}
    cells = Cells(len(part["criterion"]), factors, (part["first"], part["second"]))
    return build_design(terms, cells, places)


def _log_probabilities(criteria: int, tie_predictors: int) -> LogProbabilities:
    """Make the function of log probabilities of first and second and, with ties, of a tie and of no tie.

    ``criteria`` is the number of criteria for answers about items as a whole, else 0; ``tie_predictors`` is the number
    of predictors of ties: log nu, and the log scale of ties.
    """
    shared = 2 + tie_predictors

    def log_answer_parts(sums: Any, xp: Any) -> list[tuple[Any, ...]]:
        d = sums[..., 0, :]
        if criteria:
            shares = softmax_shares(sums[..., shared + criteria :, :], -2, xp)
            d = d + (shares * sums[..., shared : shared + criteria, :]).sum(axis=-2)
        tie = [sums[..., 2 + p, :] for p in range(tie_predictors)]
        return [*person_log_probabilities(d, sums[..., 1, :], tie, xp)]

    return log_answer_parts


WELL_IDENTIFIED = {"judge"}  # factors whose values many votes identify


def sums_of_votes(density: VotesLayout, data: Data, places: LatentPositions) -> AnsweredSums:
    """Make the sums of latent values, at ``places``, on which votes depend."""
    tables = [
        (terms(density), *_vote_cells(density, data[table]))
        for table, terms in (("votes", vote_terms), ("criteria", criteria_terms))
        if table in data
    ]
    people = data["anchors"] if density.anchors else None
    separate_people = people is not None and has_people_formula(density, people)
    if people is not None:
        tables.append((people_terms(density, one_coin=separate_people), *cells_of_people(density, people)))
    design, learned = (
        stack_designs([build_design(terms, cells, layout) for terms, cells, _ in tables])
        for layout in (places, places.of_learned)
    )
    counts = np.concatenate([counts for _, _, counts in tables])
    family = (two_coin_family if density.coin_names else sharpness_family)(density.ties, density.has_tie_scale)
    outcomes = counts.T.reshape(2, 2, -1)[: 1 + density.ties]
    judge_answers = Answers(family.log_probabilities, outcomes, family.closed_form, family.name)
    answers: CellAnswers = judge_answers
    if people is not None and separate_people:
        design, answers = separate_people_cells(density, people, places, design, judge_answers)
    design = design.used
    predictors = max(len(family.predictors), 1 + int(design.predictor.max()))
    return AnsweredSums(design, answers, predictors, learned)


def build_votes_model(density: VotesLayout, data: Data) -> LatentGaussianModel:
    """Build the latent Gaussian model of a density and its tables.

    Raises
    ------
    InputError
        The factor would take too much memory.
    """
    places = LatentPositions(density)
    model = build_latent_model(
        density,
        sums_of_votes(density, data, places),
        [places.block("judge"), places.block("context")],
        "name a model without contexts, such as crowd-bt-position",
        well_identified=WELL_IDENTIFIED,
        to_latent=_subtract_general_strength,
        to_density=lambda values: centre_zero_sum(density, _add_general_strength(values)),
    )
    if "pinned" not in data:
        return model
    fixed_values, is_fixed = data["pinned"]["x"], data["pinned"]["held"] > 0
    names = {name for name, part in density.parameter_slices.items() if is_fixed[part].all()}
    return model.with_fixed(lambda name: name in names, *model.latent(fixed_values))


def _vote_cells(density: VotesLayout, part: dict[str, Any]) -> tuple[Cells, Floats]:
    """Make cells of distinct (judge, pair), and their counts, shape (cells, 4): first, second, ties, decided."""
    pairs = max(len(part["pair_first"]), 1)
    decided_keys = part["judge"] * pairs + part["pair"]
    tied = part["tie_judge"] * pairs + part["tie_pair"] if density.ties else decided_keys[:0]
    all_keys = np.concatenate([decided_keys, tied])
    cells = distinct_codes(all_keys, int(all_keys.max(initial=-1)) + 1)
    counts = np.zeros((len(cells), 4))
    cell = np.searchsorted(cells, decided_keys)
    for outcome in (0, 1):
        chosen = part["outcome"] == outcome
        counts[:, outcome] = np.bincount(cell[chosen], part["weight"][chosen], len(cells))
    if density.ties:
        cell = np.searchsorted(cells, tied)
        counts[:, 2] = np.bincount(cell, part["tied"], len(cells))
        counts[:, 3] = np.bincount(cell, part["decided"], len(cells))
    judge, pair = cells // pairs, cells % pairs
    about = pair_codes(part)
    factors = {name: code[pair] for name, code in about.items() if name not in ("first", "second", "numbers")}
    numbers = about["numbers"][:, pair] if "numbers" in about else None
    items = (part["pair_first"][pair], part["pair_second"][pair])
    return Cells(len(cells), {"judge": judge, **factors}, items, numbers), counts


def _subtract_general_strength(values: Values) -> Values:
    """Subtract the general strengths (under all criteria alike) from the strengths."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] - values["general"][..., None, :]}


def _add_general_strength(values: Values) -> Values:
    """Add the general strengths (under all criteria alike) to the strengths."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] + values["general"][..., None, :]}
