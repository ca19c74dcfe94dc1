"""Methods of inference: their settings, and their results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.infer import mirror
from voirdire.infer.laplace import check_draws, memory_bytes
from voirdire.infer.laplace import check_size as check_held
from voirdire.infer.posterior import Posterior
from voirdire.model.problem import Check, Problem
from voirdire.settings import is_number, is_whole
from voirdire.typing import Floats

Progress = Callable[[int, int, str], None]

METHODS = ("auto", "laplace", "nuts", "map", "adam")
SAMPLERS = ("numpyro", "nutpie", "pymc")
DEVICES = ("auto", "cpu", "gpu", "jax")
LAPLACE_DRAWS = 4000
DEFAULT_SECONDS = 30.0
FIRST_ANSWER_SECONDS = 3.0  # seconds of chains for a Monte Carlo error of about a tenth of a standard deviation
MIN_ANNOUNCED_BYTES = 2e9  # bytes of a fit from which it begins with a warning
NO_LAPLACE_PREFIX = "The Laplace approximation does not hold here"  # start of a note
ADAM_NOTE = (
    "Estimated as in MAPLE's paper: the likelihood alone, 5,000 epochs of Adam at a learning rate of 0.01 from "
    "reliabilities of 0.8; every judge counts by itself. method='auto' adds priors and intervals."
)


@dataclass(frozen=True)
class Method:
    """Settings of the inference of a posterior.

    Attributes
    ----------
    name : str
        "auto", "laplace", "nuts", "map" or "adam" (:mod:`.adam`).
    seed : int
    sampler : str
        Sampler of NUTS: "numpyro", "nutpie" or "pymc".
    chains, warmup, draws : int
        Chains of NUTS; warmup and draws per chain.
    progress : callable or None
        Function called while chains run, with (transitions made, expected transitions in all, state of the chains in
        words).
    seconds : float
        Approximate time for chains that start from an approximation. It is estimated by the size of the table, so that
        the same seed gives the same draws on any machine.
    device : str
        Device of these chains: "auto", "cpu", "gpu" or "jax"; see :mod:`voirdire.infer.device.choice`.
    """

    name: str = "auto"
    seed: int = 0
    sampler: str = "numpyro"
    chains: int = 4
    warmup: int = 500
    draws: int = 1000
    progress: Progress | None = None
    seconds: float = DEFAULT_SECONDS
    device: str = "auto"

    @property
    def size(self) -> int:
        """Number of draws, 0 for the mode alone."""
        nuts_draws = self.chains * self.draws
        return {"auto": LAPLACE_DRAWS, "laplace": LAPLACE_DRAWS, "nuts": nuts_draws}.get(self.name, 0)

    @property
    def chain_seconds(self) -> float:
        """Seconds allowed for chains that may start from a mode; 0 if there are none."""
        return self.seconds if self.name == "auto" else 0.0

    def sampler_of(self, done: str) -> str:
        """Return the name of the sampler of NUTS if the method ``done`` in the end is NUTS, else an empty string."""
        if done != "nuts":
            return ""
        return self.sampler if self.name == "nuts" else "numpyro"

    def problems(self) -> list[str]:
        """List invalid settings, as messages.

        Examples
        --------
        >>> Method("vi", seed=-1).problems()
        ["method 'vi' is none of auto, laplace, nuts, map, adam", 'seed -1 is no whole number from 0']
        """
        problems = []
        if self.name not in METHODS:
            done = self.name == "hmc"
            hint = " (hmc is what 'auto' does where laplace does not hold: take 'auto')" if done else ""
            problems.append(f"method {self.name!r} is none of {', '.join(METHODS)}{hint}")
        if self.sampler not in SAMPLERS:
            problems.append(f"sampler {self.sampler!r} is none of {', '.join(SAMPLERS)}")
        if self.device not in DEVICES:
            problems.append(f"device {self.device!r} is none of {', '.join(DEVICES)}")
        elif self.device in ("gpu", "jax") and self.name != "auto":
            problems.append(f"device {self.device!r} is for the method 'auto', whose chains run there")
        if not is_whole(self.seed) or self.seed < 0:
            problems.append(f"seed {self.seed!r} is no whole number from 0")
        for name, value, smallest in (
            ("draws", self.draws, 4),
            ("warmup", self.warmup, 20),
            ("chains", self.chains, 1),
        ):
            if not is_whole(value):
                problems.append(f"{name} {value!r} is not a whole number")
            elif value < smallest:
                problems.append(f"{name} {value} is too few; at least {smallest}")
        if not (is_number(self.seconds) and self.seconds > 0):
            shown = f"{self.seconds:g}" if isinstance(self.seconds, float) else repr(self.seconds)
            problems.append(f"seconds {shown} is not positive and finite; 30 is the default")
        return problems


@dataclass(frozen=True, eq=False)
class Inferred:
    """A posterior, with checks and notes on the method.

    Attributes
    ----------
    posterior : Posterior
    checks : tuple of Check
        Checks of the result by its method.
    sample_stats : dict of array
        Statistics recorded by a sampler, shape (chains, draws) each.
    method : str
        Method that was used: "laplace", "hmc" (:mod:`.hmc_moves`), "nuts", "map" or "adam".
    notes : tuple of str
        Choices made automatically and their cost, in words.
    device : str
        JAX device of the chains; empty without one.
    """

    posterior: Posterior
    checks: tuple[Check, ...]
    sample_stats: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    method: str = "laplace"
    notes: tuple[str, ...] = ()
    device: str = ""


def check_size(problem: Problem, method: Method) -> None:
    """Refuse a fit that does not fit in memory, before its mode is searched for; warn of more than 2 GB.

    Raises
    ------
    InputError
    """
    size = problem.density.size
    if method.name == "nuts":
        problem.check_can_compile()
    if problem.density.uses_marginal_likelihood and method.name == "nuts":
        check_draws(size, method.size)
    elif method.size and not problem.density.uses_marginal_likelihood and not _avoids_hessian(problem, method):
        check_held(size, problem.fewer_parameters)
        if (expected := memory_bytes(size, method.size)) > MIN_ANNOUNCED_BYTES:
            warnings.warn(
                f"{size:,} parameters: this fit may take {expected / 1e9:.2g} GB of memory, and minutes; method='map' "
                "takes little of either",
                stacklevel=3,
            )


def _avoids_hessian(problem: Problem, method: Method) -> bool:
    """Return True if draws need no Hessian (:class:`.ClosedFormDerivatives`)."""
    closed_form = problem.density.closed_form(problem.data)
    return closed_form is not None and closed_form.draws_about_mode is not None and method.name != "nuts"


def oriented_posterior(
    problem: Problem,
    centre: Floats,
    draws: Floats,
    checks: list[Check],
    rng: np.random.Generator,
    *,
    alike: bool = False,
    **fields: Any,
) -> Inferred:
    """Build the posterior from draws, (chains, draws, size), of one orientation, or if ``alike`` of all of them.

    ``fields`` are further fields of :class:`Inferred`.
    """
    density = problem.density
    if density.has_mirror:
        orientations = mirror.weigh_orientations(density, draws, problem.data, alike, rng)
        checks.append(problem.orientation_check(orientations.mass))
        draws = orientations.all_draws
    return Inferred(Posterior(density, centre, draws), tuple(checks), **fields)


def seconds_since(start: float) -> str:
    """Format the seconds since a reading of ``time.perf_counter``, for a note."""
    return f"{time.perf_counter() - start:.0f} s"
