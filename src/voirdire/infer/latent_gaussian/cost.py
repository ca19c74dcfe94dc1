"""Estimates of the computing time of chains, by the size of a table."""

from __future__ import annotations

from voirdire.infer.kernel.fused import has_kernel
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import is_normal, normal_blocks
from voirdire.infer.latent_gaussian.whitening import MAX_MATRIX_NUMBERS

CHAINS = 16
FEW_CHAINS = 8  # number of chains of a validation, and of large tables
WARM_UP_MOVES = (25, 15)  # moves before and after coordinates are adapted to the chains
MIN_MOVES = 50  # moves of a chain, at least; more until chains converge or time runs out
MAX_OVERTIME = 2.0  # few chains of votes, whose approximation is poor, may take so many times the seconds allowed
# range of a trajectory's length; a quarter turn is 1.57, and more in wider directions
MIN_PATH_LENGTH, MAX_PATH_LENGTH = 1.0, 5.0
FIRST_STEP = 3.5  # times dimensions^-1/4 (Beskos et al. 2013); adapted steps are .25 to 1.4 times that
MAX_PATH_STEPS = 50  # steps of a trajectory, at most
GRADIENTS_PER_STEP = 2  # gradients of one step
# steps of spreads after a move, of half of the chains at a time; of few chains, after every other move
TRIES, FEW_TRIES = 16, 6
MOVE_SECONDS = 1e-3  # seconds of a move of all chains, however small the table
CALL_SECONDS = 1.5e-4  # without the kernel: fixed seconds of a gradient, or of a try of half of the chains
NUMPY_CELL_SECONDS = 1.4e-7  # seconds that a cell of four alternatives or a latent value adds to a chain's gradient
KERNEL_CELL_SECONDS, KERNEL_VALUE_SECONDS = 6e-9, 8e-9  # the same by the kernel, for a cell and for a value
# seconds that a pair of a latent and a common value adds, with and without the kernel
KERNEL_PAIR_SECONDS, NUMPY_PAIR_SECONDS = 1.4e-11, 8e-11
NORMAL_WARM_UP_MOVES = (50, 25)  # WARM_UP_MOVES of chains of spreads alone (latent values integrated out)
NORMAL_PATH_LENGTHS = (0.7, 2.3)  # their MIN_PATH_LENGTH and MAX_PATH_LENGTH
NORMAL_CALL_SECONDS = 7e-4  # fixed seconds of their gradient, however small the table
# seconds that a matrix of answers or common values adds per chain, and per cube of its rows
MATRIX_SECONDS, ROW_SECONDS = 1e-5, 1e-8
DRAW_SECONDS = 1.2e-7  # seconds to draw an answer or a latent value


def moves_seconds(model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None) -> float:
    """Estimate the seconds of ``moves`` moves of every chain, by the size of the table, not by a clock.

    Parameters
    ----------
    step : float, optional
        Length of a step of adapted chains; by default that of the first step.
    """
    size = model.size + len(model.hypers)
    steps = min(0.5 * (MIN_PATH_LENGTH + MAX_PATH_LENGTH) / (step or FIRST_STEP / size**0.25) + 0.5, MAX_PATH_STEPS)
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
    # half of few chains do not fill the kernel's vectors; they step at every other move
    tries = 0.5 * TRIES if chains > FEW_CHAINS else 0.5 * FEW_TRIES
    return moves * (MOVE_SECONDS + (steps * GRADIENTS_PER_STEP + 1) * gradient + tries * (2.0 * call + chain_seconds))


def spread_seconds(model: LatentGaussianModel, moves: int, chains: int = CHAINS, step: float | None = None) -> float:
    """Estimate the seconds of chains of spreads alone, where answers are normal; see :func:`moves_seconds`."""
    blocks, common = normal_blocks(model), len(model.pattern.common)
    classes, answers = len(blocks.weight), blocks.cells.shape[1]
    steps = 0.5 * sum(NORMAL_PATH_LENGTHS) / (step or FIRST_STEP / len(model.hypers) ** 0.25) + 0.5
    matrices = classes * (MATRIX_SECONDS + ROW_SECONDS * answers**3) + MATRIX_SECONDS + ROW_SECONDS * common**3
    gradient = NORMAL_CALL_SECONDS + chains * matrices
    drawing = chains * DRAW_SECONDS * (len(blocks.block_class) * answers + model.size)
    return float(moves * ((steps * GRADIENTS_PER_STEP + 2) * gradient + drawing))


def samples_spreads_only(model: LatentGaussianModel, max_seconds: float) -> bool:
    """Return True if chains sample spreads alone: answers are normal, and few chains take at most ``max_seconds``."""
    min_moves = sum(NORMAL_WARM_UP_MOVES) + MIN_MOVES
    return is_normal(model) and bool(model.hypers) and spread_seconds(model, min_moves, FEW_CHAINS) <= max_seconds


def is_affordable(model: LatentGaussianModel, max_seconds_allowed: float) -> bool:
    """Return True if few chains take about ``max_seconds_allowed`` seconds or less."""
    if samples_spreads_only(model, max_seconds_allowed):
        return True
    max_seconds = max_seconds_allowed if model.near_normal else MAX_OVERTIME * max_seconds_allowed
    return moves_seconds(model, sum(WARM_UP_MOVES) + MIN_MOVES, FEW_CHAINS) <= max_seconds


def skips_validation(model: LatentGaussianModel, max_seconds: float) -> bool:
    """Return True if chains run without a validation first.

    That holds for votes if chains are affordable, because their approximation is poor where spreads are learned; and
    for other answers if chains sample spreads alone.
    """
    return samples_spreads_only(model, max_seconds) if model.near_normal else is_affordable(model, max_seconds)
