"""A model of votes as a field: votes of one judge on one question depend on four sums of latent values.

The sums are the difference of the two items as the judge perceives it, the log-odds of its two coins (or the logarithm
of its sharpness and its shift, 0 where it has neither), and log nu of its ties. Given what all judges share, judges are
independent; given strengths and judges, contexts are: whichever makes the cheaper factor are the blocks of the matrix
of second derivatives.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.nested.answers import Answers, ByHand, CellAnswers
from voirdire.infer.nested.division import division_of
from voirdire.infer.nested.field import Field
from voirdire.infer.nested.latent import Places, flat_of, groups_of, latent_of
from voirdire.infer.nested.pattern import COMMON, Pattern
from voirdire.kinds.votes.by_hand import DIFFERENCE, FIRST, SECOND, TIE, log_likelihood
from voirdire.kinds.votes.curved import bend, curved, information, log_likelihoods, slopes
from voirdire.kinds.votes.layout import VotesLayout
from voirdire.kinds.votes.people import are_apart, cells_of_people, set_apart
from voirdire.model.density import Data
from voirdire.model.terms.reliability import Observations, Values, answered, flipped
from voirdire.model.terms.ties import log_tie_parts
from voirdire.typing import Floats, Ints

TOLD = {"judge", "covariate"}  # of what many votes tell
SHARPNESS = "log_discrimination", "shift"  # what a judge without coins does to differences, in their place
LARGEST = 4e8  # numbers that a factor may take
BY_HAND = ByHand(log_likelihood, log_likelihoods, slopes, curved, information, bend)


def field_of(density: VotesLayout, data: Data) -> Field:
    """The field of a density and its tables.

    Raises
    ------
    InputError
        Its factor would take too much memory.
    """
    groups, hypers = groups_of(density, TOLD)
    places = Places(density)
    tables = [_cells(density, table, data[table], places) for table in ("votes", "criteria") if table in data]
    people = data["anchors"] if density.anchors else None
    if people is not None:
        tables.append(cells_of_people(density, people, places))
    index, coefficients, counts = (np.concatenate(part) for part in zip(*tables, strict=True))
    slopes = index.shape[1] - 16
    predictor = np.array([DIFFERENCE] * 8 + [FIRST, SECOND] + [TIE] * 6 + [DIFFERENCE] * slopes)
    outcomes = counts.T.reshape(2, 2, -1)[: 1 + density.ties]
    answers: CellAnswers = Answers(_chances(density), outcomes, BY_HAND if density.coins else None)
    if people is not None and are_apart(density, people):
        index, coefficients, predictor, answers = set_apart(
            density, people, places, (index, coefficients, predictor, answers)
        )
    used = (coefficients != 0).any(axis=0)
    index, coefficients, predictor = index[:, used], coefficients[:, used], predictor[used]
    least = TIE + int(density.ties)
    patterns = [
        Pattern(block, index, coefficients, predictor, least)
        for block in (places.block("judge"), places.block("context"))
        if block.max(initial=COMMON) > COMMON
    ]
    nothing = Pattern(np.full(places.size, COMMON), index, coefficients, predictor, least)
    pattern = min(patterns or [nothing], key=lambda pattern: pattern.work)
    if pattern.numbers > LARGEST:
        raise InputError(
            f"{pattern.size:,} latent values of {density.judges:,} judges, {density.items:,} items and "
            f"{density.contexts:,} contexts: their factor would take {8 * pattern.numbers / 1e9:.2g} GB; name a model "
            "without contexts, such as crowd-bt-position"
        )
    field = Field(
        groups,
        hypers,
        pattern,
        answers,
        lambda x: latent_of(density, _apart(density.values(x, np))),
        lambda x, hyper: flat_of(density, x, hyper, lambda values: _centred(density, values)),
        division=division_of(density, [hyper.name for hyper in hypers]),
    )
    if "pinned" not in data:
        return field
    at, held = data["pinned"]["x"], data["pinned"]["held"] > 0
    names = {name for name, part in density.slices.items() if held[part].all()}
    return field.holding(lambda name: name in names, *field.latent(at))


def _cells(
    density: VotesLayout, table: str, part: dict[str, Any], places: Places
) -> tuple[Ints, Floats, Floats]:
    """Distinct (judge, pair): places of what their votes depend on with coefficients, and counts of the answers."""
    pairs = max(len(part["pair_first"]), 1)
    keys = part["judge"] * pairs + part["pair"]
    tied = part["tie_judge"] * pairs + part["tie_pair"] if density.ties else keys[:0]
    cells = np.unique(np.concatenate([keys, tied]))
    counts = np.zeros((len(cells), 4))
    at = np.searchsorted(cells, keys)
    for outcome in (0, 1):
        here = part["outcome"] == outcome
        counts[:, outcome] = np.bincount(at[here], part["weight"][here], len(cells))
    if density.ties:
        at = np.searchsorted(cells, tied)
        counts[:, 2] = np.bincount(at, part["tied"], len(cells))
        counts[:, 3] = np.bincount(at, part["decided"], len(cells))
    judge, pair = cells // pairs, cells % pairs
    first, second, criterion = (part[f"pair_{name}"][pair] for name in ("first", "second", "criterion"))
    none = np.full(len(cells), places.size)
    if table == "criteria":
        strengths = [places.of("weight", first), places.of("weight", second), none, none]
    else:
        strengths = [places.of("strength", criterion, item) for item in (first, second)]
        strengths += [places.of("general", item) for item in (first, second)]
    sums = [*strengths, none, none, none, none]
    ties = [none] * 6
    if density.ties:
        ties[:2] = [np.full(len(cells), places.start["tie"]), places.of("tie_judge", judge)]
    if "pair_context" in part:
        context = part["pair_context"][pair]
        sums[4:6] = [places.of("context_strength", criterion, item, context) for item in (first, second)]
        sums[6:] = [places.of("taste", judge, item) for item in (first, second)]
        if density.ties:
            ties[2:4] = [places.of("tie_context", context), places.of("tie_judge_context", judge, context)]
            ties[4:] = [places.of("tie_item", item) for item in (first, second)]
    of_judge = [places.of(name, judge) for name in density.coins or SHARPNESS]
    slopes, z = _slopes(density, part, judge, pair, places)
    index = np.stack([*sums, *of_judge, *ties, *slopes], axis=1)
    signs = np.broadcast_to(np.array([1.0, -1.0] * 4 + [1.0] * 8), (len(cells), 16))
    return index, np.where(index < places.size, np.concatenate([signs, z], axis=1), 0.0), counts


def _slopes(
    density: VotesLayout, part: dict[str, Any], judge: Ints, pair: Ints, places: Places
) -> tuple[list[Ints], Floats]:
    """Places of the slopes that each cell depends on, shared ones and the judge's, and the covariates beside them."""
    size = density.covariates
    z = part["pair_covariate"][:, pair].T if "pair_covariate" in part else np.zeros((len(pair), size))
    each = [judge * 0 + c for c in range(size)]
    found = [places.of("slope", one) for one in each] + [places.of("judge_slope", one, judge) for one in each]
    return found, np.concatenate([z, z], axis=1)


