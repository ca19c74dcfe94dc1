"""Predictions about the target: answers that people would give, beside those of the panel.

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
LEVEL_ATTRIBUTES = {"judge": "judges", "criterion": "criteria", "item": "items", "context": "contexts"}


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
    max_draws : int or None
        Draws at most, evenly spaced, where each takes long.
    """

    named: Columns
    criteria: tuple[int, ...]
    answered: Callable[[Values, Floats], Predicted]
    max_draws: int | None = None


def predict_about_target(
    problem: Problem, posterior: Posterior, questions: ItemQuestions, prob: float
) -> Columns:
    """Means over draws with equal-tailed intervals of ``prob``, about the target and (``..._panel``) about the panel.

    Parameters
    ----------
    problem : Problem
        With scores in log-odds.
    posterior : Posterior
        With draws.
    questions : ItemQuestions
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
    columns: Columns = dict(questions.named)
    target, panel = _target_and_panel(problem, values, questions.criteria)
    rows = np.linspace(0, len(target) - 1, min(len(target), questions.max_draws or len(target))).astype(int)
    chosen_values = {name: value[rows] for name, value in values.items()}
    for scores, suffix in ((target[rows], ""), (panel[rows], f"_{PANEL}")):
        predicted = questions.answered(chosen_values, scores)
        quantity, *others = predicted
        ends = two_quantiles(predicted[quantity], 0.5 * (1 - prob), 0.5 * (1 + prob))
        columns[f"{quantity}{suffix}"] = predicted[quantity].mean(axis=0)
        columns |= {f"low{suffix}": ends[0], f"high{suffix}": ends[1]}
        columns |= {f"{name}{suffix}": predicted[name].mean(axis=0) for name in others}
    return columns


def fit_codes(
    problem: Any, questions: Rated, names: Sequence[str], problems: Problems
) -> tuple[dict[str, Any], Columns]:
    """Codes of each row in a problem's coding (judge, criterion, item, context), and the columns that name them.

    Names that the problem does not know are reported.
    """
    codes: dict[str, Any] = {}
    columns: Columns = {}
    for name in names:
        plural = LEVEL_ATTRIBUTES[name]
        table = problem.table if name == "context" else problem
        table_names, fit_names = getattr(questions, plural), getattr(table, plural)
        position = level_positions(table_names, fit_names)
        for level in np.flatnonzero(position < 0):
            rows = np.flatnonzero(getattr(questions, name) == level) + 1
            problems.rows(
                rows,
                f"the fit has no {name} {table_names[level]!r}{nearest_name(table_names[level], fit_names)}",
            )
        codes[name] = position[getattr(questions, name)]
        columns[name] = np.array(fit_names, dtype=object)[codes[name]]
    return codes, columns


def known_contexts(theirs: Sequence[str], ours: Sequence[str]) -> Ints:
    """Place of each context of a table among those of a fit; -1, which is any like these, of others, as a note says.

    Examples
    --------
    >>> known_contexts(["q"], ["p", "q"]).tolist()
    [1]
    """
    positions = level_positions(theirs, ours)
    unknown = [name for name, position in zip(theirs, positions, strict=True) if position < 0]
    if unknown:
        give_notice(
            f"The fit has no context {known_names(unknown)}: taken as any context like those that it has."
        )
    return positions


def item_codes(problem: Problem, table: Rated) -> tuple[Ints, Ints, Columns]:
    """Item and criterion of each row in a problem's coding, and the columns that name them.

    The criterion is -1, all of them together, where none is given or the problem has one alone.

    Raises
    ------
    InputError
        Items or criteria that the problem does not know.
    """
    problems = Problems(table.data)
    factors = ["criterion", "item"] if table.has_criteria and len(problem.criteria) > 1 else ["item"]
    codes, columns = fit_codes(problem, table, factors, problems)
    problems.raise_any()
    return codes["item"], codes.get("criterion", codes["item"] * 0 - 1), columns


def refuse_contexts(has_contexts: bool, has_column: bool) -> None:
    """Refuse contexts: how far a panel is from people is known over all of them alone.

    Parameters
    ----------
    has_contexts : bool
        Whether the model tells contexts apart.
    has_column : bool
        Whether the table has a column of them.

    Raises
    ------
    InputError
    """
    if has_contexts and has_column:
        raise InputError(
            "column 'context': predictions about the target are over all contexts of the fit; leave the column out"
        )


def _target_and_panel(problem: Problem, values: Values, criteria: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Draws about the target and about the panel, shape (draws, criteria + 1, items), the last over all criteria."""
    strength = np.asarray(problem.density.item_strengths(values))
    panel = np.concatenate([strength, integrated_scores(problem.density, values)[:, None]], axis=1)
    if "panel_error" in values:  # people ranked some items: strengths are about them
        error = values["panel_error"][..., 0, :, :]
        shifted = {**values, "strength": values["strength"] + error}
        return panel, np.concatenate(
            [strength + error, integrated_scores(problem.density, shifted)[:, None]], axis=1
        )
    target = panel.copy()
    for criterion in criteria:
        target[:, criterion] = find_gap(problem, panel[:, criterion]).to_target(panel[:, criterion])
    return target, panel
