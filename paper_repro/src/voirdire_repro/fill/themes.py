"""Figures of MAPLE: concordance of item scores with people's, by theme and sample, for all judges and for each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire_protocols.maple import criterion_text
from voirdire_repro.fill.filled import BY_PAPER, Filled, estimator_table
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

#: Models that are also fitted to the votes on criteria.
WEIGHED = ("maple", "maple-fixed-reliability")
Runs = dict[tuple[str, int], float]


def concordance(job: Job) -> Filled:
    """Compute means and sds by theme and over all samples, number of samples with one best entry, claims in the text.

    ``alone`` of a part is a model that is fitted to each judge's votes alone. A fill with ``method = "adam"`` is
    estimated by the paper's procedure; its figures are in a separate table.
    """
    import pandas as pd

    values: dict[tuple[str, str, str], Runs] = {}
    alone: dict[str, dict[str, Runs]] = {}
    votes_of: dict[str, list[pd.DataFrame]] = {}
    written: dict[tuple[str, str], dict[str, str]] = {}
    for theme, sample, items in _draw_samples(job):
        run = (theme, sample)
        for part in job.spec["parts"]:
            place = Path(theme.replace("/", "-")) / str(sample) / part["name"]
            options = _of_theme(part.get("options", {}), theme, items)
            options |= {"criteria": written[theme, part["name"]]} if (theme, part["name"]) in written else {}
            folder = job.collect_tables(part["protocol"], options, place, items)
            if criteria_of(folder):
                written.setdefault((theme, part["name"]), criteria_of(folder))
            if not (folder / "votes.csv").is_file():
                continue
            votes = pd.read_csv(folder / "votes.csv", dtype={"first": str, "second": str, "winner": str})
            criteria = folder / "criteria.csv"
            weights = pd.read_csv(criteria) if criteria.is_file() else None
            votes_of.setdefault(part["name"], []).append(votes)
            for fill in part["fills"]:
                method = fill.get("method", "map")
                key = (estimator_table(fill["table"], method), fill["column"], fill["entry"])
                index = _concordance_index(job, votes, weights, fill["model"], method)
                values.setdefault(key, {})[run] = index
            if "alone" in part:
                for judge, own in votes.groupby("judge"):
                    theirs = None if weights is None else weights[weights["judge"] == judge]
                    index = _concordance_index(job, own, theirs, part["alone"])
                    alone.setdefault(part["name"], {}).setdefault(str(judge), {})[run] = index
    filled = _by_theme(values, job.spec["statistic"]["overall"])
    for text in job.spec.get("texts", []):
        together = values.get((text["table"], text["column"], text["entry"]), {}) if "table" in text else {}
        singles = alone.get(text["part"], {})
        if text["kind"] == "ahead" and together and singles:
            filled.texts[text["claim"]] = _best_name(together, singles, text["name"])
        elif text["kind"] == "rank" and together and singles:
            filled.texts[text["claim"]] = float(_usual_rank(together, singles))
        elif text["kind"] == "themes-lost" and together and singles:
            filled.texts[text["claim"]] = _themes_lost(together, singles)
        elif text["kind"] == "most-themes-lost" and together and singles:
            each = [_themes_lost(together, {name: runs}) for name, runs in singles.items()]
            filled.texts[text["claim"]] = max(each, key=("none", "some", "all").index)
        elif text["kind"] == "fewest-first" and text["part"] in votes_of:
            filled.texts[text["claim"]] = _fewest_first(pd.concat(votes_of[text["part"]]))
    return filled


def _of_theme(options: Mapping[str, Any], theme: str, items: pd.DataFrame) -> dict[str, Any]:
    """Return a part's options, with the theme and its assignment added to the task."""
    theme_options = dict(options)
    if "assignment" in items:
        (assignment,) = items["assignment"].unique()
        theme_options["task"] = f"{options.get('task', '')}\n\nTheme: {theme}\n\nAssignment:\n{assignment}".strip()
    return theme_options


def criteria_of(folder: Path) -> dict[str, str]:
    """Return the criteria that a collection has generated, as shown to its judges; empty if they were given.

    Examples
    --------
    >>> criteria_of(Path("nowhere"))
    {}
    """
    import pandas as pd

    if not (folder / "texts.csv").is_file():
        return {}
    texts = pd.read_csv(folder / "texts.csv")
    rows = texts[texts["kind"] == "criterion"].to_dict("records")
    return {str(row["criterion"]): criterion_text(json.loads(row["text"])) for row in rows}


