"""Settings of resampling that every verb takes, their checks, and the weights that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import raise_problems
from voirdire.parallel import run_in_order
from voirdire.settings import PROB, is_number

# Elements per chunk: larger chunks do not fit the cache (five times slower), smaller chunks need more calls.
_CHUNK_ELEMENTS = 2**16
# Wide rows are still chunked together for efficient matrix products, up to 32 MB.
_MIN_ROWS, _MAX_ELEMENTS = 64, 2**22


def bootstrap_weights(units: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw bootstrap resamples as counts of each unit among n draws with replacement.

    Parameters
    ----------
    units, resamples : int
        Numbers of units and of resamples.
    rng : numpy.random.Generator
        Generator. Draws equal those of ``rng.integers(0, units, (resamples, units))`` for any chunk size.

    Yields
    ------
    float array, shape (rows, units)
        Counts that sum to `units` in each row.

    Examples
    --------
    >>> chunk = next(bootstrap_weights(4, 2, np.random.default_rng(0)))
    >>> chunk.shape, chunk.sum(axis=1).tolist()
    ((2, 4), [4.0, 4.0])
    """
    for rows in chunk_sizes(resamples, units):
        drawn = rng.integers(0, units, (rows, units))
        drawn += units * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units)
        yield counts.reshape(rows, units).astype(np.float64)


def leave_one_out_weights(units: int) -> Iterator[FloatArray]:
    """Weights of the jackknife: row i leaves unit i out.

    Examples
    --------
    >>> next(leave_one_out_weights(3)).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    start = 0
    for rows in chunk_sizes(units, units):
        yield 1.0 - np.eye(rows, units, start)
        start += rows


def chunk_sizes(total: int, width: int) -> Iterator[int]:
    """Split a number of rows of a given width into chunks that fit the cache.

    Examples
    --------
    >>> list(chunk_sizes(100, 2**10)), list(chunk_sizes(100, 2**14))
    ([64, 36], [64, 36])
    """
    width = max(1, width)
    size = max(1, _CHUNK_ELEMENTS // width, min(_MIN_ROWS, _MAX_ELEMENTS // width))
    for start in range(0, total, size):
        yield min(size, total - start)


Unit: TypeAlias = Literal["item", "context", "judge", "system", "both"]
Method: TypeAlias = Literal["percentile", "basic", "bca", "studentised"]

RESAMPLES = 10_000
#: Interval without resampling, offered by `voirdire.agreement.verb.agreement`.
ANALYTIC = "analytic"

A = TypeVar("A")
B = TypeVar("B")


class Settings(TypedDict, total=False):
    """Settings of a verb: a whole `Resampling`, or some of its fields (None: the default)."""

    resampling: Resampling
    resamples: int
    unit: Any
    interval: Any
    prob: float
    seed: int
    jobs: int
    client: object


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of resampling.

    Attributes
    ----------
    resamples : int
        Number of resamples, at least 1.
    unit : {"item", "context", "judge", "system", "both"}, optional
        Unit that is drawn with replacement. Each verb documents its choices and its default.
    interval : {"percentile", "basic", "bca", "studentised"}, optional
        Kind of interval, see `voirdire.agreement.engine.intervals`; "percentile" by default. Estimates with human
        answers have other kinds.
    prob : float
        Coverage of the intervals.
    seed : int
        Seed of the generator.
    jobs : int
        Number of threads; the result does not depend on it.
    client : distributed.Client or str, optional
        A Dask cluster to use instead of threads, or the address of its scheduler; the result does not depend on it.

    Raises
    ------
    InputError
        For every setting that is not valid.

    Examples
    --------
    >>> Resampling(resamples=0)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: resamples 0 is not a positive whole number; 10000 is usual
    """

    resamples: int = RESAMPLES
    unit: Unit | None = None
    interval: str | None = None
    prob: float = PROB
    seed: int = 0
    jobs: int = 1
    client: object = None

    def __post_init__(self) -> None:
        problems = [
            f"{name} {number!r} is not a positive whole number; {usual} is usual"
            for name, number, usual in (("resamples", self.resamples, RESAMPLES), ("jobs", self.jobs, 1))
            if not isinstance(number, int | np.integer) or number < 1
        ]
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            problems.append(f"seed {self.seed!r} is not a whole number of at least 0")
        if not (is_number(self.prob) and 0 < self.prob < 1):
            problems.append(f"prob {self.prob!r} is not between 0 and 1; {PROB} gives a {100 * PROB:g}% interval")
        if self.unit == "both" and self.interval in ("bca", "studentised"):
            problems.append(
                f"a {self.interval} interval is not defined when judges and items are resampled together; "
                "use percentile or basic"
            )
        if self.unit in ("judge", "both") and self.interval == ANALYTIC:
            problems.append("an analytic interval is not offered when judges are resampled; use percentile")
        if self.unit == "judge" and self.interval == "studentised":
            problems.append(
                "a studentised interval is not offered when judges are resampled; use percentile, basic or bca"
            )
        raise_problems(problems)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        units: Iterable[str | None] = ("item",),
        intervals: Iterable[str | None] = get_args(Method),
    ) -> Resampling:
        """Build the settings from a verb's arguments and check that the verb offers them.

        Parameters
        ----------
        settings : mapping
            A whole ``resampling``, or single fields. Fields replace those of ``resampling``.
        units, intervals : iterable of str
            Choices that the verb offers, its default first.

        Raises
        ------
        InputError
            For a unit or an interval that is not offered.
        TypeError
            For an unknown setting.

        Examples
        --------
        >>> Resampling.from_settings({"seed": 3})
        Resampling(resamples=10000, unit='item', interval='percentile', prob=0.9, seed=3, jobs=1, client=None)
        """
        options = {name: value for name, value in settings.items() if value is not None}
        base: Any = options.pop("resampling", None) or cls()
        unknown = options.keys() - cls.__dataclass_fields__.keys()
        if unknown:
            raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
        resampling: Resampling = replace(base, **options)
        offered = {"unit": tuple(units), "interval": tuple(intervals)}
        chosen = {name: getattr(resampling, name) or choices[0] for name, choices in offered.items()}
        problems = [
            f"{name} {choice!r} is not offered here; give one of {', '.join(filter(None, offered[name]))}"
            for name, choice in chosen.items()
            if choice not in offered[name]
        ]
        raise_problems(problems)
        return replace(resampling, **chosen)  # type: ignore[arg-type]

    @property
    def without_cluster(self) -> Resampling:
        """The same settings without the cluster, for a task that is not divided further."""
        return replace(self, client=None)

    def map(self, function: Callable[[A], B], arguments: Iterable[A]) -> list[B]:
        """Call a function with each argument, in `jobs` threads or on the cluster; results in the arguments' order.

        A function that needs the settings must use :attr:`without_cluster`, because a client cannot be pickled.
        """
        if self.client is not None:
            return run_in_order(function, list(arguments), None, self.client)
        if self.jobs == 1:
            return list(map(function, arguments))
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, arguments))
