"""Held-out log loss of models, by folds that keep whole comparisons, opinions or rankings together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.fit.verb import read_answers
from voirdire.kinds.answers import PredictionScores
from voirdire.kinds.kind import Kind
from voirdire.kinds.registry import check_kind, find_kind
from voirdire.kinds.request import Request
from voirdire.model.specs import Model, load_model, model_names
from voirdire.parallel import run_in_order
from voirdire.settings import is_whole, read_list
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


def cross_validate(
    votes: object,
    models: str | Path | Model | Sequence[str | Path | Model] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    levels: Sequence[object] | None = None,
    classes: Sequence[object] | None = None,
    covariates: object = None,
    families: object = None,
    jobs: int | None = 1,
    client: object = None,
) -> pd.DataFrame:
    """Compare models by the log loss of held-out answers.

    Whole groups of answers (such as all votes on the same unordered pair in the same context) are assigned to folds, so
    that a model cannot recall an answer to the same question. Each model is fitted by its mode on the other folds and
    predicts the held-out answers. A judge or an item without answers in the training folds is predicted from the mode
    of its prior. The loss is the mean of -log P(answer); on a continuous scale, of -log density per point of the scale,
    so that only models of a continuous scale are compared. See :meth:`.Kind.score_held_out`.

    Parameters
    ----------
    votes : path, dataframe, Votes, Labels, Scores, Rankings, or a list of two of them
        Tables as in :func:`voirdire.fit`. With votes and scores, votes are held out, and predicted from the other votes
        and all scores; models of votes alone, which do not use scores, can be compared, too.
    models : str, path or Model, or a sequence of them, optional
        By default all suitable models: the default model, and those of the table's kind that predict single answers on
        the same kind of scale, with contexts only if the default model has them. This may take minutes.
        ``attrs["left_out"]`` of the result gives the reasons of models that refused the table.
    by : str or sequence of str, optional
        Units of a group. For votes "vote" (each vote), "pair" (the unordered pair of items; the default), "context"
        (with the pair the default if no models are named and the default model has contexts), "criterion", "judge". For
        scores and labels "answer", "item", "context", "criterion", "judge"; by default ("judge", "item"), all answers
        of a judge to an item. For rankings "answer" (each ranking), "question" (the items, criterion and context of a
        judge; the default), "context", "criterion", "judge".
    folds : int
        Number of folds, at least 2.
    seed : int
        Seed of the assignment to folds.
    levels, classes : sequence, optional
        As in :func:`voirdire.fit`.
    covariates : path, dataframe, or names, optional
        As in :func:`voirdire.fit`; used by the models that take covariates.
    families : mapping, path or dataframe, optional
        As in :func:`voirdire.fit`; used by models with terms of families. Other models take judges as independent.
    jobs : int or None
        Number of joblib processes, which share folds and models. None uses an active ``joblib.parallel_config``.
    client : distributed.Client or str, optional
        A Dask cluster to use instead of processes, or the address of its scheduler.

    Returns
    -------
    pandas.DataFrame
        One row per model, best first: model, log_loss, se (its standard error, clustered by group), accuracy (share of
        answers that were the most probable; missing on a continuous scale), difference (from the best model) with its
        clustered standard error difference_se, votes (number of votes, labels, scores or rankings), groups. The loss
        of a ranking is that of the whole ranking. A ranking was the most probable if its items are in descending order
        of strength.

    Raises
    ------
    InputError
        For an unknown unit or model, a model for another kind of table or without a probability of single answers,
        fewer groups than folds, "context" without a context column, or a cluster that cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"judge": "a", "first": list("xyzx") * 5, "second": list("yzwz") * 5, "winner": "first"}
    ... )
    >>> cross_validate(table, ["bradley-terry", "crowd-bt"], folds=2)["votes"].tolist()
    [20, 20]
    """
    if models is not None:
        models = [models] if isinstance(models, str | Path | Model) else read_list("models", models)
    by = None if by is None else read_list("by", by)
    request = Request(levels=levels, classes=classes, covariates=covariates, families=families)
    model_terms = tuple(row for model in models or () for row in load_model(model).terms)
    table = read_answers(votes, levels, rows=True, keep=replace(request, terms=model_terms).columns)
    kind = find_kind(table.data)
    if covariates is not None:
        kind.check_request(Request(covariates=covariates))
    models_named = models is not None
    if models is None:
        models, units = _candidate_models(kind, table, request)
        by = units if by is None else by
    specs = [load_model(model) for model in models]
    if not specs:
        raise InputError("models is empty; name at least one model")
    for spec in specs:
        if not kind.predicts_answers(spec):
            check_kind(spec, table)
    densities = {kind.predicts_density(spec) for spec in specs}
    if len(densities) > 1:
        raise InputError(
            "models: of scores between levels a density is predicted, of levels a probability; compare models of one "
            "kind of scale"
        )
    group = _group_codes(table, by)
    count = int(group.max()) + 1
    if count < 2:
        raise InputError(
            "all answers are in one group (by= says what makes one), and groups are left out as a whole: none would be "
            "left to learn from; collect answers to further questions"
        )
    if not (is_whole(folds) and 2 <= folds <= count):
        raise InputError(f"folds {folds!r}: must be a whole number between 2 and the number of groups, {count}")
    if not is_whole(seed) or seed < 0:
        raise InputError(f"seed {seed!r} is no whole number from 0")
    order = np.random.default_rng(seed).permutation(count)
    fold = (np.arange(count) % folds)[np.argsort(order)][group]
    tasks = [(spec, number) for spec in specs for number in range(folds)]
    scored = run_in_order(partial(_evaluate_fold, kind, table, fold, request), tasks, jobs, client)
    losses, right, left_out = {}, {}, {}
    for spec, *parts in zip(specs, *(scored[number::folds] for number in range(folds)), strict=True):
        failure = next((part for part in parts if isinstance(part, InputError)), None)
        if failure is not None:
            if models_named:
                raise failure
            left_out[spec.name] = "; ".join(failure.problems)
            continue
        loss, correct = np.empty((2, len(fold)))
        for number, part in enumerate(parts):
            loss[fold == number], correct[fold == number] = -part[0], part[1]
        losses[spec.name], right[spec.name] = loss, correct
    if not losses:
        raise InputError(list(left_out.values()))
    result = _loss_table(losses, right, group, count).rename(columns=kind.heading)
    result.attrs["left_out"] = left_out
    return result


def _evaluate_fold(
    kind: Kind[Any, Any], table: Any, fold: Ints, request: Request, task: tuple[Model, int]
) -> PredictionScores | InputError:
    model, number = task
    try:
        return kind.score_held_out(model, table, fold == number, request)
    except InputError as error:
        return error


def _candidate_models(kind: Kind[Any, Any], table: Any, request: Request) -> tuple[list[str | Model], tuple[str, ...]]:
    """Models to compare by default, and the units of their groups."""
    default = load_model(kind.default_model(table, request)[0])
    units = table.question if default.context is None else (*table.question, "context")
    names: list[str | Model] = [
        name
        for name in model_names()
        if kind.predicts_answers(model := load_model(name))
        and model.pool == "none"
        and kind.predicts_density(model) == kind.predicts_density(default)
        and (model.context is None or default.context is not None)
        and default.criteria in (model.criteria, "separate")
    ]
    return ([] if default.name in names else [default]) + names, units


def _group_codes(table: Any, by: Sequence[str] | None) -> Ints:
    by = table.question if by is None else by
    units = table.unit_codes()
    problems = [f"by: {unit!r} is none of {', '.join(units)}" for unit in by if unit not in units]
    if "context" in by and units["context"] is None:
        problems.append("by: the table has no context column; leave 'context' out")
    if not by:
        problems.append("by is empty; name at least one unit")
    raise_problems(problems)
    _, group = np.unique(np.stack([units[unit] for unit in by]), axis=1, return_inverse=True)
    return np.asarray(group.ravel())


def _loss_table(losses: dict[str, Floats], right: dict[str, Any], group: Ints, count: int) -> pd.DataFrame:
    import pandas as pd

    best = min(losses, key=lambda name: float(losses[name].mean()))
    rows = [
        {
            "model": name,
            "log_loss": float(loss.mean()),
            "se": _clustered_error(loss, group, count),
            "accuracy": float(right[name].mean()),
            "difference": float((loss - losses[best]).mean()),
            "difference_se": _clustered_error(loss - losses[best], group, count),
            "votes": len(loss),
            "groups": count,
        }
        for name, loss in losses.items()
    ]
    return pd.DataFrame(rows).sort_values("log_loss", ignore_index=True)


def _clustered_error(values: Floats, group: Ints, count: int) -> float:
    """Cluster-robust (sandwich) standard error of the mean."""
    totals = np.bincount(group, values - values.mean(), count)
    return float(np.sqrt(np.square(totals).sum() * count / (count - 1)) / len(values))
