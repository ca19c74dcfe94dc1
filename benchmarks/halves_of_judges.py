"""Halves of real panels: are families named in both halves of the questions, and do halves of the judges agree?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from common import labelled, shared, show, small

import voirdire
from voirdire.fit.answer_weight import detect_families
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.labels.families import find_families
from voirdire.tables.labels import read_labels

SPLITS = 1 if small() else 3
Pairs = set[tuple[str, str]]
Spread = tuple[float, float, float]


def together(families: dict[str, str]) -> Pairs:
    """Pairs of judges of one family."""
    return {(one, other) for one, other in combinations(sorted(families), 2) if families[one] == families[other]}


def of_fit(table: pd.DataFrame) -> tuple[Pairs, Spread]:
    """Pairs that a default fit takes for alike, and how far it says that items are apart, with its interval.

    Prompts are not told apart.
    """
    fit = voirdire.fit(table.drop(columns="context", errors="ignore"), method="laplace")
    sd = integrated_scores(fit.problem.density, fit.posterior.values).std(axis=1)
    low, middle, high = np.quantile(sd, [0.05, 0.5, 0.95])
    alike = detect_families(fit.problem, fit.posterior.centre)
    return together(alike), (float(middle), float(low), float(high))


def of_labels(table: pd.DataFrame) -> tuple[Pairs, None]:
    """Pairs that are taken for alike in labels."""
    return together(find_families(read_labels(table))), None


def halves(table: pd.DataFrame, by: str, rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Both halves of a table by a column."""
    names = np.array(sorted(set(table[by])))
    here = table[by].isin(rng.permutation(names)[: len(names) // 2])
    yield table[here]
    yield table[~here]


def agree(one: Spread, other: Spread) -> bool:
    """Do 90% intervals of two logarithms allow that they are the same?"""
    widths = [0.5 * float(np.log(high / low)) for _, low, high in (one, other)]
    return bool(abs(np.log(one[0] / other[0])) <= np.hypot(*widths))


def measured(
    name: str, table: pd.DataFrame, question: str, find: Callable[[pd.DataFrame], tuple[Pairs, Spread | None]]
) -> dict[str, object]:
    """A row of results."""
    rng = np.random.default_rng(1)
    judges = table["judge"].nunique()
    whole, _ = find(table)
    named, both, by_judges, kept, alike, ratios = 0, 0, 0, 0, [], []
    for _ in range(SPLITS):
        (one, _), (other, _) = (find(part) for part in halves(table, question, rng))
        named, both = named + len(one | other), both + len(one & other)
        if judges < 2 * 3:
            continue
        (one, a), (other, b) = (find(part) for part in halves(table, "judge", rng))
        by_judges, kept = by_judges + len(one | other), kept + len((one | other) & whole)
        if a is not None and b is not None:
            alike.append(agree(a, b))
            ratios.append(max(a[0] / b[0], b[0] / a[0]))
    return {
        "table": name,
        "judges": judges,
        "pairs alike, whole table": len(whole),
        "halves of questions: pairs alike in either": round(named / SPLITS, 1),
        "in both": round(both / SPLITS, 1),
        "halves of judges: pairs alike": round(by_judges / SPLITS, 1),
        "and in the whole table": round(kept / SPLITS, 1),
        "spreads agree": f"{sum(alike)} of {len(alike)}" if alike else "",
        "larger spread by smaller, median": round(float(np.median(ratios)), 2) if ratios else "",
    }


def panels() -> Iterator[dict[str, object]]:
    """All tables."""
    fao = pd.read_csv(shared("llmfao_votes.csv"))
    yield measured("LLMFAO, votes", fao, "context", of_fit)
    votes = pd.read_csv(shared("mtrepro_votes.csv"))
    yield measured("mtrepro, votes", votes.drop(columns=["category", "turn"]), "context", of_fit)
    rated = pd.read_csv(shared("mtrepro_scores.csv"))
    rated = rated.assign(item=rated["context"] + " " + rated["system"], score=rated["score"].round())
    for criterion, part in list(rated.groupby("criterion"))[:: 8 if small() else 3]:
        one = part[["judge", "item", "score", "context"]].rename(columns={"context": "question"})
        yield measured(f"mtrepro, scores, {criterion}", one, "question", of_fit)
    for criterion, part in pd.read_csv(shared("newsroom_scores.csv")).groupby("criterion"):
        yield measured(f"Newsroom, {criterion}", part.drop(columns="criterion"), "item", of_fit)
    for name in ("llmjudge_dev_labels", "llmbar_votes", "dices350_labels"):
        table = labelled(pd.read_csv(shared(f"{name}.csv")))[["judge", "item", "label"]]
        yield measured(name, table, "item", of_labels)


show(
    "Halves of real panels: families, and how far items are apart (tables of VOIRDIRE_SHARED)",
    list(panels()),
    [
        f"{SPLITS} random halves of the questions (prompts, items) of each table, and as many of its judges where "
        "there are six or more, by the default fit (method laplace, prompts not told apart; of labels the search for "
        "families alone). Means over the splits.",
        "Pairs alike: judges taken for one family. Spreads (sd of the items' scores in a draw, log-odds) by halves of "
        "the judges agree where their logarithms differ by no more than 90% intervals of independent halves allow; the "
        "halves answer about the same items.",
    ],
)
