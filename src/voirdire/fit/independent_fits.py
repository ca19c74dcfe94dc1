"""Independent fits: of groups, of slices, without each judge in turn, of replicates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from voirdire.errors import InputError, raise_problems
from voirdire.fit.verb import fit
from voirdire.kinds.fit import Fit
from voirdire.parallel import run_in_order


def fit_each(
    tables: Mapping[str, object], *, jobs: int | None = 1, client: object = None, **settings: Any
) -> dict[str, Fit]:
    """Fit several tables, each by itself.

    Parameters
    ----------
    tables : mapping of str to table
        What :func:`voirdire.fit` takes, by name. A cluster's workers read paths where they are.
    jobs : int or None
        Processes, by joblib. None leaves it to an active ``joblib.parallel_config``.
    client : distributed.Client or str, optional
        A Dask cluster in the place of ``jobs``, or the address of its scheduler.
    **settings
        As of :func:`voirdire.fit`, the same for all tables.

    Returns
    -------
    dict of str to Fit
        The same on any number of workers.

    Raises
    ------
    InputError
        A table is refused, which its name precedes, or the cluster cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": list("ab") * 4, "first": "x", "second": "y", "winner": ["x", "y", "x", "x"] * 2})
    >>> without = {judge: table[table["judge"] != judge] for judge in "ab"}
    >>> found = fit_each(without, model="bradley-terry", method="map")
    >>> {judge: one.ranking()["item"].tolist() for judge, one in found.items()}
    {'a': ['x', 'y'], 'b': ['x', 'y']}
    """
    results = run_in_order(partial(_fit_one, settings), list(tables.items()), jobs, client)
    result_by_name = dict(zip(tables, results, strict=True))
    problems = [
        f"{name}: {problem}"
        for name, result in result_by_name.items()
        if isinstance(result, InputError)
        for problem in result.problems
    ]
    raise_problems(problems)
    return {name: result for name, result in result_by_name.items() if isinstance(result, Fit)}


def _fit_one(settings: dict[str, Any], task: tuple[str, object]) -> Fit | InputError:
    try:
        return fit(task[1], **settings)
    except InputError as error:
        return error
