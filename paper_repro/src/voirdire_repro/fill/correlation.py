"""Correlation and agreement of a run's scores with people's, by criterion; variation over repetitions; alphas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire_repro.fill import scores as of
from voirdire_repro.fill.example import fill_example
from voirdire_repro.fill.filled import Filled
from voirdire_repro.fill.texts import text_of
from voirdire_repro.items import HUMAN
from voirdire_repro.job import Job

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}


def correlations(job: Job) -> Filled:
    """Compute the figures of all parts, by judge, criterion and coefficient, and of the claims in the text."""
    how = job.spec["statistic"]
    filled = Filled()
    every = {part["name"]: of.collected_scores(job, part) for part in job.spec["parts"]}
    for part in job.spec["parts"]:
        scores = every[part["name"]]
        if scores.empty:
            continue
        own = of.results_after(scores, part["until"]) if "until" in part else of.final_results(scores)
        for row in correlation_rows(job, own):
            keys = {how["judge"]: row["judge"], how["criterion"]: row["criterion"]}
            for fill in part.get("fills", []):
                filled.add_figure(
                    fill["table"], **keys, coefficient=row["coefficient"], value=row["value"], **fill["keys"]
                )
        for table in part.get("groups", []):
            _by_group(job, filled, table, part, scores)
        if "alpha" in part:
            _fill_alphas(job, filled, part["alpha"], scores)
    _fill_spread(job, filled)
    fill_example(job, filled, every)
    for text in job.spec.get("texts", []):
        value = text_of(job, text, every, correlation_rows, filled.curves)
        if value is not None:
            filled.texts[text["claim"]] = value
    return filled


def correlation_rows(job: Job, scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows of judge, criterion (the paper's name), coefficient and value; ``average`` is over criteria."""
    import pandas as pd

    how, called = job.spec["statistic"], job.spec.get("names", {})
    if scores.empty:
        return []
    human = job.human[job.human["criterion"].isin(scores["criterion"]) & job.human["item"].isin(scores["item"])]
    if human.empty:
        return []
    # items without a context get their own one, as for the scores
    human = human.assign(context=human["item"].map(dict(zip(scores["item"], scores["context"], strict=True))))
    # one score for all criteria is compared with people's scores on the criteria that people judged
    both = pd.concat([scores[scores["criterion"].isin(human["criterion"])], human])
    names = {_MEASURES[name]: name for name in how["coefficients"] if name in _MEASURES}
    table = voirdire.metaeval(both, HUMAN, level=how["level"], measures=list(names), resamples=100)
    rows = [
        {
            "judge": row["judges"][0],
            "criterion": called.get(row["criterion"], row["criterion"]),
            "coefficient": names[row["measure"]],
            "value": row["value"],
        }
        for row in table.to_dict("records")
    ]
    for (judge, name), judge_rows in pd.DataFrame(rows).groupby(["judge", "coefficient"]):
        rows.append({"judge": judge, "criterion": "average", "coefficient": name, "value": judge_rows["value"].mean()})
    return rows + (_kappa_rows(both, called) if "kappa" in how["coefficients"] else [])


def _kappa_rows(both: pd.DataFrame, called: Mapping[str, str]) -> list[dict[str, Any]]:
    """Compute Cohen's kappa of scores and people's mean scores, both rounded to whole numbers (halves to even)."""
    labels = both.assign(label=both["score"].round().astype(int))[["judge", "item", "criterion", "label"]]
    kappas = voirdire.agreement(labels, measures="cohen_kappa", against=HUMAN, resamples=100)
    rows = []
    for row in kappas.to_dict("records"):
        (judge,) = (name for name in row["judges"] if name != HUMAN)
        criterion = called.get(row["criterion"], row["criterion"])
        rows.append({"judge": judge, "criterion": criterion, "coefficient": "kappa", "value": row["value"]})
    return rows


