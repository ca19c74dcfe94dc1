"""The truth that synthetic judges look at: strengths of items, weights of criteria, lengths.

theta[c, i] is the strength of item i under criterion c, w[c] the weight of criterion c on the log
scale of the votes on criteria (MAPLE eq. 3 and 6).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator

from voirdire.errors import InputError
from voirdire.settings import Checked, Nonnegative, Rule, Share, build_setting
from voirdire.simulate.questions import FloatArray

if TYPE_CHECKING:
    import pandas as pd

#: Strengths (C, N), weights (C,), lengths (N,).
DrawnTruth = tuple[FloatArray, FloatArray, FloatArray]
Weighting = Literal["softmax", "proportional", "uniform", "first"]


@dataclass(frozen=True, eq=False)
class Truth:
    """Truth that a simulated panel was asked about.

    Attributes
    ----------
    items, criteria : tuple of str
        Names, zero-padded so that sorted order is index order.
    strengths : (C, N) float
        theta[criterion, item].
    weights : (C,) float
        w, on the log scale.
    length : (N,) float
        The length covariate.
    in_contexts : (X, C, N) float or None
        Strengths in each context, ``strengths`` over contexts like these; None where all contexts are alike.
    tastes : (K, N) float or None
        What each item is worth more to each judge, by any criterion and in any context; None where judges have none.
    judges : DataFrame or None
        One row per judge: ``judge``, ``kind``, ``reliability`` (the chance that the judge names the better
        item (to its own taste), given that it names one, averaged over the item comparisons it was asked, each in
        both orders), ``first_pick`` (the chance that it names the item shown first, likewise; 1/2 plus
        the position bias) and ``eta1``, ``eta2`` (the coins of the two-coin model that gives exactly
        its answers; NaN where none does). None from the array path.

    Examples
    --------
    >>> import numpy as np
    >>> strengths, weights = np.array([[1.0, 0.0], [0.0, 3.0]]), np.log([3.0, 1.0])
    >>> truth = Truth(("a", "b"), ("x", "y"), strengths, weights, length=np.zeros(2))
    >>> truth.scores()
    array([0.75, 0.75])
    >>> truth.scores("uniform")
    array([0.5, 1.5])
    """

    items: tuple[str, ...]
    criteria: tuple[str, ...]
    strengths: FloatArray
    weights: FloatArray
    length: FloatArray
    in_contexts: FloatArray | None = None
    tastes: FloatArray | None = None
    judges: pd.DataFrame | None = None

    @property
    def by_context(self) -> FloatArray:
        """Strengths as judges see them, (X, C, N); X is 1 where all contexts are alike."""
        return self.strengths[None] if self.in_contexts is None else self.in_contexts

    def scores(self, weighting: Weighting = "softmax") -> FloatArray:
        """The (N,) overall scores s_i = sum_c q_c theta[c, i].

        q is softmax(w) (MAPLE eq. 6), w / sum(w) ("proportional": natural for the ranks truth, whose
        weights are positive scores), 1 / C ("uniform"), or 1 for the criterion of largest weight alone ("first":
        softmax of weights far apart).

        Raises
        ------
        InputError
            An unknown weighting; proportional weighting with weights that are not all positive.
        """
        w = self.weights
        if weighting == "proportional" and not (w > 0).all():
            raise InputError("proportional weighting needs weights above 0; use 'softmax' or 'uniform'")
        weights = {
            "softmax": np.exp(w - w.max()),
            "proportional": w,
            "uniform": np.ones_like(w),
            "first": (np.arange(len(w)) == w.argmax()).astype(float),
        }.get(weighting)
        if weights is None:
            raise InputError(
                f"unknown weighting {weighting!r}; give 'softmax', 'proportional', 'uniform' or 'first'"
            )
        return np.asarray((weights / weights.sum()) @ self.strengths)


@dataclass(frozen=True)
class TruthSetting(Checked, ABC):
    """Source of strengths, weights and lengths."""

    noun: ClassVar[str] = "truth"

    @abstractmethod
    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Strengths (C, N), weights (C,), lengths (N,)."""

    def in_contexts(self, rng: Generator, strengths: FloatArray, contexts: int) -> FloatArray | None:
        """Strengths (X, C, N) in each of X contexts, drawn after all else; None where all contexts are alike."""
        return None

    def needs_contexts(self) -> bool:
        """True if contexts differ, so that a design must have some."""
        return False

    def draw_taste(self, rng: Generator, items: int) -> FloatArray | None:
        """Additional strength of items for one judge (N,), from its own generator; None where judges have no tastes."""
        return None

    def fixed_shape(self) -> tuple[int, int] | None:
        """(items, criteria) where the setting itself fixes them."""
        return None


