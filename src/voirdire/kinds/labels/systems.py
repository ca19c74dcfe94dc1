"""Systems over contexts: how often a system's answers are of each class.

The fit draws every item to the shares c of all systems together, with P(j | labels of i) ~ c_j L_ij. Systems have
shares of their own: in each draw of the fit those of system s, and the classes y of its items, are drawn in turns,

    P(y_i = j) ~ pi_sj L_ij,   pi_s ~ Dirichlet(1 / classes + number of its items of class j),

from the most probable pi_s on (data augmentation: Tanner and Wong 1987, JASA 82), which frees them of c. Over these
contexts the share of class j is that of its items; over contexts like these (``over="new"``) every draw also reweighs
the contexts, all systems alike (Bayesian bootstrap, Rubin 1981), beside one context of unknown class,

    share_sj ~ h_sj + sum_x g_x y_sxj,   g_x ~ Exponential(1),   h_sj ~ Gamma(1 / classes),

with y_sxj the part of the system's items in context x that are of class j: Dirichlet(1 / classes + number) for each
system, and what contexts share stays between systems.

A system's score is the mean grade where labels are numbers, and the share of the second class where there are two;
classes without an order have shares alone.
"""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, some_draws
from voirdire.kinds.columns import Columns
from voirdire.kinds.labels.density import class_probabilities
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.stated import stated
from voirdire.kinds.systems import placed, ranked
from voirdire.typing import Floats, Ints

DRAWS = 1000
FEW = 25  # draws of the fit, of ordered labels
TURNS = 4
STEPS = 30  # to the most probable shares
OWN = 1987  # of random numbers that no simulation with the same seed has drawn


def shares(problem: LabelsProblem, posterior: Posterior, seed: int = 0) -> Floats:
    """Draws of the share of every class in every system, shape (draws, systems, classes); see the module.

    Raises
    ------
    InputError
        The table is not about systems, or the fit has no draws or no classes.
    """
    where = placed(problem.table)
    if where is None:
        raise InputError(
            "systems() needs labels of several systems over several contexts: columns context and system"
        )
    if posterior.values is None:
        raise InputError("systems() needs draws; fit with another method than 'map'")
    rng = np.random.default_rng((seed, OWN))
    system, context = where.system[problem.unit_item], where.context[problem.unit_item]
    beliefs = _beliefs(problem, posterior)
    times = -(-DRAWS // len(beliefs))
    found = [_drawn(belief, system, context, problem, times, rng) for belief in beliefs]
    return np.concatenate(found)


def _beliefs(problem: LabelsProblem, posterior: Posterior) -> list[Floats]:
    """P(class) of every unit in draws of the fit, shape (units, classes) each; as :func:`.labels.results.items`."""
    if problem.answered is not None:
        return [problem.answered]
    density, believe = problem.density, stated(problem, posterior).of
    each = some_draws(posterior, FEW) if density.graded else some_draws(posterior)
    return [class_probabilities(density, [one], problem.data, believe)[problem.unit_row] for one in each]


def _drawn(
    belief: Floats, system: Ints, context: Ints, problem: LabelsProblem, times: int, rng: np.random.Generator
) -> Floats:
    """Shares in one draw of the fit, several times, shape (times, systems, classes)."""
    size, classes = len(problem.table.systems), problem.classes
    common = np.zeros((len(problem.criteria), classes))
    np.add.at(common, problem.unit_criterion, belief)
    common /= common.sum(axis=1, keepdims=True)
    evidence = belief / np.maximum(common[problem.unit_criterion], 1e-12)
    member = np.eye(size)[system]
    pi = np.tile(common.mean(axis=0), (size, 1))
    for _ in range(STEPS):
        chance = evidence * pi[system]
        count = member.T @ (chance / chance.sum(axis=1, keepdims=True))
        pi = (count + 1.0 / classes) / (count.sum(axis=1, keepdims=True) + 1.0)
    pi = np.tile(pi, (times, 1, 1))
    for turn in range(TURNS):
        chance = np.cumsum(evidence * pi[:, system], axis=-1)
        y = (rng.random((times, len(system), 1)) * chance[..., -1:] > chance).sum(axis=-1)
        is_class = (y[..., None] == np.arange(classes)).astype(float)
        count = np.einsum("tuc,us->tsc", is_class, member)
        if turn < TURNS - 1:
            pi = rng.gamma(count + 1.0 / classes)
            pi /= pi.sum(axis=-1, keepdims=True)
    cell = system * len(problem.table.contexts) + context
    part = is_class / np.bincount(cell)[cell][:, None]  # of the system's items in the context
    if problem.over == "new":
        g = rng.exponential(size=(times, len(problem.table.contexts)))
        part = part * g[:, context, None]
    total = np.einsum("tuc,us->tsc", part, member)
    if problem.over == "new":
        total += rng.gamma(1.0 / classes, size=total.shape)
    return np.asarray(total / total.sum(axis=-1, keepdims=True))


def grades(problem: LabelsProblem) -> Floats | None:
    """What each class counts in a system's score, shape (classes,); None where classes have no order."""
    names = problem.labels[: problem.classes]
    try:
        return np.array([float(name) for name in names])
    except ValueError:
        return np.array([0.0, 1.0]) if len(names) == 2 else None


def unit(problem: LabelsProblem) -> str:
    """What a score is, in words."""
    names = problem.labels[: problem.classes]
    worth = grades(problem)
    two = worth is not None and len(names) == 2 and set(worth) == {0.0, 1.0}
    return f"share of {names[1]}" if two else "mean grade"


def worth(problem: LabelsProblem, posterior: Posterior) -> Floats:
    """Draws of systems' scores, shape (draws, systems).

    Raises
    ------
    InputError
        As :func:`shares`; or classes have no order.
    """
    of = grades(problem)
    if of is None:
        names = ", ".join(map(repr, problem.labels[: problem.classes]))
        raise InputError(
            f"a board of systems needs two classes or grades that are numbers; {names} have no order: systems() has "
            "their shares"
        )
    return np.asarray(shares(problem, posterior) @ of)


def systems(problem: LabelsProblem, posterior: Posterior, prob: float) -> Columns:
    """Systems, best first where classes have an order: system, contexts, score and what a ranking has, and shares.

    ``share_CLASS``, ``share_CLASS_low`` and ``share_CLASS_high`` of every class.
    """
    drawn, of = shares(problem, posterior), grades(problem)
    where = placed(problem.table)
    assert where is not None  # shares() refuses
    columns = ranked(
        problem.table, where, drawn @ (np.zeros(problem.classes) if of is None else of), posterior, prob
    )
    if of is None:
        columns = {name: columns[name] for name in ("system", "contexts")}
    low, high = posterior.interval(drawn, prob)
    for j, name in enumerate(problem.labels[: problem.classes]):
        columns[f"share_{name}"] = np.median(drawn[..., j], axis=0)
        columns |= {f"share_{name}_low": low[:, j], f"share_{name}_high": high[:, j]}
    order = np.arange(len(problem.table.systems)) if of is None else np.argsort(columns["rank"])
    return {name: column[order] for name, column in columns.items()}
