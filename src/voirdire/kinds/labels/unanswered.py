"""Labels that judges may give items of a fit: prediction without an answer."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.about import shown_probabilities
from voirdire.kinds.labels.chances import label_probabilities
from voirdire.kinds.labels.predict import check_classes, class_columns, classify_items
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.tables.encode import level_positions
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.read import columns_among
from voirdire.tables.scores import Scores, read_scores
from voirdire.typing import Ints


def predict_labels(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    """Classes of the items of a table with labels; of one without a column ``label``, the labels that judges may give.

    Parameters
    ----------
    table : path or dataframe
        As :func:`.classify_items` takes it; or judge and item (and criterion) of the fit, a row for each question.

    Returns
    -------
    dict of array
        As :func:`.classify_items`; without labels one row per question: judge, criterion (where the fit has criteria),
        item, and ``p_<label>``, the posterior mean probability of each label.

    Raises
    ------
    InputError
        A judge, criterion, item or label that the fit does not know; a model without classes.
    """
    if _has_labels(table):
        return classify_items(problem, posterior, table)
    return _label_chances(problem, posterior, table)


def predict_target(problem: LabelsProblem, posterior: Posterior, table: object, prob: float) -> Columns:
    """Classes of items about the target: as :func:`.classify_items` of a table with labels, else of the fit's items.

    Parameters
    ----------
    problem : LabelsProblem
        About the target.
    table : path or dataframe
        As :func:`.classify_items` takes it; or item (and criterion) of the fit, a row for each question.
    prob : float
        Not used: a probability of a class is averaged over how far the panel may be from the target.

    Returns
    -------
    dict of array
        As :func:`.classify_items`.

    Raises
    ------
    InputError
        A judge, criterion, item or label that the fit does not know; a model without classes.
    """
    if _has_labels(table):
        return classify_items(problem, posterior, table)
    check_classes(problem)
    given = read_scores(table, name="labels", judge="people", answered=False)
    codes, named = _encode_rows(problem, given, ("criterion", "item"))
    unit = np.full((len(problem.criteria), len(problem.items)), -1)
    unit[problem.unit_criterion, problem.unit_item] = np.arange(len(problem.unit_item))
    row, problems = unit[codes["criterion"], codes["item"]], Problems("labels")
    if (row < 0).any():
        unknown = "no judge has labelled that item under that criterion; leave it out"
        problems.rows(np.flatnonzero(row < 0) + 1, unknown)
    problems.raise_any()
    chance, other = (of[row] for of in shown_probabilities(problem, posterior))
    return {**named, **class_columns(problem, chance, other)}


def _has_labels(table: object) -> bool:
    return "label" in columns_among(table, None, Problems("labels"))


def _label_chances(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    given = read_scores(table, name="labels", answered=False)
    codes, named = _encode_rows(problem, given, ("judge", "criterion", "item"))
    rows = (codes["judge"], codes["criterion"], codes["item"])
    found = np.mean([label_probabilities(problem, values, rows) for values in some_draws(posterior)], axis=0)
    return named | {f"p_{label}": found[:, at] for at, label in enumerate(problem.labels)}


def _encode_rows(
    problem: LabelsProblem, given: Scores, names: tuple[str, ...]
) -> tuple[dict[str, Ints], Columns]:
    """Codes of rows by a problem's levels, and the columns that name them."""
    problems, codes = Problems("labels"), {}
    named: Columns = {}
    for name in names:
        plural = {"judge": "judges", "criterion": "criteria", "item": "items"}[name]
        theirs, ours = getattr(given, plural), getattr(problem, plural)
        place = level_positions(theirs, ours)
        for level in np.flatnonzero(place < 0):
            at = np.flatnonzero(getattr(given, name) == level) + 1
            problems.rows(at, f"the fit has no {name} {theirs[level]!r}{nearest_name(theirs[level], ours)}")
        codes[name] = place[getattr(given, name)]
        if name != "criterion" or problem.table.has_criteria:
            named[name] = np.array(ours, dtype=object)[codes[name]]
    problems.raise_any()
    return codes, named
