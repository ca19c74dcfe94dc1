"""Steps of spreads and means of chains by the kernel, if it supports the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.kernel.fused import FusedAnswers, Priors
from voirdire.infer.kernel.library import (
    POINTS_PER_BLOCK,
    Structure,
    array_address,
    kernel_library,
    pack_points,
    unpack_points,
)
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.parent_child_move import ParentChildMove
from voirdire.typing import Floats, Ints


class Steps(NamedTuple):
    """Random numbers of some steps of chains.

    Attributes
    ----------
    move : int array, shape (tries,)
        Number of the parent-child move; -1 for a step that rescales all values.
    half : int array, shape (tries,)
        Half of the chains that steps: 0 the first, which is the larger one, 1 the other.
    step : array, shape (tries, hypers, chains)
        Steps of the logarithms of spreads and means.
    pair : int array, shape (2, tries, chains)
        Chains whose difference times ``length`` is the step; -1 to use ``step``.
    length : array, shape (tries, chains)
        Factor of the difference.
    normal : array, shape (tries, most values above, chains)
        Standard normal numbers of parent-child moves.
    chance : array, shape (tries, chains)
        Logarithm of a uniform number from 0 to 1.
    """

    move: Ints
    half: Ints
    step: Floats
    pair: Ints
    length: Floats
    normal: Floats
    chance: Floats


def kernel_move_input(
    model: LatentGaussianModel, parent_child_moves: Sequence[ParentChildMove]
) -> tuple[Any, Structure]:
    """Build the group of each latent value, and the parent-child moves in the format of the kernel.

    Only children that answers inform are included, because only these change.
    """
    group = np.repeat(np.arange(len(model.groups), dtype=np.int32), model.sizes)
    shares = [move.share.T.tocsr() for move in parent_child_moves]
    for matrix in shares:
        matrix.eliminate_zeros()
    below = [move.below[matrix.indices] for move, matrix in zip(parent_child_moves, shares, strict=True)]
    counts = [np.diff(matrix.indptr) for matrix in shares]
    arrays = {
        "edge": np.cumsum([0, *(len(move.above) for move in parent_child_moves)]),
        "above": np.concatenate([np.zeros(0), *(move.above for move in parent_child_moves)]),
        "below_edge": np.cumsum(np.concatenate([[0], *counts])),
        "below": np.concatenate([np.zeros(0), *below]),
    }
    return group, Structure(**{name: np.ascontiguousarray(array, np.int32) for name, array in arrays.items()})


def apply_steps_by_kernel(
    fused: FusedAnswers,
    priors: Priors,
    parent_child_moves: tuple[Any, Structure],
    steps: Steps,
    x: Floats,
    hyper: Floats,
    log: Floats,
) -> tuple[Floats, Floats]:
    """Compute :func:`.rescaling.apply_steps` by the kernel; input arrays are not changed.

    Parameters
    ----------
    parent_child_moves : tuple
        See :func:`kernel_move_input`.
    """
    kernel, model = kernel_library(), priors.model
    assert kernel is not None  # callers check this
    chains = len(x)
    packed, packed_hyper = pack_points(x), pack_points(hyper)
    lanes = len(packed) * POINTS_PER_BLOCK
    value = np.zeros(lanes)
    value[:chains] = log

    def in_lanes(array: Any, kind: Any = np.float64) -> Any:
        padded = np.zeros((*array.shape[:-1], lanes), dtype=kind)
        padded[..., :chains] = array
        return padded

    first_chain, second_chain = steps.pair
    steps_structure = Structure(
        tries=len(steps.move),
        chains=chains,
        lanes=lanes,
        most=steps.normal.shape[1],
        move=np.ascontiguousarray(steps.move, np.int32),
        half=np.ascontiguousarray(steps.half, np.int32),
        one=in_lanes(first_chain, np.int32),
        other=in_lanes(second_chain, np.int32),
        **{name: in_lanes(getattr(steps, name)) for name in ("step", "length", "normal", "chance")},
    )
    numbers, cells = fused.kernel_arguments
    group, moves_structure = parent_child_moves
    memory = np.empty(POINTS_PER_BLOCK * (-(-3 * model.size // 2) + len(model.hypers) + 4 * len(model.groups)))
    kernel.voirdire_rescale(
        *numbers.values(),
        *(array_address(array) for array in cells.values()),
        priors.structure.address,
        array_address(group),
        moves_structure.address,
        steps_structure.address,
        *(array_address(array) for array in (packed, packed_hyper, value, memory)),
    )
    return unpack_points(packed, chains), unpack_points(packed_hyper, chains)