def _correlated_normals(rng: Generator, items: int, criteria: int, correlation: float) -> FloatArray:
    """(C, N) standard Normals with the given correlation between criteria (one common factor)."""
    independent = rng.standard_normal((criteria, items))
    common = rng.standard_normal(items)
    return math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * independent


@dataclass(frozen=True)
class RanksTruth(TruthSetting):
    """Distinct scores 1..N for the items under each criterion and 1..C for the criteria, at random.

    The synthetic data of MAPLE, section 5.1: a strict ranking without ties. ``correlation`` between
    criteria (a halo in the truth itself) ranks correlated Normals instead of independent ones: the
    correlation of the ranks is then (6 / pi) arcsin(correlation / 2) for many items.

    Examples
    --------
    >>> import numpy as np
    >>> strengths, weights, _ = RanksTruth().draw_truth(np.random.default_rng(0), items=4, criteria=2)
    >>> [sorted(row) for row in strengths.tolist()], sorted(weights.tolist())
    ([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]], [1.0, 2.0])
    """

    kind: ClassVar[str] = "ranks"
    correlation: Share = 0.0

    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Random permutations; lengths standard Normal."""
        drawn = _correlated_normals(rng, items, criteria, self.correlation)
        strengths = (drawn.argsort(axis=1).argsort(axis=1) + 1).astype(np.float64)
        weights = (rng.permutation(criteria) + 1).astype(np.float64)
        return strengths, weights, rng.standard_normal(items)


@dataclass(frozen=True)
class NormalTruth(TruthSetting):
    """theta ~ Normal(0, sd), then centred to sum to zero under each criterion; w ~ Normal(0, sd_w).

    Centring leaves all differences as drawn: theta[c, i] - theta[c, j] ~ Normal(0, sd sqrt(2)).
    ``correlation`` is that of an item's strengths under two criteria. In each context of the design an item is worth
    theta + u, u ~ Normal(0, context_sd) centred likewise; to each judge it is worth v more, whatever the criterion
    and the context (its taste, or halo), v ~ Normal(0, taste_sd) centred likewise.

    Examples
    --------
    >>> import numpy as np
    >>> strengths, _, _ = NormalTruth(sd=2.0).draw_truth(np.random.default_rng(0), items=4, criteria=2)
    >>> bool(np.allclose(strengths.sum(axis=1), 0))
    True
    """

    kind: ClassVar[str] = "normal"
    sd: Nonnegative = 1.0
    sd_w: Nonnegative = 1.0
    correlation: Share = 0.0
    context_sd: Nonnegative = 0.0
    taste_sd: Nonnegative = 0.0

    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Centred Normals; lengths standard Normal."""
        strengths: FloatArray = self.sd * _correlated_normals(rng, items, criteria, self.correlation)
        strengths -= strengths.mean(axis=1, keepdims=True)
        weights = rng.normal(0.0, self.sd_w, criteria)
        return strengths, weights, rng.standard_normal(items)

    def in_contexts(self, rng: Generator, strengths: FloatArray, contexts: int) -> FloatArray | None:
        """Strengths and centred Normals around them."""
        if not self.needs_contexts():
            return None
        deviations = rng.normal(0.0, self.context_sd, (contexts, *strengths.shape))
        return np.asarray(strengths + deviations - deviations.mean(axis=-1, keepdims=True))

    def needs_contexts(self) -> bool:
        """True if ``context_sd`` is above 0."""
        return self.context_sd > 0.0

    def draw_taste(self, rng: Generator, items: int) -> FloatArray | None:
        """Centred Normals."""
        if not self.taste_sd:
            return None
        drawn = rng.normal(0.0, self.taste_sd, items)
        return np.asarray(drawn - drawn.mean())


