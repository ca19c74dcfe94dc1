"""Diagnostics of draws by ArviZ, behind one adapter for its versions 0.23 and 1."""

from __future__ import annotations

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
        ``divergences``, and the smallest ``ebfmi`` of a chain (Betancourt 2016).
    """
    import arviz as az

    values = {name: value for name, value in program.values(draws, np).items() if value.size}
    dataset = az.convert_to_dataset(values)
    found: dict[str, float | str] = {}
    rhat = worst(az.rhat(dataset), np.max)
    found["rhat"], found["rhat_of"] = rhat
    for kind in ("bulk", "tail"):
        found[f"ess_{kind}"], found[f"ess_{kind}_of"] = worst(az.ess(dataset, method=kind), np.min)
    found["divergences"] = float(diverging.sum())
    found["ebfmi"] = float(np.min(np.square(np.diff(energy, axis=1)).mean(axis=1) / energy.var(axis=1)))
    return found


def worst(statistic: Any, pick: Any) -> tuple[float, str]:
    """Worst value of a dataset of statistics and the name of the parameter it belongs to."""
    of_each = {
        str(name): float(pick(np.nan_to_num(np.asarray(statistic[name]), nan=_harmless(pick))))
        for name in statistic.data_vars
    }
    name = max(of_each, key=lambda key: of_each[key] if pick is np.max else -of_each[key])
    return of_each[name], name


def _harmless(pick: Any) -> float:
    # a value that never moves (the only level of a zero-sum parameter) has no R-hat and no ESS
    return 1.0 if pick is np.max else float("inf")


def to_arviz(
    values: dict[str, Floats],
    sample_stats: dict[str, npt.NDArray[Any]],
    coords: dict[str, list[str]],
    dims: dict[str, list[str]],
) -> Any:
    """ArviZ container (``InferenceData`` in 0.23, ``DataTree`` in 1) of named draws, shape (chains, draws, ...)."""
    import arviz as az

    groups = {"posterior": values} | ({"sample_stats": sample_stats} if sample_stats else {})
    if hasattr(az, "InferenceData"):
        return az.from_dict(**groups, coords=coords, dims=dims)
    return az.from_dict(groups, coords=coords, dims=dims)
