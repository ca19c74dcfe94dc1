"""P(class) of items about the panel and about its target, averaged over draws, with notes on the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from voirdire.infer.posterior import MAX_DRAWS, Posterior, thinned_draws
from voirdire.kinds.answers import Claims
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.class_names import misnamed_class_rates, tied_units
from voirdire.kinds.labels.density import LabelsDensity
from voirdire.kinds.labels.layout import sum_by_item
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.renaming import best_renaming
from voirdire.kinds.labels.states import panel_class_probabilities
from voirdire.kinds.labels.target import ASSUMED_PANELS, Panel, Target
from voirdire.kinds.labels.wide_residuals import MAX_LABEL_PAIRS
from voirdire.model.density import Data
from voirdire.model.problem import TARGET
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

GRADED_DRAWS = 25  # draws that probabilities of ordered labels are averaged over
BATCH_SIZE = 4_000_000  # largest number of draws x items x classes in memory


def class_probabilities(density: LabelsDensity, draws: Sequence[Values], data: Data) -> Floats:
    """P(class | labels) of each distinct item, averaged over draws, shape (distinct, classes).

    Items of ordered labels have a value instead of a class; for them it is the probability of a new label by a judge of
    the panel. Without latent classes (``majority-label``) it is the share of draws in which the class is the most
    probable label of the item; ties are split evenly.
    """
    if density.latent and not density.shares_errors:
        return _average_probabilities(density, draws, data)
    total = np.zeros((len(data["labels"]["counts"]), density.classes))
    if density.has_grades and len(draws) > GRADED_DRAWS:
        draws = draws[:: -(-len(draws) // GRADED_DRAWS)]
    for values in draws:
        if density.has_grades:
            total += panel_class_probabilities(density, values, data)
        elif density.latent:
            joint = density.joint(values, data, np)
            total += np.exp(log_softmax(joint, density.classes, np))
        else:
            tendency = values["tendency"][:, : density.classes]
            # at the mode, labels with equal counts are tied up to the tolerance of the search
            best = tendency > tendency.max(axis=1, keepdims=True) - 1e-4
            total += best / best.sum(axis=1, keepdims=True)
    return total / len(draws)


def _average_probabilities(density: LabelsDensity, draws: Sequence[Values], data: Data) -> Floats:
    """As :func:`class_probabilities`, for judges who err independently, in batches of draws."""
    part, classes = data["labels"], density.classes
    items, cells = part["counts"].shape
    total = np.zeros((items, classes))
    batch_size = max(1, BATCH_SIZE // max(1, classes * max(items, cells)))
    for start in range(0, len(draws), batch_size):
        batch = draws[start : start + batch_size]
        values = {name: np.stack([draw[name] for draw in batch]) for name in batch[0]}
        rates = density.rates(values, np).swapaxes(-3, -2).reshape(len(batch) * classes, -1)
        joint = (part["counts"] @ rates.T).reshape(items, len(batch), classes).swapaxes(0, 1)
        joint = (joint + density.shares(values, np)[:, part["criterion"]] + part["known"]).reshape(-1, classes)
        belief = np.exp(log_softmax(joint, classes, np))
        total += belief.reshape(len(batch), items, classes).sum(axis=0)
    return total / len(draws)


MAX_AVERAGED_LABELS = 100_000_000  # approximate number of labels times draws for averages over large tables
MIN_AVERAGED_DRAWS = 16  # smallest number of draws for averages
_panel_cache: WeakKeyDictionary[Posterior, Floats] = WeakKeyDictionary()  # slow to compute


def collect_panel_probabilities(problem: LabelsProblem, probability: Floats, data: Data | None = None) -> Panel:
    """Collect a panel's probabilities and labels of items.

    Parameters
    ----------
    probability : array, shape (units, classes)
        P(class) by the model.
    data : dict, optional
        Labels of other items, one row each; by default those of all units of the problem.
    """
    counts, density = (problem.data if data is None else data)["labels"]["counts"], problem.density
    labels = len(problem.labels)
    if density.shares_errors:  # a family has the weight of one judge
        voice = np.ones(density.judges)
        for block in density.blocks:
            voice[list(block)] = 1.0 / len(block)
        of_item = np.einsum("ijl,j->il", counts.reshape(len(counts), -1, labels), voice)
    else:
        of_item = sum_by_item(counts, labels)
    if data is None:
        of_item = of_item[problem.unit_row]
    total = np.ones(len(of_item)) if density.has_grades else of_item.sum(axis=1)
    return Panel(probability, of_item[:, : problem.classes], total)


def model_probabilities(problem: LabelsProblem, posterior: Posterior, draws: Sequence[Values], data: Data) -> Floats:
    """P(class) of each row of data, averaged over draws; P(label) if classes do not match their names."""
    chance = class_probabilities(problem.density, draws, data)
    rates = misnamed_class_rates(problem, posterior)
    if rates is None:
        return chance
    unknown = (data["labels"]["known"] == 0.0).all(axis=1, keepdims=True)
    return np.asarray(np.where(unknown, chance @ rates, chance))


def panel_probabilities(problem: LabelsProblem, posterior: Posterior) -> Floats:
    """P(class) by the model, averaged over draws, shape (units, classes)."""
    probabilities = _panel_cache.get(posterior)
    if probabilities is None:
        average = _average_few_draws if problem.is_sparse and posterior.draws is not None else _average_some_draws
        probabilities = average(problem, posterior)[problem.unit_row]
        _panel_cache[posterior] = probabilities
    return _set_known_classes(problem, probabilities)


def _average_some_draws(problem: LabelsProblem, posterior: Posterior) -> Floats:
    return model_probabilities(problem, posterior, thinned_draws(posterior), problem.data)


def _average_few_draws(problem: LabelsProblem, posterior: Posterior) -> Floats:
    """Average over a few draws with the same names of classes, then over the namings of all draws.

    All draws give the frequency of each naming; probabilities under another naming are a permutation.
    """
    assert posterior.draws is not None
    density, draws = problem.density, posterior.draws.reshape(-1, problem.density.size)
    few_draws = draws[np.linspace(0, len(draws) - 1, averaged_draw_count(problem, posterior)).astype(int)]
    names = np.arange(density.classes)[None]
    if density.has_mirror:
        few_draws = density.fold_orientations(few_draws, problem.data)[0]
        names = np.tile(names, (len(draws), 1))
        free = np.array(density.free)
        names[:, free] = free[best_renaming(density.name_scores(draws, np))]
    values = density.values(few_draws, np)
    draw_values = [{name: array[n] for name, array in values.items()} for n in range(len(few_draws))]
    probabilities = model_probabilities(problem, posterior, draw_values, problem.data)
    namings, counts = np.unique(names, axis=0, return_counts=True)
    mixed = sum(share * probabilities[:, order] for order, share in zip(namings, counts / len(names), strict=True))
    return np.asarray(mixed)


def averaged_draw_count(problem: LabelsProblem, posterior: Posterior) -> int:
    """Number of draws that class probabilities of a large table are averaged over."""
    assert posterior.draws is not None
    draw_count = len(posterior.draws.reshape(-1, problem.density.size))
    return min(draw_count, MAX_DRAWS, max(MIN_AVERAGED_DRAWS, MAX_AVERAGED_LABELS // max(problem.table.rows, 1)))


def describe_thinning(problem: LabelsProblem, posterior: Posterior) -> list[str]:
    """Note on thinned or unvalidated computations for a large table; empty for other tables."""
    if not problem.is_sparse or posterior.draws is None:
        return []
    used = averaged_draw_count(problem, posterior)
    return [
        f"The table is large ({problem.table.rows:,} labels): intervals are those of the normal approximation at the "
        f"mode, not validated, by {posterior.draws.shape[1]:,} draws; probabilities of classes are means over "
        f"{used} of them; families are searched for by items with {MAX_LABEL_PAIRS:,} pairs of labels, drawn at random "
        "where there are more."
    ]


def target_probabilities(problem: LabelsProblem, posterior: Posterior) -> Floats:
    """P(class) about the target, shape (units, classes); for models without classes that of the panel."""
    chance = panel_probabilities(problem, posterior)
    if not problem.density.latent:
        return chance
    if problem.answered is not None:
        return _set_known_classes(problem, problem.answered)
    return _set_known_classes(problem, Target.from_prior().to_target(collect_panel_probabilities(problem, chance)))


def shown_probabilities(problem: LabelsProblem, posterior: Posterior) -> tuple[Floats, Floats]:
    """P(class) about the subject of the fit (panel or target), and about the other one, (units, classes) each."""
    subjects = target_probabilities(problem, posterior), panel_probabilities(problem, posterior)
    return subjects if problem.about == TARGET else subjects[::-1]


def other_subject(problem: LabelsProblem) -> Literal["panel", "target"]:
    """The one of panel and target that is not the subject of the fit."""
    return "panel" if problem.about == TARGET else "target"


def _set_known_classes(problem: LabelsProblem, probability: Floats) -> Floats:
    probabilities, known_units = probability.copy(), np.flatnonzero(problem.known >= 0)
    if not problem.density.latent or problem.answered is not None:
        probabilities[known_units] = np.eye(problem.classes)[problem.known[known_units]]
    for unit, classes in tied_units(problem):
        probabilities[unit, classes] = probabilities[unit, classes].mean()
    return probabilities


def describe_agreement(problem: LabelsProblem, posterior: Posterior) -> list[str]:
    """Note on the panel's mean probability of its labels and the target's; empty without classes."""
    unknown = problem.known < 0
    if not problem.density.latent or not unknown.any():
        return []
    panel = panel_probabilities(problem, posterior)[unknown]
    target = target_probabilities(problem, posterior)[unknown]
    rows, label = np.arange(len(panel)), panel.argmax(axis=1)
    says, agrees = panel[rows, label].mean(), target[rows, label].mean()
    known_items = len(np.unique(problem.unit_item[problem.known >= 0]))
    reason = (
        f"if it is like {ASSUMED_PANELS} (items of known class replace this assumption: anchors=, --anchors)"
        if problem.answered is None
        else f"judging by {known_items:,} {'item' if known_items == 1 else 'items'} of known class"
    )
    subject = "target" if problem.about == TARGET else "panel"
    return [
        f"The panel is {100 * says:.0f}% sure of its labels on average; experts or people would agree with "
        f"{100 * agrees:.0f}% of them, {reason}. Probabilities are about the {subject}."
    ]


def class_columns(problem: LabelsProblem, probability: Floats, other_probability: Floats) -> Columns:
    """Columns of the most probable class, its probability about both subjects, and the probability of every class.

    Parameters
    ----------
    probability, other_probability : array, shape (rows, classes)
        P(class) about the subject of the problem (panel or target), and about the other one.
    """
    label = probability.argmax(axis=1)
    return {
        "label": np.array(problem.labels, dtype=object)[label],
        "probability": probability.max(axis=1),
        f"probability_{other_subject(problem)}": other_probability[np.arange(len(probability)), label],
    } | {f"p_{name}": probability[:, j] for j, name in enumerate(problem.labels[: problem.classes])}


def claimed_classes(problem: LabelsProblem, posterior: Posterior) -> Claims:
    """The most probable class of every item under each criterion, with its probability as confidence."""
    chance = shown_probabilities(problem, posterior)[0]
    columns = {
        "criterion": np.array(problem.criteria)[problem.unit_criterion],
        "item": np.array(problem.items)[problem.unit_item],
    }
    answer = np.array(problem.labels, dtype=object)[chance.argmax(axis=1)]
    return Claims(columns, answer, chance.max(axis=1), problem.known >= 0)
