"""Run tasks of other packages in their own environment: one task per line on stdin, one JSON object per line out.

    python worker.py TASK FILE

reads the table once, and does the task whenever a line comes: ``seconds`` is the time of the task alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import pandas as pd


def noisy_bradley_terry(table: pd.DataFrame) -> Callable[[int], Any]:
    from crowdkit.aggregation import NoisyBradleyTerry

    data = table.rename(columns={"judge": "worker", "first": "left", "second": "right"})
    data["label"] = data["left"].where(data["winner"] == "first", data["right"])
    return lambda size: NoisyBradleyTerry().fit_predict(data).to_dict()


def dawid_skene(table: pd.DataFrame) -> Callable[[int], Any]:
    from crowdkit.aggregation import DawidSkene

    data = table.rename(columns={"item": "task", "judge": "worker"})
    return lambda size: DawidSkene(n_iter=100).fit_predict(data).to_dict()


def label_chances(method: str) -> Callable[[pd.DataFrame], Callable[[int], Any]]:
    """P(class) of every item by a method of crowd-kit; Dawid-Skene is told what a column ``known`` says."""

    def task(table: pd.DataFrame) -> Callable[[int], Any]:
        import crowdkit.aggregation

        names = {"item": "task", "judge": "worker"}
        data = table.rename(columns=names)[["task", "worker", "label"]]
        model = getattr(crowdkit.aggregation, method)
        # of scikit-learn 1.7 and later, whose check asks for what this class does not have
        sys.modules[model.__module__].__dict__.update(check_is_fitted=lambda *_, **__: None)
        settings = {"DawidSkene": {"n_iter": 100}, "GLAD": {"n_iter": 100}, "MACE": {"random_state": 0}}
        told = {}
        if method == "DawidSkene" and "known" in table:
            known = table.dropna(subset=["known"]).drop_duplicates("item").set_index("item")["known"]
            told = {"true_labels": known} if len(known) else {}

        def run(size: int) -> Any:
            return model(**settings.get(method, {})).fit_predict_proba(data, **told).to_dict(orient="index")

        return run

    return task


def arena(table: pd.DataFrame) -> Callable[[int], Any]:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    names = {"first": "model_a", "second": "model_b", "tie": "tie"}
    data = table.rename(columns=names).assign(winner=table["winner"].map(names))

    def run(size: int) -> dict[str, float]:
        dataset = PairDataset.from_pandas(data)
        model = BradleyTerry(n_competitors=len(dataset.competitors))
        model.fit(dataset)
        return dict(zip(dataset.competitors, map(float, model.params["ratings"]), strict=True))

    return run


def arena_contextual(table: pd.DataFrame) -> Callable[[int], Any]:
    """Ratings and coefficients of columns ``NAME_first``, ``NAME_second``; without a prior, with intervals if size."""
    import jax.numpy as jnp
    import numpy as np
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    names = [name.removesuffix("_first") for name in table if name.endswith("_first")]
    items, sides = np.unique(table[["first", "second"]].to_numpy(str), return_inverse=True)
    sides = sides.reshape(-1, 2)
    given = {side: table[[f"{name}_{side}" for name in names]].to_numpy(float) for side in ("first", "second")}
    won = (table["winner"] == "first").to_numpy(float)

    def run(size: int) -> dict[str, Any]:
        dataset = ContextualPairDataset(
            list(items),
            jnp.array(sides),
            jnp.array(won),
            jnp.array(given["first"] - given["second"]),
            jnp.ones(len(won)),
        )
        how = {"reg": 0.0} if size else {"reg": 0.0, "ftol": 1e-14, "gtol": 1e-10}
        model = ContextualBradleyTerry(len(items), len(names), **how)
        if size:
            model.compute_ratings_and_cis(dataset)
        else:
            model.fit(dataset)
        ratings, slopes = (np.asarray(model.params[name]) for name in ("ratings", "coeffs"))
        ratings = dict(zip(items.tolist(), (ratings - ratings.mean()).tolist(), strict=True))
        return {"ratings": ratings, "slopes": dict(zip(names, slopes.tolist(), strict=True))}

    return run


def arena_intervals(table: pd.DataFrame) -> Callable[[int], Any]:
    """Ratings and the standard errors of the sandwich, in log-odds."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    names = {"first": "model_a", "second": "model_b", "tie": "tie"}
    data = table.rename(columns=names).assign(winner=table["winner"].map(names))

    def run(size: int) -> dict[str, dict[str, float]]:
        dataset = PairDataset.from_pandas(data)
        model = BradleyTerry(n_competitors=len(dataset.competitors))
        found = model.compute_ratings_and_cis(dataset)
        unit = {"score": found["ratings"] / model.alpha, "sd": found["variances"] ** 0.5 / model.alpha}
        return {key: dict(zip(dataset.competitors, map(float, values), strict=True)) for key, values in unit.items()}

    return run


def arena_bootstrap(table: pd.DataFrame) -> Callable[[int], Any]:
    import jax
    from arena_rank.models.bradley_terry import BradleyTerry, fit_single_bootstrap_sample
    from arena_rank.utils.data_utils import PairDataset

    names = {"first": "model_a", "second": "model_b", "tie": "tie"}
    dataset = PairDataset.from_pandas(table.rename(columns=names).assign(winner=table["winner"].map(names)))
    model = BradleyTerry(n_competitors=len(dataset.competitors))
    total = dataset.counts.sum()

    def run(size: int) -> dict[str, float]:
        shape = (size, dataset.counts.shape[0])
        drawn = jax.random.multinomial(
            key=jax.random.PRNGKey(0), n=int(total), p=dataset.counts / total, shape=shape, dtype=model.dtype
        )
        found = [fit_single_bootstrap_sample(counts, model, dataset)["ratings"] for counts in drawn]
        spread = jax.numpy.asarray(found).std(axis=0)
        return dict(zip(dataset.competitors, map(float, spread), strict=True))

    return run


TASKS = {
    "noisy_bradley_terry": noisy_bradley_terry,
    "dawid_skene": dawid_skene,
    "dawid_skene_chances": label_chances("DawidSkene"),
    "glad_chances": label_chances("GLAD"),
    "mace_chances": label_chances("MACE"),
    "wawa_chances": label_chances("Wawa"),
    "arena": arena,
    "arena_intervals": arena_intervals,
    "arena_bootstrap": arena_bootstrap,
    "arena_contextual": arena_contextual,
}


def main() -> None:
    task, file = sys.argv[1:3]
    out, sys.stdout = sys.stdout, sys.stderr  # what packages print is no answer
    table = pd.read_parquet(file) if file.endswith(".parquet") else pd.read_csv(file, dtype=str)
    run = TASKS[task](table)
    for line in sys.stdin:
        start = time.perf_counter()
        result = run(int(line))
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "result": result}), file=out, flush=True)


if __name__ == "__main__":
    main()
