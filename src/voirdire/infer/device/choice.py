"""Choice of the device for chains."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from voirdire.errors import InputError
from voirdire.infer.latent_gaussian.cost import CHAINS, WARM_UP_MOVES, moves_seconds
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.search import SpreadSearch

# plugins of JAX for GPUs
GPU_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm7_plugin", "jax_rocm60_plugin")
MIN_WARM_UP_SECONDS = 10.0  # seconds of a warm-up by the processor from which "auto" uses a GPU
GPU_CHAINS = 128  # chains on a graphics processor
# approximate speed over that of the kernel: JAX on a processor, and on other devices
SPEEDUPS, DEFAULT_SPEEDUP = {"cpu": 0.25}, 20.0
NO_GPU = (
    "device 'gpu': JAX finds no graphics processor here. Install voirdire[cuda] on a machine that has one, or leave "
    "the device out."
)


def device_for(requested: str, model: LatentGaussianModel) -> Any:
    """Choose the device of JAX for chains of a model; None for the processor, with the kernel.

    Parameters
    ----------
    requested : str
        "auto" (a graphics processor if there is one and the table is large), "cpu", "gpu", or "jax" for the default
        device of JAX.
    model : LatentGaussianModel

    Raises
    ------
    InputError
        A graphics processor was requested, and there is none.
    """
    if requested == "auto" and _may_have_gpu() and moves_seconds(model, sum(WARM_UP_MOVES)) > MIN_WARM_UP_SECONDS:
        with suppress(InputError):
            return find_gpu()
    if requested == "jax":
        import jax

        return jax.devices()[0]
    return find_gpu() if requested == "gpu" else None


def find_gpu() -> Any:
    """Return the first graphics processor that JAX finds.

    Raises
    ------
    InputError
        There is no graphics processor.
    """
    import jax

    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        raise InputError(NO_GPU) from None


def can_run(search: SpreadSearch) -> bool:
    """Return True if chains from the end of a search can run on a device: if L'^-1 is a product of matrices."""
    return bool(search.factor_whitening.products)


def device_seconds(model: LatentGaussianModel, chains: int, step: float, device: Any) -> float:
    """Estimate the seconds that a move of all chains takes on a device, by the size of the table."""
    return moves_seconds(model, 1, chains, step) / SPEEDUPS.get(device.platform, DEFAULT_SPEEDUP)


def device_chain_count(device: Any) -> int:
    """Return the number of chains that run together on a device."""
    return CHAINS if device.platform == "cpu" else GPU_CHAINS


def _may_have_gpu() -> bool:
    """Return True if a GPU plugin of JAX is installed; a search for a GPU itself would take a second."""
    return any(find_spec(name) is not None for name in GPU_PLUGINS)
