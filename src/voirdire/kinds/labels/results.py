"""Tables of a fit of labels, and its checks.

Checks of a fit of labels.

One check measures the influence of single judges on the first place of systems over contexts. It leaves out the labels
of a judge by Bayes' rule (:mod:`.labels.influence`), with the rates and shares of the whole table, and recomputes the
most probable shares of systems (:func:`.labels.systems.probable_shares`).
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.checks import CheckBasis, below_chance_check, constant_judges
from voirdire.kinds.columns import Columns, name_array, with_intervals
from voirdire.kinds.labels.class_names import ties_check
from voirdire.kinds.labels.class_probabilities import class_columns, shown_probabilities
from voirdire.kinds.labels.dependence import dependence_check
from voirdire.kinds.labels.influence import beliefs_without_judge, influence_check, labels_given
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.systems import class_grades, probable_shares, system_shares
from voirdire.kinds.quantities import Quantities, Quantity
from voirdire.kinds.results import empty_table, level_columns, quantity_table
from voirdire.kinds.systems import systems_and_contexts
from voirdire.model.problem import Check, list_names, worst_level
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.term import Values
from voirdire.trust.checks import check_first_place
from voirdire.typing import Floats, Ints

MAX_LEFT_OUT_JUDGES = 100  # largest number of judges to leave out: those with the most labels


def system_influence_check(problem: LabelsProblem, posterior: Posterior) -> list[Check]:
    """Check whether the first place depends on single judges; an empty list if no class is known to be better."""
    grades = class_grades(problem)
    if systems_and_contexts(problem.table) is None or grades is None or posterior.values is None:
        return []
    if not problem.density.latent or len(problem.judges) < 2:
        return []
    draws = np.asarray(system_shares(problem, posterior) @ grades)
    changing = judges_changing_first(problem, posterior, grades)
    return [check_first_place(changing, "system", problem.table.systems, draws)]


def judges_changing_first(problem: LabelsProblem, posterior: Posterior, grades: Floats) -> list[tuple[str, str]]:
    """Judges without whom another system is first, with that system; those with the most labels first.

    A judge is skipped if some system has no label without it.

    Parameters
    ----------
    grades : array, shape (classes,)
        Value of each class in a system's score.
    """
    layout = systems_and_contexts(problem.table)
    assert layout is not None  # of a table of systems
    system, values = layout.system[problem.unit_item], posterior.central_values
    joint = problem.density.joint(values, problem.data, np)[problem.unit_row]
    beliefs = np.exp(log_softmax(joint, problem.classes, np))
    pairs = labels_given(problem)
    beliefs_without = np.exp(log_softmax(beliefs_without_judge(problem, values, pairs)[0], problem.classes, np))
    first_system = int(np.argmax(_system_scores(problem, beliefs, system, grades)))
    labelled, names = np.bincount(pairs.unit, minlength=len(beliefs)), problem.table.systems
    changes = []
    for judge in np.argsort(-np.bincount(pairs.judge), kind="stable")[:MAX_LEFT_OUT_JUDGES]:
        judge_pairs = pairs.judge == judge
        other_labels = labelled - np.bincount(pairs.unit[judge_pairs], minlength=len(beliefs))
        if (np.bincount(system, other_labels, len(names)) == 0).any():
            continue
        left_beliefs = beliefs.copy()
        left_beliefs[pairs.unit[judge_pairs]] = beliefs_without[judge_pairs]
        new_first = int(np.argmax(_system_scores(problem, left_beliefs, system, grades)))
        if new_first != first_system:
            changes.append((problem.judges[int(judge)], names[new_first]))
    return changes


def _system_scores(problem: LabelsProblem, belief: Floats, system: Ints, grades: Floats) -> Floats:
    """Scores of systems at the most probable shares, shape (systems,)."""
    return np.asarray(probable_shares(problem, belief[None], system)[0][0] @ grades)


CONSTANT_CONSEQUENCE = "and the judge's labels for the other classes are set by the prior."
BELOW_CHANCE_CONSEQUENCE = "labels are used as evidence for other classes. Look at their prompts and answers."


def all_checks(problem: LabelsProblem, basis: CheckBasis) -> list[Check]:
    """List the checks of a fit of labels: those of its method, then those of its labels."""
    table = problem.table
    label_checks = constant_judges(table.judges, table.judge, table.label, "label", CONSTANT_CONSEQUENCE)
    label_checks += unseen_classes_check(problem)
    label_checks += ties_check(problem, shown_probabilities(problem, basis.posterior)[0])
    label_checks += dependence_check(problem, basis.posterior, basis.seed)
    label_checks += _influence_checks(problem, basis.posterior, basis.seed)
    if basis.posterior.values is not None:
        label_checks += below_chance_check(problem, basis.judges, 1.0 / len(problem.labels), BELOW_CHANCE_CONSEQUENCE)
    return [*basis.of_method, *label_checks]


def _influence_checks(problem: LabelsProblem, posterior: Posterior, seed: int) -> list[Check]:
    """Check the influence of judges on the first system and on classes of items; one check if both apply."""
    influence = [*system_influence_check(problem, posterior), *influence_check(problem, posterior, seed)]
    if len(influence) < 2:
        return influence
    system_check, class_check = influence
    return [
        Check("influence", worst_level(influence), system_check.value, f"{system_check.message} {class_check.message}")
    ]


def unseen_classes_check(problem: LabelsProblem) -> list[Check]:
    """Warn of classes that no judge gave as a label."""
    table = problem.table
    used = {table.labels[code] for code in np.unique(table.label)}
    names = [name for name in problem.labels[: problem.classes] if name not in used]
    if not names:
        return []
    message = (
        f"{list_names(names)} never given as a label: whether an item is of such a class is set by the prior. Leave "
        "the class out (classes=...)."
    )
    return [Check("unseen-classes", "warn", float(len(names)), message)]


def item_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Items: the most probable class, its probability, and P(class | all labels) for every class.

    Probabilities are about the target of the panel (:mod:`.labels.target`). If the fit is about the panel, they are
    those of the posterior, averaged over its draws (at the mode under ``map``). ``probability_panel``, or
    ``probability_target``, is the probability of the same class about the other subject. Anchored items have ``known``
    True. A table with criteria has the column ``criterion``.
    """
    chance, other_probability = shown_probabilities(problem, posterior)
    columns: Columns = {"item": name_array(problem.items)[problem.unit_item]}
    if problem.table.has_criteria:
        columns["criterion"] = name_array(problem.criteria)[problem.unit_criterion]
    return columns | class_columns(problem, chance, other_probability) | {"known": problem.known >= 0}