def _as_finite(value: Any, dimensions: tuple[int, ...]) -> FloatArray | None:
    """The value as a float array; None unless it is finite and has one of the numbers of dimensions."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array.ndim in dimensions and array.size and np.isfinite(array).all() else None


_VECTOR = Rule(
    "a list of finite numbers, or leave it out",
    lambda v: v is None or _as_finite(v, (1,)) is not None,
)
_MATRIX = Rule(
    "a list of finite numbers for each criterion, one number per item",
    lambda v: _as_finite(v, (1, 2)) is not None,
)


@dataclass(frozen=True, eq=False)
class GivenTruth(TruthSetting):
    """Strengths (and weights, lengths) as given.

    Parameters
    ----------
    strengths : (C, N) or (N,) of numbers
        theta[criterion, item].
    weights : (C,) of numbers, optional
        w on the log scale; 0 for every criterion if left out.
    length : (N,) of numbers, optional
        Drawn from a standard Normal if left out.

    Examples
    --------
    >>> GivenTruth([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]).fixed_shape()
    (3, 2)
    """

    kind: ClassVar[str] = "given"
    strengths: Annotated[Sequence[Any] | FloatArray, _MATRIX]
    weights: Annotated[Sequence[float] | FloatArray | None, _VECTOR] = None
    length: Annotated[Sequence[float] | FloatArray | None, _VECTOR] = None

    def find_conflicts(self) -> Iterator[str]:
        """Weights and lengths that do not fit the strengths."""
        items, criteria = self.fixed_shape()
        if self.weights is not None and len(self.weights) != criteria:
            yield f"{len(self.weights)} weights for {criteria} criteria (rows of strengths)"
        if self.length is not None and len(self.length) != items:
            yield f"{len(self.length)} lengths for {items} items (columns of strengths)"

    def fixed_shape(self) -> tuple[int, int]:
        """(items, criteria) of the strengths."""
        criteria, items = np.atleast_2d(np.asarray(self.strengths, dtype=float)).shape
        return items, criteria

    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Return what was given; only lengths that were left out are drawn."""
        strengths = np.atleast_2d(np.array(self.strengths, dtype=float))
        weights = np.zeros(criteria) if self.weights is None else np.array(self.weights, dtype=float)
        length = rng.standard_normal(items) if self.length is None else np.array(self.length, dtype=float)
        return strengths, weights, length

    def spec(self) -> dict[str, Any]:
        """The table, with arrays as lists."""
        table = super().spec().items()
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in table}


TRUTHS: dict[str, type[TruthSetting]] = {cls.kind: cls for cls in (RanksTruth, NormalTruth, GivenTruth)}


def truth_from_spec(spec: object) -> TruthSetting:
    """The truth setting that a kind, a table or an array of strengths describes.

    Raises
    ------
    InputError
        Unknown kind (with the nearest), unknown keys, values that break their rule.

    Examples
    --------
    >>> truth_from_spec({"kind": "normal", "sd": 2})
    NormalTruth(sd=2, sd_w=1.0, correlation=0.0, context_sd=0.0, taste_sd=0.0)
    """
    if isinstance(spec, np.ndarray):
        return GivenTruth(spec)
    return build_setting(TRUTHS, spec, "truth")
