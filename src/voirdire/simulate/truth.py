"""Truth of a simulated panel: strengths of items, weights of criteria, lengths.

theta[c, i] is the strength of item i under criterion c; w[c] is the weight of criterion c on the log
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
from voirdire.simulate.judges.base import FloatArray

if TYPE_CHECKING:
    import pandas as pd

#: Strengths (C, N), weights (C,), lengths (N,).
DrawnTruth = tuple[FloatArray, FloatArray, FloatArray]
Weighting = Literal["softmax", "proportional", "uniform", "first"]


@dataclass(frozen=True, eq=False)
class Truth:
    """Truth of a simulated panel.

    Attributes
    ----------
    items, criteria : tuple of str
        Names, zero-padded so that sorted order is index order.
    strengths : (C, N) float
        theta[criterion, item].
    weights : (C,) float
        Weights w, on the log scale.
    length : (N,) float
        Length covariate.
    in_contexts : (X, C, N) float or None
        Strengths in each context; ``strengths`` is their mean over all such contexts. None if contexts are alike.
    tastes : (K, N) float or None
        Strength of each item added for each judge, under every criterion and in every context; None without tastes.
    judges : DataFrame or None
        One row per judge: ``judge``, ``kind``; ``reliability``, the probability of the better item (by the judge's
        own taste) given an answer with a winner, averaged over its item comparisons, each in both orders;
        ``first_pick``, the probability of the item shown first, likewise (1/2 plus the position bias); ``eta1``,
        ``eta2``, the coins of the two-coin model with the same distribution of answers (NaN if there is none). None
        in results of :func:`simulate_counts`.

    Examples
    --------
    >>> import numpy as np
    >>> strengths, weights = np.array([[1.0, 0.0], [0.0, 3.0]]), np.log([3.0, 1.0])
    >>> truth = Truth(("a", "b"), ("x", "y"), strengths, weights, length=np.zeros(2))
    >>> truth.overall_scores()
    array([0.75, 0.75])
    >>> truth.overall_scores("uniform")
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
        """Strengths as judges perceive them, (X, C, N); X is 1 if all contexts are alike."""
        return self.strengths[None] if self.in_contexts is None else self.in_contexts

    def overall_scores(self, weighting: Weighting = "softmax") -> FloatArray:
        """Compute the (N,) overall scores s_i = sum_c q_c theta[c, i].

        q is softmax(w) ("softmax", MAPLE eq. 6), w / sum(w) ("proportional", for the ranks truth, which has positive
        weights), 1 / C ("uniform"), or 1 for the criterion with the largest weight and 0 for others ("first", the
        limit of softmax for large differences of weights).

        Raises
        ------
        InputError
            The weighting is unknown, or it is proportional and not all weights are positive.
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
            raise InputError(f"unknown weighting {weighting!r}; give 'softmax', 'proportional', 'uniform' or 'first'")
        return np.asarray((weights / weights.sum()) @ self.strengths)


@dataclass(frozen=True)
class TruthSetting(Checked, ABC):
    """Source of strengths, weights and lengths."""

    noun: ClassVar[str] = "truth"

    @abstractmethod
    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Draw strengths (C, N), weights (C,), lengths (N,)."""

    def in_contexts(self, rng: Generator, strengths: FloatArray, contexts: int) -> FloatArray | None:
        """Draw strengths (X, C, N) in X contexts, after all other draws; None if all contexts are alike."""
        return None

    def needs_contexts(self) -> bool:
        """Return True if contexts differ, so that the design must have contexts."""
        return False

    def draw_taste(self, rng: Generator, items: int) -> FloatArray | None:
        """Draw the (N,) additional strengths for one judge, from its own generator; None without tastes."""
        return None

    def fixed_shape(self) -> tuple[int, int] | None:
        """Return (items, criteria) if the setting fixes them, else None."""
        return None


def _correlated_normals(rng: Generator, items: int, criteria: int, correlation: float) -> FloatArray:
    """Draw (C, N) standard Normals with the given correlation between criteria (one common factor)."""
    independent = rng.standard_normal((criteria, items))
    common = rng.standard_normal(items)
    return math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * independent


