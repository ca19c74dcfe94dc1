"""Bradley-Terry of a million votes, end to end from a dataframe, and 1,000 bootstrap refits of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import choix
import evalica
import numpy as np
import pandas as pd
from common import Peer, median, ratio, show, small, timed

from voirdire import fit

VOTES, ITEMS = (50_000 if small() else 1_000_000), 100
RUNS, REFITS, SAMPLED, ROUNDS = 3 if small() else 5, 1000, (2 if small() else 10), 3

rng = np.random.default_rng(0)
strength = rng.normal(0, 1, ITEMS)
first = rng.integers(0, ITEMS, VOTES)
second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
won = rng.random(VOTES) < 1 / (1 + np.exp(strength[second] - strength[first]))
names = np.array([f"model-{i}" for i in range(ITEMS)])
votes = pd.DataFrame(
    {"judge": "people", "first": names[first], "second": names[second], "winner": np.where(won, "first", "second")}
)
WINNERS = {"first": evalica.Winner.X, "second": evalica.Winner.Y, "tie": evalica.Winner.Draw}


def ours() -> pd.Series:
    return fit(votes, model="bradley-terry", method="map").ranking().set_index("item")["score"]


def by_evalica() -> pd.Series:
    return np.log(evalica.bradley_terry(votes["first"], votes["second"], votes["winner"].map(WINNERS)).scores)


def by_choix() -> pd.Series:
    codes, items = pd.factorize(pd.concat([votes["first"], votes["second"]]))
    one, other = codes[:VOTES], codes[VOTES:]
    here = (votes["winner"] == "first").to_numpy()
    data = np.stack([np.where(here, one, other), np.where(here, other, one)], axis=1).tolist()
    return pd.Series(choix.ilsr_pairwise(len(items), data), index=items)


def same(one: pd.Series, other: pd.Series) -> float:
    gap = one - one.mean() - (other - other.mean()).reindex(one.index)
    return float(gap.abs().max())


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "votes.parquet")
    votes.to_parquet(file)
    arena, resampled = Peer("arena", file), Peer("arena_bootstrap", file)
    sides = {"evalica": by_evalica, "choix": by_choix}
    ours(), arena.run()
    times: dict[str, list[float]] = {name: [] for name in ("voirdire", *sides, "arena-rank")}
    found: dict[str, pd.Series] = {}
    for _ in range(RUNS):
        for name, function in {"voirdire": ours, **sides}.items():
            seconds, found[name] = timed(function)
            times[name].append(seconds)
        seconds, result = arena.run()
        times["arena-rank"].append(seconds)
        found["arena-rank"] = pd.Series(result)
    rows: list[dict[str, object]] = [
        {
            "work": f"{VOTES:,} votes on {ITEMS} items, from a dataframe to scores",
            "side": name,
            "s": median(times[name]),
            "voirdire is faster by": ratio(times[name], times["voirdire"]),
            "largest difference of scores": same(found["voirdire"], found[name]),
        }
        for name in times
    ]

    fitted = fit(votes, model="bradley-terry", method="map")
    resampled.run(SAMPLED)
    refits: dict[str, list[float]] = {"voirdire": [], "arena-rank": [], "evalica": []}
    winners = votes["winner"].map(WINNERS).tolist()
    one, other = votes["first"].tolist(), votes["second"].tolist()
    few = 2
    for turn in range(ROUNDS):
        refits["voirdire"].append(timed(lambda: fitted.bootstrap(REFITS))[0])
        refits["arena-rank"].append(resampled.run(SAMPLED)[0] * REFITS / SAMPLED)
        done = timed(
            lambda turn=turn: evalica.bootstrap(
                evalica.bradley_terry,
                one,
                other,
                winners,
                n_resamples=few,
                bootstrap_method="percentile",
                random_state=turn,
            )
        )[0]
        refits["evalica"].append(done * REFITS / few)
    rows += [
        {
            "work": f"{REFITS:,} bootstrap refits of the same",
            "side": name,
            "s": median(refits[name]),
            "voirdire is faster by": ratio(refits[name], refits["voirdire"]),
            "largest difference of scores": "",
        }
        for name in refits
    ]
    for peer in (arena, resampled):
        peer.close()
notes = [
    f"Medians of {RUNS} interleaved runs after a warm-up of the compiling sides; of the refits {ROUNDS}. "
    "voirdire has a "
    "normal prior with sd 4 on strengths, which the others lack: hence the differences of scores.",
    f"Refits: arena-rank's own function for one sample, one after the other on {SAMPLED} samples, and "
    "evalica.bootstrap "
    f"(percentile) with {few} resamples, both scaled to {REFITS:,}.",
]
show("Bradley-Terry", rows, notes)
