"""Plan a collection of votes by simulation: the number of votes for a wanted precision, and their allocation.

Candidates are the best m judges (by information per price), who compare a share of the pairs once or several times.
Each candidate is simulated and fitted; the cheapest with the target concordance with the truth is recommended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.agreement.coefficients.pairwise import concordance_index
from voirdire.errors import raise_problems
from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.model.specs import load_model
from voirdire.parallel import run_parallel
from voirdire.planning.simulated import Candidates, count_panel, encode_panels, merge_equal
from voirdire.settings import is_number, is_whole
from voirdire.simulate.votes import simulate_counts

if TYPE_CHECKING:
    import pandas as pd

PAIR_SPLITS = ((0.1, 1), (0.25, 1), (0.25, 2), (0.5, 1), (1.0, 1), (1.0, 2), (1.0, 4))  # share of pairs, repeats
MAX_PANELS = 4

Candidate = tuple[tuple[str, ...], float, int]  # judges, share of pairs, repeats


@dataclass(frozen=True, eq=False)
class Plan(Candidates):
    """Result of :func:`plan`.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per candidate, cheapest first: judges, share (of pairs), repeats, votes, price, concordance (mean over
        replicates), sd, mcse, reached (True if the mean minus its Monte Carlo error is at least the target).
    target : float
        The wanted concordance.
    best : dict or None
        The cheapest candidate that reaches the target, None if none does.
    """

    order: ClassVar[str] = "the cheapest"

    target: float

    def __str__(self) -> str:
        if self.best is None:
            top = self.table.sort_values("concordance").iloc[-1]
            return (
                f"No candidate reaches a concordance of {self.target:g}; the highest is {top['concordance']:.3f} "
                f"with {int(top['votes'])} votes. Better judges help more than further votes."
            )
        best = self.best
        return (
            f"{best['votes']} votes (price {best['price']:g}): {best['judges']}; {best['share']:.0%} of the pairs, "
            f"{best['repeats']} vote(s) each; expected concordance {best['concordance']:.3f} +- {best['mcse']:.3f}."
        )


def plan(
    judges: Mapping[str, Mapping[str, float]] | Sequence[float],
    *,
    items: int,
    criteria: int = 1,
    target: float = 0.9,
    price: float = 1.0,
    spread: float = 1.0,
    replicates: int = 20,
    seed: int = 0,
    jobs: int | None = 1,
    client: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Find the cheapest way to a wanted concordance of the ranking with the truth.

    Parameters
    ----------
    judges : mapping or sequence
        Expected judges: name -> {"reliability": eta, "price": of one vote}, or only the reliabilities (one-coin, from
        0.5 to 1).
    items, criteria : int
        Numbers of items and criteria.
    target : float
        Wanted concordance index, the share of pairs of items in the right order, between 0.5 and 1.
    price : float
        Price of a vote, for judges without their own price.
    spread : float
        Standard deviation of the items' strengths (log-odds).
    replicates : int
        Number of simulated panels per candidate.
    seed : int
        Seed of the simulations.
    jobs : int or None
        Number of joblib processes. None uses an active ``joblib.parallel_config``.
    client : distributed.Client or str, optional
        A Dask cluster to use instead of processes, or the address of its scheduler.
    progress : callable, optional
        Called with (candidates done, number of candidates).

    Raises
    ------
    InputError
        For all numbers outside their range, or a cluster that cannot be used.

    Examples
    --------
    >>> plan([0.9, 0.8], items=5, target=0.6, replicates=2).best["votes"] > 0
    True
    """
    panel = _read_panel(judges, price)
    _check_request(panel, items, criteria, target, spread, replicates)
    ordered = sorted(panel, key=lambda name: -((2 * panel[name][0] - 1) ** 2) / max(panel[name][1], 1e-12))
    sizes = np.unique(np.linspace(1, len(ordered), min(len(ordered), MAX_PANELS)).round().astype(int))
    candidates: list[Candidate] = [
        (tuple(ordered[:size]), share, repeats)
        for size in sizes
        for share, repeats in PAIR_SPLITS
        if share * items * (items - 1) / 2 >= items  # fewer pairs could not connect the items
        or share == 1.0
    ]
    simulated = {
        "items": items,
        "criteria": criteria,
        "truth": {"kind": "normal", "sd": spread, "sd_w": 1.0, "correlation": 0.3},
    }
    measure = partial(_measure_candidate, panel=panel, simulated=simulated, replicates=replicates, seed=seed)
    measured: dict[Candidate, dict[str, Any]] = {}
    for candidate, row in run_parallel(measure, candidates, jobs, client):
        measured[candidate] = row
        if progress is not None:
            progress(len(measured), len(candidates))
    table = _priced_table([measured[candidate] for candidate in candidates], panel, target)
    reached = table[table["reached"]]
    best = None if reached.empty else {str(key): value for key, value in reached.iloc[0].to_dict().items()}
    return Plan(table, best, target)


