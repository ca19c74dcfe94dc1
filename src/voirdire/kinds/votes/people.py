"""People's answers as cells of a field, with those of the judges or, of a kind of their own, after them.

Where judges have coins people are a judge of one coin, but of items as a whole under several criteria: these differ by
d = g + sum_c softmax(w)_c d_c, d_c that under criterion c less g, what they differ by under all criteria alike (0 in
models without). It is no sum of latent values, but g, every d_c and every w_c is: these are the predictors of such a
cell, with the log-odds of people's coin and log nu of ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.nested.answers import Answers, Chances
from voirdire.infer.nested.latent import Places
from voirdire.infer.nested.several import Kind, SeveralAnswers
from voirdire.kinds.votes.by_hand import DIFFERENCE, FIRST, TIE
from voirdire.kinds.votes.layout import VotesLayout
from voirdire.model.terms.person import said, shares_of
from voirdire.typing import Floats, Ints

AFTER = TIE + 1  # the first of the predictors that only such cells have
Cells = tuple[Ints, Floats, Ints, Any]  # places and coefficients of all cells, their predictors, the answers


def _about_whole(density: VotesLayout, part: dict[str, Any]) -> bool:
    """Whether people's answers are about items as a whole: all of them are, or none."""
    return bool((part["criterion"] >= density.criteria).any())


def are_apart(density: VotesLayout, part: dict[str, Any]) -> bool:
    """Whether people's answers have a formula of their own, which is not that of judges with coins."""
    return not density.coins or _about_whole(density, part)


def cells_of_people(
    density: VotesLayout, part: dict[str, Any], places: Places
) -> tuple[Ints, Floats, Floats]:
    """Places of what people's answers depend on, with coefficients, as those of a judge's; and counts of the answers.

    Without tastes, slopes or tie habits of its own; of items as a whole what all criteria share alone.
    """
    criterion, counts = part["criterion"], part["counts"]
    none = np.full(len(criterion), places.size)
    sides = part["first"], part["second"]
    strengths, contexts = [none, none], [none, none]
    if not _about_whole(density, part):
        strengths = [places.of("strength", criterion, side) for side in sides]
        if "context" in part:
            contexts = [places.of("context_strength", criterion, side, part["context"]) for side in sides]
    general = [places.of("general", side) for side in sides]
    coin = np.full(len(criterion), places.start["anchor"])
    coins = [coin, none if are_apart(density, part) else coin]
    tie = np.full(len(criterion), places.start["tie"]) if density.ties else none
    rest = [none] * (5 + 2 * density.covariates)
    index = np.stack([*strengths, *general, *contexts, none, none, *coins, tie, *rest], axis=1)
    signs = np.array([1.0, -1.0] * 4 + [1.0] * (8 + 2 * density.covariates))
    decided = counts[:, 0] + counts[:, 1]
    outcomes = np.stack([counts[:, 0], counts[:, 1], counts[:, 2], decided], axis=1)
    return index, np.where(index < places.size, signs, 0.0), outcomes


def set_apart(density: VotesLayout, part: dict[str, Any], places: Places, all_cells: Cells) -> Cells:
    """Cells of which the last are people's, these as a kind of their own.

    Parameters
    ----------
    density : VotesLayout
    part : dict
        People's answers, ``data["anchors"]``.
    places : Places
    all_cells : tuple
        Places and coefficients, shape (cells, width), predictors, shape (width,), and the answers of all cells as if
        they were judges'.
    """
    index, coefficients, predictor, answers = all_cells
    before = len(index) - len(part["criterion"])
    counts, ties = answers.counts, density.ties
    criteria = density.criteria if _about_whole(density, part) else 0
    if criteria:
        more, signs, its = _sums(density, part, places)
        nothing = np.full((before, len(its)), places.size)  # of judges' cells
        index = np.concatenate([index, np.concatenate([nothing, more])], axis=1)
        coefficients = np.concatenate([coefficients, np.concatenate([0.0 * nothing, signs])], axis=1)
        predictor = np.concatenate([predictor, its])
    own = (DIFFERENCE, FIRST, *([TIE] if ties else []), *range(AFTER, AFTER + 2 * criteria))
    kinds = (
        Kind(tuple(range(TIE + ties)), before, answers.of(counts[..., :before])),
        Kind(own, len(index) - before, Answers(_chances(criteria, ties), counts[..., before:])),
    )
    return index, coefficients, predictor, SeveralAnswers(kinds)


def _sums(density: VotesLayout, part: dict[str, Any], places: Places) -> tuple[Ints, Floats, Ints]:
    """Places of what each d_c and each w_c is the sum of, with coefficients, shape (cells, width), and predictors.

    Of d_c the strengths and, where people were asked in contexts, what items are worth more there.
    """
    cells, criteria = len(part["criterion"]), range(density.criteria)
    columns: list[tuple[Ints, float, int]] = []
    for c in criteria:
        criterion = np.full(cells, c)
        for sign, side in ((1.0, part["first"]), (-1.0, part["second"])):
            columns.append((places.of("strength", criterion, side), sign, AFTER + c))
            if "context" in part:
                there = places.of("context_strength", criterion, side, part["context"])
                columns.append((there, sign, AFTER + c))
    after = AFTER + density.criteria
    columns += [(places.of("weight", np.full(cells, c)), 1.0, after + c) for c in criteria]
    index, signs, predictor = zip(*columns, strict=True)
    found = np.stack(index, axis=1)
    return found, np.where(found < places.size, np.array(signs), 0.0), np.array(predictor)


def _chances(criteria: int, ties: bool) -> Chances:
    """Log probabilities of first and second, and of a tie and none where there are ties; of the whole by criteria."""
    before = 2 + ties

    def chances(sums: Any, xp: Any) -> list[tuple[Any, ...]]:
        d = sums[..., 0, :]
        if criteria:
            shares = shares_of(sums[..., before + criteria :, :], -2, xp)
            d = d + (shares * sums[..., before : before + criteria, :]).sum(axis=-2)
        return [*said(d, sums[..., 1, :], sums[..., 2, :] if ties else None, xp)]

    return chances
