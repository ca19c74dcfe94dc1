"""Studies of truths that no model draws: errors of the default intervals and claims, and warnings of checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire_studies.coverage import rows_of, share_row
from voirdire_studies.study import Study
from voirdire_studies.truth_measures import PROB
from voirdire_studies.truth_panels import TRUTHS

Unit = tuple[str, str, str, int]  # truth, what scores are about, method, replicate


def units(study: Study) -> list[Unit]:
    """List units of work, one fit each, ordered by replicate."""
    return [
        (truth, about, method, replicate)
        for replicate in range(study.replicates)
        for truth in study.settings["truths"]
        for about in study.settings["about"]
        for method in study.settings["methods"]
    ]


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Make a table, fit it, and compare the result with the truth; return one row."""
    from voirdire.fit.verb import fit

    name, about, method, replicate = unit
    truth = TRUTHS[name](np.random.default_rng([study.seed, replicate, list(TRUTHS).index(name)]))
    result = fit(truth.table, method=method, prob=PROB, seed=replicate, about=about)
    warnings = [entry.check for entry in result.all_checks if entry.level != "ok"]
    return [
        {
            "truth": name,
            "about": about,
            "method": method,
            "replicate": replicate,
            "done": result.model.name,
            "said": " ".join(warnings),
            **truth.compare(result),
        }
    ]


def aggregate(study: Study, replicates: Any) -> Any:
    """One row per truth, what scores are about, method and measure.

    Coverage at 90%, correlation of scores with the truth (of labels accuracy), log loss of labels beside that of their
    smoothed shares, claims, the share of all claims that is wrong, and how often each check said something.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    columns = ("coverage", "correlation", "log_loss", "shares_loss", "claims")
    for (truth, about, method), part in replicates.groupby(["truth", "about", "method"], sort=False):
        key = {"truth": truth, "about": about, "method": method}
        known = [name for name in columns if name in part and part[name].notna().any()]
        rows += rows_of(key, {name: part[name].astype(float) for name in known})
        rows.append(share_row(key, "wrong claims", part["wrong"], part["claims"]))
        words = part["said"].fillna("").str.split()
        fired = sorted({check for checks in words for check in checks})
        rows += rows_of(
            key,
            {f"says {check}": words.map(lambda reported, wanted=check: float(wanted in reported)) for check in fired},
        )
    return pd.DataFrame(rows)
