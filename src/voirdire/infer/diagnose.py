"""Diagnostics of draws, and an adapter for versions 0.23 and 1 of ArviZ."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.infer.convergence import convergence_diagnostics
from voirdire.model.density import LogDensity
from voirdire.model.natural_scales import dimension_names
from voirdire.settings import nearest_word
from voirdire.typing import Floats


def diagnose_draws(
    density: LogDensity,
    draws: Floats,
    diverging: npt.NDArray[np.bool_],
    energy: Floats,
    *,
    without: Collection[Collection[str]] = (),
    tails: bool = True,
) -> dict[str, float | str]:
    """Compute rank-normalised split R-hat, bulk and tail ESS (Vehtari et al. 2021), divergences and E-BFMI.

    Parameters
    ----------
    draws : array, shape (chains, draws, size)
        Draws in free coordinates. The diagnostics are those of every value computed from them (each item's strength,
        each judge's coin), and do not depend on a monotone scale.
    diverging : bool array, shape (chains, draws)
    energy : array, shape (chains, draws)
    without : collection of collection of str
        Sets of dimensions; parameters that have all dimensions of one of them are left out.
    tails : bool
        False to skip the tail effective sample size, which takes as long as everything else.

    Returns
    -------
    dict
        The worst ``rhat``, ``ess_bulk``, ``ess_tail`` with the parameter of each (``rhat_of``, ...), the number of
        ``divergences``, and the smallest ``ebfmi`` of a chain (Betancourt 2016). A value that is constant in some
        chain, or that is not finite, has R-hat infinity and no effective draw.
    """
    values = {
        p.name: value
        for p, value in zip(density.parameters, density.values(draws, np).values(), strict=True)
        # a single level of a zero-sum parameter is zero by definition, not because a chain is stuck
        if value.size
        and not (p.zero_sum and value.shape[-1] == 1)
        and not any(set(dims) <= set(p.dims) for dims in without)
    }
    flattened = [value.reshape(*value.shape[:2], -1) for value in values.values()]
    parameter_names = np.repeat(list(values), [value.shape[2] for value in flattened])
    all_values = np.concatenate(flattened, axis=2)
    unusable = _unusable_values(all_values)
    convergence = convergence_diagnostics(np.where(unusable, 0.0, all_values), tails=tails)
    diagnostics: dict[str, float | str] = {}
    rhat, diagnostics["rhat_of"] = _worst_parameter(
        -np.where(unusable | np.isnan(convergence.rhat), np.inf, convergence.rhat), parameter_names
    )
    diagnostics["rhat"] = -rhat
    for kind, ess in (("bulk", convergence.ess_bulk), *[("tail", convergence.ess_tail)] * tails):
        diagnostics[f"ess_{kind}"], diagnostics[f"ess_{kind}_of"] = _worst_parameter(
            np.where(unusable, 0.0, ess), parameter_names
        )
    diagnostics["divergences"] = float(diverging.sum())
    diagnostics["ebfmi"] = _smallest_ebfmi(energy)
    return diagnostics


def _unusable_values(value: Floats) -> npt.NDArray[np.bool_]:
    """Mark values, shape (...), with a constant chain or a draw that is not finite in draws, (chains, draws, ...)."""
    is_constant = (value == value[:, :1]).all(axis=1).any(axis=0)
    return np.asarray(is_constant | ~np.isfinite(value).all(axis=(0, 1)))


def _worst_parameter(statistic: Floats, parameter_names: npt.NDArray[np.str_]) -> tuple[float, str]:
    """Find the smallest statistic, and its parameter."""
    index = int(np.argmin(statistic))
    return float(statistic[index]), str(parameter_names[index])


def _smallest_ebfmi(energy: Floats) -> float:
    variance = energy.var(axis=1)
    if not (variance > 0).all():  # NaN too
        return 0.0
    return float(np.min(np.square(np.diff(energy, axis=1)).mean(axis=1) / variance))


def _import_arviz() -> Any:
    with warnings.catch_warnings():
        # ArviZ 0.23 announces its successor at its first import of each day
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
        import arviz
    return arviz


def to_arviz(
    groups: Mapping[str, Mapping[str, tuple[tuple[str, ...], Any]]],
    coords: Mapping[str, Sequence[Any]],
    attributes: Mapping[str, Any] | None = None,
    described: Callable[[str, str], Mapping[str, str]] = lambda group, name: {},
) -> Any:
    """Build an ArviZ container (``InferenceData`` in 0.23, ``DataTree`` in 1) of groups of named arrays.

    Parameters
    ----------
    groups : dict
        Variables of each group: names of dimensions without chain and draw, and values; in groups of draws values have
        shape (chains, draws, ...). Empty groups are left out.
    coords : dict
        Names of the levels of dimensions.
    attributes : dict, optional
        Attributes of every group.
    described : callable
        Function of a group and a variable that returns the variable's attributes.
    """
    import xarray as xr

    az = _import_arviz()
    level_names = dict(zip(dimension_names(coords), coords.values(), strict=True))
    datasets = {}
    for group, variables in groups.items():
        if not variables:
            continue
        lead = () if group.endswith("_data") else ("chain", "draw")
        arrays = {
            name: xr.Variable((*lead, *dimension_names(dims)), values, dict(described(group, name)))
            for name, (dims, values) in variables.items()
        }
        sizes = {str(dim): size for array in arrays.values() for dim, size in array.sizes.items()}
        levels = {dim: level_names.get(dim, range(size)) for dim, size in sizes.items()}
        datasets[group] = xr.Dataset(arrays, levels, dict(attributes or {}))
    # not by hasattr(az, "InferenceData"): ArviZ 1 answers to that name with a warning and another class
    if az.__version__.startswith("0."):
        return az.InferenceData(**datasets)
    return xr.DataTree.from_dict({f"/{group}": dataset for group, dataset in datasets.items()})


def summarise_draws(idata: Any, var_names: Sequence[str] | None, prob: float) -> Any:
    """Summarise a posterior by ArviZ, with intervals of probability ``prob``; columns depend on its version.

    Raises
    ------
    InputError
        A name is not a variable of the posterior.
    """
    az = _import_arviz()
    names = [str(name) for name in idata.posterior.data_vars]
    for name in var_names or ():
        if name not in names:
            raise InputError(
                f"variable {name!r} is not in the posterior{nearest_word(name, names)}; it has {', '.join(names)}"
            )
    width = {"hdi_prob": prob} if az.__version__.startswith("0.") else {"ci_prob": prob}
    return az.summary(idata, var_names=None if var_names is None else list(var_names), **width)


def worst_element(idata: Any) -> tuple[str, Floats, float]:
    """Find the single value with the largest R-hat: its name, its draws, shape (chains, draws), and that R-hat.

    Parameters
    ----------
    idata : ArviZ container
        Container by :func:`to_arviz`, with at least one parameter that is not constant.
    """
    az = _import_arviz()
    posterior = idata.posterior.dataset if hasattr(idata.posterior, "dataset") else idata.posterior
    rhat = az.rhat(posterior)
    worst: tuple[str, Any, float] = ("", None, -np.inf)
    for name in posterior.data_vars:
        rhat_array = np.asarray(rhat[name])
        if rhat_array.size == 0 or np.isnan(rhat_array).all():
            continue
        position = np.unravel_index(int(np.nanargmax(rhat_array)), rhat_array.shape)
        if float(rhat_array[position]) > worst[2]:
            values = posterior[name]
            dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
            levels = ", ".join(str(np.asarray(values.coords[d])[i]) for d, i in zip(dims, position, strict=True))
            title = f"{name}[{levels}]" if levels else str(name)
            worst = (title, np.moveaxis(np.asarray(values), (0, 1), (-2, -1))[position], float(rhat_array[position]))
    return worst


def psis_loo(log_likelihood: Floats, posterior: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Compute ArviZ's PSIS-LOO of each observation, and the Pareto shape of its weights, shape (observations,) each.

    Parameters
    ----------
    log_likelihood : array, shape (chains, draws, observations)
    posterior : dict of array, shape (chains, draws, ...)
        Draws from which the effective sample size is computed.
    """
    az = _import_arviz()
    groups = {"posterior": posterior, "log_likelihood": {"votes": log_likelihood}}
    # as in to_arviz
    is_old = az.__version__.startswith("0.")
    loo = az.loo(az.from_dict(**groups) if is_old else az.from_dict(groups), pointwise=True)
    return np.asarray(loo.loo_i if is_old else loo.elpd_i), np.asarray(loo.pareto_k)
