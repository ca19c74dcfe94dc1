"""Systems over contexts: the share of each class among a system's answers.

The fit shrinks every item to the shares c of all systems together, with P(j | labels of i) ~ c_j L_ij. Each system has
shares of its own. In each draw of the fit the shares of system s and the classes y of its items are drawn in turns,

    P(y_i = j) ~ pi_sj L_ij,   pi_s ~ Dirichlet(1 / classes + number of its items of class j),

starting at the most probable pi_s (data augmentation: Tanner and Wong 1987, JASA 82), which removes the shrinkage to c.
Over these contexts the share of class j is that among the system's items. Over contexts like these (``over="new"``)
every draw also reweights the contexts, equally for all systems (Bayesian bootstrap, Rubin 1981), and adds one context
of unknown class,

    share_sj ~ h_sj + sum_x g_x y_sxj,   g_x ~ Exponential(1),   h_sj ~ Gamma(1 / classes),

with y_sxj the share of class j among the system's items in context x. The result is Dirichlet(1 / classes + number) for
each system, and effects of contexts that are common to systems correlate their shares.

A system's score is the share of the class that counts as a success (:mod:`.labels.success`), or, if none is known and
labels are numeric grades, the mean grade. Without either there are shares but no scores.
"""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import MAX_DRAWS, Posterior, thinned_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.class_names import misnamed_class_rates
from voirdire.kinds.labels.class_probabilities import class_probabilities
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.success import unknown_success_error
from voirdire.kinds.quantities import Quantities, Quantity
from voirdire.kinds.systems import rank_systems, require_systems, systems_and_contexts
from voirdire.model.problem import TARGET
from voirdire.tables.labels import Labels
from voirdire.typing import Floats, Ints

SYSTEM_DRAWS = 1000
MAX_BELIEF_BYTES = 4 * 2**30  # largest size of class probabilities of large tables
GRADED_DRAWS = 25  # draws of the fit for ordered labels
AVERAGED_DRAWS = 5  # draws of the fit in a mean
GIBBS_TURNS = 4
EM_STEPS = 30  # steps to the most probable shares
MAX_SHARE_NUMBERS = 10**8  # largest number of draws x units x classes for shares
BATCH_SIZE = 2_000_000  # largest number of draws x units x classes in memory
SEED_STREAM = 1987  # makes the random numbers different from those of simulations with the same seed


