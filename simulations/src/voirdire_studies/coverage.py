"""Coverage studies: do the intervals of a whole fit cover, and are its claims right, wherever the truth comes from?

A calibration study draws the truth from the very prior, and looks at draws. Here panels are those that users have:
items that differ more or less than the prior says, judges at chance, one judge with nearly all the votes, sparse
tables; and what is looked at are the tables of a fit as it is shown, by any method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import integrated_scores
from voirdire.model.specs import load_model
from voirdire_studies.coverage_panels import simulate_panel
from voirdire_studies.study import Study

Floats = npt.NDArray[np.float64]
Unit = tuple[int, str, str, int]  # number of the panel, model, method, replicate

PROB = 0.9
SURE = 0.95  # probability above which one item is claimed to be better than another
LOW = 0.85  # coverage of a table below which the fit should warn
KNOWN = "{model}, sd given"  # as drawn: what a fit could know at best of how far items are apart
TELLING = (
    "approximation",
    "orientation",
    "scale",
    "convergence",
    "rhat",
    "divergences",
)  # checks that may say so


def units(study: Study) -> list[Unit]:
    """One fit each, first replicates first; a panel with ``tables`` has so many of them in each replicate."""
    panels = study.settings["panels"]
    tables = [study.replicates * panel.get("tables", 1) for panel in panels]
    known = [KNOWN.format(model=study.settings["drawn_from"])] if study.settings.get("known_sd") else []
    return [
        (number, model, method, replicate)
        for replicate in range(max(tables))
        for number, panel in enumerate(panels)
        if replicate < tables[number]
        for model in [*study.settings["models"], *(known if "sd" in panel else [])]
        for method in study.settings["methods"]
    ]


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Simulate a panel, fit it, and compare what is shown with the truth: one row."""
    from voirdire.fit.verb import fit

    number, name, method, replicate = unit
    panel = study.settings["panels"][number]
    drawn_from = study.settings.get("drawn_from", name)
    truth = simulate_panel(
        load_model(drawn_from), panel, np.random.default_rng([study.seed, replicate, number])
    )
    given: dict[str, Any] = {"model": name}
    if name == KNOWN.format(model=drawn_from):
        given = {"model": drawn_from, "priors": {"strength": {"sd": panel["sd"]}}}
    found = fit(truth["table"], truth["criteria"], method=method, prob=PROB, seed=replicate, **given)
    items, judges = found.tables["items"], found.tables["judges"]
    score = np.array([truth["strength"][item] for item in items["item"]])
    right = np.array([truth["right"][judge] for judge in judges["judge"]])
    score = score - score.mean()
    levels = {entry.check: entry.level for entry in found.all_checks}
    claims, wrong = count_claims(found, truth["strength"])
    return [
        {
            "panel": panel["name"],
            "model": name,
            "method": method,
            "replicate": replicate,
            "done": found.method,
            "score": _share_inside(score, items["low"], items["high"]),
            "reliability": _share_inside(right, judges["reliability_low"], judges["reliability_high"]),
            "spread": _spread_covered(found.as_dict().get("spreads", []), panel.get("context_sd")),
            "error": float(np.sqrt(np.mean((np.array(items["score"]) - score) ** 2))),
            "claims": claims,
            "wrong": wrong,
            "warned": any(levels.get(check, "ok") != "ok" for check in TELLING),
        }
    ]


def count_claims(found: Any, strength: dict[str, float]) -> tuple[int, int]:
    """Number of pairs of items that a fit tells apart with a probability above 0.95, and of those that are wrong."""
    draws = integrated_scores(found.problem.density, found.posterior.values)
    truth = np.array([strength[item] for item in found.problem.items])
    claims = wrong = 0
    for i in range(len(truth) - 1):
        p = (draws[:, [i]] > draws[:, i + 1 :]).mean(axis=0)
        sure = np.maximum(p, 1.0 - p) > SURE
        claims += int(sure.sum())
        wrong += int((sure & ((p > 0.5) != (truth[i] > truth[i + 1 :]))).sum())
    return claims, wrong


def _spread_covered(found: list[dict[str, Any]], truth: float | None) -> float:
    """1 if the interval of the spread between contexts holds the truth, 0 if not; NaN where there is none."""
    held = [one["low"] <= truth <= one["high"] for one in found if one["name"] == "context" and truth]
    return float(held[0]) if held else float("nan")


def _share_inside(truth: Floats, low: Any, high: Any) -> float:
    return float(np.mean((truth >= np.asarray(low)) & (truth <= np.asarray(high))))


def aggregate(study: Study, replicates: Any) -> Any:
    """One row per panel, model, method and measure.

    Coverage of scores and of reliability at 90%; the share of all claims that are wrong; the root mean square error of
    scores; ``warned``, the share of fits that warn, and ``unwarned``, that of fits which do not though one of the two
    covers less than 0.85; and how often each method was what was done.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for (panel, model, method), part in replicates.groupby(["panel", "model", "method"], sort=False):
        low = (part[["score", "reliability"]].min(axis=1) < LOW) & ~part["warned"].astype(bool)
        columns = {
            "coverage of scores": part["score"],
            "coverage of reliability": part["reliability"],
            **({"coverage of the spread": part["spread"]} if part["spread"].notna().any() else {}),
            "error of scores": part["error"],
            "claims": part["claims"],
            "warned": part["warned"].astype(float),
            "unwarned": low.astype(float),
            **{f"by {done}": (part["done"] == done).astype(float) for done in sorted(set(part["done"]))},
        }
        key = {"panel": panel, "model": model, "method": method}
        rows += rows_of(key, columns)
        rows.append(share_row(key, "wrong claims", part["wrong"], part["claims"]))
    return pd.DataFrame(rows)


def rows_of(key: dict[str, Any], columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Mean, sd and Monte Carlo error of what was measured in every replicate, one row each."""
    rows = []
    for measure, values in columns.items():
        sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        row = {"measure": measure, "n": len(values), "mean": float(values.mean()), "sd": sd}
        rows.append({**key, **row, "mcse": sd / np.sqrt(len(values))})
    return rows


def share_row(key: dict[str, Any], measure: str, some: Any, whole: Any) -> dict[str, Any]:
    """Share of some of all counts, with the error of clusters: counts of a table stand and fall together."""
    total = max(whole.sum(), 1)
    share = some.sum() / total
    error = np.sqrt(((some - share * whole) ** 2).sum()) / total
    return {**key, "measure": measure, "n": len(some), "mean": float(share), "sd": None, "mcse": float(error)}
