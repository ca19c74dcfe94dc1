"""Probabilities of answers to comparisons, from a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.posterior import Posterior
from voirdire.program import Program
from voirdire.specs import Model
from voirdire.tables.votes import Votes, read_votes
from voirdire.terms import RELIABILITY, TIES
from voirdire.terms.reliability import Observations, Values
from voirdire.terms.strength import difference
from voirdire.terms.ties import log_tie_parts

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.fit import Fit

Floats = npt.NDArray[np.float64]

MAX_DRAWS = 500  # draws averaged over: their Monte Carlo error is far below the posterior's own width


def predict(fit: Fit, votes: object) -> pd.DataFrame:
    """Predict each vote of a table: the posterior mean probability of every answer.

    Parameters
    ----------
    fit : Fit
    votes : path, dataframe or Votes
        Comparisons among the items and judges (and criteria) that the fit knows; ``winner`` is read but not used.

    Returns
    -------
    pandas.DataFrame
        One row per vote in its order: judge, criterion, first, second, p_first, p_second, p_tie.

    Raises
    ------
    InputError
        An item, judge or criterion that the fit does not know.
    """
    problem = fit.problem
    known = {"judges": problem.judges, "items": problem.items, "criteria": problem.votes.criteria}
    table = read_votes(votes, **known)  # type: ignore[arg-type]
    cell = probabilities(problem.model, problem.program, _some(fit.posterior), table)
    rows = cell[table.row_cell]

    import pandas as pd

    columns: dict[str, Any] = {
        name: np.array(levels, dtype=object)[codes[table.row_cell]]
        for name, levels, codes in (
            ("judge", table.judges, table.judge),
            ("criterion", table.criteria, table.criterion),
            ("first", table.items, table.first),
            ("second", table.items, table.second),
        )
    }
    return pd.DataFrame(columns | {"p_first": rows[:, 0], "p_second": rows[:, 1], "p_tie": rows[:, 2]})


def probabilities(model: Model, program: Program, draws: list[Values], votes: Votes) -> Floats:
    """Mean probability of (first, second, tie) in each cell of a coded table, shape (cells, 3).

    ``votes`` must be coded by the levels of the program.
    """
    separate = model.criteria == "separate"
    criterion = votes.criterion if separate else votes.criterion * 0
    cells = np.arange(len(votes.judge))
    reliability = RELIABILITY[model.reliability.kind]
    total = np.zeros((len(cells), 3))
    for values in draws:
        d = difference(values["strength"], criterion, votes.first, votes.second)
        log = [
            reliability.log_decided(
                values,
                d,
                Observations(
                    votes.judge, cells, cells * 0 + outcome, criterion, program.judges, program.criteria
                ),
                np,
            )
            for outcome in (0, 1)
        ]
        if program.ties and model.ties is not None:
            propensity = TIES[model.ties.kind].propensity(values, votes.judge)
            tie, decided = log_tie_parts(
                propensity, reliability.scaled(values, d, votes.judge, cells, np), np
            )
            total += np.exp(np.stack([log[0] + decided, log[1] + decided, tie + 0 * d], axis=1))
        else:
            total[:, :2] += np.exp(np.stack(log, axis=1))
    return total / len(draws)


def _some(posterior: Posterior) -> list[Values]:
    values = posterior.values
    if values is None:
        return [posterior.central_values]
    count = len(values["strength"])
    chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_DRAWS)).astype(int))
    return [{name: value[index] for name, value in values.items()} for index in chosen]
