"""People's answers about items as a whole beside votes under criteria: the default fit, and one of a given scale.

Simulated panels that no prior drew, and Topical-Chat: UniEval's and people's scores under five criteria as votes, with
people's overall scores on some pairs, are fitted on half of the dialogues and asked about the others.

    python benchmarks/people_of_the_whole.py
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from common import shared, show, small
from scipy.special import expit

import voirdire

TABLES, SPLITS = (1, 1) if small() else (12, 5)
ITEMS, JUDGES, VOTES, PEOPLE, CONTEXTS = 12, 6, 900, 60, 6
SHARES = np.array([0.6, 0.3, 0.1])
GIVEN = "maple-position"
LEFT_OUT = ("log loss", "right", "log loss less that of a given scale")  # of Topical-Chat alone
MODELS: dict[str, dict[str, str]] = {"default": {}, GIVEN: {"model": GIVEN}}


def simulated(seed: int, sd: float, contexts: bool) -> tuple[pd.DataFrame, pd.DataFrame, Any, Any]:
    """Votes, people's answers, what items are worth as a whole, how often each judge is right."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, sd, ITEMS) + rng.normal(0, sd, (3, ITEMS))
    theta -= theta.mean(axis=1, keepdims=True)
    worth = theta[..., None] + rng.normal(0, 0.7 * contexts, (3, ITEMS, CONTEXTS))
    coins = rng.uniform(0.65, 0.95, (JUDGES, 2))

    def answered(count: int, criterion: Any, right: Any) -> tuple[pd.DataFrame, Any]:
        first = rng.integers(0, ITEMS, count)
        second = (first + rng.integers(1, ITEMS, count)) % ITEMS
        context, judge = rng.integers(0, CONTEXTS, count), rng.integers(0, len(right), count)
        d = worth[:, first, context] - worth[:, second, context]
        d = SHARES @ d if criterion is None else d[criterion, np.arange(count)]
        better = rng.random(count) < expit(d)
        won = better == (rng.random(count) < right[judge, np.where(better, 0, 1)])
        sides = {"first": [f"i{k:02d}" for k in first], "second": [f"i{k:02d}" for k in second]}
        table = pd.DataFrame(sides | {"winner": np.where(won, "first", "second")})
        return (table.assign(context=[f"x{k}" for k in context]) if contexts else table), judge

    criterion = rng.integers(0, 3, VOTES)
    votes, judge = answered(VOTES, criterion, coins)
    votes = votes.assign(judge=[f"j{k}" for k in judge], criterion=[f"c{k}" for k in criterion])
    said, _ = answered(PEOPLE, None, np.full((1, 2), 0.95))
    return votes, said.assign(person="ann"), SHARES @ theta, coins.mean(axis=1)


def covered(sd: float, contexts: bool) -> list[dict[str, object]]:
    rows = []
    for name, model in MODELS.items():
        found = []
        for seed in range(TABLES):
            votes, said, worth, right = simulated(seed, sd, contexts)
            fit = voirdire.fit(votes, anchors=said, anchor_mode="joint", seed=seed, **model)
            items, judges = fit.ranking().sort_values("item"), fit.judges().sort_values("judge")
            error = np.sqrt(np.mean((items["score"] - worth) ** 2))
            inside = (items["low"] <= worth) & (worth <= items["high"])
            reliable = (judges["reliability_low"] <= right) & (right <= judges["reliability_high"])
            found.append((inside.mean(), reliable.mean(), error))
        table = np.array(found)
        mean, noise = (table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(TABLES) if TABLES > 1 else [0] * 3)
        measures = ("scores within 90%", "reliability within 90%", "error of scores")
        shown = {what: f"{m:.2f} ({n:.2f})" for what, m, n in zip(measures, mean, noise, strict=True)}
        panel = f"sd {sd:g}{', in contexts' if contexts else ''}"
        rows.append({"panel": panel, "model": name, **shown, **dict.fromkeys(LEFT_OUT, "")})
    return rows


