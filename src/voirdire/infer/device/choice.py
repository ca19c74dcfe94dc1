"""Choice of the device that chains run on."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.cost import CHAINS, WARM_UP_MOVES, moves_seconds
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.search import SpreadSearch

GPU_PLUGINS = (
    "jax_cuda12_plugin",
    "jax_cuda13_plugin",
    "jax_rocm7_plugin",
    "jax_rocm60_plugin",
)  # of JAX, for GPUs
MIN_WARM_UP_SECONDS = (
    10.0  # seconds of a processor's warm-up from which a device that is there is used unasked
)
GPU_CHAINS = 128  # of a graphics processor, side by side
SPEEDUPS, DEFAULT_SPEEDUP = (
    {"cpu": 0.25},
    20.0,
)  # as quick as the kernel, about: JAX on a processor, and elsewhere
NO_GPU = (
    "device 'gpu': JAX finds no graphics processor here. Install voirdire[cuda] on a machine that has one, or leave "
    "the device out."
)


def device_for(asked: str, model: LatentGaussianModel) -> Any:
    """The device of JAX that chains of a model run on; None for the processor, by the kernel.

    Parameters
    ----------
    asked : str
        "auto" (a graphics processor where there is one and the table is large), "cpu", "gpu", or "jax" for the
        default device of JAX, whatever it is.
    model : LatentGaussianModel

    Raises
    ------
    InputError
        There is no graphics processor, and one was asked for.
    """
    if asked == "auto" and _may_have_gpu() and moves_seconds(model, sum(WARM_UP_MOVES)) > MIN_WARM_UP_SECONDS:
        with suppress(InputError):
            return find_gpu()
    if asked == "jax":
        import jax

        return jax.devices()[0]
    return find_gpu() if asked == "gpu" else None


def find_gpu() -> Any:
    """The first graphics processor that JAX finds.

    Raises
    ------
    InputError
        There is none.
    """
    import jax

    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        raise InputError(NO_GPU) from None


def can_run(search: SpreadSearch) -> bool:
    """True if chains from the end of a search can run on a device: if L'^-1 is a product of matrices."""
    return bool(search.factor_whitening.products)


def device_seconds(model: LatentGaussianModel, chains: int, step: float, device: Any) -> float:
    """Estimate the seconds that a move of all chains takes on a device, by the size of the table."""
    return moves_seconds(model, 1, chains, step) / SPEEDUPS.get(device.platform, DEFAULT_SPEEDUP)


def device_chain_count(device: Any) -> int:
    """Number of chains side by side on a device."""
    return CHAINS if device.platform == "cpu" else GPU_CHAINS


def _may_have_gpu() -> bool:
    """True if JAX has what it needs for a graphics processor; without looking for one, which takes a second."""
    return any(find_spec(name) is not None for name in GPU_PLUGINS)
