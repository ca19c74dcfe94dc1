"""Diagnostics of draws (R-hat, effective sample sizes), and an adapter for versions 0.23 and 1 of ArviZ.

R-hat and effective sample sizes of draws of several chains (Vehtari et al. 2021, Bayesian Analysis 16).

Chains are split in halves, and draws are replaced by the normal scores of their ranks,
Phi^-1((rank - 3/8) / (S + 1/4)). With n draws a chain, W the mean of the variances within chains and B n times the
variance of the chains' means, R-hat is sqrt((n - 1) / n + B / (n W)), the larger one for the draws and for their
distances from the median. The effective sample size is S / tau, tau = -1 + 2 sum_t rho_t, where rho_t is the
autocorrelation by the variances within and between chains. Pairs of rho_t are summed while they are positive, and made
to decrease (Geyer 1992, Statistical Science 7).
"bulk" is for the ranks, and "tail" the smaller one for the events to be below the 5% and the 95% quantile.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.model.density import LogDensity
from voirdire.model.natural_scales import dimension_names
from voirdire.settings import nearest_word
from voirdire.typing import Bools, Floats

TAIL_QUANTILES = (0.05, 0.95)
BATCH_SIZE = 2_000_000  # numbers that are processed at once


class Convergence(NamedTuple):
    """Diagnostics of each value, shape (values,)."""

    rhat: Floats
    ess_bulk: Floats
    ess_tail: Floats


def convergence_diagnostics(draws: Floats, *, tails: bool = True) -> Convergence:
    """Compute diagnostics of draws, shape (chains, draws, values), with at least four draws a chain.

    Without ``tails`` the tail effective sample size is NaN.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = convergence_diagnostics(rng.normal(size=(4, 500, 1)) + np.array([0.0, 0.0, 0.0, 3.0])[:, None, None])
    >>> bool(found.rhat[0] > 1.2), bool(found.ess_bulk[0] < 10)
    (True, True)
    """
    chains, length, values = draws.shape
    step = max(1, BATCH_SIZE // max(chains * length, 1))
    parts = [
        _diagnose_values(np.ascontiguousarray(np.moveaxis(draws[:, :, start : start + step], 2, 0)), tails)
        for start in range(0, values, step)
    ]
    return Convergence(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _diagnose_values(draws: Floats, tails: bool) -> Convergence:
    """Compute :func:`convergence_diagnostics` for draws of shape (values, chains, draws), as in all functions below."""
    halves = _split_chains(draws)
    scores = _normal_scores(halves)
    distance_scores = _normal_scores(np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True)))
    ess_tail = np.full(len(draws), np.nan)
    if tails:
        quantiles = np.quantile(draws, TAIL_QUANTILES, axis=(1, 2), keepdims=True)
        low, high = (_effective_size(_split_chains((draws <= quantile).astype(float))) for quantile in quantiles)
        ess_tail = np.minimum(low, high)
    # equal distances have no R-hat
    return Convergence(
        np.fmax(_rhat_statistic(scores), _rhat_statistic(distance_scores)), _effective_size(scores), ess_tail
    )


def _split_chains(draws: Floats) -> Floats:
    """Split chains into first and last halves; the middle one of an odd number of draws is left out."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :half], draws[:, :, -half:]], axis=1)


def _normal_scores(draws: Floats) -> Floats:
    """Compute normal scores of the ranks of all draws of a value; equal draws have the mean of their ranks."""
    from scipy.special import ndtri

    flat = draws.reshape(len(draws), -1)
    size = flat.shape[1]
    by_rank = ndtri((np.arange(1.0, size + 1.0) - 0.375) / (size + 0.25))
    order = flat.argsort(axis=1)
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, np.broadcast_to(by_rank, flat.shape), axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        _, group, times = np.unique(flat[row], return_inverse=True, return_counts=True)
        rank = np.cumsum(times) - 0.5 * (times - 1)
        scores[row] = ndtri((rank - 0.375) / (size + 0.25))[group]
    return np.asarray(scores.reshape(draws.shape))


def _rhat_statistic(draws: Floats) -> Floats:
    length = draws.shape[2]
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    between = draws.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((length - 1.0) / length + between / within))


def _effective_size(draws: Floats) -> Floats:
    """Compute the effective sample size of each value, at most the number of draws times its logarithm to base ten.

    For a constant value it is the number of draws.
    """
    _, chains, length = draws.shape
    size = chains * length
    covariance = _mean_autocovariance(draws)
    within = covariance[:, :1] * length / (length - 1.0)
    total = covariance[:, :1] + draws.mean(axis=2).var(axis=1, ddof=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[:, 0] = 1.0
    pairs = rho[:, : 2 + 2 * max((length - 3) // 2, 0)].reshape(len(rho), -1, 2)
    sums = pairs.sum(axis=2)
    running = np.logical_and.accumulate(sums > 0.0, axis=1)
    running[:, -1] = False
    falling = np.minimum.accumulate(np.where(running, sums, np.inf), axis=1)
    following = pairs[np.arange(len(rho)), running.sum(axis=1), 0]
    tau = -1.0 + 2.0 * np.where(running, falling, 0.0).sum(axis=1) + np.maximum(following, 0.0)
    is_constant: Bools = np.ptp(draws, axis=(1, 2)) == 0
    return np.asarray(np.where(is_constant, size, size / np.maximum(tau, 1.0 / np.log10(size))))


def _mean_autocovariance(draws: Floats) -> Floats:
    """Compute the autocovariance at every lag, averaged over chains, shape (values, draws)."""
    length = draws.shape[2]
    centred = draws - draws.mean(axis=2, keepdims=True)
    padded = 1 << int(2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, padded, axis=1)[:, :length] / length)


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
