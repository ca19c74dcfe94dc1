"""Figures recomputed from public data, which the loader of a data set downloads."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import voirdire
from voirdire import datasets
from voirdire.errors import InputError
from voirdire_repro.checks.base import Check, Context, Found, NotFetched, Settings, related_cells
from voirdire_repro.items import DATASETS, LOADERS
from voirdire_repro.rouge import rouge_l
from voirdire_repro.tables import Cell

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.agreement.correlation.levels import Level

_COEFFICIENTS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}


def correlation(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the correlation of ``metric`` with ``human`` for the figure's keys (aspect, coefficient).

    ``by`` is the name of the column of aspects, by default "aspect"; the aspect ``average`` is the mean over those of
    the published table. With ``computed`` the metric is ROUGE-L, computed here for texts with a reference.
    """
    computed, by = settings.get("computed", False), settings.get("by", "aspect")
    table = _fetched_table(context, settings["dataset"], computed)
    name = _COEFFICIENTS[cell.by["coefficient"]]
    others = related_cells(context, cell, {"over": by}) if cell.by[by] == "average" else []
    wanted = [figure.by[by] for figure in others] or [cell.by[by]]
    how = (settings["metric"], settings["human"], settings["level"], name)
    values = _criterion_correlations((settings["dataset"], computed), *how)
    note = f"{len(table)} scores, {settings['level']}"
    return Found(sum(values[aspect] for aspect in wanted) / len(wanted), note=note)


def size(context: Context, cell: Cell, settings: Settings) -> Found:
    """Count the items, contexts or systems (``count``) in a data set."""
    table = _fetched_table(context, settings["dataset"])
    columns = {"items": ["context", "system"], "contexts": ["context"], "systems": ["system"]}[settings["count"]]
    return Found(float(len(table[columns].drop_duplicates())))


def example(context: Context, cell: Cell, settings: Settings) -> Found:
    """Compute the mean of people's scores by ``criterion`` for the single text of a data set that contains ``text``."""
    if not context.fetch:
        raise NotFetched(f"data set {settings['dataset']} not looked for")
    loaded = _loaded_texts(settings["dataset"])
    if isinstance(loaded, str):
        raise NotFetched(loaded)
    items, human = loaded
    here = items.loc[items["text"].str.contains(settings["text"], case=False, regex=False), "id"]
    if len(here) != 1:
        raise NotFetched(f"{len(here)} texts of {settings['dataset']} hold {settings['text']!r}")
    scores = human[(human["item"] == here.iloc[0]) & (human["criterion"] == settings["criterion"])]
    return Found(float(scores["score"].mean()))


def ratio_of(context: Context, cell: Cell, settings: Settings) -> Found:
    """Decide if the ratio of two printed columns is nearer to tau over rho or to rho over r.

    The result is ``tau / rho`` if, for each aspect, the ratio of the published columns spearman over pearson is nearer
    to Kendall's over Spearman's coefficient in the data than to Spearman's over Pearson's; else ``rho / r``.
    """
    _fetched_table(context, settings["dataset"])
    how = ((settings["dataset"], False), settings["metric"], settings["human"], settings["level"])
    values = {name: _criterion_correlations(*how, name) for name in _COEFFICIENTS.values()}
    table = context.tables[settings["table"]]
    nearer, shown = [], []
    for aspect in settings["aspects"]:
        above, below = (
            table.select_cells({**settings["where"], "aspect": aspect, "coefficient": c})[0].value
            for c in ("pearson", "spearman")
        )
        tau_rho = values["kendall_tau_b"][aspect] / values["spearman"][aspect]
        rho_r = values["spearman"][aspect] / values["pearson"][aspect]
        nearer.append(abs(below / above - tau_rho) < abs(below / above - rho_r))
        shown.append(f"{aspect} {below / above:.2f} (tau/rho {tau_rho:.2f}, rho/r {rho_r:.2f})")
    return Found("tau / rho" if all(nearer) else "rho / r", note="; ".join(shown))


def _fetched_table(context: Context, name: str, computed: bool = False) -> pd.DataFrame:
    if not context.fetch:
        raise NotFetched(f"data set {name} not looked for")
    table = _computed_table(name) if computed else _loaded_table(name)
    if isinstance(table, str):
        raise NotFetched(table)
    return table


@lru_cache(maxsize=4)
def _computed_table(name: str) -> pd.DataFrame | str:
    """Return the scores of people and of ROUGE-L, or the reason why there are none."""
    loaded = _loaded_texts(name)
    return loaded if isinstance(loaded, str) else _with_rouge(*loaded)


@lru_cache(maxsize=8)
def _loaded_table(name: str) -> pd.DataFrame | str:
    """Return the table, or the reason why there is none; cached, so that a failed download is not repeated."""
    try:
        return datasets.load(name).table
    except InputError as error:
        return f"data not fetched: {error.problems[0]}"


@lru_cache(maxsize=4)
def _loaded_texts(name: str) -> tuple[pd.DataFrame, pd.DataFrame] | str:
    """Return texts and people's scores by a loader of :mod:`voirdire_repro.items`, or the reason why there are none."""
    fetched = _loaded_table(DATASETS[name])
    return fetched if isinstance(fetched, str) else LOADERS[name](None)


def _with_rouge(items: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Return people's scores, and each text's ROUGE-L under every criterion as judge ``rouge-l``."""
    import pandas as pd

    items = items[items["reference"] != ""]
    value = {
        row["id"]: rouge_l(row["text"], row["reference"])
        for row in items[["id", "text", "reference"]].to_dict("records")
    }
    human = human[human["item"].isin(items["id"])]
    return pd.concat([human, human.assign(judge="rouge-l", score=human["item"].map(value))])


@cache
def _criterion_correlations(
    data: tuple[str, bool], metric: str, human: str, level: Level, name: str
) -> dict[str, float]:
    # few resamples, because the intervals are not used
    name_of, computed = data
    table = _computed_table(name_of) if computed else _loaded_table(name_of)
    assert not isinstance(table, str)
    correlations = voirdire.metaeval(table, human, metrics=[metric], level=level, measures=[name], resamples=100)
    return {row["criterion"]: float(row["value"]) for row in correlations.to_dict("records")}


PUBLIC = {
    "correlation": Check(correlation, ("dataset", "metric", "human", "level"), ("by", "computed")),
    "example": Check(example, ("dataset", "text", "criterion")),
    "size": Check(size, ("dataset", "count")),
    "ratio-of-columns": Check(ratio_of, ("dataset", "metric", "human", "level", "table", "where", "aspects")),
}
