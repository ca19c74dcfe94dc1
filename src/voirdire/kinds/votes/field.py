"""A model of votes as a field: votes of one judge on one question depend on four sums of latent values.

The sums are the difference of the two items as the judge perceives it, the log-odds of its two coins (or the logarithm
of its sharpness and its shift, 0 where it has neither), and log nu of its ties. Given what all judges share, judges are
independent; given strengths and judges, contexts are: whichever makes the cheaper factor are the blocks of the matrix
of second derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.nested.answers import Answers, CellAnswers
from voirdire.infer.nested.field import Field
from voirdire.infer.nested.panel import centre_zero_sum, field_of_sums
from voirdire.infer.nested.stacks import distinct_codes
from voirdire.kinds.votes.layout import VotesLayout
from voirdire.kinds.votes.people import are_apart, cells_of_people, separate_people_cells
from voirdire.kinds.votes.perceived import pair_codes
from voirdire.kinds.votes.vote_terms import criteria_terms, people_terms, vote_terms
from voirdire.model.density import Data
from voirdire.model.design import Cells, Places, build_design, stack_designs
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.family.two_coin import two_coin_family
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

TOLD = {"judge"}  # of what many votes tell


def field_of(density: VotesLayout, data: Data) -> Field:
    """The field of a density and its tables.

    Raises
    ------
    InputError
        Its factor would take too much memory.
    """
    places = Places(density)
    tables = [
        (terms(density), *_vote_cells(density, data[table]))
        for table, terms in (("votes", vote_terms), ("criteria", criteria_terms))
        if table in data
    ]
    people = data["anchors"] if density.anchors else None
    apart = people is not None and are_apart(density, people)
    if people is not None:
        tables.append((people_terms(density, one_coin=apart), *cells_of_people(density, people)))
    found = stack_designs([build_design(terms, cells, places) for terms, cells, _ in tables])
    counts = np.concatenate([counts for _, _, counts in tables])
    family = two_coin_family(density.ties) if density.coin_names else sharpness_family(density.ties)
    outcomes = counts.T.reshape(2, 2, -1)[: 1 + density.ties]
    alike = Answers(family.log_chances, outcomes, family.closed_form, family.name)
    answers: CellAnswers = alike
    if people is not None and apart:
        found, answers = separate_people_cells(density, people, places, found, alike)
    field = field_of_sums(
        density,
        found.used,
        answers,
        [places.block("judge"), places.block("context")],
        len(family.predictors),
        "name a model without contexts, such as crowd-bt-position",
        told=TOLD,
        apart=_subtract_general,
        centred=lambda values: centre_zero_sum(density, _add_general(values)),
    )
    if "pinned" not in data:
        return field
    at, held = data["pinned"]["x"], data["pinned"]["held"] > 0
    names = {name for name, part in density.parameter_slices.items() if held[part].all()}
    return field.with_fixed(lambda name: name in names, *field.latent(at))


def _vote_cells(density: VotesLayout, part: dict[str, Any]) -> tuple[Cells, Floats]:
    """Distinct (judge, pair) with what their votes are about, and counts of the answers."""
    pairs = max(len(part["pair_first"]), 1)
    keys = part["judge"] * pairs + part["pair"]
    tied = part["tie_judge"] * pairs + part["tie_pair"] if density.ties else keys[:0]
    both = np.concatenate([keys, tied])
    cells = distinct_codes(both, int(both.max(initial=-1)) + 1)
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
    about = pair_codes(part)
    factors = {name: code[pair] for name, code in about.items() if name not in ("first", "second", "numbers")}
    numbers = about["numbers"][:, pair] if "numbers" in about else None
    items = (part["pair_first"][pair], part["pair_second"][pair])
    return Cells(len(cells), {"judge": judge, **factors}, items, numbers), counts


def _subtract_general(values: Values) -> Values:
    """With the differences of strengths from what their items are worth under all criteria alike."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] - values["general"][..., None, :]}


def _add_general(values: Values) -> Values:
    """Strengths with what their items are worth under all criteria alike."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] + values["general"][..., None, :]}
