"""Classes of items that a fit has not seen, from the labels that its judges gave them."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.about import collect_panel, model_probabilities, other_subject
from voirdire.kinds.labels.beliefs import class_probabilities
from voirdire.kinds.labels.names import misnamed_class_rates
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.target import Target
from voirdire.model.density import Data
from voirdire.model.problem import TARGET
from voirdire.model.terms import CONFUSION
from voirdire.tables.label_questions import read_like
from voirdire.tables.labels import Labels
from voirdire.tables.problems import Problems, nearest_name
from voirdire.typing import Floats, Ints


def classify_items(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    """P(class | labels) of each item of another table, averaged over draws of the posterior.

    By Bayes' rule with the shares and matrices of the fit, and of the target by what is known of it
    (:mod:`.labels.target`); the new labels change neither. Labels that judges gave an item more than once all count.

    Parameters
    ----------
    table : path or dataframe
        Labels by judges (and under criteria) of the fit: judge, item, label and optionally criterion. Items may be new.

    Returns
    -------
    dict of array
        One row per item and criterion: item, criterion (where the fit has criteria), label, probability, ``p_<class>``,
        and ``probability_panel`` (or ``probability_target``) as in the fit's items.

    Raises
    ------
    InputError
        A judge, criterion or label that the fit does not know; a model without classes (``majority-label``).

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
    panel = model_probabilities(problem, posterior, some_draws(posterior), data)
    if problem.answered is None:
        target = Target.prior().of(collect_panel(problem, panel, data))
    else:
        from voirdire.kinds.labels.human import HumanLabels  # SciPy

        target = HumanLabels(problem).classify_new_items(data)
    chance, other = (target, panel) if problem.about == TARGET else (panel, target)
    named: dict[str, Any] = {"item": np.array(new.items, dtype=object)[unit % len(new.items)]}
    if problem.table.has_criteria:
        named["criterion"] = np.array(problem.criteria, dtype=object)[data["labels"]["criterion"]]
    return named | class_columns(problem, chance, other)


def class_columns(problem: LabelsProblem, chance: Floats, other: Floats) -> Columns:
    """Columns of what is most probable, with its probability about the other subject, and of every class.

    Parameters
    ----------
    chance, other : array, shape (rows, classes)
        About what the problem is, and about the other of panel and target.
    """
    label = chance.argmax(axis=1)
    return {
        "label": np.array(problem.labels, dtype=object)[label],
        "probability": chance.max(axis=1),
        f"probability_{other_subject(problem)}": other[np.arange(len(chance)), label],
    } | {f"p_{name}": chance[:, j] for j, name in enumerate(problem.labels[: problem.classes])}


def classify_draws(problem: LabelsProblem, posterior: Posterior, table: object) -> Floats | None:
    """P(class | labels) of each item of another table in draws of the posterior, shape (draws, items, classes).

    As :func:`classify_items`, and in its order, for intervals; None where people's answers say how far the panel is
    from its target, which is averaged over at once, or where the fit has no draws.
    """
    _, _, data = _encode_labels(problem, table)
    if problem.answered is not None or posterior.draws is None:
        return None
    rates, found = misnamed_class_rates(problem, posterior), []
    for values in some_draws(posterior):
        chance = class_probabilities(problem.density, [values], data)
        chance = chance if rates is None else chance @ rates
        about_target = problem.about == TARGET
        found.append(Target.prior().of(collect_panel(problem, chance, data)) if about_target else chance)
    return np.stack(found)


def check_classes(problem: LabelsProblem) -> None:
    """Raise where a model has no classes of items.

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
    """Table of new labels, its units (criterion and item in one code), and the labels of each as a density has them."""
    check_classes(problem)
    labels = problem.table.labels
    new = read_like(problem.table, table)
    problems = Problems("labels")
    judge, criterion = (
        _known_codes(names, levels, codes, kind, problems)
        for names, levels, codes, kind in (
            (new.judges, problem.judges, new.judge, "judge"),
            (new.criteria, problem.criteria, new.criterion, "criterion"),
        )
    )
    problems.raise_any()
    by_judge = CONFUSION[problem.model.reliability.kind].by_judge
    size = len(problem.judges) if by_judge else 1
    unit, row = np.unique(criterion * len(new.items) + new.item, return_inverse=True)
    place = np.array([problem.labels.index(label) for label in labels])[new.label]
    cell = (row * size + (judge if by_judge else judge * 0)) * len(labels) + place
    width = size * len(labels)
    counts = np.bincount(cell, minlength=len(unit) * width).reshape(len(unit), width).astype(float)
    of = unit // len(new.items)
    data = {
        "labels": {
            "counts": counts,
            "known": np.zeros((len(unit), problem.classes)),
            "criterion": of,
            "weight": np.ones(len(unit)),
        }
    }
    return new, unit, data


def _known_codes(
    names: tuple[str, ...], levels: tuple[str, ...], codes: Any, kind: str, problems: Problems
) -> Any:
    """Codes by the fit's levels; names that it does not know are problems."""
    place = {name: code for code, name in enumerate(levels)}
    for code, name in enumerate(names):
        if name not in place:
            rows = np.flatnonzero(codes == code) + 1
            problems.rows(
                rows, f"{kind} {name!r} is not in the fit; leave it out{nearest_name(name, levels)}"
            )
    return np.array([place.get(name, 0) for name in names], dtype=np.int64)[codes]
