"""Answer weights below 1 for families and for judges that answer at random, the mode, and MAPLE's estimator.

The mode is found with the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Mode, Posterior
from voirdire.kinds.kind import Kind
from voirdire.kinds.registry import kind_of
from voirdire.model.problem import Problem, list_names
from voirdire.tables.families import read_families
from voirdire.trust.families import has_several_judges, posterior_with_equal_items, shared_error_families
from voirdire.trust.residuals import SharedErrors, copy_answer_weight, equal_family_weights, family_answer_weight
from voirdire.typing import Floats

MAX_FAMILY_WEIGHT = 0.9  # answer weight from which similar judges do not count as a family
COPY_CORRELATION = 0.7  # correlation of residuals from which judges count as copies
MAX_FAMILIES_SHOWN = 3  # families named in a note


@dataclass(frozen=True, eq=False)
class Panel:
    """A problem with weighted answers and its mode.

    Attributes
    ----------
    problem : VotesProblem
        The problem with answer weights.
    mode : Mode
        Mode of its posterior.
    families : dict or None
        Family of each judge, if families were named.
    notes : tuple of str
        Notes on weights below 1.
    """

    problem: Problem
    mode: Mode
    families: dict[str, str] | None
    notes: tuple[str, ...]


def weigh_answers(problem: Problem, families: object, start: Floats | None = None, *, chains: float = 0.0) -> Panel:
    """Find the mode, and reduce the weights of answers of named families or, if none are named, of duplicate judges.

    Parameters
    ----------
    families : mapping, path, dataframe or None
        Families as in ``fit``.
    start : array, shape (size,), optional
        A point near the mode.
    chains : float
        As in :func:`.find_modes`.

    Raises
    ------
    InputError
        If the families do not match the problem's judges.
    """
    kind, named_families, can_weigh = _requested_families(problem, families)
    if not can_weigh:
        return Panel(problem, find_mode(problem, start=start, chains=chains), named_families, ())
    mode: Mode | None = None
    if problem.model.reliability.kind == "rater-noise":
        # with duplicates in the panel their noise has no useful mode, and no mode is needed to find them
        point = problem.density.starts(problem.data)[0] if start is None else start
    else:
        mode = find_mode(problem, start=start, chains=chains)
        point = mode.x
    groups = named_families or detect_families(problem, point)
    consensus = point
    # copies with full weight would dominate the consensus, and their residuals would share nothing
    if groups and mode is not None:
        counted_once = kind.problem_with_table(
            problem, answer_weight=equal_family_weights(problem, _complete_families(problem, groups))
        )
        consensus = find_mode(counted_once, start=start, chains=chains).x
    all_families = _find_families(problem, named_families, groups, consensus)
    weighed, notes = _weigh_problem(problem, all_families, named_families, consensus)
    if not notes:
        return Panel(problem, mode or find_mode(problem, start=start, chains=chains), named_families, ())
    return Panel(weighed, find_mode(weighed, start=consensus, chains=chains), named_families, notes)


def weigh_answers_at(problem: Problem, families: object, x: Floats) -> tuple[Problem, tuple[str, ...]]:
    """Weigh answers as :func:`weigh_answers` does, but by the residuals at a point; return the problem and notes."""
    _, named_families, can_weigh = _requested_families(problem, families)
    if not can_weigh:
        return problem, ()
    all_families = _find_families(problem, named_families, named_families or detect_families(problem, x), x)
    return _weigh_problem(problem, all_families, named_families, x)


def _requested_families(problem: Problem, families: object) -> tuple[Kind[Any, Any], dict[str, str] | None, bool]:
    """The kind of a problem, the named families, and True if answers can have less weight."""
    kind = kind_of(problem)
    named_families = None if families is None else read_families(families, problem.judges)
    all_alone = named_families is not None and len(set(named_families.values())) == len(problem.judges)
    can_weigh = kind.can_weigh_answers(problem)
    if named_families and not (all_alone or can_weigh or kind.uses_families(problem)):
        raise InputError(
            f"families= is for models of single {kind.name}; model {problem.model.name} pools them, judges alike"
        )
    has_several = named_families is not None or has_several_judges(problem)
    return kind, named_families, can_weigh and has_several and not all_alone


def _find_families(
    problem: Problem, named: dict[str, str] | None, groups: dict[str, str], x: Floats
) -> dict[str, str] | None:
    """Family of every judge, named or detected by shared errors at a point; None without families."""
    if groups and named is None:
        # similar only because of the items, such as two informed judges among guessers: not a family
        is_shared = _family_weights(problem, groups, x) < MAX_FAMILY_WEIGHT
        groups = {judge: groups[judge] for judge, shared in zip(problem.judges, is_shared, strict=True) if shared}
    return _complete_families(problem, groups) if groups else None


def _complete_families(problem: Problem, groups: dict[str, str]) -> dict[str, str]:
    return {judge: groups.get(judge, judge) for judge in problem.judges}


def _weigh_problem(
    problem: Problem, all_families: dict[str, str] | None, named: dict[str, str] | None, x: Floats
) -> tuple[Problem, tuple[str, ...]]:
    """Weigh answers by families and by probability of use; return the problem and notes (none at full weights)."""
    kind, answer_weight, notes = kind_of(problem), np.ones(len(problem.judges)), []
    if all_families is not None:
        answer_weight = _family_weights(problem, all_families, x)
        if not kind.uses_families(problem) or (answer_weight < 1.0).any():
            make_note = _duplicates_note if named is None else _families_note
            notes.append(make_note(problem, all_families, answer_weight))
    usefulness = kind.chance_of_use(problem, x)
    if usefulness is not None:
        answer_weight = answer_weight * usefulness
        notes.append(_noise_note(problem, usefulness))
    return (kind.problem_with_table(problem, answer_weight=answer_weight) if notes else problem), tuple(notes)


def _family_weights(problem: Problem, families: dict[str, str], x: Floats) -> Floats:
    """Answer weight of each judge, shape (judges,), by the residuals at a point of the posterior.

    Where the model has terms of families, only judges who copy answers within their family get lower weights.
    """
    kind = kind_of(problem)
    residuals = kind.residuals(problem, Posterior(problem.density, x, None))
    if kind.uses_families(problem):
        return copy_answer_weight(problem, families, residuals, COPY_CORRELATION)
    return family_answer_weight(problem, families, residuals)


def detect_families(problem: Problem, x: Floats) -> dict[str, str]:
    """Detect families of similar judges at a point of the posterior: judge to the first name of its family."""
    kind = kind_of(problem)
    by_answers = kind.families_by_answers(problem)
    if by_answers is not None:
        return by_answers
    residuals = kind.residuals(problem, Posterior(problem.density, x, None))
    if not isinstance(residuals, SharedErrors):
        residuals = kind.residuals(problem, posterior_with_equal_items(problem, x))
    return shared_error_families(problem, residuals)


def _families_note(problem: Problem, families: dict[str, str], answer_weight: Floats) -> str:
    closest = int(np.argmin(answer_weight))
    family = families[problem.judges[closest]]
    share = f"{answer_weight[closest]:.2f} of an independent one"
    return f"Families: an answer counts for {share} in the closest family ({family!r})."


def _noise_note(problem: Problem, use: Floats) -> str:
    names = [name for name, value in zip(problem.judges, use, strict=True) if value < 1.0]
    return (
        f"Noise: {list_names(names)} scoring items nearly at random compared with the others, so that each answer "
        f"counts by the probability that it is of use ({use.min():.2g} of another's at least)."
    )


def _duplicates_note(problem: Problem, duplicates: dict[str, str], answer_weight: Floats) -> str:
    judges_by_family: dict[str, list[str]] = {}
    for judge, family in duplicates.items():
        judges_by_family.setdefault(family, []).append(judge)
    family_texts = [list_names(family, verb=False) for family in judges_by_family.values() if len(family) > 1]
    judges = "; ".join(family_texts[:MAX_FAMILIES_SHOWN])
    if len(family_texts) > MAX_FAMILIES_SHOWN:
        judges += f"; and {len(family_texts) - MAX_FAMILIES_SHOWN} more families"
    return (
        f"Duplicate judges: {judges} are answering alike far beyond the model, so that each answer counts for less "
        f"({answer_weight.min():.2f} of an independent one at least). Name families to say who belongs together."
    )


def maximise_likelihood(problem: Problem, seed: int, families: object = None, anchors: object = None) -> Panel:
    """Maximise the likelihood of a problem by :mod:`voirdire.infer.adam`; all answers have full weight.

    Raises
    ------
    InputError
        For families, anchors, changed priors, or a model or table that the estimator does not support.
    """
    requested = [
        ("families", families, "it counts every judge by itself"),
        ("anchors", anchors, "it has no answers of people"),
        ("priors", problem.model.overrides or None, "it has none"),
    ]
    problems = [
        f"method 'adam' is the estimator of MAPLE's paper, and {reason}; leave {name}= out, or use method='map'"
        for name, value, reason in requested
        if value is not None
    ]
    raise_problems(problems)
    from voirdire.infer.adam import find_mode_by_adam

    return Panel(problem, find_mode_by_adam(problem, seed), None, ())