def system_shares(problem: LabelsProblem, posterior: Posterior, seed: int = 0, *, per_draw: bool = False) -> Floats:
    """Draws of the share of every class in every system, shape (draws, systems, classes); see the module.

    With ``per_draw``, one draw for each draw of the fit, in its order; else 1,000 or more, from a subset of its draws.

    Raises
    ------
    InputError
        The table is not about systems, or the fit has no draws or no classes.
    """
    layout = require_systems(problem.table, posterior, "labels")
    assert posterior.values is not None  # else refused
    rng = np.random.default_rng((seed, SEED_STREAM))
    system, context = layout.system[problem.unit_item], layout.context[problem.unit_item]
    draw_count = len(next(iter(posterior.values.values()))) if per_draw else SYSTEM_DRAWS
    beliefs = _draw_beliefs(problem, posterior, draw_count if per_draw else None)
    repeats = -(-draw_count // len(beliefs))
    batch_size = max(1, BATCH_SIZE // max(1, repeats * beliefs[0].size))
    shares = [
        _draw_shares(np.stack(beliefs[start : start + batch_size]), system, context, problem, repeats, rng)
        for start in range(0, len(beliefs), batch_size)
    ]
    return np.concatenate(shares)


def check_size(problem: LabelsProblem) -> None:
    """Refuse large tables of systems over contexts, as class probabilities of all items in all draws need memory.

    Raises
    ------
    InputError
    """
    size = 8 * MAX_DRAWS * len(problem.unit_item) * problem.classes
    if problem.is_sparse and size > MAX_BELIEF_BYTES:
        raise InputError(
            f"labels: class probabilities of {len(problem.unit_item):,} items of systems over contexts in {MAX_DRAWS} "
            f"draws would take {size / 2**30:.3g} GiB, more than {MAX_BELIEF_BYTES / 2**30:.3g} GiB; fit without the "
            "columns context and system, or parts of the table"
        )


def _draw_beliefs(problem: LabelsProblem, posterior: Posterior, wanted: int | None) -> list[Floats]:
    """P(class) of every unit in draws of the fit, shape (units, classes) each; ``wanted`` draws, or a few.

    Without known items they are about the panel. Shares of systems need the evidence of labels, and probabilities about
    the target are mixed with shares of labels.
    """
    if problem.about == TARGET and problem.answered is not None:
        return [problem.answered]
    density = problem.density
    draws = thinned_draws(posterior, wanted or (GRADED_DRAWS if density.has_grades else MAX_DRAWS))
    beliefs = [class_probabilities(density, [item], problem.data) for item in draws]
    rates = misnamed_class_rates(problem, posterior)
    return [(item if rates is None else item @ rates)[problem.unit_row] for item in beliefs]


def _draw_shares(
    belief: Floats, system: Ints, context: Ints, problem: LabelsProblem, times: int, rng: np.random.Generator
) -> Floats:
    """Draw shares of systems, shape (draws x times, systems, classes), ``times`` for each draw of the fit.

    ``belief`` is P(class) in draws of the fit, shape (draws, units, classes).
    """
    classes, member = problem.classes, np.eye(len(problem.table.systems))[system]
    pi, evidence = (np.repeat(array, times, axis=0) for array in probable_shares(problem, belief, system))
    for turn in range(GIBBS_TURNS):
        chance = np.cumsum(evidence * pi[:, system], axis=-1)
        y = (rng.random((*chance.shape[:2], 1)) * chance[..., -1:] > chance).sum(axis=-1)
        is_class = (y[..., None] == np.arange(classes)).astype(float)
        if turn < GIBBS_TURNS - 1:
            pi = rng.gamma(member.T @ is_class + 1.0 / classes)
            pi /= pi.sum(axis=-1, keepdims=True)
    cell = system * len(problem.table.contexts) + context
    part = is_class / np.bincount(cell)[cell][:, None]  # share of the system's items in the context
    if problem.over == "new":
        g = rng.exponential(size=(len(part), len(problem.table.contexts)))
        part *= g[:, context, None]
    total = member.T @ part
    if problem.over == "new":
        total += rng.gamma(1.0 / classes, size=total.shape)
    return np.asarray(total / total.sum(axis=-1, keepdims=True))


def probable_shares(problem: LabelsProblem, belief: Floats, system: Ints) -> tuple[Floats, Floats]:
    """The most probable shares of every system, and the likelihood ratios of labels on every unit.

    Parameters
    ----------
    belief : array, shape (draws, units, classes)
        P(class).
    system : int array, shape (units,)

    Returns
    -------
    shares : array, shape (draws, systems, classes)
    evidence : array, shape (draws, units, classes)
        P(class) divided by the shares of all systems together.
    """
    size, classes = len(problem.table.systems), problem.classes
    in_criterion = np.eye(len(problem.criteria))[problem.unit_criterion]
    common = in_criterion.T @ belief
    common /= common.sum(axis=2, keepdims=True)
    evidence = belief / np.maximum(common[:, problem.unit_criterion], 1e-12)
    member = np.eye(size)[system]
    pi = np.repeat(common.mean(axis=1)[:, None], size, axis=1)
    for _ in range(EM_STEPS):
        chance = evidence * pi[:, system]
        count = member.T @ (chance / chance.sum(axis=2, keepdims=True))
        pi = (count + 1.0 / classes) / (count.sum(axis=2, keepdims=True) + 1.0)
    return pi, evidence


def difference_variance_over_contexts(problem: LabelsProblem, posterior: Posterior, items: tuple[str, str]) -> float:
    """Variance over contexts of the difference between two systems' grades, including the uncertainty about classes.

    0 if no class is known to be better, or fewer than two contexts have both systems.
    """
    layout, grades = systems_and_contexts(problem.table), class_grades(problem)
    if layout is None or grades is None:
        return 0.0
    system, context = layout.system[problem.unit_item], layout.context[problem.unit_item]
    belief = np.mean(_draw_beliefs(problem, posterior, AVERAGED_DRAWS), axis=0, keepdims=True)
    pi, evidence = (array[0] for array in probable_shares(problem, belief, system))
    chance = evidence * pi[system]
    chance /= chance.sum(axis=1, keepdims=True)
    mean = chance @ grades
    variance = chance @ grades**2 - mean**2
    difference, uncertainty = np.zeros((2, len(problem.table.contexts)))
    for sign, name in zip((1.0, -1.0), items, strict=True):
        of_system = system == problem.table.systems.index(name)
        count = np.bincount(context[of_system], minlength=len(difference))
        with np.errstate(invalid="ignore"):
            difference += sign * np.bincount(context[of_system], mean[of_system], len(difference)) / count
            uncertainty += np.bincount(context[of_system], variance[of_system], len(difference)) / count**2
    has_both = ~np.isnan(difference)
    return float(difference[has_both].var(ddof=1) + uncertainty[has_both].mean()) if has_both.sum() > 1 else 0.0


def class_grades(problem: LabelsProblem) -> Floats | None:
    """Value of each class in a system's score, shape (classes,); None if no class is known to be better."""
    names = problem.labels[: problem.classes]
    if problem.positive is not None:
        return np.array([float(name == problem.positive) for name in names])
    if not (problem.table.declared or problem.density.has_grades):
        return None
    try:
        return np.array([float(name) for name in names])
    except ValueError:
        return None


def score_unit(problem: LabelsProblem) -> str:
    """Name of the unit of a score."""
    return "mean grade" if problem.positive is None else f"share of {problem.positive}"


def known_grades(problem: LabelsProblem) -> Floats:
    """Value of each class in a system's score; see :func:`class_grades`.

    Raises
    ------
    InputError
        No class is known to be better.
    """
    grades = class_grades(problem)
    if grades is None:
        raise unknown_success_error(problem.labels[: problem.classes])
    return grades


def system_quantities(problem: LabelsProblem, posterior: Posterior) -> Quantities:
    """Shares of every class in systems in each draw of the fit, and scores if a class is known to be better.

    Empty if the table is not about systems, or too large for class probabilities of all items in all draws.
    """
    assert posterior.draws is not None  # a container of draws has them
    beliefs = posterior.draws[..., 0].size * len(problem.unit_item) * problem.classes
    if systems_and_contexts(problem.table) is None or beliefs > MAX_SHARE_NUMBERS:
        return {}
    shares, grades = system_shares(problem, posterior, per_draw=True), class_grades(problem)
    scores = {} if grades is None else {"system_score": Quantity(np.asarray(shares @ grades), ("system",))}
    return scores | {"system_share": Quantity(shares, ("system", "class"))}


def check_columns(table: Labels) -> None:
    """Refuse a board of labels that are not about systems over contexts; name the columns that it needs, and has.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> rows = {"judge": ["ann"] * 2, "item": ["x", "y"], "label": ["yes", "no"]}
    >>> check_columns(read_labels(pd.DataFrame(rows)))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: boards and plans of labels are about systems over contexts: they need the columns ...
    """
    if systems_and_contexts(table) is not None:
        return
    optional = {"criterion": table.has_criteria, "item": table.has_items}
    optional |= {name: getattr(table, name) is not None for name in ("context", "system", "run", "phase")}
    present = ["judge", *(name for name, is_there in optional.items() if is_there), "label"]
    missing = [name for name in ("context", "system") if name not in present]
    single = [name for name in ("context", "system") if name in present and len(getattr(table, f"{name}s")) < 2]
    if missing:
        lacking = " and ".join(missing)
        why = f"the table has {', '.join(present)}, and lacks {lacking} (--map says where they are: system=model)"
    elif single:
        single_words = " and ".join(f"the {name} {getattr(table, f'{name}s')[0]!r}" for name in single)
        why = f"there is only {single_words}"
    else:
        why = "an item belongs to several of them"
    raise InputError(
        "boards and plans of labels are about systems over contexts: they need the columns judge, label, context "
        f"(what was asked) and system (whose answer it is), several of each; {why}"
    )


def system_table(problem: LabelsProblem, posterior: Posterior, prob: float, drawn: Floats | None = None) -> Columns:
    """Systems, best first if a class is known to be better: system, contexts, score, columns of a ranking, and shares.

    Shares are ``share_CLASS``, ``share_CLASS_low`` and ``share_CLASS_high`` for every class. ``drawn`` is the result of
    :func:`system_shares`, if available.
    """
    drawn, grades = system_shares(problem, posterior) if drawn is None else drawn, class_grades(problem)
    layout = systems_and_contexts(problem.table)
    assert layout is not None  # shares() refuses
    columns = rank_systems(
        problem.table, layout, drawn @ (np.zeros(problem.classes) if grades is None else grades), posterior, prob
    )
    if grades is None:
        columns = {name: columns[name] for name in ("system", "contexts")}
    low, high = posterior.interval(drawn, prob)
    for j, name in enumerate(problem.labels[: problem.classes]):
        columns[f"share_{name}"] = np.median(drawn[..., j], axis=0)
        columns |= {f"share_{name}_low": low[:, j], f"share_{name}_high": high[:, j]}
    order = np.arange(len(problem.table.systems)) if grades is None else np.argsort(columns["rank"])
    return {name: column[order] for name, column in columns.items()}
