"""A small synthetic panel whose truth is known, fitted: what the command ``voirdire demo`` shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.fit import Fit, fit

if TYPE_CHECKING:
    from voirdire.simulate import Simulation

Floats = npt.NDArray[np.float64]

SEED = 0
FILES = ("votes.csv", "criteria.csv", "fit")
ITEMS, CRITERIA = 20, 3
MODEL, BASELINE = "maple-position", "majority-vote"

#: Each judge as the table of the simulator: a coin ``eta`` is the probability of answering as Bradley-Terry says.
PANEL: dict[str, dict[str, Any]] = {
    "good-1": {"kind": "one-coin", "eta": 0.95},
    "good-2": {"kind": "one-coin", "eta": 0.9},
    "good-3": {"kind": "one-coin", "eta": 0.85},
    "weak-1": {"kind": "one-coin", "eta": 0.7},
    "weak-2": {"kind": "two-coin", "eta1": 0.8, "eta2": 0.4},
    "random-1": {"kind": "random"},
    "random-2": {"kind": "random"},
    "adversarial-1": {"kind": "one-coin", "eta": 0.1},
    "adversarial-2": {"kind": "one-coin", "eta": 0.2},
    "always-first-1": {"kind": "always-first"},
    "always-first-2": {"kind": "always-first"},
    "always-second": {"kind": "always-second"},
}
_DESIGN = {"kind": "share", "share": 0.5, "order": "random", "repeats": 2}
_TRUTH = {"kind": "normal", "sd": 1.5}


@dataclass(frozen=True, eq=False)
class Demo:
    """The panel's votes, the fit, and what both are compared with.

    Attributes
    ----------
    simulation : Simulation
        ``votes``, ``criteria_votes`` and ``truth``.
    fit : Fit
        ``maple-position`` by Laplace, with intervals of 90%.
    baseline : Fit
        The majority vote of each pair, by its mode.
    """

    simulation: Simulation
    fit: Fit
    baseline: Fit

    def true_scores(self) -> dict[str, float]:
        """Each item's true score, on the fit's scale: the scores sum to zero."""
        truth = self.simulation.truth
        scores = truth.scores()
        return dict(zip(truth.items, (scores - scores.mean()).tolist(), strict=True))

    def true_ranks(self) -> dict[str, int]:
        """Each item's true rank, 1 for the best."""
        scores = self.true_scores()
        return {item: place for place, item in enumerate(sorted(scores, key=lambda i: -scores[i]), start=1)}

    def true_judges(self) -> dict[str, tuple[float, float]]:
        """Each judge's true reliability (e1 + e2) / 2 and position bias (e1 - e2) / 2."""
        table = self.simulation.truth.judges
        assert table is not None  # the path by tables always has it
        coins = zip(table["judge"], table["eta1"], table["eta2"], strict=True)
        return {str(judge): ((one + two) / 2, (one - two) / 2) for judge, one, two in coins}

    def true_weights(self) -> dict[str, float]:
        """Each criterion's true weight; they sum to one."""
        truth = self.simulation.truth
        raw = np.exp(truth.weights - truth.weights.max())
        return dict(zip(truth.criteria, (raw / raw.sum()).tolist(), strict=True))

    def measures(self) -> dict[str, float]:
        """How well it did: concordance of both fits' scores with the truth, and how many intervals hold it."""
        from voirdire.metaeval.concordance import concordance_index

        result, scores, judges = self.fit.as_dict(), self.true_scores(), self.true_judges()
        weights = self.true_weights()
        items, names = result["items"], list(scores)

        def concordance(fitted: Fit) -> float:
            found = {row["item"]: row["score"] for row in fitted.as_dict()["items"]}
            return concordance_index([found[name] for name in names], [scores[name] for name in names])

        return {
            "concordance": concordance(self.fit),
            "concordance_majority": concordance(self.baseline),
            "scores_in_interval": sum(row["low"] <= scores[row["item"]] <= row["high"] for row in items),
            "scores": len(items),
            "judges_in_interval": sum(
                row["reliability_low"] <= judges[row["judge"]][0] <= row["reliability_high"]
                for row in result["judges"]
            ),
            "judges": len(judges),
            "weights_in_interval": sum(
                row["low"] <= weights[row["criterion"]] <= row["high"] for row in result["criteria"]
            ),
            "weights": len(weights),
        }

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the tables ``votes.csv`` and ``criteria.csv`` and the saved fit ``fit/``, whole or not at all.

        Raises
        ------
        InputError
            As :func:`voirdire.store.new_folder`.
        """
        from voirdire.store import new_folder

        with new_folder(folder, overwrite=overwrite, ours=FILES) as place:
            self.simulation.votes.to_csv(place / "votes.csv", index=False)
            assert self.simulation.criteria_votes is not None  # there are several criteria
            self.simulation.criteria_votes.to_csv(place / "criteria.csv", index=False)
            self.fit.save(place / "fit")
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return the fit's result with the truth and the measures, in the shape of ``voirdire demo --json``."""
        judges = self.true_judges().items()
        truth = {
            "items": [{"item": item, "score": score} for item, score in self.true_scores().items()],
            "judges": [{"judge": name, "reliability": r, "position_bias": b} for name, (r, b) in judges],
            "criteria": [{"criterion": name, "weight": w} for name, w in self.true_weights().items()],
        }
        return self.fit.as_dict() | {"truth": truth, "measures": self.measures()}


def run(seed: int = SEED, progress: Callable[[int, int], None] | None = None) -> Demo:
    """Simulate the panel's votes and fit them.

    Parameters
    ----------
    seed : int
        Of the truth, the votes and the draws.
    progress : callable, optional
        As :func:`voirdire.fit.fit` calls it.

    Examples
    --------
    >>> demo = run()
    >>> demo.fit.model.name, len(demo.true_judges())
    ('maple-position', 12)
    """
    from voirdire.simulate import simulate_votes

    simulation = simulate_votes(PANEL, ITEMS, CRITERIA, design=_DESIGN, truth=_TRUTH, seed=seed)
    votes, on_criteria = simulation.votes, simulation.criteria_votes
    fitted = fit(votes, on_criteria, model=MODEL, seed=seed, progress=progress)
    return Demo(simulation, fitted, fit(votes, model=BASELINE, method="map"))
