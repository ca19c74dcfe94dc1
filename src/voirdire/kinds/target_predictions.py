"""Predictions about the target: what people would say of items, beside what the panel makes of them.

What a panel makes of items, over all criteria or under one, is moved by the panel's gap
(:mod:`voirdire.kinds.panel_gap`) in every draw, with the same prior and the same answers of people whatever the
criterion. Each kind of data says what is expected of answers about items that are worth so much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, integrated_scores, two_quantiles
from voirdire.kinds.columns import Columns
from voirdire.kinds.panel_gap import find_gap
from voirdire.model.problem import PANEL, Problem
from voirdire.model.terms.reliability import Values
from voirdire.notices import give_notice
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names
from voirdire.typing import Floats, Ints

Predicted = dict[str, Floats]
PLURALS = {"judge": "judges", "criterion": "criteria", "item": "items", "context": "contexts"}


class ItemQuestions(NamedTuple):
    """Questions about items, whoever answers them.

    Attributes
    ----------
    named : dict of array, shape (rows,)
        Columns that name each.
    criteria : tuple of int
        Codes that are asked about, -1 for all of them together.
    answered : callable
        Of named values, (draws, ...), and what items are worth under each criterion and, last, over all by their
        weights, (draws, criteria + 1, items): quantities, shape (draws, rows) each. The first has an interval, ``low``
        and ``high``.
    most : int or None
        Draws at most, evenly spaced, where each takes long.
    """

    named: Columns
    criteria: tuple[int, ...]
    answered: Callable[[Values, Floats], Predicted]
    most: int | None = None


def predict_about_target(
    problem: Problem, posterior: Posterior, asked: ItemQuestions, prob: float
) -> Columns:
    """Means over draws with equal-tailed intervals of ``prob``, about the target and (``..._panel``) about the panel.

    Parameters
    ----------
    problem : Problem
        With scores in log-odds.
    posterior : Posterior
        With draws.
    asked : ItemQuestions
    prob : float

    Raises
    ------
    InputError
        The model only pools answers, or the fit has no draws.
    """
    if problem.model.pool != "none" or "strength" not in posterior.central_values:
        raise InputError(
            f"predict(about='target') needs strengths in log-odds, and {problem.model.name} has none; fit a model of "
            "judges (voirdire models)"
        )
    values = posterior.values
    if values is None:
        raise InputError(
            "predict(about='target') has intervals, which need draws, and this fit has none; fit with method='laplace' "
            "(--method laplace)"
        )
    found: Columns = dict(asked.named)
    target, panel = _target_and_panel(problem, values, asked.criteria)
    some = np.linspace(0, len(target) - 1, min(len(target), asked.most or len(target))).astype(int)
    few = {name: of[some] for name, of in values.items()}
    for worth, more in ((target[some], ""), (panel[some], f"_{PANEL}")):
        predicted = asked.answered(few, worth)
        first, *rest = predicted
        ends = two_quantiles(predicted[first], 0.5 * (1 - prob), 0.5 * (1 + prob))
        found[f"{first}{more}"] = predicted[first].mean(axis=0)
        found |= {f"low{more}": ends[0], f"high{more}": ends[1]}
        found |= {f"{name}{more}": predicted[name].mean(axis=0) for name in rest}
    return found


def fit_codes(
    problem: Any, given: Rated, names: Sequence[str], problems: Problems
) -> tuple[dict[str, Any], Columns]:
    """Codes of each row in a problem's coding (judge, criterion, item, context), and the columns that name them.

    Names that the problem does not know are reported.
    """
    codes: dict[str, Any] = {}
    named: Columns = {}
    for name in names:
        plural = PLURALS[name]
        table = problem.table if name == "context" else problem
        theirs, ours = getattr(given, plural), getattr(table, plural)
        place = level_positions(theirs, ours)
        for level in np.flatnonzero(place < 0):
            rows = np.flatnonzero(getattr(given, name) == level) + 1
            problems.rows(rows, f"the fit has no {name} {theirs[level]!r}{nearest_name(theirs[level], ours)}")
        codes[name] = place[getattr(given, name)]
        named[name] = np.array(ours, dtype=object)[codes[name]]
    return codes, named


def known_contexts(theirs: Sequence[str], ours: Sequence[str]) -> Ints:
    """Place of each context of a table among those of a fit; -1, which is any like these, of others, as a note says.

    Examples
    --------
    >>> known_contexts(["q"], ["p", "q"]).tolist()
    [1]
    """
    found = level_positions(theirs, ours)
    unknown = [name for name, place in zip(theirs, found, strict=True) if place < 0]
    if unknown:
        give_notice(
            f"The fit has no context {known_names(unknown)}: taken as any context like those that it has."
        )
    return found


def item_codes(problem: Problem, given: Rated) -> tuple[Ints, Ints, Columns]:
    """Item and criterion of each row in a problem's coding, and the columns that name them.

    The criterion is -1, all of them together, where none is given or the problem has one alone.

    Raises
    ------
    InputError
        Items or criteria that the problem does not know.
    """
    problems = Problems(given.data)
    wanted = ["criterion", "item"] if given.has_criteria and len(problem.criteria) > 1 else ["item"]
    codes, named = fit_codes(problem, given, wanted, problems)
    problems.raise_any()
    return codes["item"], codes.get("criterion", codes["item"] * 0 - 1), named


def refuse_contexts(has_contexts: bool, given: bool) -> None:
    """Refuse contexts: how far a panel is from people is known over all of them alone.

    Parameters
    ----------
    has_contexts : bool
        Whether the model tells contexts apart.
    given : bool
        Whether the table has a column of them.

    Raises
    ------
    InputError
    """
    if has_contexts and given:
        raise InputError(
            "column 'context': predictions about the target are over all contexts of the fit; leave the column out"
        )


def _target_and_panel(problem: Problem, values: Values, criteria: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Draws about the target and about the panel, shape (draws, criteria + 1, items), the last over all criteria."""
    own = np.asarray(problem.density.item_strengths(values))
    panel = np.concatenate([own, integrated_scores(problem.density, values)[:, None]], axis=1)
    if "panel_error" in values:  # people ranked some items: strengths are about them
        error = values["panel_error"][..., 0, :, :]
        seen = {**values, "strength": values["strength"] + error}
        return panel, np.concatenate([own + error, integrated_scores(problem.density, seen)[:, None]], axis=1)
    target = panel.copy()
    for place in criteria:
        target[:, place] = find_gap(problem, panel[:, place]).of(panel[:, place])
    return target, panel
