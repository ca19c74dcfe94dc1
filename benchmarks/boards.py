"""AlpacaEval 2: our scores with length held fixed beside the published length-controlled win rates."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import shared, show
from scipy.stats import spearmanr

import voirdire

SWAP = {"first": "second", "second": "first"}


def votes(table: pd.DataFrame) -> pd.DataFrame:
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


def main() -> None:
    """Print rows: Spearman with published rates, and how far scores move where sides are swapped."""
    published = pd.read_csv(shared("alpacaeval2_leaderboard.csv")).set_index("model")
    given = pd.read_csv(shared("alpacaeval2_gpt4.csv")).drop_duplicates(["model", "dataset", "instruction"])
    table = votes(given)
    one, other = (voirdire.fit(t, covariates="length") for t in (table, swapped(table)))
    scores = one.ranking().set_index("item")
    both = (
        scores[["score", "unadjusted"]]
        .join(published[["win_rate", "length_controlled_winrate"]], how="inner")
        .dropna()
    )
    effect = one.covariates().iloc[0]
    moved = (scores["score"] - other.ranking().set_index("item")["score"]).abs().max()
    rate = both["length_controlled_winrate"]
    rows = [
        {
            "what": "length held fixed, Spearman with length-controlled win rates",
            "value": spearmanr(both["score"], rate)[0],
        },
        {"what": "unadjusted, Spearman with the same", "value": spearmanr(both["unadjusted"], rate)[0]},
        {
            "what": "published win rates, Spearman with the same",
            "value": spearmanr(both["win_rate"], rate)[0],
        },
        {"what": "effect of length, log-odds for each standard deviation", "value": effect["effect"]},
        {"what": "largest move of a score where the two sides are swapped", "value": moved},
        {"what": "seconds of a fit", "value": one.seconds},
    ]
    rows = [{**row, "value": round(float(row["value"]), 4)} for row in rows]
    note = f"{len(table):,} preferences of one judge, model {one.model.name}; {len(both)} models of the leaderboard."
    show("AlpacaEval 2 with length held fixed (tables of VOIRDIRE_SHARED)", rows, [note])


if __name__ == "__main__":
    main()
