"""About how long chains of moves take, reckoned by the size of a table before they are run."""

from __future__ import annotations

from voirdire.infer.kernel.fused import has_kernel
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import is_normal, normal_blocks
from voirdire.infer.latent_gaussian.whitening import LARGEST

CHAINS = 16
FEW_CHAINS = 8  # of a trial, and of large tables
WARM = (25, 15)  # moves before coordinates are adapted to the chains, and after
FEWEST = 50  # moves of a chain, at least; more as long as chains have not met and time is left
LONGER = 2.0  # times the seconds allowed that few chains may take at least, of votes, whose approximation hardly holds
SHORTEST, LONGEST = 1.0, 5.0  # length of a trajectory; a quarter turn is 1.57, of wider directions more
STEP = 3.5  # step to begin with, by the fourth root of the dimensions (Beskos et al. 2013); .25 to 1.4 times it is kept
MOST_STEPS = 50  # of a trajectory
GRADIENTS = 2  # of a step
TRIES, FEW_TRIES = (
    16,
    6,
)  # steps of spreads of half of the chains in turn with a move; of few chains, at every other
MOVE = 1e-3  # seconds of a move of all chains, however small the table
CALL = 1.5e-4  # and of a gradient of all chains, or of a try of half of them, without the kernel
NUMBER = 1.4e-7  # seconds that a cell of four alternatives or a latent value adds to a gradient of a chain
CELL, VALUE = 6e-9, 8e-9  # likewise, each, by the kernel
BESIDE, FEW_ZEROS = 1.4e-11, 8e-11  # and a pair of a latent value and a common one, by the kernel and without
NORMAL_WARM = (50, 25)  # as WARM, of chains of spreads whose latent values are integrated out
NORMAL_LENGTHS = (0.7, 2.3)  # as SHORTEST and LONGEST
NORMAL_CALL = 7e-4  # seconds of a gradient of all of these, however small the table
MATRIX, ROW = (
    1e-5,
    1e-8,
)  # that a matrix of answers or common values adds of a chain, and the cube of its rows
DRAWN = 1.2e-7  # that drawing an answer or a latent value takes


def moves_seconds(
    model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None
) -> float:
    """About what so many moves of every chain take, reckoned by the size of the table, not by a clock.

    Parameters
    ----------
    step : float, optional
        Length of a step of chains that were adapted; else that which chains begin with.
    """
    size = model.size + len(model.hypers)
    steps = min(0.5 * (SHORTEST + LONGEST) / (step or STEP / size**0.25) + 0.5, MOST_STEPS)
    pairs = len(model.pattern.common) * model.size
    by_kernel = has_kernel(model)
    call, cell, value = (0.0, CELL, VALUE) if by_kernel else (CALL, NUMBER, NUMBER)
    beside = BESIDE if by_kernel and pairs <= LARGEST else FEW_ZEROS
    whole = chains * (cell * model.answers.size + value * size)
    gradient = call + whole + chains * beside * pairs
    # half of few chains leave other places of the kernel empty, and make their steps at every other move
    tries = 0.5 * TRIES if chains > FEW_CHAINS else 0.5 * FEW_TRIES
    return moves * (MOVE + (steps * GRADIENTS + 1) * gradient + tries * (2.0 * call + whole))


def spread_seconds(
    model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None
) -> float:
    """As :func:`moves_seconds`, of chains of spreads where answers are normal."""
    blocks, common = normal_blocks(model), len(model.pattern.common)
    classes, answers = len(blocks.weight), blocks.cells.shape[1]
    steps = 0.5 * sum(NORMAL_LENGTHS) / (step or STEP / len(model.hypers) ** 0.25) + 0.5
    matrices = classes * (MATRIX + ROW * answers**3) + MATRIX + ROW * common**3
    gradient = NORMAL_CALL + chains * matrices
    drawn = chains * DRAWN * (len(blocks.of) * answers + model.size)
    return float(moves * ((steps * GRADIENTS + 2) * gradient + drawn))


def samples_spreads_only(model: LatentGaussianModel, most: float) -> bool:
    """True if chains are of spreads alone: where answers are normal and few chains take no longer than they may."""
    least = sum(NORMAL_WARM) + FEWEST
    return is_normal(model) and bool(model.hypers) and spread_seconds(model, least, FEW_CHAINS) <= most


def is_affordable(model: LatentGaussianModel, most: float) -> bool:
    """True if few chains take at most about as long as they may, in seconds."""
    if samples_spreads_only(model, most):
        return True
    allowed = most if model.near_normal else LONGER * most
    return moves_seconds(model, sum(WARM) + FEWEST, FEW_CHAINS) <= allowed


def skips_validation(model: LatentGaussianModel, most: float) -> bool:
    """True if chains are run without a trial first.

    Of votes, whose approximation hardly holds where spreads are learned, and where those of spreads alone are quick.
    """
    return samples_spreads_only(model, most) if model.near_normal else is_affordable(model, most)
