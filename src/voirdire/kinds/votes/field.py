"""A model of votes as a field: votes of one judge on one question depend on four sums of latent values.

The sums are the difference of the two items as the judge perceives it, the log-odds of its two coins (or the logarithm
of its sharpness and its shift, 0 where it has neither), and log nu of its ties. Given what all judges share, judges are
independent; given strengths and judges, contexts are: whichever makes the cheaper factor are the blocks of the matrix
of second derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.nested.answers import Answers, CellAnswers
from voirdire.infer.nested.division import division_of
from voirdire.infer.nested.field import Field
from voirdire.infer.nested.latent import flat_of, groups_of, latent_of
from voirdire.infer.nested.pattern import Pattern
from voirdire.kinds.votes.layout import VotesLayout
from voirdire.kinds.votes.people import are_apart, cells_of_people, set_apart
from voirdire.kinds.votes.perceived import about_of
from voirdire.kinds.votes.vote_terms import criteria_terms, people_terms, vote_terms
from voirdire.model.density import Data
from voirdire.model.design import COMMON, Cells, Places, design, stacked
from voirdire.model.family.sharpness import sharpness
from voirdire.model.family.two_coin import two_coin
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

TOLD = {"judge"}  # of what many votes tell
LARGEST = 4e8  # numbers that a factor may take


def field_of(density: VotesLayout, data: Data) -> Field:
    """The field of a density and its tables.

    Raises
    ------
    InputError
        Its factor would take too much memory.
    """
    groups, hypers = groups_of(density, TOLD)
    places = Places(density)
    tables = [
        (terms(density), *_cells(density, data[table]))
        for table, terms in (("votes", vote_terms), ("criteria", criteria_terms))
        if table in data
    ]
    people = data["anchors"] if density.anchors else None
    apart = people is not None and are_apart(density, people)
    if people is not None:
        tables.append((people_terms(density, one_coin=apart), *cells_of_people(density, people)))
    found = stacked([design(terms, cells, places) for terms, cells, _ in tables])
    counts = np.concatenate([counts for _, _, counts in tables])
    family = two_coin(density.ties) if density.coins else sharpness(density.ties)
    outcomes = counts.T.reshape(2, 2, -1)[: 1 + density.ties]
    alike = Answers(family.log_chances, outcomes, family.closed_form, family.name)
    answers: CellAnswers = alike
    if people is not None and apart:
        found, answers = set_apart(density, people, places, found, alike)
    sums, least = found.used, len(family.predictors)
    patterns = [
        Pattern(block, sums.index, sums.coefficients, sums.predictor, least)
        for block in (places.block("judge"), places.block("context"))
        if block.max(initial=COMMON) > COMMON
    ]
    nothing = Pattern(np.full(places.size, COMMON), sums.index, sums.coefficients, sums.predictor, least)
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
    return field.with_fixed(lambda name: name in names, *field.latent(at))


def _cells(density: VotesLayout, part: dict[str, Any]) -> tuple[Cells, Floats]:
    """Distinct (judge, pair) with what their votes are about, and counts of the answers."""
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
    about = about_of(part)
    factors = {name: code[pair] for name, code in about.items() if name not in ("first", "second", "numbers")}
    numbers = about["numbers"][:, pair] if "numbers" in about else None
    items = (part["pair_first"][pair], part["pair_second"][pair])
    return Cells(len(cells), {"judge": judge, **factors}, items, numbers), counts


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
