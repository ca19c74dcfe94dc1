"""Latent values without answers, and predictions about the target: people's answers, and the panel's.

In every draw the panel's scores of items, over all criteria or under one, are shifted by the panel's gap
(:mod:`voirdire.kinds.panel_gap`). The prior and people's answers are the same for all criteria. Each kind of data
predicts answers from these scores.

Latent values without answers, such as the taste of a judge for an item about which it has not answered.

In posterior draws these values vary by their spreads. At the mode they are zero, which would make predictions too
certain. Predictions at the mode therefore draw them with the spreads at the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS, Posterior, integrated_scores, thinned_draws, two_quantiles
from voirdire.kinds.columns import Columns
from voirdire.kinds.panel_gap import find_gap
from voirdire.model.problem import PANEL, Problem
from voirdire.model.terms.parameters import Spread
from voirdire.model.terms.term import Values
from voirdire.notices import give_notice
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names
from voirdire.typing import Floats, Ints

MAX_DRAW_NUMBERS = 3e7  # largest number of values in all draws; there are at least twenty draws


def predictive_draws(posterior: Posterior, seen: Mapping[str, Ints], questions: Mapping[str, Ints]) -> list[Values]:
    """Make the values for predictions: some posterior draws, or the mode with draws of values without answers.

    Parameters
    ----------
    posterior : Posterior
    seen, questions : mapping of str to int array
        Codes of the table's answers, and of the questions, by dimension of the parameters; -1 for any level.
    """
    draws = thinned_draws(posterior)
    if posterior.draws is not None:
        return draws
    (mode,) = draws
    spreads = {
        parameter.name: unseen * np.exp(parameter.prior.log_sd(mode))
        for parameter in posterior.density.parameters
        if isinstance(parameter.prior, Spread)
        and {*parameter.dims} <= questions.keys()
        and (unseen := _unseen_cells(mode[parameter.name].shape, parameter.dims, seen, questions)).any()
    }
    if not spreads:
        return draws
    rng, size = np.random.default_rng(0), sum(sd.size for sd in spreads.values())
    drawn: list[Values] = []
    for _ in range(int(np.clip(MAX_DRAW_NUMBERS / size, 20, MAX_DRAWS)) // 2):
        deviations = {name: sd * rng.standard_normal(sd.shape) for name, sd in spreads.items()}
        drawn += [
            mode | {name: mode[name] + sign * deviation for name, deviation in deviations.items()}
            for sign in (1.0, -1.0)
        ]
    return drawn


def _unseen_cells(
    shape: tuple[int, ...], dims: tuple[str, ...], seen: Mapping[str, Ints], questions: Mapping[str, Ints]
) -> Floats:
    """Make a mask in the shape of a parameter: 1 at cells with questions and without answers, else 0."""
    mask = np.zeros(shape)
    for codes, value in ((questions, 1.0), (seen, 0.0)):
        index = np.stack([codes[dim] for dim in dims])
        mask[tuple(index[:, (index >= 0).all(axis=0)])] = value
    return mask


Predicted = dict[str, Floats]
LEVEL_ATTRIBUTES = {"judge": "judges", "criterion": "criteria", "item": "items", "context": "contexts"}


class ItemQuestions(NamedTuple):
    """Questions about items, independent of who answers.

    Attributes
    ----------
    named : dict of array, shape (rows,)
        Columns of names of each question.
    criteria : tuple of int
        Codes of the criteria of the questions, -1 for all criteria together.
    answered : callable
        Function from named values, shape (draws, ...), and scores of items under each criterion and, last, over all
        criteria, shape (draws, criteria + 1, items), to quantities, shape (draws, rows) each. The first quantity gets
        an interval, ``low`` and ``high``.
    max_draws : int or None
        Largest number of draws, evenly spaced, for slow predictions.
    """

    named: Columns
    criteria: tuple[int, ...]
    answered: Callable[[Values, Floats], Predicted]
    max_draws: int | None = None


def predict_about_target(problem: Problem, posterior: Posterior, questions: ItemQuestions, prob: float) -> Columns:
    """Predict quantities about the target and (``..._panel``) about the panel: means with equal-tailed intervals.

    Parameters
    ----------
    problem : Problem
        Problem with scores in log-odds.
    posterior : Posterior
        Posterior with draws.
    questions : ItemQuestions
    prob : float
        Probability of the intervals.

    Raises
    ------
    InputError
        The model pools answers, or the fit has no draws.
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
    """Encode each row in a problem's coding (judge, criterion, item, context); also return the columns of names.

    Names that the problem does not know are reported to ``problems``.
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
                rows, f"the fit has no {name} {table_names[level]!r}{nearest_name(table_names[level], fit_names)}"
            )
        codes[name] = position[getattr(questions, name)]
        columns[name] = np.array(fit_names, dtype=object)[codes[name]]
    return codes, columns


def context_column(names: Sequence[str], codes: Ints | None) -> Columns:
    """Column of the context of each row, as a table names it; no column for tables without contexts."""
    return {} if codes is None else {"context": np.array(names, dtype=object)[codes]}


def known_contexts(theirs: Sequence[str], ours: Sequence[str]) -> Ints:
    """Find the code of each context of a table in a fit; -1, any context like the fit's, for others, with a notice.

    Examples
    --------
    >>> known_contexts(["q"], ["p", "q"]).tolist()
    [1]
    """
    positions = level_positions(theirs, ours)
    unknown = [name for name, position in zip(theirs, positions, strict=True) if position < 0]
    if unknown:
        give_notice(f"The fit has no context {known_names(unknown)}: taken as any context like those that it has.")
    return positions


def item_codes(problem: Problem, table: Rated) -> tuple[Ints, Ints, Columns]:
    """Encode item and criterion of each row in a problem's coding; also return the columns of names.

    The criterion is -1, all criteria together, if the table has none or the problem has only one.

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
    """Refuse contexts in predictions about the target: the gap between panel and people is known over all contexts.

    Parameters
    ----------
    has_contexts : bool
        Whether the model has effects of contexts.
    has_column : bool
        Whether the table has a column of contexts.

    Raises
    ------
    InputError
    """
    if has_contexts and has_column:
        raise InputError(
            "column 'context': predictions about the target are over all contexts of the fit; leave the column out"
        )


def _target_and_panel(problem: Problem, values: Values, criteria: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Draw scores about the target and about the panel, shape (draws, criteria + 1, items), last over all criteria."""
    strength = np.asarray(problem.density.item_strengths(values))
    panel = np.concatenate([strength, integrated_scores(problem.density, values)[:, None]], axis=1)
    if "panel_error" in values:  # people ranked some items: strengths are about people
        error = values["panel_error"][..., 0, :, :]
        shifted = {**values, "strength": values["strength"] + error}
        return panel, np.concatenate([strength + error, integrated_scores(problem.density, shifted)[:, None]], axis=1)
    target = panel.copy()
    for criterion in criteria:
        target[:, criterion] = find_gap(problem, panel[:, criterion]).to_target(panel[:, criterion])
    return target, panel
