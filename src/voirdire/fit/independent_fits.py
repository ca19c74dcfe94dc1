"""Independent fits, such as of groups, of slices, without each judge in turn, or of replicates."""

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
    """Fit several tables independently.

    Parameters
    ----------
    tables : mapping of str to table
        Tables as in :func:`voirdire.fit`, by name. Workers of a cluster read paths on their machine.
    jobs : int or None
        Number of joblib processes. None uses an active ``joblib.parallel_config``.
    client : distributed.Client or str, optional
        A Dask cluster to use instead of processes, or the address of its scheduler.
    **settings
        As in :func:`voirdire.fit`, the same for all tables.

    Returns
    -------
    dict of str to Fit
        Fits by name; the result does not depend on the number of workers.

    Raises
    ------
    InputError
        If a table is refused (the message gives its name), or the cluster cannot be used.

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
