"""From what a run has collected to the figures of the published tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from voirdire.repro.items import HUMAN
from voirdire.repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

#: By table: rows with the keys of a cell and ``value``.
Filled: TypeAlias = dict[str, list[dict[str, Any]]]
_COEFFICIENTS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}


def correlations(job: Job) -> Filled:
    """Each judge's scores beside people's, by criterion and coefficient; ``average`` is the mean of the criteria."""
    import pandas as pd

    import voirdire

    how = job.spec["statistic"]
    found: Filled = {}
    for part in job.spec["parts"]:
        scores = pd.concat([pd.DataFrame()] + [_scores(job, part, n) for n in range(len(job.spec["scales"]))])
        if scores.empty:
            continue
        names = {_COEFFICIENTS[name]: name for name in how["coefficients"]}
        table = voirdire.metaeval(
            pd.concat([scores, job.human[job.human["criterion"].isin(scores["criterion"])]]),
            HUMAN,
            level=how["level"],
            coefficients=list(names),
            resamples=100,
        )
        called = job.spec.get("names", {})
        rows = []
        for row in table.to_dict("records"):
            keys = {
                how["judge"]: row["judges"][0],
                how["criterion"]: called.get(row["criterion"], row["criterion"]),
            }
            rows.append({**keys, "coefficient": names[row["measure"]], "value": row["value"]})
        frame = pd.DataFrame(rows)
        for (judge, name), one in frame.groupby([how["judge"], "coefficient"]):
            keys = {how["judge"]: judge, how["criterion"]: "average", "coefficient": name}
            rows.append({**keys, "value": one["value"].mean()})
        for fill in part["fills"]:
            found.setdefault(fill["table"], []).extend({**row, **fill["keys"]} for row in rows)
    return found


def _scores(job: Job, part: Mapping[str, Any], number: int) -> pd.DataFrame:
    """Final scores of the judges themselves (not of their agents), the mean over runs."""
    import pandas as pd

    scale = job.spec["scales"][number]
    options = dict(part.get("options", {}))
    if part.get("scaled", True):
        options |= {"low": scale["low"], "high": scale["high"], "criteria": scale["criteria"]}
    elif number:
        return pd.DataFrame()
    folder = job.collect(part["protocol"], options, Path(part["name"]) / str(number + 1), job.items)
    path = folder / "scores.csv"
    if not path.is_file():
        return pd.DataFrame()
    scores = pd.read_csv(path)
    if not part.get("scaled", True):  # one score, whatever the criterion
        every = [criterion for one in job.spec["scales"] for criterion in one["criteria"]]
        scores = pd.concat([scores.assign(criterion=criterion, judge="none") for criterion in every])
    if "phase" in scores:
        scores = scores[scores["phase"] == "final"]
    scores = scores[~scores["judge"].str.contains("/")]
    context = dict(zip(job.items["id"], job.items.get("context", job.items["id"]), strict=True))
    mean = scores.groupby(["judge", "item", "criterion"], as_index=False)["score"].mean()
    return pd.DataFrame(mean).assign(context=mean["item"].map(context))


def concordance(job: Job) -> Filled:
    """MAPLE's figures: per theme and sample, the concordance of each model's item scores with people's."""
    import numpy as np

    import voirdire
    from voirdire.metaeval.concordance import concordance_index

    truth = dict(zip(job.human["item"], job.human["score"], strict=True))
    values: dict[tuple[str, str, str], dict[tuple[str, int], float]] = {}
    for theme, sample, items in _samples(job):
        place = Path(theme.replace("/", "-")) / str(sample)
        for part in job.spec["parts"]:
            folder = job.collect(part["protocol"], part.get("options", {}), place / part["name"], items)
            votes, criteria = folder / "votes.csv", folder / "criteria.csv"
            for fill in part["fills"] if votes.is_file() else []:
                weighed = criteria if fill["model"] in ("maple", "maple-fixed-reliability") else None
                ranking = voirdire.fit(votes, weighed, model=fill["model"], method="map").ranking()
                people = np.array([truth[str(item)] for item in ranking["item"]])
                index = concordance_index(ranking["score"].to_numpy(), people)
                key = (fill["table"], fill["column"], fill["entry"])
                values.setdefault(key, {})[theme, sample] = index
    return _by_theme(values, job.spec["statistic"]["overall"])


