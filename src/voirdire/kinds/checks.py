"""Checks for several kinds of data: orientation of the panel, judges worse than chance, constant judges, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.model.problem import Check, Level, Problem, list_names
from voirdire.typing import Floats, Ints


class CheckBasis(NamedTuple):
    """Inputs of the checks of a fit, beside its problem.

    Parameters
    ----------
    posterior : Posterior
    judges : dict of array
        Table of judges.
    of_method : list of Check
        Checks of the method.
    seed : int
    chosen : str or None
        Chosen method to use people's answers.
    """

    posterior: Posterior
    judges: Columns
    of_method: list[Check]
    seed: int = 0
    chosen: str | None = None


#: Checks of the posterior mass of mirrored or relabelled modes.
ORIENTATION_CHECKS = ("orientation", "label-switching")
TWIN_WARN = 0.05  # posterior mass of the other modes
TWIN_FAIL = 0.30


REVERSED_WARN = 0.1  # share of the panel's information from reversed answers


REVERSED_ADVICE = (
    "answers are used reversed. Look at their prompts and answers; if they are many, check the panel's orientation "
    "with human answers."
)


def under_some_criterion(criteria: int) -> str:
    """Words for a finding that may concern only one of several criteria; empty for one criterion.

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
    """Check the posterior mass of the opposite orientation; ``human_answers`` names the answers that determine it."""
    level: Level = "fail" if mass > TWIN_FAIL else "warn" if mass > TWIN_WARN else "ok"
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that this panel is wrong as a whole (all strengths reversed)."
    if anchored:
        message += " Human answers and the prior decide between the two orientations."
    else:
        message += (
            f" It rests on the prior alone, because the {data} are equally likely either way (0.5 under a flat prior)."
        )
    if level != "ok":
        message += f" Collect human {human_answers} and pass them as anchors."
    return Check("orientation", level, mass, message)


def withhold_orientation_probability(checks: list[Check], anchored: bool) -> list[Check]:
    """Withhold the probability of orientation among the checks of a fit where judges depend on each other.

    That probability assumes independent judges: eight judges that share a mistake make the wrong orientation nearly
    certain. With people's answers the checks are kept, because these answers determine the orientation.

    Examples
    --------
    >>> found = [orientation_check(1e-9), Check("dependence", "fail", 2.0, "8 judges carry as much information as 2.")]
    >>> withhold_orientation_probability(found, anchored=False)[0].level
    'warn'
    """
    level: Level = next((entry.level for entry in checks if entry.check == "dependence"), "ok")
    if anchored or level == "ok":
        return checks
    return [_withheld_orientation(entry, level) if entry.check == ORIENTATION_CHECKS[0] else entry for entry in checks]


def _withheld_orientation(entry: Check, dependence: Level) -> Check:
    if entry.level != "ok" or entry.value is None:
        return entry
    if dependence == "warn":
        message = f"{entry.message} Shared mistakes of judges would raise it (see dependence)."
        return Check(entry.check, entry.level, entry.value, message)
    message = (
        "The answers do not show if this panel is wrong as a whole: judges that depend on each other (see dependence) "
        f"agree on their shared mistakes, too. For independent judges the probability would be {entry.value:.2g}. "
        "Collect human answers to some of these and pass them as anchors."
    )
    return Check(entry.check, "warn", None, message)


def below_chance_check(
    problem: Problem, summary: dict[str, Any], guessing: float = 0.5, advice: str = REVERSED_ADVICE
) -> list[Check]:
    """Check for judges with an interval of reliability below ``guessing``, the probability of a right guess.

    ``advice`` is the end of the message: the use of their answers, and a remedy.
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
    """Check for judges that gave one answer to everything.

    Parameters
    ----------
    judges : tuple of str
        Names of the judges.
    judge, answer : array, shape (answers,)
        Code of the judge, and the answer.
    kind, consequence : str
        Noun for an answer, and words for the consequence.

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
    message = (
        f"{list_names(names)} giving one {kind} to everything: such answers say nothing about the items, {consequence}"
    )
    return [names_check("constant-judges", names, ok_message, message)]


def names_check(check: str, names: Sequence[str], ok_message: str, message: str, level: Level = "warn") -> Check:
    """Make a check with a ``message`` about some names, or with ``ok_message`` if there are no names."""
    if not names:
        return Check(check, "ok", 0.0, ok_message)
    return Check(check, level, float(len(names)), message)


def separation_check(names: list[str], ok_message: str, condition: str, answers: str) -> Check:
    """Check for items at one end in all ``answers``, which ``condition`` describes."""
    message = f"{list_names(names)} {condition}: how far they stand out is set by the prior, not by the {answers}."
    return names_check("separation", names, ok_message, message)


def add_reversed_judges(entry: Check, problem: Problem, summary: dict[str, Any]) -> Check:
    """Add judges worse than chance to the check of orientation, unless people answered; keep other checks.

    If much of the panel's information is from reversed answers, the orientation may be wrong.
    """
    reliability = np.asarray(summary["reliability"], dtype=float)
    anchored = getattr(problem, "anchors", None) is not None
    if entry.check != "orientation" or anchored or np.isnan(reliability).any():
        return entry
    information = problem.judge_votes * np.abs(2.0 * reliability - 1.0)
    worse = reliability < 0.5
    if information[worse].sum() <= REVERSED_WARN * max(information.sum(), 1e-300):
        return entry  # a few weak judges are left to the check below-chance
    level: Level = "warn" if entry.level == "ok" else entry.level
    names = list_names([problem.judges[k] for k in np.flatnonzero(worse)], verb=False)
    message = (
        f"{entry.message} This orientation makes {names} worse than chance: a warning sign that only human answers "
        "(anchors) can settle."
    )
    return Check(entry.check, level, entry.value, message)


def label_switching_check(mass: float, at_mode: bool = False) -> Check:
    """Check the posterior mass of modes with exchanged names of classes.

    Examples
    --------
    >>> label_switching_check(0.2).level
    'warn'
    """
    level = orientation_check(mass).level
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that the names of classes are exchanged."
    if level != "ok":
        message += (
            " The labels do not determine the names; only the prior (judges better than chance) does. Pass items of "
            "known class (anchors=..., --anchors)."
        )
    return Check("label-switching", level, mass, message)


def linked_items_check(
    problem: Problem, link: Ints, criterion: Ints, item: Ints, ok_message: str, advice: str
) -> Check:
    """Check that all items under each criterion are linked, so that they can be compared.

    Parameters
    ----------
    link, criterion, item : int array, shape (rows,)
        Codes of the link (a ranking, a vote, a judge who scores), and of the criterion and item that it links.
    ok_message, advice : str
        Message if all items are linked, and end of the message about groups without links.
    """
    items = len(problem.items)
    silent = np.setdiff1d(np.arange(items), item)  # items without answers are groups of one
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
    """Find connected groups of nodes of two sorts; ``first`` and ``second`` are the ends of the links.

    Returns the group of each node, shape (first_count + second_count,), nodes of the first sort first.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(first)), (first, first_count + second)), shape=(first_count + second_count,) * 2)
    return np.asarray(connected_components(edges, directed=False)[1])
