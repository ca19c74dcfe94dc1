"""Terms that a model has beside its sections: of further columns of a table, of covariates, of time.

Values of a term are Normal(0, s), independent: s ~ Exponential(rate) learned, of a covariate alone given. A term of
time is a random walk over periods: steps Normal(0, s) from each to the next, of which a row has the sum of those before
it, less what the mean row has of each; so what else the model says of a judge is what holds on average over time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voirdire.model.design import Scale, Term
from voirdire.model.panel_density import term_parameters
from voirdire.model.term_rows import TermRow
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

TIME, STEP = "time", "step"
ALONE = "effect:"  # before the name of a term of one factor, which parameters of sections may have
RATE = 1.0  # of the spread of effects by factors, in log-odds
SLOPE_SD, SLOPE_RATE = 1.5, 2.0  # of the slope of a covariate, and of the spread of slopes and of steps


def added_terms(
    rows: Sequence[TermRow], covariates: Sequence[str], steps: int, *, apart: bool = False
) -> tuple[Term, ...]:
    """The terms of some rows.

    Parameters
    ----------
    rows : sequence of TermRow
    covariates : sequence of str
        Names of the numbers of a cell, after which those of steps of time come.
    steps : int
        Number of periods less one.
    apart : bool
        As of :class:`.Term`.

    Examples
    --------
    >>> (term,) = added_terms([TermRow(("judge", "length"))], ["length"], 0)
    >>> term.name, term.factors, term.covariate
    ('judge:length', ('judge',), 0)
    """
    found: list[Term] = []
    for row in rows:
        name = row.words if len(row.factors) > 1 else ALONE + row.factors[0]
        number = next((covariates.index(one) for one in row.factors if one in covariates), None)
        axes = tuple(one for one in row.factors if one not in (*covariates, TIME))
        scale = _term_scale(row, name, slopes=number is not None or TIME in row.factors, alone=not axes)
        if TIME in row.factors:
            found += [
                Term(
                    name, (*axes, STEP), 0, at=((STEP, step),), covariate=len(covariates) + step, scale=scale
                )
                for step in range(steps)
            ]
        else:
            found.append(Term(name, axes, 0, covariate=number, scale=scale))
    return tuple(term._replace(apart=apart) for term in found)


def _term_scale(row: TermRow, name: str, *, slopes: bool, alone: bool) -> Scale:
    given = row.sd if row.sd is not None or row.rate is not None or not (slopes and alone) else SLOPE_SD
    if given is not None:
        return Scale(sd=given)
    return Scale(rate=row.rate or (SLOPE_RATE if slopes else RATE), spread=f"log_{name}_spread")


def added_equation(rows: Sequence[TermRow], covariates: Sequence[str]) -> str:
    """The line that rows add to a model's equation.

    Examples
    --------
    >>> added_equation([TermRow(("length",)), TermRow(("judge", "time"))], ["length"])
    'eta has more: length ~ Normal(0, 1.5) * length; judge:time, s ~ Exponential(2), a random walk over periods; ...'
    """
    said = []
    for row in rows:
        number = next((one for one in row.factors if one in covariates), None)
        alone = all(one in (*covariates, TIME) for one in row.factors)
        scale = _term_scale(row, row.words, slopes=number is not None or TIME in row.factors, alone=alone)
        prior = f", s ~ Exponential({scale.rate:g})" if scale.rate else f" ~ Normal(0, {scale.sd:g})"
        walk = ", a random walk over periods" if TIME in row.factors else ""
        said.append(f"{row.words}{prior}{walk}{'' if number is None else f' * {number}'}")
    more = (
        "; values ~ Normal(0, s) for each combination of levels"
        if any(", s ~" in one for one in said)
        else ""
    )
    return f"eta has more: {'; '.join(said)}{more}"


def added_parameters(terms: Sequence[Term]) -> tuple[Parameter, ...]:
    """The parameters of terms, each once."""
    found = {parameter.name: parameter for term in terms for parameter in term_parameters(term)}
    return tuple(found.values())


def sum_of_terms(
    terms: Sequence[Term], values: Values, about: Mapping[str, Array], numbers: Array | None
) -> Array:
    """Sum of the terms for each row, shape (..., rows); 0 without terms.

    Parameters
    ----------
    about : dict of str to int array, shape (rows,)
        Levels of factors, -1 for none; a term of a factor that is not there adds nothing.
    numbers : array, shape (rows, numbers), or None
    """
    total: Any = 0.0
    for term in terms:
        fixed = dict(term.at)
        found = [fixed.get(factor, about.get(factor)) for factor in term.factors]
        codes: list[Any] = [code for code in found if code is not None]
        if len(codes) < len(found) or (term.covariate is not None and numbers is None):
            continue
        columns = [code for code in codes if np.ndim(code)]
        value = values[term.name][(..., *(code * (code >= 0) for code in codes))]
        value = value if columns else value[..., None]
        for code in columns:
            value = value * (code >= 0)
        if term.covariate is not None:
            assert numbers is not None  # else it adds nothing
            value = value * numbers[:, term.covariate]
        total = total + value
    return total


def walk_numbers(period: Ints, periods: int) -> Floats:
    """The numbers of a walk's steps in each row, shape (rows, periods - 1): 1 after the step, less the mean.

    Examples
    --------
    >>> walk_numbers(np.array([0, 1, 2, 2]), 3).tolist()
    [[-0.75, -0.5], [0.25, -0.5], [0.25, 0.5], [0.25, 0.5]]
    """
    after = (period[:, None] > np.arange(periods - 1)).astype(float)
    return np.asarray(after - after.mean(axis=0))


def term_label(name: str) -> str:
    """The term as people write it, of the name of its values.

    Examples
    --------
    >>> term_label("effect:context"), term_label("judge:item")
    ('context', 'judge:item')
    """
    return name.removeprefix(ALONE)
