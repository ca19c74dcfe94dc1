"""Probability of every possible answer to a comparison: the first item, the second, a tie."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.specs import Model
from voirdire.model.terms import RELIABILITY, TIES
from voirdire.model.terms.reliability import Observations, Values
from voirdire.model.terms.strength import difference
from voirdire.model.terms.ties import log_tie_parts
from voirdire.tables.votes import Votes, read_votes
from voirdire.typing import Floats, Ints


def predict(problem: VotesProblem, posterior: Posterior, table: object) -> Columns:
    """Predict each vote of a table: the posterior mean probability of every answer.

    Parameters
    ----------
    problem : VotesProblem
    posterior : Posterior
        Of its parameters (and perhaps others).
    table : path, dataframe or Votes
        Comparisons among the items and judges (and criteria) that the problem knows; ``winner`` is read but not used.

    Returns
    -------
    dict of array
        One row per vote in its order: judge, criterion, first, second, p_first, p_second, p_tie.

    Raises
    ------
    InputError
        An item, judge or criterion that the fit does not know.
    """
    known = {"judges": problem.judges, "items": problem.items, "criteria": problem.votes.criteria}
    votes = read_votes(table, **known)  # type: ignore[arg-type]
    cell = probabilities(problem.model, problem.density, some_draws(posterior), votes)
    rows = cell[votes.row_cell]
    columns: Columns = {
        name: np.array(levels, dtype=object)[codes[votes.row_cell]]
        for name, levels, codes in (
            ("judge", votes.judges, votes.judge),
            ("criterion", votes.criteria, votes.criterion),
            ("first", votes.items, votes.first),
            ("second", votes.items, votes.second),
        )
    }
    return columns | {"p_first": rows[:, 0], "p_second": rows[:, 1], "p_tie": rows[:, 2]}


def chances(problem: VotesProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probability of (first, second, tie) of each row under one set of values, shape (rows, 3).

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion, first and second of each row, in the problem's coding.
    """
    return answer_probabilities(problem.density, values, *rows)


def probabilities(model: Model, density: VotesDensity, draws: list[Values], votes: Votes) -> Floats:
    """Mean probability of (first, second, tie) in each cell of a coded table, shape (cells, 3).

    ``votes`` must be coded by the levels of the program.
    """
    criterion = votes.criterion if model.criteria == "separate" else votes.criterion * 0
    cells = (votes.judge, criterion, votes.first, votes.second)
    return sum((answer_probabilities(density, values, *cells) for values in draws), np.zeros(())) / len(draws)


def answer_probabilities(
    density: VotesDensity, values: Values, judge: Ints, criterion: Ints, first: Ints, second: Ints
) -> Floats:
    """Probability of (first, second, tie) of each comparison under one set of values, shape (comparisons, 3).

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("bradley-terry"), judges=1, criteria=1, items=2, ties=False)
    >>> zero, one = np.array([0]), np.array([1])
    >>> answer_probabilities(density, {"strength": np.array([[1.0, -1.0]])}, zero, zero, zero, one).round(3).tolist()
    [[0.881, 0.119, 0.0]]
    """
    cells = np.arange(len(judge))
    reliability = RELIABILITY[density.model.reliability.kind]
    d = difference(values["strength"], criterion, first, second)
    log = [
        reliability.log_decided(
            values,
            d,
            Observations(judge, cells, cells * 0 + outcome, criterion, density.judges, density.criteria),
            np,
        )
        for outcome in (0, 1)
    ]
    found = np.zeros((len(cells), 3))
    if density.ties and density.model.ties is not None:
        propensity = TIES[density.model.ties.kind].propensity(values, judge)
        tie, decided = log_tie_parts(propensity, reliability.scaled(values, d, judge, cells, np), np)
        found[:] = np.exp(np.stack([log[0] + decided, log[1] + decided, tie + 0 * d], axis=1))
    else:
        found[:, :2] = np.exp(np.stack(log, axis=1))
    return found


def check_single(problem: VotesProblem) -> None:
    """Refuse models that pool votes before they look at them.

    Raises
    ------
    InputError
    """
    if problem.model.pool != "none":
        raise InputError(f"model {problem.model.name} gives no probability of single votes: nothing to draw")
