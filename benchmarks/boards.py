"""Boards with covariates: AlpacaEval 2 and its published rates; arena-rank's contextual model on the same votes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import Peer, median, ratio, shared, show, timed
from planted_boards import BY_FAMILY, CLEAR, JUDGES, lengths, own, panel
from scipy.stats import spearmanr

import voirdire

SWAP = {"first": "second", "second": "first"}
VOTES, ITEMS, RUNS = 20_000, 20, 3
TABLES, OWN, LENGTH, SPREAD = 120, 1.5, 0.5, 0.3  # of effects that are planted
FLAT = {"strength": {"sd": 1e3}, "covariates": {"sd": 1e3}}  # as good as no prior, as arena-rank has none
Rows = list[dict[str, object]]


def preferences(table: pd.DataFrame) -> pd.DataFrame:
    """A vote of one judge for each preference, divided by its degree."""
    p = table["preference"] - 1.0
    return pd.DataFrame(
        {
            "judge": "gpt4",
            "first": "reference",
            "second": table["model"],
            "winner": np.where(p >= 0.5, "second", "first"),
            "degree": np.maximum(p, 1.0 - p),
            "length_first": table["baseline_length"],
            "length_second": table["length"],
        }
    )


def swapped(table: pd.DataFrame) -> pd.DataFrame:
    """The same votes with the two sides exchanged."""
    names = {f"{name}{one}": f"{name}{other}" for name in ("", "length_") for one, other in SWAP.items()}
    return table.rename(columns=names).assign(winner=table["winner"].map(SWAP))


def alpaca() -> tuple[Rows, str]:
    """Spearman with published rates, and how far scores move where sides are swapped."""
    published = pd.read_csv(shared("alpacaeval2_leaderboard.csv")).set_index("model")
    given = pd.read_csv(shared("alpacaeval2_gpt4.csv")).drop_duplicates(["model", "dataset", "instruction"])
    table = preferences(given)
    one, other = (voirdire.fit(t, covariates="length") for t in (table, swapped(table)))
    scores = one.ranking().set_index("item")
    rates = published[["win_rate", "length_controlled_winrate"]]
    both = scores[["score", "unadjusted"]].join(rates, how="inner").dropna()
    effect = one.covariates().iloc[0]
    moved = (scores["score"] - other.ranking().set_index("item")["score"]).abs().max()
    rate = both["length_controlled_winrate"]
    rows: Rows = [
        {"what": f"AlpacaEval 2, {what}", "value": round(float(value), 4)}
        for what, value in (
            ("length held fixed: Spearman with length-controlled win rates", spearmanr(both["score"], rate)[0]),
            ("unadjusted: Spearman with the same", spearmanr(both["unadjusted"], rate)[0]),
            ("published win rates: Spearman with the same", spearmanr(both["win_rate"], rate)[0]),
            ("effect of length, log-odds for each standard deviation", effect["effect"]),
            ("largest move of a score where the two sides are swapped", moved),
            ("seconds of a fit", one.seconds),
        )
    ]
    note = (
        f"AlpacaEval 2 (tables of VOIRDIRE_SHARED): {len(table):,} preferences of one judge, model {one.model.name}; "
        f"{len(both)} models of the leaderboard."
    )
    return rows, note


def contextual() -> pd.DataFrame:
    """Votes of people with two features of every answer, no two votes alike."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, ITEMS, VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    strength, features = rng.normal(0, 0.8, ITEMS), rng.normal(0, 0.7, (VOTES, 2, 2))
    d = strength[first] - strength[second] + (features[:, 0] - features[:, 1]) @ [0.5, -0.2]
    names = np.array([f"model-{i:02d}" for i in range(ITEMS)])
    table = {"judge": "people", "first": names[first], "second": names[second]}
    table["winner"] = np.where(rng.random(VOTES) < 1 / (1 + np.exp(-d)), "first", "second")
    for c, name in enumerate(("length", "lists")):
        table |= {f"{name}_{side}": features[:, s, c] for s, side in enumerate(SWAP)}
    return pd.DataFrame(table)


