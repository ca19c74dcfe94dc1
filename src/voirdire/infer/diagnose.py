"""Diagnostics of draws by ArviZ, behind one adapter for its versions 0.23 and 1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.program import Program

Floats = npt.NDArray[np.float64]


def diagnose(
    program: Program,
    draws: Floats,
    diverging: npt.NDArray[np.bool_],
    energy: Floats,
) -> dict[str, float | str]:
    """Rank-normalised split R-hat, bulk and tail ESS (Vehtari et al. 2021), divergences and E-BFMI.

    Parameters
    ----------
    draws : array, shape (chains, draws, size)
        Free coordinates; the diagnostics are those of every value made of them (each item's strength, each judge's
        coin). They are the same on any monotone scale.
    diverging : bool array, shape (chains, draws)
    energy : array, shape (chains, draws)

    Returns
    -------
    dict
        The worst ``rhat``, ``ess_bulk``, ``ess_tail`` with the value they belong to (``rhat_of``, ...), the number of
        ``divergences``, and the smallest ``ebfmi`` of a chain (Betancourt 2016). A value that some chain never moves,
        or that is not finite, has R-hat infinity and no effective draw.
    """
    az = _arviz()
    values = {
        p.name: value
        for p, value in zip(program.parameters, program.values(draws, np).values(), strict=True)
        # the only level of a zero-sum parameter is zero by definition, not because a chain is stuck
        if value.size and not (p.zero_sum and value.shape[-1] == 1)
    }
    bad = {name: _useless(value) for name, value in values.items()}
    # ArviZ warns about useless draws or finds them fine, by version: it sees others in their place
    dataset = az.convert_to_dataset(
        {name: np.where(bad[name], _counting(value), value) for name, value in values.items()}
    )
    found: dict[str, float | str] = {}
    found["rhat"], found["rhat_of"] = _worst(az.rhat(dataset), bad, np.inf)
    for kind in ("bulk", "tail"):
        found[f"ess_{kind}"], found[f"ess_{kind}_of"] = _worst(az.ess(dataset, method=kind), bad, 0.0)
    found["divergences"] = float(diverging.sum())
    found["ebfmi"] = _ebfmi(energy)
    return found


def _useless(value: Floats) -> npt.NDArray[np.bool_]:
    """Whether some chain never moves or some draw is not finite; draws of shape (chains, draws, ...) to (...)."""
    still = (value == value[:, :1]).all(axis=1).any(axis=0)
    return np.asarray(still | ~np.isfinite(value).all(axis=(0, 1)))


def _counting(value: Floats) -> Floats:
    chains, draws = value.shape[:2]
    return np.arange(float(chains * draws)).reshape(chains, draws, *[1] * (value.ndim - 2))


def _worst(statistic: Any, bad: dict[str, npt.NDArray[np.bool_]], of_bad: float) -> tuple[float, str]:
    """Worst of a dataset of statistics, ``of_bad`` (the worst there is) for bad ones, and the parameter's name."""
    pick: Any = max if of_bad > 0 else min
    of_each = {
        name: float(pick(np.where(here, of_bad, np.asarray(statistic[name])).ravel()))
        for name, here in bad.items()
    }
    name = pick(of_each, key=lambda key: of_each[key])
    return of_each[name], name


def _ebfmi(energy: Floats) -> float:
    variance = energy.var(axis=1)
    if not (variance > 0).all():  # NaN too
        return 0.0
    return float(np.min(np.square(np.diff(energy, axis=1)).mean(axis=1) / variance))


def _arviz() -> Any:
    with warnings.catch_warnings():
        # ArviZ 0.23 announces its successor at its first import of each day
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
        import arviz
    return arviz


def to_arviz(
    values: dict[str, Floats],
    sample_stats: dict[str, npt.NDArray[Any]],
    coords: dict[str, list[str]],
    dims: dict[str, list[str]],
) -> Any:
    """ArviZ container (``InferenceData`` in 0.23, ``DataTree`` in 1) of named draws, shape (chains, draws, ...)."""
    az = _arviz()
    groups = {"posterior": values} | ({"sample_stats": sample_stats} if sample_stats else {})
    # not by hasattr(az, "InferenceData"): ArviZ 1 answers to that name with a warning and another class
    if az.__version__.startswith("0."):
        return az.from_dict(**groups, coords=coords, dims=dims)
    return az.from_dict(groups, coords=coords, dims=dims)