def _by_theme(
    values: Mapping[tuple[str, str, str], Mapping[tuple[str, int], float]], overall: Mapping[str, str]
) -> Filled:
    """Mean and sd by theme and over all runs, and how often an entry alone is best."""
    import numpy as np

    found: Filled = {}
    for (table, column, entry), runs in values.items():
        for theme in dict.fromkeys(theme for theme, _ in runs):
            own = np.array([value for (name, _), value in runs.items() if name == theme])
            found.setdefault(table, []).extend(_mean_and_sd({"theme": theme, column: entry}, own))
        if table != overall["from"]:
            continue
        rivals = [other for key, other in values.items() if key[0] == table and key[2] != entry]
        best = sum(all(value > rival[run] for rival in rivals) for run, value in runs.items())
        rows = found.setdefault(overall["table"], [])
        rows += _mean_and_sd({column: entry}, np.array(list(runs.values())))
        rows.append({column: entry, "statistic": "top1", "value": float(best)})
    return found


def _mean_and_sd(keys: Mapping[str, str], values: Any) -> list[dict[str, Any]]:
    rows = [{**keys, "statistic": "mean", "value": float(values.mean())}]
    if len(values) > 1:
        rows.append({**keys, "statistic": "sd", "value": float(values.std(ddof=1))})
    return rows


def _samples(job: Job) -> Iterator[tuple[str, int, pd.DataFrame]]:
    import numpy as np

    how = job.spec["statistic"]
    for theme, items in job.items.groupby("context", sort=False):
        for sample in range(1, how["samples"] + 1):
            generator = np.random.default_rng([how["seed"], sample])
            rows = generator.permutation(len(items))[: how["size"]]
            yield str(theme), sample, items.iloc[np.sort(rows)].drop(columns="context")


def shares(job: Job) -> Filled:
    """MASA: shares of wins, losses and ties against the reference, and win rates without ties; ids are SET/NUMBER."""
    import pandas as pd

    reference = job.spec["statistic"]["reference"]
    found: Filled = {}
    for part in job.spec["parts"]:
        path = (
            job.collect(part["protocol"], part.get("options", {}), Path(part["name"]), job.items)
            / "decisions.csv"
        )
        if not path.is_file():
            continue
        rows = pd.read_csv(path)
        rows["dataset"] = rows["context"].astype(str).str.split("/").str[0]
        first_won = rows["winner"] == "first"
        other = rows["first"].where(rows["second"] == reference, rows["second"])
        won = first_won == (rows["first"] != reference)
        rows["outcome"] = won.map({True: "win", False: "loss"}).where(rows["winner"] != "tie", "tie")
        for (dataset, judge, name), one in rows.assign(other=other).groupby(["dataset", "judge", "other"]):
            share = one["outcome"].value_counts(normalize=True)
            keys = {"summariser": name, "judge": judge, "dataset": dataset}
            for outcome in ("win", "loss", "tie"):
                value = 100 * float(share.get(outcome, 0))
                found.setdefault("table2", []).append(
                    {**keys, "outcome": outcome, "statistic": "value", "value": value}
                )
            decided = one[one["outcome"] != "tie"]
            if len(decided):
                rate = 100 * float((decided["outcome"] == "win").mean())
                for summariser, value in (("Llama-2", rate), (reference, 100 - rate)):
                    keys = {
                        "dataset": dataset,
                        "judge": judge,
                        "summariser": summariser,
                        "statistic": "value",
                    }
                    found.setdefault("table3", []).append({**keys, "value": value})
    return found


STATISTICS: dict[str, Callable[[Job], Filled]] = {
    "correlation": correlations,
    "concordance": concordance,
    "shares": shares,
}
