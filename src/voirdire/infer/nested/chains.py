"""Draws by chains of moves where the nested approximation does not hold, as many as a table's size allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.diagnose import diagnose
from voirdire.infer.nested.cost import CHAINS, FEW_CHAINS, FEWEST, WARM, seconds
from voirdire.infer.nested.mode import NestedMode
from voirdire.infer.nested.moves import Moves
from voirdire.infer.trial import Trial, stayed
from voirdire.model.problem import Problem
from voirdire.typing import Floats

TRIAL = 30.0  # seconds that a trial may take
AT_ONCE = 5.0  # or where the approximation alone was asked for
TRIED = 6  # moves of a trial
MOST_DRAWS = 4000  # that are kept, evenly spaced
RHAT = 1.1  # of chains that met
ESS = 100.0


class Chains(NamedTuple):
    """Draws of chains.

    Attributes
    ----------
    draws : array, shape (chains, draws, size)
        In flat coordinates.
    rhat, ess : float
        The largest R-hat and the smallest bulk effective sample size, and
    of : str
        the parameter whose R-hat it is.
    """

    draws: Floats
    rhat: float
    ess: float
    of: str

    @property
    def met(self) -> bool:
        """Whether all chains are in the same distribution, as far as they can tell."""
        return self.rhat <= RHAT and self.ess >= ESS


def chains(problem: Problem, mode: NestedMode, rng: np.random.Generator, most_seconds: float) -> Chains:
    """Draws by moves, until chains have met or would take longer."""
    nested, warm = mode.nested, sum(WARM)
    count = CHAINS if seconds(nested.model, warm + FEWEST) <= most_seconds else FEW_CHAINS
    run, most = Moves(nested, rng, count), MOST_DRAWS // count
    kept, gap, moves = np.zeros((count, 0, problem.density.size)), 1, FEWEST
    while True:
        kept = np.concatenate([kept, nested.model.flat(*run.draws(moves // gap, gap))], axis=1)
        found = _looked_at(problem, kept)
        made = gap * kept.shape[1]
        if found.met or seconds(nested.model, warm + 2 * made, count, run.step) > most_seconds:
            return found
        if 2 * kept.shape[1] > most:
            kept, gap = kept[:, 1::2], 2 * gap
        moves = made


def tried(
    problem: Problem, mode: NestedMode, draws: Floats, rng: np.random.Generator, *, at_once: bool
) -> Trial | None:
    """A trial of the approximation's draws, shape (draws, size), by a few moves; see :mod:`voirdire.infer.trial`.

    None where even those would take long; some seconds, where an answer is wanted ``at_once``.
    """
    if seconds(mode.nested.model, TRIED, FEW_CHAINS) > (AT_ONCE if at_once else TRIAL):
        return None
    run = Moves(mode.nested, rng, FEW_CHAINS, warm=(TRIED - 2, 0))
    ends = mode.nested.model.flat(*run.draws(2))
    share, holds, of = stayed(problem, draws, np.concatenate([ends[:, i] for i in range(2)]), FEW_CHAINS)
    return Trial(holds, share, of, run.step)


def _looked_at(problem: Problem, draws: Floats) -> Chains:
    """With the diagnostics of what is shown of all contexts: scores, judges and spreads."""
    quiet = np.zeros(draws.shape[:2])
    found = diagnose(problem.density, draws, quiet > 0, quiet, without="context")
    return Chains(draws, float(found["rhat"]), float(found["ess_bulk"]), str(found["rhat_of"]))