def beside_arena() -> tuple[Rows, str]:
    """Estimates and seconds of both, in turns after a warm-up."""
    table = contextual()

    def ours(method: str) -> voirdire.Fit:
        return voirdire.fit(table, model="bradley-terry", covariates=["length", "lists"], method=method, priors=FLAT)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "votes.parquet")
        table.to_parquet(file)
        peer = Peer("arena_contextual", file)
        methods = {"map": 0, "laplace": 1}
        times: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
        for turn in range(RUNS + 1):
            for method, size in methods.items():
                pair = timed(lambda method=method: ours(method))[0], peer.run(size)[0]
                times[method] += [pair] if turn else []
        theirs = peer.run(0)[1]
        peer.close()
    fitted = ours("map")
    scores = fitted.ranking().set_index("item")["score"]
    slopes = fitted.covariates().set_index("name")
    off = [
        (scores - scores.mean() - pd.Series(theirs["ratings"])).abs().max(),
        (slopes["effect"] / slopes["unit"] - pd.Series(theirs["slopes"])).abs().max(),
    ]
    rows: Rows = [
        {"what": f"arena-rank, largest difference of {what}", "value": float(value)}
        for what, value in zip(("ratings", "coefficients"), off, strict=True)
    ]
    for method, what in (("map", "estimates"), ("laplace", "estimates with intervals")):
        mine, its = map(list, zip(*times[method], strict=True))
        rows += [
            {"what": f"arena-rank, {what}: seconds of voirdire", "value": median(mine)},
            {"what": f"arena-rank, {what}: seconds of arena-rank", "value": median(its)},
            {"what": f"arena-rank, {what}: voirdire is faster by", "value": ratio(its, mine)},
        ]
    note = (
        f"arena-rank: {VOTES:,} simulated votes on {ITEMS} items with two features of every answer, its contextual "
        "Bradley-Terry model without a prior, ours with one as good as none (sd 1,000); from a table (ours) and from "
        f"arrays (arena-rank), medians of {RUNS} runs in turns. "
        "Intervals: Laplace draws here, a sandwich covariance there."
    )
    return rows, note


def planted(tables: int = TABLES) -> tuple[Rows, str]:
    """How often 90% intervals hold planted effects: of one judge's own family, and of length over judges who differ."""
    held = []
    for n in range(tables):
        rng = np.random.default_rng([n, 4242])
        z, items = lengths(rng)
        slope = LENGTH + SPREAD * rng.standard_normal(JUDGES)

        def more(k: Any, a: Any, b: Any, x: Any, z: Any = z, slope: Any = slope) -> Any:
            return own(k, a, b, x) + slope[k] * (z[a, x] - z[b, x])

        fit = voirdire.fit(panel(rng, CLEAR, more), covariates=items, method="laplace", prob=0.9, **BY_FAMILY)
        length = fit.covariates().set_index("name").loc["length"]
        judge = fit.own_family().set_index("judge").loc["judge 0"]
        truth = LENGTH * length["unit"] / items["length"].std(ddof=0)
        held.append([judge["low"] <= OWN <= judge["high"], length["low"] <= truth <= length["high"]])
    rows: Rows = [
        {"what": f"planted effects, 90% intervals hold {what}", "value": float(value)}
        for what, value in zip(("that of the own family", "that of length"), np.mean(held, axis=0), strict=True)
    ]
    note = (
        f"Planted effects: {tables} tables of 1,200 votes, method laplace: one of four judges favours its family by "
        f"{OWN}; length counts Normal({LENGTH}, {SPREAD}) with each judge, of which the mean is to be held (standard "
        "errors 0.03 at most)."
    )
    return rows, note


def main() -> None:
    """Print rows of both comparisons."""
    parts = [alpaca(), beside_arena(), planted()]
    show("Leaderboards with covariates", [row for rows, _ in parts for row in rows], [note for _, note in parts])


if __name__ == "__main__":
    main()
