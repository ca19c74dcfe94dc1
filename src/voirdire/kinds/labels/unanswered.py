"""Labels that judges may give items of a fit: prediction without an answer."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.chances import chances
from voirdire.kinds.labels.predict import classify
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.tables.encode import positions
from voirdire.tables.labels import Labels
from voirdire.tables.problems import Problems, nearest
from voirdire.tables.read import columns_among
from voirdire.tables.scores import read_scores


def predict(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    """Classes of the items of a table with labels; of one without a column ``label``, the labels that judges may give.

    Parameters
    ----------
    table : path or dataframe
        As :func:`.classify` takes it; or judge and item (and criterion) of the fit, a row for each question.

    Returns
    -------
    dict of array
        As :func:`.classify`; without labels one row per question: judge, criterion (where the fit has criteria), item,
        and ``p_<label>``, the posterior mean probability of each label.

    Raises
    ------
    InputError
        A judge, criterion, item or label that the fit does not know; a model without classes.
    """
    if isinstance(table, Labels) or "label" in columns_among(table, None, Problems("labels")):
        return classify(problem, posterior, table)
    return _label_chances(problem, posterior, table)


def _label_chances(problem: LabelsProblem, posterior: Posterior, table: object) -> Columns:
    given, problems = read_scores(table, name="labels", answered=False), Problems("labels")
    codes, named = [], {}
    for name, plural in (("judge", "judges"), ("criterion", "criteria"), ("item", "items")):
        theirs, ours = getattr(given, plural), getattr(problem, plural)
        place = positions(theirs, ours)
        for level in np.flatnonzero(place < 0):
            at = np.flatnonzero(getattr(given, name) == level) + 1
            problems.rows(at, f"the fit has no {name} {theirs[level]!r}{nearest(theirs[level], ours)}")
        codes.append(place[getattr(given, name)])
        named[name] = np.array(ours, dtype=object)[codes[-1]]
    problems.raise_any()
    rows = (codes[0], codes[1], codes[2])
    found = np.mean([chances(problem, values, rows) for values in some_draws(posterior)], axis=0)
    if not problem.table.has_criteria:
        del named["criterion"]
    return named | {f"p_{label}": found[:, at] for at, label in enumerate(problem.labels)}