def judge_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: number of labels, reliability and accuracy with intervals; with two classes sensitivity and specificity.

    ``reliability`` is P(right label | class), averaged over the classes with equal weights (balanced accuracy);
    ``accuracy`` is the average weighted by the classes' shares (their mean over criteria). With two classes and a known
    success class (:mod:`.labels.success`), ``sensitivity`` = P(label success | class success), and ``specificity`` =
    P(label failure | class failure). All are missing if the model has no classes.
    """
    size = len(problem.judges)
    columns: Columns = {"judge": name_array(problem.judges), "votes": problem.judge_votes}
    return columns | with_intervals(posterior, lambda values: judge_values(problem, values), prob, size)


def confusion_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """P(label | class) of every judge with interval, one row per cell; empty if the model has no classes."""
    if not problem.density.latent:
        return empty_table(("judge", "class", "label"), ("probability", "low", "high"))
    names = {"judge": problem.judges, "class": problem.labels[: problem.classes], "label": problem.labels}

    def rates(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.rates(values, np)))

    return quantity_table(posterior, rates, prob, "probability", level_columns(**names), parts=True)


def class_share_table(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Share of every class among the items of each criterion, with interval; empty without latent classes."""
    if not problem.density.latent:
        return empty_table(("criterion", "class"), ("share", "low", "high"))
    levels = level_columns(**{"criterion": problem.criteria, "class": problem.labels[: problem.classes]})

    def shares(values: Values) -> Floats:
        return np.asarray(np.exp(problem.density.shares(values, np)))

    return quantity_table(posterior, shares, prob, "share", levels, parts=True)


def judge_values(problem: LabelsProblem, values: Values) -> dict[str, Floats]:
    """Values in :func:`judge_table`, shape (..., judges)."""
    density = problem.density
    if not density.latent:
        lead = values["tendency"].shape[:-2]
        missing = np.full((*lead, density.judges), np.nan)
        return {"reliability": missing, "accuracy": missing}
    log_right = np.diagonal(density.rates(values, np)[..., : density.classes], axis1=-2, axis2=-1)
    right = np.exp(log_right)  # (..., judges, classes)
    share = np.exp(density.shares(values, np)).mean(axis=-2)[..., None, :]
    result = {"reliability": right.mean(axis=-1), "accuracy": (right * share).sum(axis=-1)}
    if density.classes == 2 and problem.positive is not None:
        success_index = problem.labels.index(problem.positive)
        result |= {"sensitivity": right[..., success_index], "specificity": right[..., 1 - success_index]}
    return result


def class_quantities(problem: LabelsProblem, values: Values) -> Quantities:
    """Confusion matrices and shares of the classes; empty without latent classes."""
    density = problem.density
    if not density.latent:
        return {}
    rates = np.exp(density.rates(values, np))
    confusion = rates if rates.shape[-3] > 1 or density.judges == 1 else rates[..., 0, :, :]
    dims = ("judge", "class", "label")[-(confusion.ndim - 1) :]
    share = np.exp(density.shares(values, np))
    return {"confusion": Quantity(confusion, dims), "class_share": Quantity(share, ("criterion", "class"))}