def _concordance_index(
    job: Job, votes: pd.DataFrame, weights: pd.DataFrame | None, model: str, method: str = "map"
) -> float:
    import numpy as np

    truth = dict(zip(job.human["item"], job.human["score"], strict=True))
    weighed = weights if model in WEIGHED else None
    ranking = voirdire.fit(votes, weighed, model=model, method=method).ranking()
    people = np.array([truth[str(item)] for item in ranking["item"]])
    return concordance_index(ranking["score"].to_numpy(), people)


def _best_name(together: Mapping[tuple[str, int], float], singles: Mapping[str, Runs], name: str) -> str:
    """Return the name with the highest mean: ``name`` for all judges together, else the name of a judge."""
    means = {judge: sum(runs.values()) / len(runs) for judge, runs in singles.items()}
    best = max(means, key=lambda judge: means[judge])
    return name if sum(together.values()) / len(together) > means[best] else best


def _usual_rank(together: Mapping[tuple[str, int], float], singles: Mapping[str, Runs]) -> int:
    """Return the most frequent rank of all judges together among the single judges (1: best); the best if tied."""
    ranks = Counter(1 + sum(runs[run] > value for runs in singles.values()) for run, value in together.items())
    return min(ranks, key=lambda rank: (-ranks[rank], rank))


def _themes_lost(together: Mapping[tuple[str, int], float], singles: Mapping[str, Runs]) -> str:
    """Return in words the number of themes where a single judge has a higher mean than all together: none, some or all.

    Examples
    --------
    >>> _themes_lost({("a", 1): 0.8, ("b", 1): 0.8}, {"one": {("a", 1): 0.9, ("b", 1): 0.7}})
    'some'
    """
    themes = dict.fromkeys(theme for theme, _ in together)

    def theme_mean(runs: Mapping[tuple[str, int], float], theme: str) -> float:
        values = [value for (name, _), value in runs.items() if name == theme]
        return sum(values) / len(values)

    lost = sum(
        any(theme_mean(runs, theme) > theme_mean(together, theme) for runs in singles.values()) for theme in themes
    )
    return "none" if not lost else "all" if lost == len(themes) else "some"


def _fewest_first(votes: pd.DataFrame) -> str:
    """Return the judge that chooses the text shown first least often."""
    first = (votes["winner"] == "first") | (votes["winner"] == votes["first"])
    return str(first.groupby(votes["judge"]).mean().idxmin())


def _by_theme(values: Mapping[tuple[str, str, str], Runs], overall: Mapping[str, str]) -> Filled:
    """Compute mean and sd by theme and over all runs, and the number of runs in which an entry alone is best."""
    import numpy as np

    filled = Filled()
    for (table, column, entry), runs in values.items():
        for theme in dict.fromkeys(theme for theme, _ in runs):
            own = np.array([value for (name, _), value in runs.items() if name == theme])
            _mean_and_sd(filled, table, {"theme": theme, column: entry}, own)
        if table.removesuffix(BY_PAPER) != overall["from"]:
            continue
        together = estimator_table(overall["table"], "adam" if table.endswith(BY_PAPER) else "map")
        rivals = [other for key, other in values.items() if key[0] == table and key[2] != entry]
        best = sum(all(value > rival[run] for rival in rivals) for run, value in runs.items())
        _mean_and_sd(filled, together, {column: entry}, np.array(list(runs.values())))
        filled.add_figure(together, **{column: entry}, statistic="top1", value=float(best))
    return filled


def _mean_and_sd(filled: Filled, table: str, keys: Mapping[str, str], values: Any) -> None:
    filled.add_figure(table, **keys, statistic="mean", value=float(values.mean()))
    if len(values) > 1:
        filled.add_figure(table, **keys, statistic="sd", value=float(values.std(ddof=1)))


def _draw_samples(job: Job) -> Iterator[tuple[str, int, pd.DataFrame]]:
    import numpy as np

    how = job.spec["statistic"]
    for theme, items in job.items.groupby("context", sort=False):
        for sample in range(1, how["samples"] + 1):
            generator = np.random.default_rng([how["seed"], sample])
            rows = generator.permutation(len(items))[: how["size"]]
            yield str(theme), sample, items.iloc[np.sort(rows)].drop(columns="context")
