"""Class names without meaning: estimated classes that do not match their names, and exact ties.

Estimated classes may not match their names: the effective number of judges is less than half of their number, and most
labels of items of a class name another class. Then the classes describe how items look to the panel, and the
probability of a class is replaced by that of the label: the answer of a judge of the panel on similar items.

Items are ties if two classes have exactly the same probability:

- If all judges are alike (``majority-label``), classes with the same number of labels are ties.
- A simultaneous exchange of names of judges and of labels may leave the table unchanged (two judges, or two camps,
  contradict each other on every item, or agree equally often on either label). Then the posterior is also unchanged:
  exchanged judges are equally reliable, and classes that are exchanged on an item have the same probability. If judges
  are alike, or there is one, only names of labels are exchanged. Only small panels are searched.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.problem import Check, list_names
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.trust.dependence import effective_size, residual_correlations
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

MAX_DEPENDENT_SHARE = 0.5  # effective number of judges, as a share of their number, below which a panel is dependent
MIN_CLASS_SHARE = 0.01  # smallest share of the items of an estimated class


def misnamed_class_rates(problem: LabelsProblem, posterior: Posterior) -> Floats | None:
    """P(label | class) among the classes, averaged over judges, if classes do not match their names; else None."""
    density = problem.density
    if not density.latent or density.has_grades or len(problem.judges) < 3:
        return None
    rates = _rates_if_misnamed(problem, posterior.central_values)
    if rates is None:
        return None
    centre = Posterior(density, posterior.centre, None)
    residuals = label_residuals(problem, centre, np.random.default_rng(0))
    return rates if _effective_judges(residuals) < MAX_DEPENDENT_SHARE * len(residuals.judges) else None


def _effective_judges(residuals: Residuals) -> float:
    """Effective number of judges: the smaller of two estimates, from pairwise and from mean correlation of residuals.

    The former (:class:`voirdire.trust.dependence.Dependence`) detects a few strong correlations, the latter,
    K / (1 + (K - 1) rho) with rho the mean correlation (Kish 1965), weak correlations of all judges.
    """
    judges = len(residuals.judges)
    rho = residual_correlations(residuals).rho[~np.eye(judges, dtype=bool)].mean()
    return min(effective_size(residuals), judges / (1.0 + (judges - 1) * max(float(rho), 0.0)))


def _rates_if_misnamed(problem: LabelsProblem, values: Values) -> Floats | None:
    """P(label | class) if most labels of some estimated class name another class; else None."""
    density, part = problem.density, problem.data["labels"]
    belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
    size = (belief * part["weight"][:, None]).sum(axis=0)
    rates = np.exp(density.rates(values, np)).mean(axis=0)[:, : problem.classes]
    rates /= rates.sum(axis=1, keepdims=True)
    is_misnamed = (rates.argmax(axis=1) != np.arange(problem.classes)) & (size > MIN_CLASS_SHARE * size.sum())
    is_misnamed[list(density.anchored)] = False  # people define anchored classes
    return rates if is_misnamed.any() else None


MAX_JUDGES, MAX_LABELS, MAX_EXCHANGES = (6, 4, 24)  # largest numbers of judges, labels and exchanges
MAX_COMPARED_ITEMS = 1_000_000  # largest number of items times exchanges: enough for all exchanges of a hundred items


def find_exchanges(problem: LabelsProblem) -> list[tuple[Ints, Ints]]:
    """Permutations of judges and of labels, except the identity, that leave the table unchanged; they form a group.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, n, label) for n in range(6) for judge, label in (("a", "yn"[n % 2]), ("b", "ny"[n % 2]))]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    >>> fit = voirdire.fit(table, method="map")
    >>> len(find_exchanges(fit.problem)), len(find_exchanges(voirdire.fit(table.iloc[:-1], method="map").problem))
    (3, 0)
    """
    density, part = problem.density, problem.data["labels"]
    if not density.latent or density.shares_errors or problem.is_sparse or (problem.known >= 0).any():
        return []
    counts = part["counts"].reshape(len(part["counts"]), -1, density.labels)
    judges = counts.shape[1]
    if judges > MAX_JUDGES or density.labels > MAX_LABELS or density.classes != density.labels:
        return []
    criterion, weight = part["criterion"], part["weight"]
    label_totals, items = np.einsum("u,ukl->kl", weight, counts), _count_items(counts, criterion, weight)
    compared = 0
    orders: list[tuple[Ints, Ints]] = []
    for labels in map(list, permutations(range(density.labels))):
        # pairs of judges that may be exchanged
        may_exchange = (label_totals[None, :, labels] == label_totals[:, None]).all(axis=-1)
        for order in permutations(range(judges)) if may_exchange.any(axis=0).all() else ():
            if may_exchange[range(judges), order].all():
                compared += len(counts)
                if compared > MAX_COMPARED_ITEMS:
                    return orders[1:]
                changed = counts[:, order][..., labels]
                if _count_items(changed, criterion, weight) == items:
                    orders.append((np.array(order), np.array(labels)))
    return orders[1:]  # the first is the identity


def _count_items(counts: Floats, criterion: Ints, weight: Floats) -> dict[tuple[bytes, int], float]:
    """Count the items with the same labels, by labels and criterion."""
    item_counts: dict[tuple[bytes, int], float] = {}
    for item, code, times in zip(counts, criterion, weight, strict=True):
        key = (item.tobytes(), int(code))
        item_counts[key] = item_counts.get(key, 0.0) + float(times)
    return item_counts


def symmetrise_posterior(problem: LabelsProblem, posterior: Posterior) -> Posterior:
    """Symmetrise the draws: if names can be exchanged, replace part of the draws by images of the other draws."""
    renamings = [] if posterior.draws is None else find_exchanges(problem)
    # exchanges of judges alone do not matter
    renames_labels = any((labels != np.arange(len(labels))).any() for _, labels in renamings)
    if posterior.draws is None or not renames_labels or len(renamings) >= MAX_EXCHANGES:
        return posterior
    kept_draws = posterior.draws[:, : posterior.draws.shape[1] // (1 + len(renamings))]
    images = [_exchange_names(problem, kept_draws, *renaming) for renaming in renamings]
    draws = np.concatenate([kept_draws, *images], axis=1)
    return replace(posterior, draws=draws, centre=draws.mean(axis=(0, 1)))


def _exchange_names(problem: LabelsProblem, x: Floats, judges: Ints, labels: Ints) -> Floats:
    """Flat vectors, shape (..., size), with judges and labels permuted."""
    density = problem.density
    values = dict(density.values(x, np))
    values["class_share"] = values["class_share"][..., labels]
    if "confusion" in values:
        values["confusion"] = values["confusion"][..., labels, :][..., labels]
    if "confusion_judge" in values:
        values["confusion_judge"] = values["confusion_judge"][..., judges, :, :][..., labels, :][..., labels]
    if "reliability" in values:
        values["reliability"] = values["reliability"][..., judges]
    return np.asarray(density.flat(values, np))


def tied_units(problem: LabelsProblem) -> list[tuple[int, list[int]]]:
    """Units with groups of equally probable classes; in models without classes, those with most labels."""
    counts = problem.data["labels"]["counts"]
    if problem.is_sparse:
        return []
    counts = counts.reshape(len(counts), -1, len(problem.labels))
    if problem.density.latent:
        first_class = _alike_classes(counts, find_exchanges(problem), problem.classes)
    else:
        votes = counts.sum(axis=1)[:, : problem.classes]
        first_class = np.where(votes == votes.max(axis=1, keepdims=True), 0, np.arange(1, problem.classes + 1))
    ties = []
    for unit in np.flatnonzero(problem.known < 0):
        row = first_class[problem.unit_row[unit]]
        groups = [np.flatnonzero(row == name).tolist() for name in np.unique(row)]
        ties += [(int(unit), group) for group in groups if len(group) > 1]
    return ties


def _alike_classes(counts: Floats, exchanges: list[tuple[Ints, Ints]], classes: int) -> Ints:
    """For each class, the first class that it is exchanged with while the item is unchanged; (items, classes)."""
    first_class = np.tile(np.arange(classes), (len(counts), 1))
    for judges, labels in exchanges:
        is_unchanged = (counts[:, judges][..., labels] == counts).all(axis=(1, 2))
        first_class[is_unchanged] = np.minimum(first_class[is_unchanged], labels)
    return first_class


def ties_check(problem: LabelsProblem, probability: Floats) -> list[Check]:
    """Warn of items that are ties, if any: several classes have the highest probability.

    Parameters
    ----------
    probability : array, shape (units, classes)
        P(class).
    """
    ties = [(unit, group) for unit, group in tied_units(problem) if probability[unit].argmax() in group]
    if not ties:
        return []
    names = problem.coords["unit"]
    items = [f"{names[unit]} ({' or '.join(problem.labels[label] for label in group)})" for unit, group in ties]
    message = (
        f"{len(ties)} of {len(problem.unit_item)} items are exact ties: {list_names(items, verb=False)}. The label "
        "shown is the first of these and means nothing: ask another judge."
    )
    return [Check("ties", "warn", float(len(ties)), message)]
