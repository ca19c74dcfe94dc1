"""Checks that several kinds share: orientation of the panel, judges worse than chance, judges that say one thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.model.problem import Check, Level, Problem, list_names
from voirdire.typing import Floats, Ints


class CheckBasis(NamedTuple):
    """Inputs of the checks of a fit beside its problem.

    Parameters
    ----------
    posterior : Posterior
    judges : dict of array
        The table of judges.
    of_method : list of Check
        Those of the method.
    seed : int
    chosen : str or None
        The way to use people's answers that was chosen.
    """

    posterior: Posterior
    judges: Columns
    of_method: list[Check]
    seed: int = 0
    chosen: str | None = None


#: Checks of which of two (or more) twins of a posterior is meant.
ORIENTATION_CHECKS = ("orientation", "label-switching")
TWIN_WARN = 0.05  # mass of the others
TWIN_FAIL = 0.30


REVERSED_WARN = 0.1  # share of a panel's information that is used reversed


REVERSED_ADVICE = (
    "answers are used reversed. Look at their prompts and answers; if they are many, check the panel's orientation "
    "with human answers."
)


def under_some_criterion(criteria: int) -> str:
    """Words on where a finding was made that may be of one of several criteria; empty of one.

    Examples
    --------
    >>> under_some_criterion(3), under_some_criterion(1)
    (' (under some criterion)', '')
    """
    return " (under some criterion)" if criteria > 1 else ""


def orientation_check(
    mass: float,
    at_mode: bool = False,
    anchored: bool = False,
    data: str = "votes",
    human_answers: str = "answers to some of these pairs",
) -> Check:
    """Check the posterior mass of the opposite orientation; ``human_answers`` is what people may give to settle it."""
    level: Level = "fail" if mass > TWIN_FAIL else "warn" if mass > TWIN_WARN else "ok"
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that this panel is wrong as a whole: every strength reversed."
    if anchored:
        message += " Human answers and the prior tell the two orientations apart."
    else:
        message += (
            f" The {data} cannot settle it (their likelihood is exactly symmetric: 0.5 under a flat prior), so the "
            "orientation rests on the prior alone."
        )
    if level != "ok":
        message += f" Collect human {human_answers} and pass them as anchors."
    return Check("orientation", level, mass, message)


def withhold_orientation_probability(checks: list[Check], anchored: bool) -> list[Check]:
    """Checks of one fit, with the probability of orientation withheld where judges depend on each other.

    That probability counts each judge as a witness of its own: eight that share a mistake outvote the truth with a
    certainty that none of them has. Where people answered, they tell the orientations apart.

    Examples
    --------
    >>> found = [orientation_check(1e-9), Check("dependence", "fail", 2.0, "8 judges, worth about 2 independent ones.")]
    >>> withhold_orientation_probability(found, anchored=False)[0].level
    'warn'
    """
    level: Level = next((entry.level for entry in checks if entry.check == "dependence"), "ok")
    if anchored or level == "ok":
        return checks
    return [
        _withheld_orientation(entry, level) if entry.check == ORIENTATION_CHECKS[0] else entry
        for entry in checks
    ]


def _withheld_orientation(entry: Check, dependence: Level) -> Check:
    if entry.level != "ok" or entry.value is None:
        return entry
    if dependence == "warn":
        message = (
            f"{entry.message} It is larger than that as far as judges share their mistakes (see dependence)."
        )
        return Check(entry.check, entry.level, entry.value, message)
    message = (
        "Whether this panel is wrong as a whole cannot be told from its answers: judges that depend on each other (see "
        f"dependence) agree on their shared mistakes, too. Were they independent, {entry.value:.2g} would be the "
        "probability. Collect human answers to some of these and pass them as anchors."
    )
    return Check(entry.check, "warn", None, message)


def reversed_judges_check(entry: Check, worse: list[str], share: float) -> Check:
    """The check of orientation with the judges that the chosen orientation makes worse than chance.

    Parameters
    ----------
    worse : list of str
    share : float
        Share of the panel's information that is used reversed; much of it is a sign of the wrong orientation.
    """
    if not worse or share <= REVERSED_WARN:
        return entry  # a few judges that say little are the check below-chance's matter
    level: Level = "warn" if entry.level == "ok" else entry.level
    message = (
        f"{entry.message} This orientation makes {list_names(worse, verb=False)} worse than chance: a warning "
        "sign that only human answers (anchors) can settle."
    )
    return Check(entry.check, level, entry.value, message)


def below_chance_check(
    problem: Problem, summary: dict[str, Any], guessing: float = 0.5, advice: str = REVERSED_ADVICE
) -> list[Check]:
    """Judges whose reliability is below that of guessing with the interval's probability.

    ``advice`` says what their answers are used for, and what to do.
    """
    high = np.asarray(summary["reliability_high"], dtype=float)
    if np.isnan(high).all():
        return []
    names = [problem.judges[index] for index in np.flatnonzero(high < guessing)]
    message = f"{list_names(names)} clearly worse than chance: their {advice}"
    return [names_check("below-chance", names, "No judge is clearly worse than chance.", message)]


def constant_judges(
    judges: tuple[str, ...], judge: Ints, answer: Ints | Floats, kind: str, consequence: str
) -> list[Check]:
    """Judges that gave one answer to everything.

    Parameters
    ----------
    judge, answer : array, shape (answers,)
        Who gave what.
    kind, consequence : str
        What the answers are, and what follows, in words.

    Examples
    --------
    >>> constant_judges(("ann", "bob"), np.array([0, 0, 1, 1]), np.array([2, 2, 2, 3]), "score", "...")[0].message
    'ann is giving one score to everything: such answers say nothing about the items, ...'
    """
    size = len(judges)
    last_answer = np.zeros(size, dtype=answer.dtype)
    last_answer[judge] = answer  # of each judge's answers
    other_answers = np.bincount(judge, answer != last_answer[judge], size)
    is_constant = (np.bincount(judge, minlength=size) > 1) & (other_answers == 0)
    names = [judges[index] for index in np.flatnonzero(is_constant)]
    ok_message = f"No judge gives the same {kind} to everything."
    message = f"{list_names(names)} giving one {kind} to everything: such answers say nothing about the items, {consequence}"
    return [names_check("constant-judges", names, ok_message, message)]


def names_check(
    check: str, names: Sequence[str], ok_message: str, message: str, level: Level = "warn"
) -> Check:
    """Check with a ``message`` about some names, or ``ok_message`` where there are no names."""
    if not names:
        return Check(check, "ok", 0.0, ok_message)
    return Check(check, level, float(len(names)), message)


def separation_check(names: list[str], ok_message: str, condition: str, answers: str) -> Check:
    """Check whether some items stand at one end in all ``answers``."""
    message = (
        f"{list_names(names)} {condition}: how far they stand out is set by the prior, not by the {answers}."
    )
    return names_check("separation", names, ok_message, message)


def add_reversed_judges(entry: Check, problem: Problem, summary: dict[str, Any]) -> Check:
    """The check of orientation with the judges worse than chance; other checks, and where people answered, as is."""
    reliability = np.asarray(summary["reliability"], dtype=float)
    anchored = getattr(problem, "anchors", None) is not None
    if entry.check != "orientation" or anchored or np.isnan(reliability).any():
        return entry
    information = problem.judge_votes * np.abs(2.0 * reliability - 1.0)
    worse = reliability < 0.5
    share = float(information[worse].sum() / max(information.sum(), 1e-300))
    return reversed_judges_check(entry, [problem.judges[k] for k in np.flatnonzero(worse)], share)


def label_switching_check(mass: float, at_mode: bool = False) -> Check:
    """Check the posterior mass of other namings of the classes.

    Examples
    --------
    >>> label_switching_check(0.2).level
    'warn'
    """
    level = orientation_check(mass).level
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that classes bear each other's names."
    if level != "ok":
        message += (
            " The labels cannot settle it, only the prior (judges better than chance) does; pass items of known class "
            "(anchors=..., --anchors)."
        )
    return Check("label-switching", level, mass, message)


def linked_items_check(
    problem: Problem, link: Ints, criterion: Ints, item: Ints, ok_message: str, advice: str
) -> Check:
    """Check whether all items under each criterion can be compared.

    Parameters
    ----------
    link, criterion, item : int array, shape (rows,)
        What links items (a ranking, a vote, a judge who scores), and each of them under a criterion.
    ok_message, advice : str
        What is said where all items are linked, and of groups that nothing links.
    """
    items = len(problem.items)
    silent = np.setdiff1d(np.arange(items), item)  # whose answers were all left out: each by itself
    link = np.append(link, link.max(initial=-1) + 1 + np.arange(len(silent)))
    node = np.append(criterion * items + item, silent)
    nodes, node_code = np.unique(node, return_inverse=True)
    links, link_code = np.unique(link, return_inverse=True)
    group = connected_groups(link_code, node_code, len(links), len(nodes))[len(links) :]
    node_criterion = nodes // items
    groups = [np.unique(group[node_criterion == c], return_counts=True) for c in range(len(problem.criteria))]
    worst = int(np.argmax([len(parts) for parts, _ in groups]))
    parts, sizes = groups[worst]
    if len(parts) < 2:
        return Check("connectivity", "ok", 0.0, ok_message)
    smallest = nodes[(node_criterion == worst) & (group == parts[sizes.argmin()])] % items
    words = "" if len(problem.criteria) == 1 else f" under criterion {problem.criteria[worst]!r}"
    message = (
        f"Items fall into {len(parts)} groups{words}, e.g. "
        f"{list_names([problem.items[i] for i in smallest], verb=False)} against the rest: {advice}"
    )
    return Check("connectivity", "warn", float(len(parts)), message)


def connected_groups(first: Ints, second: Ints, first_count: int, second_count: int) -> Ints:
    """Group of each of so many ``first_count`` and then ``second_count`` that are linked pair by pair, directly or through more."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array(
        (np.ones(len(first)), (first, first_count + second)), shape=(first_count + second_count,) * 2
    )
    return np.asarray(connected_components(edges, directed=False)[1])
