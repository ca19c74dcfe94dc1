"""Tables of a fit of labels: the class of each item, judges, confusion matrices, shares of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.density import class_probabilities
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def items(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Items: the most probable class, its probability, and P(class | all labels) for every class.

    The probabilities are those of the posterior, averaged over its draws (at the mode alone under ``map``). Anchored
    items have ``known`` True. ``criterion`` is there where the table has criteria.
    """
    chance = class_probabilities(problem.density, some_draws(posterior), problem.data)[problem.unit_row]
    if not problem.density.latent and (problem.known >= 0).any():
        at = np.flatnonzero(problem.known >= 0)
        chance[at] = np.eye(problem.classes)[problem.known[at]]
    best = chance.argmax(axis=1)
    columns: Columns = {"item": _named(problem.items)[problem.unit_item]}
    if problem.table.has_criteria:
        columns["criterion"] = _named(problem.criteria)[problem.unit_criterion]
    columns["label"] = _named(problem.labels)[best]
    columns["probability"] = chance.max(axis=1)
    columns |= {f"p_{name}": chance[:, j] for j, name in enumerate(problem.labels[: problem.classes])}
    columns["known"] = problem.known >= 0
    return columns


def judges(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: labels given, reliability and accuracy with intervals; with two classes sensitivity and specificity.

    ``reliability`` is P(right label | class), averaged over the classes with equal weights (balanced accuracy), and
    ``accuracy`` the same weighted by the classes' shares (their average over criteria). With two classes, the second in
    the order of labels is the positive one: ``sensitivity`` = P(says it | it is so), ``specificity`` = P(says the first
    | the first). All are missing where the model takes judges alike and knows no classes.
    """
    size = len(problem.judges)
    columns: Columns = {"judge": _named(problem.judges), "votes": problem.judge_votes}
    centre = _judge_values(problem, posterior.central_values)
    draws = None if posterior.values is None else _judge_values(problem, posterior.values)
    for name, value in centre.items():
        columns[name] = np.broadcast_to(value, (size,))
        low = high = np.full(size, np.nan)
        if draws is not None and not np.isnan(draws[name]).any():
            low, high = (np.broadcast_to(end, (size,)) for end in posterior.interval(draws[name], prob))
        columns[f"{name}_low"], columns[f"{name}_high"] = low, high
    return columns


def confusion(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """P(label | class) of every judge with interval, one row per cell; nothing where the model has no classes."""
    if not problem.density.latent:
        names: Columns = {name: np.array([], dtype=object) for name in ("judge", "class", "label")}
        return names | {name: np.array([]) for name in ("probability", "low", "high")}
    shape = (len(problem.judges), problem.classes, len(problem.labels))
    judge, of, label = (part.ravel() for part in np.indices(shape))
    columns: Columns = {
        "judge": _named(problem.judges)[judge],
        "class": _named(problem.labels)[of],
        "label": _named(problem.labels)[label],
    }
    centre = np.exp(problem.density.rates(posterior.central_values, np))
    columns["probability"] = np.broadcast_to(centre, shape).ravel()
    columns["low"] = columns["high"] = np.full(len(judge), np.nan)
    if posterior.values is not None:
        ends = posterior.interval(np.exp(problem.density.rates(posterior.values, np)), prob)
        columns["low"], columns["high"] = (np.broadcast_to(end, shape).ravel() for end in ends)
    return columns


def shares(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Share of every class among the items of each criterion, with interval; nothing without latent classes."""
    if not problem.density.latent:
        names: Columns = {name: np.array([], dtype=object) for name in ("criterion", "class")}
        return names | {name: np.array([]) for name in ("share", "low", "high")}
    shape = (len(problem.criteria), problem.classes)
    criterion, of = (part.ravel() for part in np.indices(shape))
    columns: Columns = {"criterion": _named(problem.criteria)[criterion], "class": _named(problem.labels)[of]}
    columns["share"] = np.exp(problem.density.shares(posterior.central_values, np)).ravel()
    columns["low"] = columns["high"] = np.full(len(of), np.nan)
    if posterior.values is not None:
        draws = np.exp(problem.density.shares(posterior.values, np)).reshape(-1, len(of))
        columns["low"], columns["high"] = posterior.interval(draws, prob)
    return columns


def _judge_values(problem: LabelsProblem, values: Values) -> dict[str, Floats]:
    density = problem.density
    if not density.latent:
        lead = values["tendency"].shape[:-2]
        missing = np.full((*lead, density.judges), np.nan)
        return {"reliability": missing, "accuracy": missing}
    rates = np.exp(density.rates(values, np))
    right = np.diagonal(rates[..., : density.classes], axis1=-2, axis2=-1)  # (..., judges, classes)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :]
    found = {"reliability": right.mean(axis=-1), "accuracy": (right * share).sum(axis=-1)}
    if density.classes == 2:
        found |= {"sensitivity": right[..., 1], "specificity": right[..., 0]}
    return found


def _named(names: tuple[str, ...]) -> npt.NDArray[Any]:
    return np.array(names, dtype=object)
