"""Blocks of answers that are normal, sorted by what they are made of.

Answers y_b of block b are Z x_b + X beta + noise, x_b its own latent values and beta the common ones. Of a table in
which every judge scores every item, all blocks have the same Z, X, spreads and noises, and what all of them say of
these are a mean and a matrix of squares: blocks of one make are one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from voirdire.infer.nested.field import PLAIN, Field
from voirdire.infer.nested.normal import NormalAnswers
from voirdire.typing import Bools, Floats, Ints

LARGEST = 4e6  # numbers that the matrices of all classes, and those of all blocks, may take


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of answers that are normal; those with fewer answers or values are filled up with what changes nothing.

    Attributes
    ----------
    own : int array, shape (blocks, own)
        Latent values of each block; the number of all stands for none.
    cells : int array, shape (blocks, answers)
        Cells of each; the number of all stands for none.
    of : int array, shape (blocks,)
        Class of each.
    group : int array, shape (classes, own)
        Group of each latent value.
    z, x : array, shape (classes, answers, own) and (classes, answers, common)
        Coefficients of a block's own values and of the common ones.
    noise : array, shape (classes, answers, hypers)
        With which logarithms of spreads the logarithm of an answer's noise is made.
    weight : array, shape (classes, answers)
        What an answer counts for; 0 for none.
    """

    own: Ints
    cells: Ints
    of: Ints
    group: Ints
    z: Floats
    x: Floats
    noise: Floats
    weight: Floats

    @property
    def used(self) -> Bools:
        """Mask of the answers that there are, shape (classes, answers)."""
        return np.asarray(self.weight > 0)


def is_normal(model: Field) -> bool:
    """True if the answers of a field are normal given its spreads, but for those at the ends, and its blocks small."""
    answers, pattern = model.answers, model.pattern
    if (
        not isinstance(answers, NormalAnswers)
        or model.scales is None
        or not pattern.block.max(initial=-1) >= 0
    ):
        return False
    learned = {hyper.name for hyper in model.hypers}
    if model.division is not None or any(g.reversed != PLAIN or g.mean in learned for g in model.groups):
        return False
    whole = bool((answers.weight > 0).all() and (answers.weight[answers.end != 0] == 1).all())
    if (
        not whole
        or (pattern.of_cell < 0).any()
        or (pattern.coefficients[:, pattern.predictor != 0] != 0).any()
    ):
        return False
    blocks = int(pattern.block.max()) + 1
    most = int(np.bincount(pattern.of_cell, minlength=blocks).max())
    own = int(np.bincount(pattern.block[pattern.block >= 0]).max())
    return blocks * most * (most + own + len(pattern.common) + len(model.hypers)) <= LARGEST


@lru_cache(maxsize=1)  # of the field that chains are about to be of
def normal_blocks(model: Field) -> Blocks:
    """The blocks of a field whose answers are normal."""
    pattern = model.pattern
    assert isinstance(model.answers, NormalAnswers)
    own = _block_rows(pattern.block, len(pattern.block))
    group = np.append(np.repeat(np.arange(len(model.groups)), model.sizes), 0)[own]
    # where a value stands: in its block, or among the common ones after these
    place = np.zeros(pattern.size + 1, dtype=int)
    place[own] = np.arange(own.shape[1])
    place[pattern.common] = own.shape[1] + np.arange(len(pattern.common))
    coefficients = np.where(pattern.index < pattern.size, pattern.coefficients, 0.0)
    at = np.where(coefficients != 0, place[pattern.index], 0)
    size = own.shape[1] + len(pattern.common)
    row, ends = np.zeros((len(at) + 1, size)), len(at)
    np.add.at(row, (np.arange(ends)[:, None], at), coefficients)
    noise = model.scales[ends:].toarray()
    about = np.concatenate(
        [
            row,
            np.append(noise, np.zeros((1, noise.shape[1])), axis=0),
            np.append(model.answers.weight, 0.0)[:, None],
        ],
        axis=1,
    )
    kind = np.unique(about[:-1], axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((kind, pattern.of_cell))
    cells = np.append(order, ends)[_block_rows(pattern.of_cell[order], ends)]
    made = np.concatenate([np.append(kind, -1)[cells], np.where(own < pattern.size, group, -1)], axis=1)
    _, first, of = np.unique(made, axis=0, return_index=True, return_inverse=True)
    parts = about[cells[first]]
    edges = [own.shape[1], size, size + noise.shape[1]]
    z, x, noises, weight = np.split(parts, edges, axis=2)
    return Blocks(own, cells, of.ravel(), group[first], z, x, noises, weight[..., 0])


def _block_rows(block: Ints, none: int) -> Ints:
    """The places of each block, shape (blocks, most), ``none`` after its last; those below zero are of none."""
    order = np.argsort(block, kind="stable")
    order = order[block[order] >= 0]
    counts = np.bincount(block[order])
    found = np.full((len(counts), int(counts.max())), none)
    found[np.arange(found.shape[1]) < counts[:, None]] = order
    return found
