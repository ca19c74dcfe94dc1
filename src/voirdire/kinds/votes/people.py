"""People's answers as cells of a field, with those of the judges or, of a kind of their own, after them.

Where judges have coins people are a judge of one coin, but of items as a whole under several criteria: these differ by
d = g + sum_c softmax(w)_c d_c, d_c that under criterion c less g, what they differ by under all criteria alike (0 in
models without). It is no sum of latent values, but g, every d_c and every w_c is: these are the predictors of such a
cell, with the log-odds of people's coin and log nu of ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.nested.answers import Answers
from voirdire.infer.nested.several import Kind, SeveralAnswers
from voirdire.kinds.votes.layout import VotesLayout
from voirdire.model.design import Cells, Design, Places, Term, build_design
from voirdire.model.family.family import Chances
from voirdire.model.family.two_coin_gradient import DIFFERENCE, FIRST, TIE
from voirdire.model.terms.person import person_log_probabilities, softmax_shares
from voirdire.typing import Floats

AFTER = TIE + 1  # the first of the predictors that only such cells have


def _about_whole(density: VotesLayout, part: dict[str, Any]) -> bool:
    """True if people's answers are about items as a whole: all of them are, or none."""
    return bool((part["criterion"] >= density.criteria).any())


def are_apart(density: VotesLayout, part: dict[str, Any]) -> bool:
    """True if people's answers have a formula of their own, which is not that of judges with coins."""
    return not density.coin_names or _about_whole(density, part)


def cells_of_people(density: VotesLayout, part: dict[str, Any]) -> tuple[Cells, Floats]:
    """Cells that people's answers are about, and counts of them; of items as a whole without a criterion."""
    whole, counts = _about_whole(density, part), part["counts"]
    names = [] if whole else ["criterion", "context"]
    factors: dict[str, Any] = {name: part[name] for name in names if name in part}
    cells = Cells(len(counts), factors, (part["first"], part["second"]))
    decided = counts[:, 0] + counts[:, 1]
    return cells, np.stack([counts[:, 0], counts[:, 1], counts[:, 2], decided], axis=1)


def separate_people_cells(
    density: VotesLayout, part: dict[str, Any], places: Places, found: Design, answers: Answers
) -> tuple[Design, SeveralAnswers]:
    """Cells of which the last are people's, these as a kind of their own.

    Parameters
    ----------
    density : VotesLayout
    part : dict
        People's answers, ``data["anchors"]``.
    places : Places
    found : Design
        Of all cells, and
    answers : Answers
        their answers, as if all were judges'.
    """
    index, coefficients, predictor = found.index, found.coefficients, found.predictor
    before = len(index) - len(part["criterion"])
    counts, ties = answers.counts, density.ties
    criteria = density.criteria if _about_whole(density, part) else 0
    if criteria:
        more = _people_design(density, part, places)
        nothing = np.full((before, len(more.predictor)), places.size)  # of judges' cells
        index = np.concatenate([index, np.concatenate([nothing, more.index])], axis=1)
        coefficients = np.concatenate(
            [coefficients, np.concatenate([0.0 * nothing, more.coefficients])], axis=1
        )
        predictor = np.concatenate([predictor, more.predictor])
    own = (DIFFERENCE, FIRST, *([TIE] if ties else []), *range(AFTER, AFTER + 2 * criteria))
    kinds = (
        Kind(tuple(range(TIE + ties)), before, answers.with_counts(counts[..., :before])),
        Kind(own, len(index) - before, Answers(_log_probabilities(criteria, ties), counts[..., before:])),
    )
    return Design(index, coefficients, predictor), SeveralAnswers(kinds)


def _people_design(density: VotesLayout, part: dict[str, Any], places: Places) -> Design:
    """Design of the sums that make up each d_c and each w_c.

    Of d_c the strengths and, where people were asked in contexts, what items are worth more there.
    """
    criteria = range(density.criteria)
    terms = [
        Term(name, factors, AFTER + c, at=(("criterion", c),))
        for c in criteria
        for name, factors in (
            ("strength", ("criterion", "item")),
            ("context_strength", ("criterion", "item", "context")),
        )
    ]
    after = AFTER + density.criteria
    terms += [Term("weight", ("criterion",), after + c, at=(("criterion", c),)) for c in criteria]
    factors = {"context": part["context"]} if "context" in part else {}
    cells = Cells(len(part["criterion"]), factors, (part["first"], part["second"]))
    return build_design(terms, cells, places)


def _log_probabilities(criteria: int, ties: bool) -> Chances:
    """Log probabilities of first and second, and of a tie and none where there are ties; of the whole by criteria."""
    before = 2 + ties

    def log_answer_parts(sums: Any, xp: Any) -> list[tuple[Any, ...]]:
        d = sums[..., 0, :]
        if criteria:
            shares = softmax_shares(sums[..., before + criteria :, :], -2, xp)
            d = d + (shares * sums[..., before : before + criteria, :]).sum(axis=-2)
        return [*person_log_probabilities(d, sums[..., 1, :], sums[..., 2, :] if ties else None, xp)]

    return log_answer_parts
