"""A request for simulated answers: filled in, checked as a whole, with a generator for each of its parts."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.simulate.designs import Design, design_from_spec
from voirdire.simulate.judges import Judge
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import TruthSetting, truth_from_spec

Panel = Mapping[str, Any] | Sequence[Any]
Seed = int | Sequence[int]

#: Sizes where neither the caller nor a given truth names them: those of MAPLE, section 5.1.
ITEMS, CRITERIA = 50, 5
LARGEST = 1_000_000  # items or criteria

# First words of the spawn keys of the generators.
_TRUTH, _DESIGN, _JUDGE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Seeded:
    """A generator for each part of a request.

    Each part has its own, spawned from the seed under a key of its own: the truth, the design, and for each judge, by
    its name, one for the questions it gets, one for its answers and one for its taste. So a part's draws are the same
    whatever the other parts are.
    """

    seed: tuple[int, ...]

    def truth_rng(self) -> np.random.Generator:
        """For strengths, weights and lengths."""
        return self._seeded_rng(_TRUTH)

    def design_rng(self) -> np.random.Generator:
        """For the choice of pairs."""
        return self._seeded_rng(_DESIGN)

    def sheet_rng(self, judge: str) -> np.random.Generator:
        """For a judge's own pairs or rankings, order of presentation and sequence."""
        return self._seeded_rng(_JUDGE, *_hash_name(judge), 0)

    def answer_rng(self, judge: str) -> np.random.Generator:
        """For a judge's answers."""
        return self._seeded_rng(_JUDGE, *_hash_name(judge), 1)

    def taste_rng(self, judge: str) -> np.random.Generator:
        """For what a judge prefers."""
        return self._seeded_rng(_JUDGE, *_hash_name(judge), 2)

    def _seeded_rng(self, *key: int) -> np.random.Generator:
        # NumPy pads entropy with zeros: without its length, seed 7 would equal seed (7, 0).
        entropy = (len(self.seed), *self.seed)
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


@dataclass(frozen=True, eq=False)
class Request(Seeded):
    """A checked request for votes."""

    panel: dict[str, Judge]
    items: int
    criteria: int
    design: Design
    truth: TruthSetting

    def request_record(self) -> dict[str, Any]:
        """Everything needed to make the same votes again, as plain tables."""
        return {
            "seed": seed_record(self.seed),
            "panel": {name: judge.spec() for name, judge in self.panel.items()},
            "items": self.items,
            "criteria": self.criteria,
            "design": self.design.spec(),
            "truth": self.truth.spec(),
            "bit_generator": "PCG64",
            "numpy": np.__version__,
        }


def checked_request(
    panel: Panel, items: int | None, criteria: int | None, design: object, truth: object, seed: Seed
) -> Request:
    """The request with its defaults filled in.

    Raises
    ------
    InputError
        Everything that is wrong with it, at once.

    Examples
    --------
    >>> request = checked_request(["random"], 9, None, "all-pairs", "ranks", 0)
    >>> request.items, request.criteria, list(request.panel)
    (9, 5, ['judge-001'])
    """
    problems: list[str] = []
    judges = attempt_build(panel_from_spec, panel, problems)
    plan = attempt_build(design_from_spec, design, problems)
    setting = attempt_build(truth_from_spec, truth, problems)
    given = None if setting is None else setting.fixed_shape()
    items = read_size("items", items, given and given[0], ITEMS, 2, problems)
    criteria = read_size("criteria", criteria, given and given[1], CRITERIA, 1, problems)
    words = seed_integers(seed, problems)
    if plan is not None and items >= 2:
        problems += [f"design: {problem}" for problem in plan.design_problems(items)]
        if setting is not None and setting.needs_contexts() and plan.pair_contexts(1) is None:
            problems.append(
                f"truth: strengths differ between contexts, but design {plan.kind!r} has none; "
                "take 'in-contexts' or 'round-robin'"
            )
    if problems or judges is None or plan is None or setting is None:
        raise InputError(problems)
    return Request(words, judges, items, criteria, plan, setting)


def seed_integers(seed: Seed, problems: list[str]) -> tuple[int, ...]:
    """The seed as whole numbers."""
    words: Sequence[Any] = seed if isinstance(seed, (list, tuple)) else [seed]
    if words and all(_is_whole(word, 0) for word in words):
        return tuple(int(word) for word in words)
    problems.append(f"seed is {seed!r}; give a whole number of at least 0, or a list of them")
    return ()


def seed_record(seed: tuple[int, ...]) -> int | list[int]:
    """A seed for a record."""
    return seed[0] if len(seed) == 1 else list(seed)


Built = TypeVar("Built")


def attempt_build(make: Callable[[Any], Built], spec: object, problems: list[str]) -> Built | None:
    """Build what a specification describes; None where it is wrong, which is reported."""
    try:
        return make(spec)
    except InputError as error:
        problems += error.problems
        return None


def read_size(
    word: str, size: int | None, given: int | None, default: int, least: int, problems: list[str]
) -> int:
    """The number of items or criteria; 0 if it is not in order."""
    if size is None:
        size = default if given is None else given
    if not _is_whole(size, least):
        problems.append(f"{word} is {size!r}; give a whole number of at least {least}")
        return 0
    if size > LARGEST:
        problems.append(f"{word} is above {LARGEST:,}, which no table here holds; give a smaller number")
        return 0
    if given is not None and size != given:
        problems.append(f"{word} is {size}, but the given strengths have {given}; leave {word} out")
    return int(size)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least


def _hash_name(name: str) -> tuple[int, ...]:
    """A name as four 32-bit words, the same on every machine."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[place : place + 4], "little") for place in range(0, 16, 4))
