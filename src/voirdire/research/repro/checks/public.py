"""Figures recomputed from public data, which a data set's loader fetches."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import voirdire
from voirdire import datasets
from voirdire.errors import InputError
from voirdire.research.repro.checks.base import Check, Context, Found, NotFetched, Settings, related
from voirdire.research.repro.tables import Cell

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.agreement.correlation.levels import Level

_COEFFICIENTS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}


def correlation(context: Context, cell: Cell, settings: Settings) -> Found:
    """The correlation of ``metric`` with ``human`` that the figure's keys (aspect, coefficient) name.

    The aspect ``average`` is the mean over the aspects of the published table.
    """
    table = _table(context, settings["dataset"])
    name = _COEFFICIENTS[cell.by["coefficient"]]
    aspect = cell.by["aspect"]
    others = related(context, cell, {"over": "aspect"}) if aspect == "average" else []
    wanted = [one.by["aspect"] for one in others] or [aspect]
    values = _correlations(
        settings["dataset"], settings["metric"], settings["human"], settings["level"], name
    )
    note = f"{len(table)} scores, {settings['level']}"
    return Found(sum(values[one] for one in wanted) / len(wanted), note=note)


def size(context: Context, cell: Cell, settings: Settings) -> Found:
    """How many items, contexts or systems (``count``) a data set has."""
    table = _table(context, settings["dataset"])
    columns = {"items": ["context", "system"], "contexts": ["context"], "systems": ["system"]}[
        settings["count"]
    ]
    return Found(float(len(table[columns].drop_duplicates())))


def ratio_of(context: Context, cell: Cell, settings: Settings) -> Found:
    """Whether, over the aspects, the ratio of the two printed columns is nearer to tau over rho or to rho over r.

    ``tau / rho`` if the ratio of the columns labelled ``below`` and ``above`` in the published table is, for each
    aspect, nearer to Kendall's over Spearman's coefficient in the data than to Spearman's over Pearson's.
    """
    _table(context, settings["dataset"])
    values = {
        name: _correlations(
            settings["dataset"], settings["metric"], settings["human"], settings["level"], name
        )
        for name in _COEFFICIENTS.values()
    }
    table = context.tables[settings["table"]]
    nearer, shown = [], []
    for aspect in settings["aspects"]:
        above, below = (
            table.select({**settings["where"], "aspect": aspect, "coefficient": c})[0].value
            for c in ("pearson", "spearman")
        )
        tau_rho = values["kendall_tau_b"][aspect] / values["spearman"][aspect]
        rho_r = values["spearman"][aspect] / values["pearson"][aspect]
        nearer.append(abs(below / above - tau_rho) < abs(below / above - rho_r))
        shown.append(f"{aspect} {below / above:.2f} (tau/rho {tau_rho:.2f}, rho/r {rho_r:.2f})")
    return Found("tau / rho" if all(nearer) else "rho / r", note="; ".join(shown))


def _table(context: Context, name: str) -> pd.DataFrame:
    if not context.fetch:
        raise NotFetched(f"data set {name} not looked for")
    found = _loaded(name)
    if isinstance(found, str):
        raise NotFetched(found)
    return found


@lru_cache(maxsize=4)
def _loaded(name: str) -> pd.DataFrame | str:
    """The table, or why there is none: what cannot be fetched is tried once."""
    try:
        return datasets.load(name).table
    except InputError as error:
        return f"data not fetched: {error.problems[0]}"


@cache
def _correlations(dataset: str, metric: str, human: str, level: Level, name: str) -> dict[str, float]:
    # the intervals are not compared with anything: few resamples do
    table = _loaded(dataset)
    assert not isinstance(table, str)
    found = voirdire.metaeval(table, human, metrics=[metric], level=level, measures=[name], resamples=100)
    return {row["criterion"]: float(row["value"]) for row in found.to_dict("records")}


PUBLIC = {
    "correlation": Check(correlation, ("dataset", "metric", "human", "level")),
    "size": Check(size, ("dataset", "count")),
    "ratio-of-columns": Check(ratio_of, ("dataset", "metric", "human", "level", "table", "where", "aspects")),
}
