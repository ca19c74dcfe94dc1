"""Tables of a fit of labels: the class of each item, judges, confusion matrices, shares of the classes."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns, name_array, with_intervals
from voirdire.kinds.labels.class_probabilities import class_columns, shown_probabilities
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.quantities import Quantities, Quantity
from voirdire.kinds.results import empty_table, level_columns, quantity_table
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def item_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Items: the most probable class, its probability, and P(class | all labels) for every class.

    The probabilities are about the panel's target (:mod:`.labels.target`), or those of the posterior, averaged over its
    draws (at the mode alone under ``map``), where the fit is about the panel; ``probability_panel``, or
    ``probability_target``, is the other's of the same class. Anchored items have ``known`` True. ``criterion`` is there
    where the table has criteria.
    """
    chance, other = shown_probabilities(problem, posterior)
    columns: Columns = {"item": name_array(problem.items)[problem.unit_item]}
    if problem.table.has_criteria:
        columns["criterion"] = name_array(problem.criteria)[problem.unit_criterion]
    return columns | class_columns(problem, chance, other) | {"known": problem.known >= 0}


def judge_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: labels given, reliability and accuracy with intervals; with two classes sensitivity and specificity.

    ``reliability`` is P(right label | class), averaged over the classes with equal weights (balanced accuracy), and
    ``accuracy`` the same weighted by the classes' shares (their average over criteria). With two classes of which one
    counts as a success (:mod:`.labels.success`): ``sensitivity`` = P(says it | it is so), ``specificity`` = P(says the
    other | the other). All are missing where the model takes judges alike and knows no classes.
    """
    size = len(problem.judges)
    columns: Columns = {"judge": name_array(problem.judges), "votes": problem.judge_votes}
    return columns | with_intervals(posterior, lambda values: judge_values(problem, values), prob, size)


def confusion_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """P(label | class) of every judge with interval, one row per cell; nothing where the model has no classes."""
    if not problem.density.latent:
        return empty_table(("judge", "class", "label"), ("probability", "low", "high"))
    names = {"judge": problem.judges, "class": problem.labels[: problem.classes], "label": problem.labels}

    def rates(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.rates(values, np)))

    return quantity_table(posterior, rates, prob, "probability", level_columns(**names), parts=True)


def class_share_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Share of every class among the items of each criterion, with interval; nothing without latent classes."""
    if not problem.density.latent:
        return empty_table(("criterion", "class"), ("share", "low", "high"))
    levels = level_columns(**{"criterion": problem.criteria, "class": problem.labels[: problem.classes]})

    def shares(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.shares(values, np)))

    return quantity_table(posterior, shares, prob, "share", levels, parts=True)


def judge_values(problem: LabelsProblem, values: Values) -> dict[str, Floats]:
    """Values that :func:`judge_table` shows, shape (..., judges)."""
    density = problem.density
    if not density.latent:
        lead = values["tendency"].shape[:-2]
        missing = np.full((*lead, density.judges), np.nan)
        return {"reliability": missing, "accuracy": missing}
    log_right = np.diagonal(density.rates(values, np)[..., : density.classes], axis1=-2, axis2=-1)
    right = np.exp(log_right)  # (..., judges, classes)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :]
    result = {"reliability": right.mean(axis=-1), "accuracy": (right * share).sum(axis=-1)}
    if density.classes == 2 and problem.positive is not None:
        success_index = problem.labels.index(problem.positive)
        result |= {"sensitivity": right[..., success_index], "specificity": right[..., 1 - success_index]}
    return result


def class_quantities(problem: LabelsProblem, values: Values) -> Quantities:
    """Confusion matrices and shares of the classes as the tables have them."""
    density = problem.density
    if not density.latent:
        return {}
    rates = np.exp(density.rates(values, np))
    confusion = rates if rates.shape[-3] > 1 or density.judges == 1 else rates[..., 0, :, :]
    dims = ("judge", "class", "label")[-(confusion.ndim - 1) :]
    share = np.exp(density.shares(values, np))
    return {"confusion": Quantity(confusion, dims), "class_share": Quantity(share, ("criterion", "class"))}
