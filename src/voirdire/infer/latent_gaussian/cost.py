"""Estimates of the seconds that chains of moves take, by the size of a table."""

from __future__ import annotations

from voirdire.infer.kernel.fused import has_kernel
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import is_normal, normal_blocks
from voirdire.infer.latent_gaussian.whitening import MAX_MATRIX_NUMBERS

CHAINS = 16
FEW_CHAINS = 8  # of a trial, and of large tables
WARM_UP_MOVES = (25, 15)  # moves before coordinates are adapted to the chains, and after
MIN_MOVES = 50  # moves of a chain, at least; more as long as chains have not met and time is left
MAX_OVERTIME = (
    2.0  # times the seconds allowed that few chains may take, of votes, whose approximation hardly holds
)
MIN_PATH_LENGTH, MAX_PATH_LENGTH = (
    1.0,
    5.0,
)  # length of a trajectory; a quarter turn is 1.57, of wider directions more
FIRST_STEP = 3.5  # by the fourth root of the dimensions (Beskos et al. 2013); .25 to 1.4 times it is kept
MAX_PATH_STEPS = 50  # of a trajectory
GRADIENTS_PER_STEP = 2  # of a step
TRIES, FEW_TRIES = (
    16,
    6,
)  # steps of spreads of half of the chains in turn with a move; of few chains, at every other
MOVE_SECONDS = 1e-3  # seconds of a move of all chains, however small the table
CALL_SECONDS = 1.5e-4  # and of a gradient of all chains, or of a try of half of them, without the kernel
NUMPY_CELL_SECONDS = (
    1.4e-7  # seconds that a cell of four alternatives or a latent value adds to a gradient of a chain
)
KERNEL_CELL_SECONDS, KERNEL_VALUE_SECONDS = 6e-9, 8e-9  # likewise, each, by the kernel
KERNEL_PAIR_SECONDS, NUMPY_PAIR_SECONDS = (
    1.4e-11,
    8e-11,
)  # and a pair of a latent value and a common one, by the kernel and without
NORMAL_WARM_UP_MOVES = (
    50,
    25,
)  # as WARM_UP_MOVES, of chains of spreads whose latent values are integrated out
NORMAL_PATH_LENGTHS = (0.7, 2.3)  # as MIN_PATH_LENGTH and MAX_PATH_LENGTH
NORMAL_CALL_SECONDS = 7e-4  # seconds of a gradient of all of these, however small the table
MATRIX_SECONDS, ROW_SECONDS = (
    1e-5,
    1e-8,
)  # that a matrix of answers or common values adds of a chain, and the cube of its rows
DRAW_SECONDS = 1.2e-7  # that drawing an answer or a latent value takes


def moves_seconds(
    model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None
) -> float:
    """Estimate the seconds of so many moves of every chain, by the size of the table, not by a clock.

    Parameters
    ----------
    step : float, optional
        Length of a step of chains that were adapted; else that which chains begin with.
    """
    size = model.size + len(model.hypers)
    steps = min(
        0.5 * (MIN_PATH_LENGTH + MAX_PATH_LENGTH) / (step or FIRST_STEP / size**0.25) + 0.5, MAX_PATH_STEPS
    )
    pairs = len(model.pattern.common) * model.size
    by_kernel = has_kernel(model)
    call, cell, value = (
        (0.0, KERNEL_CELL_SECONDS, KERNEL_VALUE_SECONDS)
        if by_kernel
        else (CALL_SECONDS, NUMPY_CELL_SECONDS, NUMPY_CELL_SECONDS)
    )
    pair = KERNEL_PAIR_SECONDS if by_kernel and pairs <= MAX_MATRIX_NUMBERS else NUMPY_PAIR_SECONDS
    chain_seconds = chains * (cell * model.answers.size + value * size)
    gradient = call + chain_seconds + chains * pair * pairs
    # half of few chains leave other places of the kernel empty, and make their steps at every other move
    tries = 0.5 * TRIES if chains > FEW_CHAINS else 0.5 * FEW_TRIES
    return moves * (
        MOVE_SECONDS + (steps * GRADIENTS_PER_STEP + 1) * gradient + tries * (2.0 * call + chain_seconds)
    )


def spread_seconds(
    model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None
) -> float:
    """As :func:`moves_seconds`, of chains of spreads where answers are normal."""
    blocks, common = normal_blocks(model), len(model.pattern.common)
    classes, answers = len(blocks.weight), blocks.cells.shape[1]
    steps = 0.5 * sum(NORMAL_PATH_LENGTHS) / (step or FIRST_STEP / len(model.hypers) ** 0.25) + 0.5
    matrices = (
        classes * (MATRIX_SECONDS + ROW_SECONDS * answers**3) + MATRIX_SECONDS + ROW_SECONDS * common**3
    )
    gradient = NORMAL_CALL_SECONDS + chains * matrices
    drawing = chains * DRAW_SECONDS * (len(blocks.block_class) * answers + model.size)
    return float(moves * ((steps * GRADIENTS_PER_STEP + 2) * gradient + drawing))


def samples_spreads_only(model: LatentGaussianModel, most: float) -> bool:
    """True if chains are of spreads alone: where answers are normal and few chains take no longer than they may."""
    min_moves = sum(NORMAL_WARM_UP_MOVES) + MIN_MOVES
    return is_normal(model) and bool(model.hypers) and spread_seconds(model, min_moves, FEW_CHAINS) <= most


def is_affordable(model: LatentGaussianModel, most: float) -> bool:
    """True if few chains take at most about as long as they may, in seconds."""
    if samples_spreads_only(model, most):
        return True
    max_seconds = most if model.near_normal else MAX_OVERTIME * most
    return moves_seconds(model, sum(WARM_UP_MOVES) + MIN_MOVES, FEW_CHAINS) <= max_seconds


def skips_validation(model: LatentGaussianModel, most: float) -> bool:
    """True if chains are run without a trial first.

    Of votes, whose approximation hardly holds where spreads are learned, and where those of spreads alone are quick.
    """
    return samples_spreads_only(model, most) if model.near_normal else is_affordable(model, most)
