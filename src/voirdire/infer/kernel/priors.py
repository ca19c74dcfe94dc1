"""Priors of latent values in the format of the kernel, and their log density at points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.infer.kernel.library import Structure, call_by_blocks, pack_points
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class Priors:
    """Priors of the latent values of a model and of the logarithms of spreads and means.

    Parameters
    ----------
    model : LatentGaussianModel
    """

    model: LatentGaussianModel

    @cached_property
    def structure(self) -> Structure:
        """Model in the format of the kernel."""
        model = self.model
        priors = model.group_priors(np.zeros(len(model.hypers)))
        rates, middle, sd = model.hyper_numbers
        division = model.division
        part = np.zeros(0, np.int32) if division is None else division.places.astype(np.int32)
        constant = model.hyper_constant - 0.5 * math.log(2.0 * math.pi) * model.size
        numbers = {"held": 0.0, "others": 0.0, "beyond": 0.0, "constant": constant}
        if division is not None:
            count = len(part) + len(division.fixed_logs)
            numbers["held"] = float(np.exp(division.fixed_logs).sum())
            numbers["others"], numbers["beyond"] = count - 1.0, float(division.prior.beyond(count))
            numbers["constant"] += division.prior.division_constant(count)
        return Structure(
            groups=len(model.groups),
            hypers=len(model.hypers),
            parts=len(part),
            edge=np.cumsum([0, *model.sizes]).astype(np.int32),
            spread_at=priors.spread_at.astype(np.int32),
            mean_at=priors.mean_at.astype(np.int32),
            log_spread=np.ascontiguousarray(priors.log_spread),
            mean=np.ascontiguousarray(priors.mean),
            reversed=np.array([group.reversed for group in model.groups]),
            rate=np.ascontiguousarray(rates),
            middle=np.ascontiguousarray(middle),
            sd=np.ascontiguousarray(sd),
            part=part,
            **numbers,
        )

    def log_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Compute the log density, (points,), of latent values, (points, size), and logarithms, (points, hypers)."""
        packed, packed_hyper = pack_points(x), pack_points(hyper)
        value = np.empty((len(packed), packed.shape[2]))
        arrays = (packed_hyper, packed, value)
        call_by_blocks("voirdire_log_prior", (self.structure.address,), (), arrays, self.model.size)
        return value.ravel()[: len(x)]