def _chances(density: VotesLayout) -> Any:
    """Of the four sums of each cell, log probabilities of first and second, and of a tie and none where there are ties.

    They are the terms' own formulas, with a judge and a pair for every cell.
    """

    @lru_cache(maxsize=4)
    def observed(cells: int) -> Observations:
        each = np.arange(cells)
        both, zero = np.concatenate([each, each]), np.zeros(2 * cells, dtype=np.int64)
        return Observations(both, both, zero + (np.arange(2 * cells) >= cells), zero, cells, 1)

    def chances(sums: Any, xp: Any) -> list[tuple[Any, Any]]:
        difference = sums[..., DIFFERENCE, :]
        cells = difference.shape[-1]
        obs = observed(cells)
        if density.coins:
            decided = flipped(sums[..., FIRST, :], sums[..., SECOND, :], obs.judge, difference, obs, xp)
        else:
            difference = xp.exp(sums[..., FIRST, :]) * difference
            decided = answered(difference + sums[..., SECOND, :], obs, xp)
        found = [(decided[..., :cells], decided[..., cells:])]
        return [*found, log_tie_parts(sums[..., TIE, :], difference, xp)] if density.ties else found

    return chances


def _apart(values: Values) -> Values:
    """With the differences of strengths from what their items are worth under all criteria alike."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] - values["general"][..., None, :]}


def _centred(density: VotesLayout, values: Values) -> Values:
    """Strengths and weights with sum zero: votes are about differences."""
    zero = {p.name for p in density.parameters if p.zero_sum}
    if "general" in values:
        values = {**values, "strength": values["strength"] + values["general"][..., None, :]}
    return {
        name: value - value.mean(axis=-1, keepdims=True) if name in zero else value
        for name, value in values.items()
    }
