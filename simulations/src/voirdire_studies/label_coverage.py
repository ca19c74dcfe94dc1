"""Studies of label panels: effect of copies, families, shared biases and hard items on classes and probabilities.

A panel has honest judges with different probabilities of being right, items that may be hard for all, copies of the
first judge, and families with common errors. Every model is fitted with the families named, and the default model
("default") without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.model.specs import load_model
from voirdire.model.terms import SHARED_ERRORS
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.typing import Floats, Ints
from voirdire_studies.coverage import PROB, rows_of
from voirdire_studies.study import Study

Unit = tuple[int, str, str, int]  # number of the panel, model, method, replicate

DEFAULT = "default"
NAMES = "xyz"  # of the classes


def units(study: Study) -> list[Unit]:
    """One fit each, first replicates first."""
    return [
        (number, model, method, replicate)
        for replicate in range(study.replicates)
        for number in range(len(study.settings["panels"]))
        for model in [*study.settings["models"], DEFAULT]
        for method in study.settings["methods"]
    ]


@dataclass(frozen=True, eq=False)
class LabelledPanel:
    """Table of labels, with the truth about its items and judges.

    Attributes
    ----------
    labels : int array, shape (judges, items)
        Label of each item by each judge.
    truth : int array, shape (items,)
    right : array, shape (judges,)
        Probability of a right label, over the items of the table.
    families : dict
        Family of each judge, its own name where it has none.
    """

    labels: Ints
    truth: Ints
    right: Floats
    families: dict[str, str]

    @property
    def table(self) -> Any:
        """The labels, one per row."""
        import pandas as pd

        judges, items = self.labels.shape
        columns = {
            "judge": np.repeat(list(self.families), items),
            "item": np.tile([f"i{i:04d}" for i in range(items)], judges),
            "label": np.array(list(NAMES))[self.labels.ravel()],
        }
        return pd.DataFrame(columns)


def simulate_labels(panel: dict[str, Any], rng: np.random.Generator) -> LabelledPanel:
    """Draw a panel.

    Parameters
    ----------
    panel : dict
        ``items``, ``classes``, ``honest`` judges who are right with probabilities between ``low`` and ``high``; and,
        zero where they are not given: ``hard``, sd of the items' easiness for all (log-odds of a right label);
        ``copies`` of the first judge, who repeat a share ``repeated`` (1) of its labels and else guess;
        ``families`` (1), each of ``family`` further judges like the honest ones, who say the same wrong class of a
        share ``together`` of the items, the first class of a share ``biased``, and find items easy or hard together
        with sd ``family_hard``.
    """
    items, classes = panel["items"], panel["classes"]
    truth = rng.integers(0, classes, items)
    easy = panel.get("hard", 0.0) * rng.standard_normal(items)
    families: dict[str, str] = {}
    labels: list[Ints] = []
    right: list[float] = []

    def add_judge(family: str | None, judge_labels: Ints, chance: Floats) -> None:
        name = f"j{len(labels):02d}"
        families[name] = name if family is None else family
        labels.append(judge_labels)
        right.append(float(chance.mean()))

    def other_labels(count: int) -> Ints:
        return np.asarray((truth + rng.integers(1, classes, count)) % classes)

    def draw_labels(easiness: Floats) -> tuple[Ints, Floats]:
        share = rng.uniform(panel["low"], panel["high"])
        chance = logistic_sigmoid(np.log(share / (1.0 - share)) + easiness, np)
        return np.where(rng.random(items) < chance, truth, other_labels(items)), chance

    copies = panel.get("copies", 0)
    for number in range(panel["honest"]):
        add_judge("copied" if copies and number == 0 else None, *draw_labels(easy))
    for _ in range(copies):
        repeated = panel.get("repeated", 1.0)
        answers = np.where(rng.random(items) < repeated, labels[0], rng.integers(0, classes, items))
        add_judge("copied", answers, np.array(repeated * right[0] + (1.0 - repeated) / classes))
    for number in range(panel.get("families", 1) if panel.get("family") else 0):
        together = rng.random(items) < panel.get("together", 0.0)
        biased = ~together & (rng.random(items) < panel.get("biased", 0.0))
        wrong, own = other_labels(items), panel.get("family_hard", 0.0) * rng.standard_normal(items)
        for _ in range(panel["family"]):
            answers, chance = draw_labels(easy + own)
            answers = np.where(together, wrong, np.where(biased, 0, answers))
            chance = np.where(together, 0.0, np.where(biased, truth == 0, chance))
            add_judge(f"family {number}", answers, chance)
    return LabelledPanel(np.array(labels), truth, np.array(right), families)


def run(study: Study, unit: Unit) -> list[dict[str, Any]]:
    """Simulate a panel, fit it, and compare what is shown with the truth: one row."""
    from voirdire.fit.verb import fit

    number, name, method, replicate = unit
    panel = study.settings["panels"][number]
    made = simulate_labels(panel, np.random.default_rng([study.seed, replicate, number]))
    given: dict[str, Any] = {}
    if name != DEFAULT:
        given["model"] = name
        if load_model(name).reliability.kind in SHARED_ERRORS:
            given["families"] = made.families
    result = fit(made.table, method=method, prob=PROB, seed=replicate, **given)
    names = [f"p_{label}" for label in NAMES[: panel["classes"]]]
    chance = result.classes().set_index("item").sort_index()[names].to_numpy(float)
    rows, best = np.arange(len(chance)), chance >= chance.max(axis=1, keepdims=True) - 1e-9
    right = best[rows, made.truth] / best.sum(axis=1)
    order = np.argsort(-chance, axis=1)
    before = np.take_along_axis(chance, order, axis=1).cumsum(axis=1) - np.take_along_axis(chance, order, 1)
    in_set = (before < PROB)[rows, np.argsort(order, axis=1)[rows, made.truth]]
    judges = result.tables["judges"]
    low, high = (np.asarray(judges[f"accuracy_{end}"], dtype=float) for end in ("low", "high"))
    inside = np.where(np.isnan(low), np.nan, (made.right >= low) & (made.right <= high))
    return [
        {
            "panel": panel["name"],
            "model": name,
            "method": method,
            "replicate": replicate,
            "done": result.model.name,
            "accuracy": float(right.mean()),
            "log_loss": float(-np.log(np.maximum(chance[rows, made.truth], 1e-12)).mean()),
            "too_sure": float(chance.max(axis=1).mean() - right.mean()),
            "held": float(in_set.mean()),
            "judges": float(inside.mean()),
        }
    ]


def aggregate(study: Study, replicates: Any) -> Any:
    """Compute one row per panel, model, method and measure.

    Accuracy of the most probable classes (ties shared); log loss; mean stated probability minus accuracy; share of
    items with their class in the smallest set of classes of 90% (above 90% where one class has more); share of judges
    with their accuracy in its 90% interval; and share of fits in which each model was the default.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for (panel, model, method), part in replicates.groupby(["panel", "model", "method"], sort=False):
        columns = {
            "accuracy": part["accuracy"],
            "log loss": part["log_loss"],
            "too sure": part["too_sure"],
            "class in its 90% set": part["held"],
            **({"coverage of judges": part["judges"]} if part["judges"].notna().any() else {}),
        }
        if model == DEFAULT:
            columns |= {f"by {done}": (part["done"] == done).astype(float) for done in sorted(set(part["done"]))}
        rows += rows_of({"panel": panel, "model": model, "method": method}, columns)
    return pd.DataFrame(rows)
