"""Request for simulated answers, with defaults, checks and a random generator for each of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.errors import InputError, build_or_report
from voirdire.settings import SIZE, Checked, is_whole
from voirdire.simulate.designs import design_from_spec
from voirdire.simulate.designs.base import Design
from voirdire.simulate.graph import item_names
from voirdire.simulate.judges.base import Judge
from voirdire.simulate.panel import panel_from_spec
from voirdire.simulate.truth import Truth, TruthSetting, truth_from_spec

Panel = Mapping[str, Any] | Sequence[Any]
Seed = int | Sequence[int]

#: Default sizes where the truth does not fix them: those of MAPLE, section 5.1.
ITEMS, CRITERIA = 50, 5
MAX_SIZE = 1_000_000  # items or criteria

# First integers of the spawn keys of the generators.
_TRUTH, _DESIGN, _JUDGE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Seeded:
    """Request with a random generator for each of its parts.

    The truth and the design have one generator each; each judge, by its name, has one for its questions, one for its
    answers and one for its taste. Each generator is spawned from the seed under its own key, so the draws of a part do
    not depend on the other parts.
    """

    seed: tuple[int, ...]
    items: int
    criteria: int
    truth: TruthSetting
    design: Checked

    def record(self, judges_key: str, judges: Mapping[str, Any]) -> dict[str, Any]:
        """Return all that repeats the simulation, as plain tables; ``judges_key`` is the key of the judges."""
        return {
            "seed": self.seed[0] if len(self.seed) == 1 else list(self.seed),
            judges_key: judges,
            "items": self.items,
            "criteria": self.criteria,
            "design": self.design.spec(),
            "truth": self.truth.spec(),
            "bit_generator": "PCG64",
            "numpy": np.__version__,
        }

    def draw_truth(self, judges: Iterable[str], contexts: int) -> Truth:
        """Draw the truth, with strengths in ``contexts`` contexts and the tastes of the judges."""
        rng = self._seeded_rng(_TRUTH)
        strengths, weights, length = self.truth.draw_truth(rng, self.items, self.criteria)
        tastes = [self.truth.draw_taste(self._judge_rng(name, 2), self.items) for name in judges]
        given_tastes = [taste for taste in tastes if taste is not None]
        return Truth(
            tuple(item_names(self.items)),
            tuple(item_names(self.criteria, "criterion")),
            strengths,
            weights,
            length,
            in_contexts=self.truth.in_contexts(rng, strengths, contexts),
            tastes=np.stack(given_tastes) if given_tastes else None,
        )

    def design_rng(self) -> np.random.Generator:
        """Make the generator for the choice of pairs."""
        return self._seeded_rng(_DESIGN)

    def sheet_rng(self, judge: str) -> np.random.Generator:
        """Make the generator for a judge's pairs or rankings, order of presentation and sequence."""
        return self._judge_rng(judge, 0)

    def answer_rng(self, judge: str) -> np.random.Generator:
        """Make the generator for a judge's answers."""
        return self._judge_rng(judge, 1)

    def _judge_rng(self, judge: str, part: int) -> np.random.Generator:
        return self._seeded_rng(_JUDGE, *_hash_name(judge), part)

    def _seeded_rng(self, *key: int) -> np.random.Generator:
        # NumPy pads entropy with zeros: without the length, seed 7 would equal seed (7, 0).
        entropy = (len(self.seed), *self.seed)
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


@dataclass(frozen=True, eq=False)
class Request(Seeded):
    """Checked request for votes."""

    design: Design
    panel: dict[str, Judge]


def checked_request(
    panel: Panel, items: int | None, criteria: int | None, design: object, truth: object, seed: Seed
) -> Request:
    """Check a request for votes and fill in its defaults.

    Raises
    ------
    InputError
        All problems of the request at once.

    Examples
    --------
    >>> request = checked_request(["random"], 9, None, "all-pairs", "ranks", 0)
    >>> request.items, request.criteria, list(request.panel)
    (9, 5, ['judge-001'])
    """
    problems: list[str] = []
    judges = build_or_report(panel_from_spec, panel, problems)
    plan = build_or_report(design_from_spec, design, problems)
    setting, items, criteria, words = read_setting(truth, items, criteria, seed, (ITEMS, CRITERIA), problems)
    if plan is not None and items >= 2:
        problems += [f"design: {problem}" for problem in plan.design_problems(items)]
        if setting is not None and setting.needs_contexts() and plan.pair_contexts(1) is None:
            problems.append(
                f"truth: strengths differ between contexts, but design {plan.kind!r} has none; "
                "take 'in-contexts' or 'round-robin'"
            )
    if problems or judges is None or plan is None or setting is None:
        raise InputError(problems)
    return Request(words, items, criteria, setting, plan, judges)


def read_setting(
    truth: object,
    items: int | None,
    criteria: int | None,
    seed: Seed,
    default_sizes: tuple[int, int],
    problems: list[str],
) -> tuple[TruthSetting | None, int, int, tuple[int, ...]]:
    """Return truth (None if invalid), numbers of items and criteria (0 if invalid) and seed of a request."""
    setting = build_or_report(truth_from_spec, truth, problems)
    fixed_shape = None if setting is None else setting.fixed_shape()
    items = _read_size("items", items, fixed_shape and fixed_shape[0], default_sizes[0], 2, problems)
    criteria = _read_size("criteria", criteria, fixed_shape and fixed_shape[1], default_sizes[1], 1, problems)
    return setting, items, criteria, _seed_integers(seed, problems)


def _seed_integers(seed: Seed, problems: list[str]) -> tuple[int, ...]:
    """Return the seed as integers."""
    words: Sequence[Any] = seed if isinstance(seed, (list, tuple)) else [seed]
    if words and all(map(SIZE.holds, words)):
        return tuple(int(word) for word in words)
    problems.append(f"seed is {seed!r}; give a whole number of at least 0, or a list of them")
    return ()


def _read_size(
    noun: str, size: int | None, fixed_size: int | None, default: int, minimum: int, problems: list[str]
) -> int:
    """Return the number of items or criteria; 0 if it is invalid."""
    if size is None:
        size = default if fixed_size is None else fixed_size
    if not (is_whole(size) and size >= minimum):
        problems.append(f"{noun} is {size!r}; give a whole number of at least {minimum}")
        return 0
    if size > MAX_SIZE:
        problems.append(f"{noun} is above {MAX_SIZE:,}, which no table here holds; give a smaller number")
        return 0
    if fixed_size is not None and size != fixed_size:
        problems.append(f"{noun} is {size}, but the given strengths have {fixed_size}; leave {noun} out")
    return int(size)


def _hash_name(name: str) -> tuple[int, ...]:
    """Hash a name to four 32-bit integers, the same on every machine."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[place : place + 4], "little") for place in range(0, 16, 4))
