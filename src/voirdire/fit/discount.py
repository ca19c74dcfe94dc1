"""Judges that answer alike, by name or by their answers: their votes count for less, and the mode is found again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import Mode, find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.registry import kind_of
from voirdire.model.check import listed
from voirdire.model.problem import Problem
from voirdire.tables.families import read_families
from voirdire.trust.copies import near_copies, tells_apart
from voirdire.trust.discount import family_discount
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class Panel:
    """A problem whose answers are discounted where judges answer alike.

    Attributes
    ----------
    problem : VotesProblem
    mode : Mode
        Of its posterior.
    families : dict or None
        Family of each judge, where families were named.
    notes : tuple of str
        What was discounted, in words.
    """

    problem: Problem
    mode: Mode
    families: dict[str, str] | None
    notes: tuple[str, ...]


def discounted(problem: Problem, families: object, start: Floats | None = None) -> Panel:
    """Find the mode, and discount the answers of named families or, where none are named, of near-copies.

    Parameters
    ----------
    families : mapping, path, dataframe or None
        As ``fit`` takes them.
    start : array, shape (size,), optional
        A point near the mode.

    Raises
    ------
    InputError
        The families are not those of the problem's judges.
    """
    kind = kind_of(problem)
    named = None if families is None else read_families(families, problem.judges)
    if named and not kind.can_discount(problem):
        raise InputError(
            f"families= is for models of single {kind.name}; model {problem.model.name} pools them, judges alike"
        )
    if not kind.can_discount(problem):
        return Panel(problem, find_mode(problem, start=start), named, ())
    alone = named is not None and len(set(named.values())) == len(problem.judges)
    if alone or (named is None and not tells_apart(problem)):
        return Panel(problem, find_mode(problem, start=start), named, ())
    mode: Mode | None = None
    if problem.model.reliability.kind == "rater-noise":
        # with copies in the panel the noise of these has no mode to speak of, and none is needed to find them
        first = problem.density.starts(problem.data)[0] if start is None else start
    else:
        mode = find_mode(problem, start=start)
        first = mode.x
    left = kind.residuals(problem, Posterior(problem.density, first, None))
    groups = near_copies(problem, left) if named is None else named
    if not groups:
        return Panel(problem, mode or find_mode(problem, start=start), named, ())
    discount = family_discount(problem, groups, left)
    again = kind.reposed(problem, discount=discount)
    note = _families_note(problem, groups, discount) if named else _copies_note(problem, groups, discount)
    return Panel(again, find_mode(again, start=first), named, (note,))


def _families_note(problem: Problem, families: dict[str, str], discount: Floats) -> str:
    closest = int(np.argmin(discount))
    family = families[problem.judges[closest]]
    share = f"{discount[closest]:.2f} of an independent one"
    return f"Families: an answer counts for {share} in the closest family ({family!r})."


def _copies_note(problem: Problem, copies: dict[str, str], discount: Floats) -> str:
    among = list(copies.values())
    judges = listed([judge for judge in problem.judges if among.count(copies[judge]) > 1])
    return (
        f"Near-copies: {judges} answering alike far beyond the model, so their answers are discounted "
        f"(to {discount.min():.2f} of one at least). Name families to say which judges belong together."
    )