def _by_group(job: Job, filled: Filled, table: str, part: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Fill the rows of the published table about stakeholder groups; the model chooses and names the groups."""
    how = job.spec["statistic"]
    (keys,) = (fill["keys"] for fill in part["fills"] if fill["table"] == table)
    rows = [(*row["judge"].split("/", 1), row) for row in correlation_rows(job, of.of_groups(scores))]
    called = _published_groups(job, table, keys, [(judge, group) for judge, group, _ in rows])
    for judge, named_group, row in rows:
        group = called.get((judge, named_group))
        if group is None:
            continue
        own = {how["judge"]: judge, how["criterion"]: row["criterion"]}
        filled.add_figure(table, **{**keys, **own, "group": group}, coefficient=row["coefficient"], value=row["value"])


def _published_groups(
    job: Job, table: str, keys: Mapping[str, str], judge_groups: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Match the groups that judges found to those of the published table, each of which is used once.

    Groups match by name, else by the words in ``[groups]`` of the run for the table's group. Other groups are left out.
    """
    published = job.system.tables.get(table)
    if published is None or "group" not in published.columns:
        return {pair: pair[1] for pair in judge_groups}
    names: dict[tuple[str, str], str] = {}
    others = {column: entry for column, entry in keys.items() if column != "group"}
    words = job.spec.get("groups", {})
    for judge, group in dict.fromkeys(judge_groups):
        cells = published.select_cells({**others, job.spec["statistic"]["judge"]: judge})
        taken = {name for (whose, _), name in names.items() if whose == judge}
        free = [name for name in dict.fromkeys(cell.by["group"] for cell in cells) if name not in taken]
        fits = [name for name in free if name.casefold() == group.casefold()] + [
            name for name in words if name in free and any(word in group.casefold() for word in words[name])
        ]
        if fits:
            names[judge, group] = fits[0]
    return names


def _fill_alphas(job: Job, filled: Filled, where: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Fill Krippendorff's interval alpha among the agents of each group; a unit is an item under one criterion."""
    if "level" not in scores:
        return
    agents = scores[scores["level"] == "agent"]
    owner = agents["judge"].str.split("/").str[0]
    pairs = list(zip(owner, agents["group"], strict=True))
    called = _published_groups(job, where["table"], where["keys"], pairs)
    for (judge, named_group, phase), agent_scores in agents.groupby([owner, "group", "phase"]):
        group = called.get((str(judge), str(named_group)))
        if group is None or agent_scores["judge"].nunique() < 2:
            continue
        units = agent_scores.assign(
            item=agent_scores["item"] + "/" + agent_scores["criterion"] + "/" + agent_scores["run"]
        )
        alphas = voirdire.agreement(
            units[["judge", "item", "score"]], measures="krippendorff_alpha_interval", pairs=False, resamples=100
        )
        value = float(alphas["value"].iloc[0])
        filled.add_figure(where["table"], **where["keys"], model=judge, group=group, phase=phase, value=value)


def _fill_spread(job: Job, filled: Filled) -> None:
    """Fill the mean over items of the sd of a score over repetitions of the whole protocol (``[spread]``)."""
    import pandas as pd

    how = job.spec.get("spread")
    if how is None:
        return
    criterion = job.spec["statistic"]["criterion"]
    called = job.spec.get("names", {})
    for part in job.spec["parts"]:
        if "spread" not in part:
            continue
        parts = [of.collected_scores(job, part, repeat) for repeat in range(how["repeats"])]
        every = pd.concat([of.final_results(scores) for scores in parts if not scores.empty] or [pd.DataFrame()])
        if every.empty:
            continue
        sds = every.groupby(["judge", "criterion", "item"])["score"].std(ddof=1)
        means = sds.groupby("criterion").mean()
        for name, value in [*means.items(), ("average", means.mean())]:
            keys = {how["column"]: part["spread"], criterion: called.get(str(name), str(name))}
            filled.add_figure(how["table"], **keys, value=float(value))
