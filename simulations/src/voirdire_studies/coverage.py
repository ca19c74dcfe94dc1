"""Coverage studies: coverage of the reported intervals and errors of claims, for truths that differ from the prior.

A calibration study draws the truth from the prior and uses draws. Here panels are realistic: items that differ more or
less than under the prior, judges at chance, one judge with nearly all votes, sparse tables. The measures use the
reported tables of a fit, by any method.
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
KNOWN = "{model}, sd given"  # fit with the true sd of the strengths
TELLING = (
    "approximation",
    "orientation",
    "scale",
    "convergence",
    "rhat",
    "divergences",
)  # checks that may warn of this


def units(study: Study) -> list[Unit]:
    """List units of work, one fit each, ordered by replicate; ``tables`` of a panel is its number per replicate."""
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
    """Simulate a panel, fit it, and compare the reported tables with the truth; return one row."""
    from voirdire.fit.verb import fit

    number, name, method, replicate = unit
    panel = study.settings["panels"][number]
    drawn_from = study.settings.get("drawn_from", name)
    truth = simulate_panel(load_model(drawn_from), panel, np.random.default_rng([study.seed, replicate, number]))
    given: dict[str, Any] = {"model": name}
    if name == KNOWN.format(model=drawn_from):
        given = {"model": drawn_from, "priors": {"strength": {"sd": panel["sd"]}}}
    result = fit(truth["table"], truth["criteria"], method=method, prob=PROB, seed=replicate, **given)
    items, judges = result.tables["items"], result.tables["judges"]
    score = np.array([truth["strength"][item] for item in items["item"]])
    right = np.array([truth["right"][judge] for judge in judges["judge"]])
    score = score - score.mean()
    levels = {entry.check: entry.level for entry in result.all_checks}
    claims, wrong = count_claims(result, truth["strength"])
    return [
        {
            "panel": panel["name"],
            "model": name,
            "method": method,
            "replicate": replicate,
            "done": result.method,
            "score": _share_inside(score, items["low"], items["high"]),
            "reliability": _share_inside(right, judges["reliability_low"], judges["reliability_high"]),
            "spread": _spread_covered(result.as_dict().get("spreads", []), panel.get("context_sd")),
            "error": float(np.sqrt(np.mean((np.array(items["score"]) - score) ** 2))),
            "claims": claims,
            "wrong": wrong,
            "warned": any(levels.get(check, "ok") != "ok" for check in TELLING),
        }
    ]


def count_claims(result: Any, strength: dict[str, float]) -> tuple[int, int]:
    """Count the pairs of items ordered with a probability above 0.95, and those in the wrong order."""
    draws = integrated_scores(result.problem.density, result.posterior.values)
    truth = np.array([strength[item] for item in result.problem.items])
    claims = wrong = 0
    for i in range(len(truth) - 1):
        p = (draws[:, [i]] > draws[:, i + 1 :]).mean(axis=0)
        sure = np.maximum(p, 1.0 - p) > SURE
        claims += int(sure.sum())
        wrong += int((sure & ((p > 0.5) != (truth[i] > truth[i + 1 :]))).sum())
    return claims, wrong


def _spread_covered(spreads: list[dict[str, Any]], truth: float | None) -> float:
    """Return 1 if the interval of the spread between contexts holds the truth, else 0; NaN if there is none."""
    inside = [spread["low"] <= truth <= spread["high"] for spread in spreads if spread["name"] == "context" and truth]
    return float(inside[0]) if inside else float("nan")


def _share_inside(truth: Floats, low: Any, high: Any) -> float:
    return float(np.mean((truth >= np.asarray(low)) & (truth <= np.asarray(high))))


def aggregate(study: Study, replicates: Any) -> Any:
    """Compute one row per panel, model, method and measure.

    Coverage of scores and of reliability at 90%; the share of wrong claims; the root mean square error of scores;
    ``warned``, the share of fits with a warning; ``unwarned``, the share of fits without a warning although one of the
    two coverages is below 0.85; and the share of fits by each method used.
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
    """Compute mean, sd and Monte Carlo error of each measure over replicates, one row each."""
    rows = []
    for measure, values in columns.items():
        sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        row = {"measure": measure, "n": len(values), "mean": float(values.mean()), "sd": sd}
        rows.append({**key, **row, "mcse": sd / np.sqrt(len(values))})
    return rows


def share_row(key: dict[str, Any], measure: str, some: Any, whole: Any) -> dict[str, Any]:
    """Compute the share of ``some`` in ``whole``, with the standard error for clusters of one table each."""
    total = max(whole.sum(), 1)
    share = some.sum() / total
    error = np.sqrt(((some - share * whole) ** 2).sum()) / total
    return {**key, "measure": measure, "n": len(some), "mean": float(share), "sd": None, "mcse": float(error)}