@dataclass(frozen=True)
class RanksTruth(TruthSetting):
    """Random permutations of the scores 1..N of the items under each criterion and 1..C of the criteria.

    The synthetic data of MAPLE, section 5.1: a strict ranking without ties. With a ``correlation`` between
    criteria, the scores are the ranks of correlated Normals; the correlation of the ranks is
    (6 / pi) arcsin(correlation / 2) for many items.

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
        """Draw random permutations, and standard Normal lengths."""
        drawn = _correlated_normals(rng, items, criteria, self.correlation)
        strengths = (drawn.argsort(axis=1).argsort(axis=1) + 1).astype(np.float64)
        weights = (rng.permutation(criteria) + 1).astype(np.float64)
        return strengths, weights, rng.standard_normal(items)


@dataclass(frozen=True)
class NormalTruth(TruthSetting):
    """Normal truth: theta ~ Normal(0, sd), centred to sum to zero under each criterion; w ~ Normal(0, sd_w).

    Centring does not change differences: theta[c, i] - theta[c, j] ~ Normal(0, sd sqrt(2)).
    ``correlation`` is that of an item's strengths under two criteria. The strength of an item in a context is
    theta + u, with u ~ Normal(0, context_sd), centred in the same way. A judge's taste v ~ Normal(0, taste_sd), centred
    in the same way, is added to the strengths for this judge under all criteria and in all contexts.

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
        """Draw centred Normals, and standard Normal lengths."""
        strengths: FloatArray = self.sd * _correlated_normals(rng, items, criteria, self.correlation)
        strengths -= strengths.mean(axis=1, keepdims=True)
        weights = rng.normal(0.0, self.sd_w, criteria)
        return strengths, weights, rng.standard_normal(items)

    def in_contexts(self, rng: Generator, strengths: FloatArray, contexts: int) -> FloatArray | None:
        """Add centred Normals to the strengths for each context."""
        if not self.needs_contexts():
            return None
        deviations = rng.normal(0.0, self.context_sd, (contexts, *strengths.shape))
        return np.asarray(strengths + deviations - deviations.mean(axis=-1, keepdims=True))

    def needs_contexts(self) -> bool:
        """Return True if ``context_sd`` is above 0."""
        return self.context_sd > 0.0

    def draw_taste(self, rng: Generator, items: int) -> FloatArray | None:
        """Draw centred Normals."""
        if not self.taste_sd:
            return None
        drawn = rng.normal(0.0, self.taste_sd, items)
        return np.asarray(drawn - drawn.mean())


def _as_finite(value: Any, dimensions: tuple[int, ...]) -> FloatArray | None:
    """Convert a value to a float array; None unless it is finite and its number of dimensions is allowed."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array.ndim in dimensions and array.size and np.isfinite(array).all() else None


_VECTOR = Rule("a list of finite numbers, or leave it out", lambda v: v is None or _as_finite(v, (1,)) is not None)
_MATRIX = Rule(
    "a list of finite numbers for each criterion, one number per item", lambda v: _as_finite(v, (1, 2)) is not None
)


@dataclass(frozen=True, eq=False)
class GivenTruth(TruthSetting):
    """Given strengths (and weights, lengths).

    Parameters
    ----------
    strengths : (C, N) or (N,) of numbers
        Strengths theta[criterion, item].
    weights : (C,) of numbers, optional
        Weights w on the log scale; 0 for every criterion if left out.
    length : (N,) of numbers, optional
        Lengths; drawn from a standard Normal if left out.

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
        """Report weights and lengths that do not match the strengths in number."""
        items, criteria = self.fixed_shape()
        if self.weights is not None and len(self.weights) != criteria:
            yield f"{len(self.weights)} weights for {criteria} criteria (rows of strengths)"
        if self.length is not None and len(self.length) != items:
            yield f"{len(self.length)} lengths for {items} items (columns of strengths)"

    def fixed_shape(self) -> tuple[int, int]:
        """Return (items, criteria) of the strengths."""
        criteria, items = np.atleast_2d(np.asarray(self.strengths, dtype=float)).shape
        return items, criteria

    def draw_truth(self, rng: Generator, items: int, criteria: int) -> DrawnTruth:
        """Return the given values; draw lengths if they were left out."""
        strengths = np.atleast_2d(np.array(self.strengths, dtype=float))
        weights = np.zeros(criteria) if self.weights is None else np.array(self.weights, dtype=float)
        length = rng.standard_normal(items) if self.length is None else np.array(self.length, dtype=float)
        return strengths, weights, length

    def spec(self) -> dict[str, Any]:
        """Return the setting as a table, with arrays as lists."""
        table = super().spec().items()
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in table}


TRUTHS: dict[str, type[TruthSetting]] = {cls.kind: cls for cls in (RanksTruth, NormalTruth, GivenTruth)}


def truth_from_spec(spec: object) -> TruthSetting:
    """Make the truth setting from a kind, a table or an array of strengths.

    Raises
    ------
    InputError
        Unknown kind (the message names the nearest), unknown keys, invalid values.

    Examples
    --------
    >>> truth_from_spec({"kind": "normal", "sd": 2})
    NormalTruth(sd=2, sd_w=1.0, correlation=0.0, context_sd=0.0, taste_sd=0.0)
    """
    if isinstance(spec, np.ndarray):
        return GivenTruth(spec)
    return build_setting(TRUTHS, spec, "truth")
