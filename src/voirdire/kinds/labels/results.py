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

    Probabilities are about the target of the panel (:mod:`.labels.target`). If the fit is about the panel, they are
    those of the posterior, averaged over its draws (at the mode under ``map``). ``probability_panel``, or
    ``probability_target``, is the probability of the same class about the other subject. Anchored items have ``known``
    True. A table with criteria has the column ``criterion``.
    """
    chance, other_probability = shown_probabilities(problem, posterior)
    columns: Columns = {"item": name_array(problem.items)[problem.unit_item]}
    if problem.table.has_criteria:
        columns["criterion"] = name_array(problem.criteria)[problem.unit_criterion]
    return columns | class_columns(problem, chance, other_probability) | {"known": problem.known >= 0}


def judge_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: number of labels, reliability and accuracy with intervals; with two classes sensitivity and specificity.

    ``reliability`` is P(right label | class), averaged over the classes with equal weights (balanced accuracy);
    ``accuracy`` is the average weighted by the classes' shares (their mean over criteria). With two classes and a known
    success class (:mod:`.labels.success`), ``sensitivity`` = P(label success | class success), and ``specificity`` =
    P(label failure | class failure). All are missing if the model has no classes.
    """
    size = len(problem.judges)
    columns: Columns = {"judge": name_array(problem.judges), "votes": problem.judge_votes}
    return columns | with_intervals(posterior, lambda values: judge_values(problem, values), prob, size)


def confusion_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """P(label | class) of every judge with interval, one row per cell; empty if the model has no classes."""
    if not problem.density.latent:
        return empty_table(("judge", "class", "label"), ("probability", "low", "high"))
    names = {"judge": problem.judges, "class": problem.labels[: problem.classes], "label": problem.labels}

    def rates(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.rates(values, np)))

    return quantity_table(posterior, rates, prob, "probability", level_columns(**names), parts=True)


def class_share_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Share of every class among the items of each criterion, with interval; empty without latent classes."""
    if not problem.density.latent:
        return empty_table(("criterion", "class"), ("share", "low", "high"))
    levels = level_columns(**{"criterion": problem.criteria, "class": problem.labels[: problem.classes]})

    def shares(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.shares(values, np)))

    return quantity_table(posterior, shares, prob, "share", levels, parts=True)


def judge_values(problem: LabelsProblem, values: Values) -> dict[str, Floats]:
    """Values in :func:`judge_table`, shape (..., judges)."""
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
    """Confusion matrices and shares of the classes; empty without latent classes."""
    density = problem.density
    if not density.latent:
        return {}
    rates = np.exp(density.rates(values, np))
    confusion = rates if rates.shape[-3] > 1 or density.judges == 1 else rates[..., 0, :, :]
    dims = ("judge", "class", "label")[-(confusion.ndim - 1) :]
    share = np.exp(density.shares(values, np))
    return {"confusion": Quantity(confusion, dims), "class_share": Quantity(share, ("criterion", "class"))}