def _read_panel(
    judges: Mapping[str, Mapping[str, float]] | Sequence[float], price: float
) -> dict[str, tuple[float, float]]:
    """Read the reliability and price of each judge.

    Raises
    ------
    InputError
        For judges in another form.
    """
    if isinstance(judges, Mapping):
        described = {str(name): judge for name, judge in judges.items()}
    else:
        described = {f"judge-{number}": {"reliability": eta} for number, eta in enumerate(judges, start=1)}
    panel, problems = {}, []
    for name, judge in described.items():
        if not isinstance(judge, Mapping):
            problems.append(f"judge {name!r}: {judge!r} is no table; give {{'reliability': ..., 'price': ...}}")
            continue
        problems += [
            f"judge {name!r}: {key!r} is neither reliability nor price"
            for key in judge
            if key not in ("reliability", "price")
        ]
        numbers = judge.get("reliability", float("nan")), judge.get("price", price)
        if all(isinstance(value, Real) for value in numbers):
            panel[name] = float(numbers[0]), float(numbers[1])
        else:
            problems.append(f"judge {name!r}: reliability {numbers[0]!r} and price {numbers[1]!r} must be numbers")
    raise_problems(problems)
    return panel


def _check_request(
    panel: dict[str, tuple[float, float]], items: int, criteria: int, target: float, spread: float, replicates: int
) -> None:
    problems = []
    if not panel:
        problems.append("judges is empty; name at least one judge with its expected reliability")
    for name, (eta, cost) in panel.items():
        if not 0.5 < eta <= 1.0:
            problems.append(f"judge {name!r}: reliability {eta} must be above 0.5 (chance) and at most 1")
        if not 0.0 <= cost < float("inf"):
            problems.append(f"judge {name!r}: price {cost} must be at least 0")
        if "|" in name:
            problems.append(f"judge {name!r}: a name must not contain '|'")
    problems += [
        f"{name} {value!r}: a whole number of at least {minimum}"
        for name, value, minimum in (("items", items, 3), ("criteria", criteria, 1), ("replicates", replicates, 2))
        if not is_whole(value) or value < minimum
    ]
    if not (is_number(target) and 0.5 < target < 1.0):
        problems.append(f"target {target!r}: a concordance between 0.5 (chance) and 1")
    if not (is_number(spread) and spread > 0.0):
        problems.append(f"spread {spread!r}: must be a positive number")
    raise_problems(problems)


def _measure_candidate(
    candidate: Candidate,
    *,
    panel: dict[str, tuple[float, float]],
    simulated: dict[str, Any],
    replicates: int,
    seed: int,
) -> dict[str, Any]:
    """Simulate and fit the panels of a candidate, with the truths of all candidates; return votes and concordance."""
    names, share, repeats = candidate
    pairs = {"kind": "all-pairs"} if share == 1.0 else {"kind": "share", "share": share, "connect": "tree"}
    judges = [{"name": name, "kind": "one-coin", "eta": panel[name][0]} for name in names]
    design = {**pairs, "order": "random", "repeats": repeats}
    panels = [
        simulate_counts(panel=judges, design=design, seed=[seed, replicate], **simulated)
        for replicate in range(replicates)
    ]
    model = load_model("maple-position" if simulated["criteria"] > 1 else "crowd-bt-position")
    problems = encode_panels(model, [count_panel(replica) for replica in panels])
    density = problems[0].density
    modes = find_modes(density, [problem.data for problem in problems], roomy=True)
    concordance = [
        concordance_index(
            merge_equal(integrated_scores(density, Posterior(density, mode.x, None).central_values)),
            replica.truth.overall_scores("softmax"),
        )
        for mode, replica in zip(modes, panels, strict=True)
    ]
    sd = stdev(concordance)
    return {
        "judges": names,
        "share": share,
        "repeats": repeats,
        "votes": fmean(problem.judge_votes.sum() for problem in problems),
        "concordance": fmean(concordance),
        "sd": sd,
        "mcse": sd / replicates**0.5,
    }


def _priced_table(rows: list[dict[str, Any]], panel: dict[str, tuple[float, float]], target: float) -> pd.DataFrame:
    import pandas as pd

    # every judge of a panel casts the same number of votes
    for row in rows:
        row["price"] = fmean(panel[name][1] for name in row["judges"]) * row["votes"]
        row["judges"] = ", ".join(row["judges"])
        row["votes"] = round(row["votes"])
        row["reached"] = row["concordance"] - row["mcse"] >= target
    columns = ["judges", "share", "repeats", "votes", "price", "concordance", "sd", "mcse", "reached"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["price", "concordance"], ascending=[True, False], ignore_index=True)
