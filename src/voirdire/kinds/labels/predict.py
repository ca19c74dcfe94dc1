"""Predictions: classes of new items from labels by judges of a fit, and labels of judges on items of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, thinned_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.answers import label_probabilities
from voirdire.kinds.labels.class_names import misnamed_class_rates
from voirdire.kinds.labels.class_probabilities import (
    class_columns,
    class_probabilities,
    collect_panel_probabilities,
    model_probabilities,
    shown_probabilities,
)
from voirdire.kinds.labels.layout import labels_data
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.target import Target
from voirdire.kinds.target_predictions import fit_codes
from voirdire.model.density import Data
from voirdire.model.problem import TARGET
from voirdire.model.terms import CONFUSION
from voirdire.tables.label_questions import read_labels_like
from voirdire.tables.labels import Labels
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.read import columns_among
from voirdire.tables.scores import Scores, read_scores
from voirdire.typing import Floats, Ints


def classify_items(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    """P(class | labels) of each item of another table, averaged over draws of the posterior.

    It follows from Bayes' rule with the shares and matrices of the fit, and for the target from its estimated distance
    to the panel (:mod:`.labels.target`); new labels change neither. Repeated labels by a judge on an item all count.

    Parameters
    ----------
    table : path or dataframe
        Labels by judges (and under criteria) of the fit: judge, item, label and optionally criterion. Items may be new.

    Returns
    -------
    dict of array
        One row per item and criterion: item, criterion (if the fit has criteria), label, probability, ``p_<class>``,
        and ``probability_panel`` (or ``probability_target``) as in the fit's items.

    Raises
    ------
    InputError
        An unknown judge, criterion or label; a model without classes (``majority-label``).

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, f"i{n}", "ab"[n % 2]) for judge in "xyz" for n in range(6)]
    >>> known = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> found = voirdire.fit(known, method="map")
    >>> new = pd.DataFrame({"judge": ["x", "y"], "item": "new", "label": ["b", "b"]})
    >>> found.predict(new)["label"].tolist()
    ['b']
    """
    new, unit, data = _encode_labels(problem, table)
    panel = model_probabilities(problem, posterior, thinned_draws(posterior), data)
    if problem.answered is None:
        target = Target.from_prior().to_target(collect_panel_probabilities(problem, panel, data))
    else:
        from voirdire.kinds.labels.human import HumanLabels  # SciPy

        target = HumanLabels(problem).classify_new_items(data)
    chance, other_probability = (target, panel) if problem.about == TARGET else (panel, target)
    name_columns: dict[str, Any] = {"item": np.array(new.items, dtype=object)[unit % len(new.items)]}
    if problem.table.has_criteria:
        name_columns["criterion"] = np.array(problem.criteria, dtype=object)[data["labels"]["criterion"]]
    return name_columns | class_columns(problem, chance, other_probability)


def classify_draws(problem: LabelsProblem, posterior: Posterior, table: object) -> Floats | None:
    """P(class | labels) of each item of another table in draws of the posterior, shape (draws, items, classes).

    Items are in the order of :func:`classify_items`; the draws give intervals. None with known items, as probabilities
    are then averages over the distance of the panel from its target, and None if the fit has no draws.
    """
    _, _, data = _encode_labels(problem, table)
    if problem.answered is not None or posterior.draws is None:
        return None
    rates, draws = misnamed_class_rates(problem, posterior), []
    for values in thinned_draws(posterior):
        chance = class_probabilities(problem.density, [values], data)
        chance = chance if rates is None else chance @ rates
        about_target = problem.about == TARGET
        draws.append(
            Target.from_prior().to_target(collect_panel_probabilities(problem, chance, data))
            if about_target
            else chance
        )
    return np.stack(draws)


def check_classes(problem: LabelsProblem) -> None:
    """Refuse a model without classes of items.

    Raises
    ------
    InputError
    """
    if not problem.density.latent:
        raise InputError(
            f"predict() needs a model that knows judges; {problem.model.name} takes all alike; "
            "fit hierarchical-dawid-skene"
        )


def _encode_labels(problem: LabelsProblem, table: object) -> tuple[Labels, Ints, Data]:
    """Table of new labels, codes of its units (criterion and item), and the labels of each in the form of a density."""
    check_classes(problem)
    labels = problem.table.labels
    new = read_labels_like(problem.table, table)
    problems = Problems("labels")
    judge = _known_codes(new.judges, problem.judges, new.judge, "judge", problems)
    criterion = _known_codes(new.criteria, problem.criteria, new.criterion, "criterion", problems)
    problems.raise_any()
    by_judge = CONFUSION[problem.model.reliability.kind].by_judge
    size = len(problem.judges) if by_judge else 1
    unit, row = np.unique(criterion * len(new.items) + new.item, return_inverse=True)
    label_code = np.array([problem.labels.index(label) for label in labels])[new.label]
    cell = (row * size + (judge if by_judge else judge * 0)) * len(labels) + label_code
    width = size * len(labels)
    counts = np.bincount(cell, minlength=len(unit) * width).reshape(len(unit), width).astype(float)
    known, weight = np.zeros((len(unit), problem.classes)), np.ones(len(unit))
    return new, unit, labels_data(counts, known, unit // len(new.items), weight)


def _known_codes(names: tuple[str, ...], levels: tuple[str, ...], codes: Any, kind: str, problems: Problems) -> Any:
    """Codes by the levels of the fit; unknown names are reported."""
    codes_by_name = {name: code for code, name in enumerate(levels)}
    for code, name in enumerate(names):
        if name not in codes_by_name:
            rows = np.flatnonzero(codes == code) + 1
            problems.rows(rows, f"{kind} {name!r} is not in the fit; leave it out{nearest_name(name, levels)}")
    return np.array([codes_by_name.get(name, 0) for name in names], dtype=np.int64)[codes]


def predict_labels(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    """Predict classes of the items of a table with labels, or labels of judges for a table without column ``label``.

    Parameters
    ----------
    table : path or dataframe
        As for :func:`.classify_items`; or judge and item (and criterion) of the fit, a row for each question.

    Returns
    -------
    dict of array
        As :func:`.classify_items`; without labels one row per question: judge, criterion (if the fit has criteria),
        item, and ``p_<label>``, the posterior mean probability of each label.

    Raises
    ------
    InputError
        An unknown judge, criterion, item or label; a model without classes.
    """
    if _has_labels(table):
        return classify_items(problem, posterior, table)
    return _label_chances(problem, posterior, table)


def predict_target(problem: LabelsProblem, posterior: Posterior, table: object, prob: float) -> Columns:
    """Predict classes about the target: of the items of a table with labels (:func:`.classify_items`), else of the fit.

    Parameters
    ----------
    problem : LabelsProblem
        A problem about the target.
    table : path or dataframe
        As for :func:`.classify_items`; or item (and criterion) of the fit, a row for each question.
    prob : float
        Not used: class probabilities are averages over the distance of the panel from the target.

    Returns
    -------
    dict of array
        As :func:`.classify_items`.

    Raises
    ------
    InputError
        An unknown judge, criterion, item or label; a model without classes.
    """
    if _has_labels(table):
        return classify_items(problem, posterior, table)
    check_classes(problem)
    questions = read_scores(table, name="labels", judge="people", answered=False)
    codes, name_columns = _encode_rows(problem, questions, ("criterion", "item"))
    unit = np.full((len(problem.criteria), len(problem.items)), -1)
    unit[problem.unit_criterion, problem.unit_item] = np.arange(len(problem.unit_item))
    row, problems = unit[codes["criterion"], codes["item"]], Problems("labels")
    if (row < 0).any():
        unknown = "no judge has labelled that item under that criterion; leave it out"
        problems.rows(np.flatnonzero(row < 0) + 1, unknown)
    problems.raise_any()
    chance, other_probability = (probabilities[row] for probabilities in shown_probabilities(problem, posterior))
    return {**name_columns, **class_columns(problem, chance, other_probability)}


def _has_labels(table: object) -> bool:
    return "label" in columns_among(table, None, Problems("labels"))


def _label_chances(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    questions = read_scores(table, name="labels", answered=False)
    codes, name_columns = _encode_rows(problem, questions, ("judge", "criterion", "item"))
    rows = (codes["judge"], codes["criterion"], codes["item"])
    probabilities = np.mean([label_probabilities(problem, values, rows) for values in thinned_draws(posterior)], axis=0)
    return name_columns | {f"p_{label}": probabilities[:, column] for column, label in enumerate(problem.labels)}


def _encode_rows(problem: LabelsProblem, questions: Scores, names: tuple[str, ...]) -> tuple[dict[str, Ints], Columns]:
    """Codes of rows by the levels of a problem, and the columns with their names."""
    problems = Problems("labels")
    codes, name_columns = fit_codes(problem, questions, names, problems)
    problems.raise_any()
    if not problem.table.has_criteria:
        name_columns.pop("criterion", None)
    return codes, name_columns
