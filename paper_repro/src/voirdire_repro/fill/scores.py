"""Scores of a part of a run: selection by stage of the protocol and by judge."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

_CASE = ["judge", "item", "criterion"]


def collected_scores(job: Job, part: Mapping[str, Any], repeat: int = 0) -> pd.DataFrame:
    """Return all rows of a part's scores, of every scale, with the ``context`` of the item.

    A part that is not ``scaled``, or that uses a ``column`` of the data set's file, gives one score for all criteria,
    with "none" as judge. An ``optional`` part without its package or model is left out with a message.
    """
    import pandas as pd

    if "column" in part:
        return _given_scores(job, part["column"])
    scales = job.spec["scales"]
    wanted = part.get("criteria")
    tables = [pd.DataFrame()]
    for number, scale in enumerate(scales, start=1):
        options = dict(part.get("options", {}))
        if part.get("scaled", True):
            criteria = {k: v for k, v in scale["criteria"].items() if wanted is None or k in wanted}
            if not criteria:
                continue
            options |= {"low": scale["low"], "high": scale["high"], "criteria": criteria}
            steps = {name: text for name, text in job.spec.get("steps", {}).items() if name in criteria}
            if steps and part["protocol"] in ("debate", "g-eval"):
                options |= {"steps": steps}
        elif number > 1:
            break
        place = Path(part["name"] + (f"-repeat-{repeat}" if repeat else "")) / str(number)
        # in a smoke run, parts that fill no table use two items, the minimum of a protocol
        items = job.items.head(2) if job.smoke and not part.get("fills") else job.items
        if part.get("referenced", False):
            items = items[items["reference"] != ""] if "reference" in items else items.head(0)
            if items.empty:
                print(f"{place}: left out: no item has a reference", file=sys.stderr)
                break
        try:
            path = job.collect_tables(part["protocol"], options, place, items, repeat=repeat) / "scores.csv"
        except InputError as error:
            if not part.get("optional", False):
                raise
            print(f"{place}: left out: {'; '.join(error.problems)}", file=sys.stderr)
            break
        if path.is_file():
            tables.append(pd.read_csv(path, dtype={"item": str, "run": str}))
    scores = pd.concat(tables, ignore_index=True)
    if scores.empty:
        return scores
    if not part.get("scaled", True):
        scores = _for_all(job, scores)
    context = dict(zip(job.items["id"], job.items.get("context", job.items["id"]), strict=True))
    return scores.assign(context=scores["item"].map(context)).reset_index(drop=True)


def _given_scores(job: Job, column: str) -> pd.DataFrame:
    """Return scores from a column of the data set's file."""
    items = job.items
    context = items["context"] if "context" in items else items["id"]
    table = items[["id"]].rename(columns={"id": "item"}).assign(context=context, score=items[column].astype(float))
    return _for_all(job, table)


def _for_all(job: Job, scores: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    every = [criterion for scale in job.spec["scales"] for criterion in scale["criteria"]]
    return pd.concat([scores.assign(criterion=criterion, judge="none") for criterion in every], ignore_index=True)


def final_results(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the final results of each judge, without its agents or groups: the mean over runs.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "i", "c", run, "final", score) for run, score in (("1", 4.0), ("2", 2.0))]
    >>> rows.append(("a/x", "i", "c", "1", "final", 1.0))
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "run", "phase", "score"]).assign(context="t")
    >>> final_results(table)["score"].tolist()
    [3.0]
    """
    rows = scores[scores["phase"] == "final"] if "phase" in scores else scores
    return _mean_scores(rows[~rows["judge"].str.contains("/")])


def results_after(scores: pd.DataFrame, iterations: int) -> pd.DataFrame:
    """Return the results of a debate after ``iterations`` iterations; a debate that ended earlier keeps its score.

    Examples
    --------
    >>> import pandas as pd
    >>> said = [("initial", 1.0), ("iteration-1", 2.0), ("iteration-2", 3.0), ("final", 3.0)]
    >>> rows = [("a", "i", "c", "1", phase, score) for phase, score in said]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "run", "phase", "score"]).assign(context="t")
    >>> results_after(table, 1)["score"].tolist(), results_after(table, 9)["score"].tolist()
    ([2.0], [3.0])
    """
    number = scores["phase"].str.removeprefix("iteration-").replace({"initial": "0", "final": "-1"}).astype(int)
    rows = scores.assign(number=number)[number.between(0, iterations)].sort_values("number", kind="stable")
    return _mean_scores(rows.groupby([*_CASE, "run"], as_index=False, sort=False).last())


def of_runs(scores: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Return the mean over the first ``runs`` Monte Carlo runs.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "i", "c", str(k), "run", float(k)) for k in (1, 2, 3)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "run", "phase", "score"]).assign(context="t")
    >>> of_runs(table, 2)["score"].tolist()
    [1.5]
    """
    rows = scores[scores["phase"] == "run"]
    return _mean_scores(rows[rows["run"].astype(int) <= runs])


def of_groups(scores: pd.DataFrame, phase: str = "final") -> pd.DataFrame:
    """Return the scores of each group, with judge ``judge/group``: the mean over its agents in a phase."""
    if "level" not in scores:
        return scores.iloc[:0]
    rows = scores[(scores["level"] == "agent") & (scores["phase"] == phase)]
    owner = rows["judge"].str.split("/").str[0]
    return _mean_scores(rows.assign(judge=owner + "/" + rows["group"]))


def _mean_scores(rows: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    if rows.empty:
        return rows
    return pd.DataFrame(rows.groupby([*_CASE, "context"], as_index=False)["score"].mean())
