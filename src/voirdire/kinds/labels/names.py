"""Names of classes that mean nothing: of classes found that do not carry theirs, and of exact ties.

Where judges share so much that they are worth less than half of their number, and items of a class that was found are
mostly called another, what is found is how items look to the panel. The probability of a class then is that of the
label: what a judge of the panel says of items like it.

Items are ties where two classes are exactly as probable, whatever is drawn:

- Where judges are all alike (``majority-label``), classes with as many labels are.
- Where two judges use two labels, their names and those of the labels can be exchanged together. If that leaves the
  table as it is (they contradict each other on every item, or agree as often on either label), it leaves the posterior
  as it is: neither judge is better, and where they contradict each other both classes have probability 1/2. Where
  judges are alike, or there is one, the names of the labels alone are exchanged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.problem import Check
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.trust.dependence import effective_size, residual_correlations
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

HALF = 0.5  # of the judges: fewer independent ones than that are a panel that depends on itself
FOUND = 0.01  # share of the items from which a class is one that was found


def misnamed_class_rates(problem: LabelsProblem, posterior: Posterior) -> Floats | None:
    """P(label | class) among the classes, over judges alike, where classes do not carry their names."""
    density = problem.density
    if not density.latent or density.has_grades or len(problem.judges) < 3:
        return None
    rates = _rates_if_misnamed(problem, posterior.central_values)
    if rates is None:
        return None
    centre = Posterior(density, posterior.centre, None)
    left = label_residuals(problem, centre, np.random.default_rng(0))
    return rates if _effective_judges(left) < HALF * len(left.judges) else None


def _effective_judges(left: Residuals) -> float:
    """Number of independent judges that a panel is worth: by the spread of its residuals, or by that of their mean.

    The former (:class:`voirdire.trust.dependence.Dependence`) sees few that are close, the latter,
    K / (1 + (K - 1) rho) with rho the mean correlation (Kish 1965), what all have a little of.
    """
    judges = len(left.judges)
    rho = residual_correlations(left).rho[~np.eye(judges, dtype=bool)].mean()
    return min(effective_size(left), judges / (1.0 + (judges - 1) * max(float(rho), 0.0)))


def _rates_if_misnamed(problem: LabelsProblem, values: Values) -> Floats | None:
    """P(label | class) where some class that was found is mostly called another."""
    density, part = problem.density, problem.data["labels"]
    belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
    size = (belief * part["weight"][:, None]).sum(axis=0)
    rates = np.exp(density.rates(values, np)).mean(axis=0)[:, : problem.classes]
    rates /= rates.sum(axis=1, keepdims=True)
    astray = (rates.argmax(axis=1) != np.arange(problem.classes)) & (size > FOUND * size.sum())
    astray[list(density.anchored)] = False  # what people named is what it is
    return rates if astray.any() else None


_SHOWN = 5


def is_exchangeable(problem: LabelsProblem) -> bool:
    """True if at most two judges and two labels can change names together without changing anything.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, n, label) for n in range(6) for judge, label in (("a", "yn"[n % 2]), ("b", "ny"[n % 2]))]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> fit = voirdire.fit(table, method="map")
    >>> is_exchangeable(fit.problem), is_exchangeable(voirdire.fit(table.iloc[:-1], method="map").problem)
    (True, False)
    """
    density, part = problem.density, problem.data["labels"]
    if not density.latent or density.shares_errors or problem.is_sparse or (problem.known >= 0).any():
        return False
    if part["counts"].shape[1] > 4 or density.classes != 2 or density.labels != 2:
        return False
    counts, of, weight = part["counts"].reshape(len(part["counts"]), -1, 2), part["criterion"], part["weight"]
    return _count_items(counts, of, weight) == _count_items(counts[:, ::-1, ::-1], of, weight)


def _count_items(counts: Floats, criterion: Ints, weight: Floats) -> dict[tuple[bytes, int], float]:
    """Count the items that have the same labels."""
    found: dict[tuple[bytes, int], float] = {}
    for item, of, times in zip(counts, criterion, weight, strict=True):
        key = (item.tobytes(), int(of))
        found[key] = found.get(key, 0.0) + float(times)
    return found


def symmetrise_posterior(problem: LabelsProblem, posterior: Posterior) -> Posterior:
    """The posterior as it is, or where names can be exchanged half of its draws beside their images."""
    if posterior.draws is None or not is_exchangeable(problem):
        return posterior
    half = posterior.draws[:, : posterior.draws.shape[1] // 2]
    draws = np.concatenate([half, _swap_names(problem, half)], axis=1)
    return replace(posterior, draws=draws, centre=draws.mean(axis=(0, 1)))


def _swap_names(problem: LabelsProblem, x: Floats) -> Floats:
    """Flat vectors, shape (..., size), with both judges and both labels called by the other's name."""
    density = problem.density
    values = dict(density.values(x, np))
    values["class_share"] = values["class_share"][..., ::-1]
    if "confusion" in values:
        values["confusion"] = values["confusion"][..., ::-1, ::-1]
    if "confusion_judge" in values:
        values["confusion_judge"] = values["confusion_judge"][..., ::-1, ::-1, ::-1]
    if "reliability" in values:
        values["reliability"] = values["reliability"][..., ::-1]
    return np.asarray(density.flat(values, np))


def tied_units(problem: LabelsProblem) -> list[tuple[int, tuple[str, ...]]]:
    """Units of which several classes are exactly as probable and none more, with these classes."""
    counts, classes = problem.data["labels"]["counts"], problem.labels[: problem.classes]
    if problem.is_sparse:
        return []
    counts = counts.reshape(len(counts), -1, len(problem.labels))
    if not problem.density.latent:
        votes = counts.sum(axis=1)[:, : problem.classes]
        top = votes == votes.max(axis=1, keepdims=True)
    elif is_exchangeable(problem):
        top = np.repeat((counts == counts[:, ::-1, ::-1]).all(axis=(1, 2))[:, None], 2, axis=1)
    else:
        return []
    found = []
    for unit in np.flatnonzero((top.sum(axis=1) > 1)[problem.unit_row] & (problem.known < 0)):
        these = np.flatnonzero(top[problem.unit_row[unit]])
        found.append((int(unit), tuple(classes[j] for j in these)))
    return found


def ties_check(problem: LabelsProblem) -> list[Check]:
    """Warn of items that are ties, if any."""
    found = tied_units(problem)
    if not found:
        return []
    names = problem.coords["unit"]
    shown = [f"{names[unit]} ({' or '.join(classes)})" for unit, classes in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    message = (
        f"{len(found)} of {len(problem.unit_item)} items are exact ties: {', '.join(shown)}{more}. The label shown is "
        "the first of these and means nothing: ask another judge."
    )
    return [Check("ties", "warn", float(len(found)), message)]