def dialogues() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Votes under five criteria, and people's answers about the whole, of all pairs of systems in each dialogue."""
    rows = []
    scores = pd.read_csv(shared("topicalchat_scores.csv"))
    for (context, criterion, judge), part in scores.groupby(["context", "criterion", "judge"]):
        pairs = combinations(part.sort_values("system")[["system", "score"]].itertuples(index=False), 2)
        for (one, high), (other, low) in pairs:
            rows.append((judge, context, criterion, one, other, np.sign(high - low)))
    votes = pd.DataFrame(rows, columns=["judge", "context", "criterion", "first", "second", "sign"])
    turned = np.random.default_rng(0).random(len(votes)) < 0.5
    votes.loc[turned, ["first", "second"]] = votes.loc[turned, ["second", "first"]].to_numpy()
    signs = votes.pop("sign") * np.where(turned, -1, 1)
    votes["winner"] = signs.map({1: "first", -1: "second", 0: "tie"})
    whole = votes["criterion"] == "overall"
    people = votes[whole & (votes["judge"] == "human")].drop(columns=["judge", "criterion"])
    return votes[~whole], people.assign(person="annotators")


def preferred(fit: Any, asked: pd.DataFrame, rng: np.random.Generator) -> Any:
    """Probability that people prefer the first of two systems in a dialogue that nobody saw, given no tie."""
    values = fit.posterior.values
    shares = np.exp(values["weight"]) / np.exp(values["weight"]).sum(axis=-1, keepdims=True)
    score = np.einsum("nc,nci->ni", shares, values["strength"])
    code = {name: i for i, name in enumerate(fit.problem.items)}
    d = score[:, asked["first"].map(code)] - score[:, asked["second"].map(code)]
    if "log_context_spread" in values:
        spread = np.exp(values["log_context_spread"]) * np.sqrt(2.0 * (shares**2).sum(axis=-1))
        d = d + spread[:, None] * rng.standard_normal(d.shape)
    coin = expit(values["anchor"])[:, None]
    return (coin * expit(d) + (1 - coin) * expit(-d)).mean(axis=0)


def left_out() -> list[dict[str, object]]:
    votes, people = dialogues()
    contexts, losses, right = (np.sort(votes["context"].unique()), dict[str, list[float]](), dict[str, list[float]]())
    for seed in range(SPLITS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(contexts)
        half = len(order) // 2
        for kept, others in ((order[:half], order[half:]), (order[half:], order[:half])):
            said = people[people["context"].isin(kept)].sample(60, random_state=seed)
            asked = people[people["context"].isin(others) & (people["winner"] != "tie")]
            for name, model in MODELS.items():
                seen = votes[votes["context"].isin(kept)]
                fit = voirdire.fit(seen, anchors=said, anchor_mode="joint", seed=seed, **model)
                p, won = preferred(fit, asked, rng), (asked["winner"] == "first").to_numpy()
                losses.setdefault(name, []).append(float(-np.log(np.where(won, p, 1 - p)).mean()))
                right.setdefault(name, []).append(float(((p > 0.5) == won).mean()))
    gap = np.subtract(losses["default"], losses[GIVEN])
    noise = gap.std(ddof=1) / np.sqrt(len(gap))
    rows = []
    for name in MODELS:
        beside = "" if name == GIVEN else f"{gap.mean():.3f} ({noise:.3f})"
        measured = round(float(np.mean(losses[name])), 3), round(float(np.mean(right[name])), 3), beside
        row: dict[str, object] = {"panel": "Topical-Chat, dialogues left out", "model": name}
        rows.append(row | dict(zip(LEFT_OUT, measured, strict=True)))
    return rows


def main() -> None:
    rows = [row for sd in (0.7, 2.0) for contexts in (False, True) for row in covered(sd, contexts)]
    show(
        "People's answers about items as a whole beside votes under criteria",
        rows + left_out(),
        [
            f"Simulated: {JUDGES} judges right on 0.65 to 0.95 of each position, {ITEMS} items, {VOTES} votes, "
            f"{PEOPLE} answers of people, {TABLES} tables; standard errors in brackets.",
            f"Topical-Chat: {2 * SPLITS} halves of 60 dialogues, 60 answers of people each; ties are not predicted.",
        ],
    )


if __name__ == "__main__":
    main()
