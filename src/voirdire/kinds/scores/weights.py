"""Importance of criteria from the user: weights, or votes on the criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.criteria_votes import holds_weights, read_votes_on_criteria
from voirdire.kinds.kind import Packed, TableChange
from voirdire.kinds.packing import unpack_votes
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.joined import joined_table
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names
from voirdire.tables.read import read_columns
from voirdire.tables.scores import score_numbers

CRITERIA_TABLE = "criteria"


class CriterionImportance(NamedTuple):
    """Evidence on the importance of criteria: votes on them, their weights, or nothing.

    Attributes
    ----------
    votes : Votes or None
        Votes with criteria as items.
    weights : tuple of float or None
        Weights in the order of the criteria; they sum to one.
    """

    votes: Votes | None = None
    weights: tuple[float, ...] | None = None

    def join_earlier(self, old: Votes | None) -> CriterionImportance:
        """Join these votes with earlier ones; weights replace earlier votes."""
        if old is None or self.votes is None:
            return self
        return CriterionImportance(joined_table(old, self.votes))

    def check_model(self, model: Model) -> CriterionImportance:
        """Refuse votes for a model that does not use them.

        Raises
        ------
        InputError
        """
        if self.votes is not None and (model.weights is None or model.weights.kind != "votes"):
            raise InputError(
                f"votes on criteria were given, but model {model.name} takes criteria as equally important; name "
                "another or none, or give weights (columns criterion and weight)"
            )
        return self


NO_IMPORTANCE = CriterionImportance()


def read_criterion_importance(
    table: object, criteria: Sequence[str], *, ties: bool = False, answers: str = "scores"
) -> CriterionImportance:
    """Read a table of weights of criteria, or of votes on criteria.

    Parameters
    ----------
    table : path, dataframe, Votes, CriterionImportance or None
        Columns ``criterion`` and ``weight`` (each criterion once; weights are divided by their sum), or votes on the
        criteria: ``judge``, ``first``, ``second``, ``winner``.
    criteria : sequence of str
        Criteria of the scores.
    ties : bool
        True if votes may be ties, as in tables with votes on items.
    answers : str
        Word for the judges' answers in messages.

    Returns
    -------
    CriterionImportance

    Raises
    ------
    InputError
        Unknown, missing or repeated criteria, weights that are not numbers from 0, ties that are not allowed.

    Examples
    --------
    >>> import pandas as pd
    >>> read_criterion_importance(pd.DataFrame({"criterion": ["b", "a"], "weight": [3, 1]}), ["a", "b"]).weights
    (0.25, 0.75)
    """
    if table is None or isinstance(table, CriterionImportance):
        return table or CriterionImportance()
    if holds_weights(table):
        weight_columns = read_columns(table, [], ["criterion", "weight"], Problems(CRITERIA_TABLE))
        return CriterionImportance(weights=_read_weights(weight_columns, criteria, answers))
    return CriterionImportance(_check_votes(read_votes_on_criteria(table), criteria, ties, answers))


def judges_on_criteria(table: object) -> tuple[str, ...]:
    """Judges of a table for :func:`read_criterion_importance`; empty for weights."""
    if table is None or holds_weights(table):
        return ()
    return read_votes_on_criteria(table).judges


def _read_weights(cells: dict[str, Any], criteria: Sequence[str], answers: str) -> tuple[float, ...]:
    problems = Problems(CRITERIA_TABLE)
    if "criterion" not in cells:
        problems.stop("column 'criterion' is missing; name the criterion of each weight")
    weight = score_numbers(cells["weight"], problems, "weight")
    names = [str(cell) for cell in cells["criterion"]]
    weights: dict[str, float] = {}
    unknown: dict[int, str] = {}
    for row, (name, value) in enumerate(zip(names, weight, strict=True), start=1):
        if name not in criteria:
            unknown[row] = name
        elif name in weights:
            problems.rows([row], f"criterion {name!r} has a weight already; keep one")
        weights[name] = float(value)
    if unknown:
        unknown_names = list(dict.fromkeys(unknown.values()))
        hint = (
            nearest_name(unknown_names[0], criteria) or f"; the criteria of the {answers} are {known_names(criteria)}"
        )
        problems.rows(
            unknown, f"{known_names(unknown_names)} {'have' if unknown_names[1:] else 'has'} no {answers}{hint}"
        )
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        row_note = f" (in row {negative[0] + 1})" if len(negative) > 1 else ""
        problems.rows(negative + 1, f"weight {weight[negative[0]]:g}{row_note} is negative; use numbers from 0")
    missing = [name for name in criteria if name not in weights]
    if missing:
        problems.table(f"no weight for {known_names(missing)}; give one to every criterion")
    if not problems and sum(weights.values()) <= 0:
        problems.table("all weights are 0; one at least must be positive")
    problems.raise_any()
    total = sum(weights.values())
    return tuple(weights[name] / total for name in criteria)


def _check_votes(votes: Votes, criteria: Sequence[str], ties: bool, answers: str) -> Votes:
    problems = []
    if votes.has_ties and not ties:
        problems.append(
            f"votes on criteria: {int(votes.counts[:, 2].sum())} ties, which models of {answers} refuse; ask for a "
            "forced choice"
        )
    unknown = sorted(set(votes.items) - set(criteria))
    if unknown:
        hint = nearest_name(unknown[0], criteria)
        hint_text = hint or f"; the criteria of the {answers} are {known_names(criteria)}"
        verb = "have" if unknown[1:] else "has"
        problems.append(f"votes on criteria name {known_names(unknown)}, which {verb} no {answers}{hint_text}")
    if problems:
        raise InputError(problems)
    return votes


def weighed_note(votes: Votes | None) -> list[str]:
    """Note that votes of all judges on criteria count alike; empty without votes."""
    if votes is None:
        return []
    return [f"Criteria are weighted by {int(votes.counts.sum()):,} votes on them; votes of all judges count alike."]


T = TypeVar("T", bound=Rated)


def with_judges(table: T, new_judges: Sequence[str]) -> T:
    """Add judges without answers to a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = read_scores(pd.DataFrame({"judge": ["b"], "item": "x", "score": [1]}))
    >>> with_judges(table, ["a"]).judges, with_judges(table, ["a"]).judge.tolist()
    (('a', 'b'), [1])
    """
    judges = tuple(sorted({*table.judges, *new_judges}))
    return replace(table, judges=judges, judge=level_positions(table.judges, judges)[table.judge])


def given_or_stored_criteria(problem: Problem, votes: Votes | None, change: TableChange) -> CriterionImportance:
    """Votes on criteria or weights of a change, else those of the problem, which must name all criteria of the table.

    Raises
    ------
    InputError
        The problem's weights do not name a criterion.
    """
    if change.criteria is not None:
        importance: CriterionImportance = change.criteria
        return importance
    weights = problem.density.given_weights
    unnamed = [] if weights is None else sorted(set(change.table.criteria) - set(problem.criteria))
    if unnamed:
        raise InputError(f"criteria: no weight for {known_names(unnamed)}; pass the weights of all criteria")
    return CriterionImportance(votes if weights is None else None, weights)


def unpack_criteria(packed: Packed) -> CriterionImportance:
    """Stored weights of the criteria, or votes on them."""
    names = packed.sections["tables"]
    if names.get("weights") is not None:
        return CriterionImportance(weights=tuple(names["weights"]))
    return CriterionImportance(unpack_votes(names, packed.arrays, "criteria") if "criteria" in names else None)
