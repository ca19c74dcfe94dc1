"""Figures of MASA: shares of wins, losses and ties against the reference; win rates without ties, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.folders import write_file
from voirdire_repro.checks.counts import win_interval
from voirdire_repro.fill.filled import Filled
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

AVERAGE = "average"


def shares(job: Job) -> Filled:
    """Compute Tables 2 and 3 by judge and data set, in percent; items are named SET/NUMBER.

    ``statistic`` has the ``reference``, the tables of shares and of rates (``shares``, ``rates``) and the names in the
    table of rates by summariser (``called``). Its ``position`` has the table and keys of the share of pairs with
    verdicts that change with the order, and the ``judge`` and ``summariser`` of that share. A part with a ``prompt``
    repeats the run with another prompt: it fills no table; ``collected/prompts.csv`` has the verdicts of both.
    """
    import pandas as pd

    how = job.spec["statistic"]
    filled = Filled()
    by_prompt: list[pd.DataFrame] = []
    for part in job.spec["parts"]:
        folder = job.collect_tables(part["protocol"], part.get("options", {}), Path(part["name"]), job.items)
        if not (folder / "decisions.csv").is_file():
            continue
        decisions = pd.read_csv(folder / "decisions.csv")
        prompt = part.get("prompt", part.get("options", {}).get("guidance", ""))
        by_prompt.append(decisions.assign(judge=decisions["judge"] + f", {prompt}"))
        if "prompt" in part:
            continue
        rows = _add_outcomes(decisions, how["reference"])
        for (judge, name), own in rows.groupby(["judge", "other"]):
            counts = {
                str(dataset): {
                    outcome: int((dataset_rows["outcome"] == outcome).sum()) for outcome in ("win", "loss", "tie")
                }
                for dataset, dataset_rows in own.groupby("dataset", sort=False)
            }
            _add_shares(filled, how["shares"], {"summariser": str(name), "judge": str(judge)}, counts)
            if name in how["called"]:
                names = (how["called"][name], how["reference"])
                _add_rates(filled, how["rates"], {"judge": str(judge)}, names, counts)
            where = how.get("position", {})
            if (judge, name) == (where.get("judge"), where.get("summariser")) and "shown_first" in own:
                _add_turned(filled, where, own)
    if len(by_prompt) > 1:
        text = pd.concat(by_prompt).to_csv(index=False)
        write_file(job.folder / "collected" / "prompts.csv", text)
    return filled


def _add_turned(filled: Filled, where: Mapping[str, Any], own: pd.DataFrame) -> None:
    """Add the percentage of pairs with different verdicts in the two orders."""
    turned = (own["shown_first"] != own["shown_second"]).groupby(own["dataset"], sort=False).mean()
    for dataset, share in turned.items():
        filled.add_figure(
            where["table"], **where["keys"], dataset=str(dataset), statistic="value", value=100 * float(share)
        )
    _add_mean(filled, where["table"], {**where["keys"], "dataset": AVERAGE}, list(100 * turned))


def _add_outcomes(rows: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Add columns to rows: the other summariser, its outcome against the reference, and the data set."""
    first_won = rows["winner"] == "first"
    won = first_won == (rows["first"] != reference)
    outcome = won.map({True: "win", False: "loss"}).where(rows["winner"] != "tie", "tie")
    other = rows["first"].where(rows["second"] == reference, rows["second"])
    dataset = rows["context"].astype(str).str.split("/").str[0]
    return rows.assign(outcome=outcome, other=other, dataset=dataset)


def _add_shares(filled: Filled, table: str, keys: Mapping[str, str], counts: Mapping[str, Mapping[str, int]]) -> None:
    for outcome in ("win", "loss", "tie"):
        values = {name: 100 * own[outcome] / sum(own.values()) for name, own in counts.items()}
        for dataset, value in values.items():
            filled.add_figure(table, **keys, dataset=dataset, outcome=outcome, statistic="value", value=value)
        _add_mean(filled, table, {**keys, "dataset": AVERAGE, "outcome": outcome}, list(values.values()))


def _add_rates(
    filled: Filled, table: str, keys: Mapping[str, str], names: tuple[str, str], counts: Mapping[str, Mapping[str, int]]
) -> None:
    for name in names:
        columns: dict[str, list[float]] = {"value": [], "low": [], "high": []}
        for dataset, own in counts.items():
            wins, losses = own["win"], own["loss"]
            if name == names[1]:
                wins, losses = losses, wins
            if wins + losses == 0:
                continue  # all ties: no rate
            ends = win_interval(wins, losses, own["tie"]) or ()
            for statistic, share in zip(columns, (wins / (wins + losses), *ends), strict=bool(ends)):
                columns[statistic].append(100 * share)
                cell = {**keys, "dataset": dataset, "summariser": name, "statistic": statistic}
                filled.add_figure(table, **cell, value=100 * share)
        for statistic in ("low", "high"):
            if columns["value"] and len(columns[statistic]) == len(columns["value"]):
                cell = {**keys, "dataset": AVERAGE, "summariser": name, "statistic": statistic}
                filled.add_figure(table, **cell, value=sum(columns[statistic]) / len(columns[statistic]))
        _add_mean(filled, table, {**keys, "dataset": AVERAGE, "summariser": name}, columns["value"])


def _add_mean(filled: Filled, table: str, keys: Mapping[str, Any], values: list[float]) -> None:
    """Add the mean and the sd (divisor n - 1) over data sets."""
    import numpy as np

    if values:
        filled.add_figure(table, **keys, statistic="value", value=float(np.mean(values)))
    if len(values) > 1:
        filled.add_figure(table, **keys, statistic="sd", value=float(np.std(values, ddof=1)))
