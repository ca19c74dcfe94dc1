"""Effects on answers on an ordered scale other than items: slopes, severities and cutpoints, as functions of g.

g are all parameters except items' strengths. Answers and the prior of items depend on g only through the effects h(g):
slopes a_k u_c (u_c the unit of strengths), severities, cutpoints, and the logarithm of units over spreads. Derivatives
come from automatic differentiation (:mod:`voirdire.infer.autodiff`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.hessian import HessianProducts
from voirdire.kinds.scores import ordinal
from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.density import Data
from voirdire.model.terms.parameters import Normal, Spread
from voirdire.model.terms.raters import judge_discriminations
from voirdire.model.terms.reliability import Values
from voirdire.model.terms.severity import total_severity
from voirdire.typing import Floats


class JudgeEffects:
    """The map from g to h of one table.

    Attributes
    ----------
    small : ScoresLayout
        The density of a table of one item; its flat vector is g.
    size : int
        Length of g.
    """

    def __init__(self, density: ScoresLayout, data: Data) -> None:
        self.small = replace(density, items=1)
        self.size = self.small.size
        self.group = np.asarray(data["panel"]["group"])
        self._strength = next(p for p in density.parameters if p.name == "strength")

    def to_effects(self, g: Any, xp: Any = np) -> Any:
        """Compute h, shape (effects + criteria,): slopes, severities, cutpoints, then logs of units over spreads."""
        small = self.small
        values = small.values(g, xp)
        slope = judge_discriminations(values, xp)
        if slope is None:
            slope = 1.0 + 0.0 * values["severity"]
        unit, ratio = self.unit(values, xp)
        slopes = (slope[:, None] * unit[None, :]).reshape(-1)
        cuts = ordinal.judge_cutpoints(small, values, xp).reshape(-1)
        return xp.concatenate([slopes, total_severity(values, self.group), cuts, ratio], axis=-1)

    def unit(self, values: Values, xp: Any = np) -> tuple[Any, Any]:
        """The unit of strengths, and the logarithm of unit over spread, shape (criteria,) each."""
        prior = self._strength.prior
        if isinstance(prior, Spread):
            log_unit, log_ratio = self.small.log_unit(self._strength, values, xp)
            return xp.exp(log_unit[..., 0]), log_ratio[..., 0]
        assert isinstance(prior, Normal)  # no other strengths are on a scale of levels
        unit = 1.0 + 0.0 * values["cut_location"]
        return unit, 0.0 * unit - math.log(prior.sd)

    def prior_and_gradient(self, g: Floats, by_h: Floats) -> tuple[float, Floats]:
        """Minus the log prior of g, and the gradient by g of that plus a function of h with gradient ``by_h``."""
        with np.errstate(all="ignore"):
            _, gradient = autodiff.value_and_gradient(lambda vector: self._with(vector, by_h, []), g)
            return -float(self.small.log_prior(g, np)), gradient

    def effect_derivatives(self, g: Floats, by_h: Floats) -> EffectDerivatives:
        """Second derivatives of minus the log prior plus h times ``by_h``, and first derivatives of h."""
        return EffectDerivatives(self, g, by_h)

    def _with(self, g: Any, by_h: Floats, kept: list[Any]) -> Any:
        xp: Any = autodiff.TAPE_NUMPY
        kept.append(self.to_effects(g, xp))
        return (kept[0] * by_h).sum() - self.small.log_prior(g, xp)


class EffectDerivatives:
    """Derivatives of h and of the prior at one point; see :meth:`JudgeEffects.effect_derivatives`."""

    def __init__(self, effects: JudgeEffects, g: Floats, by_h: Floats) -> None:
        kept: list[Any] = []
        with np.errstate(all="ignore"):
            self._tape = HessianProducts(lambda vector: effects._with(vector, by_h, kept), g)
        self._h = kept[0]

    def ahead(self, g: Floats) -> Floats:
        """Change of h with a change of g."""
        self._tape.ahead(g)
        return self._tape.change_of(self._h)

    def back(self, by_h: Floats | None = None) -> Floats:
        """Second derivatives times the change of :meth:`ahead`, plus the gradient by g of h times ``by_h``."""
        return self._tape.back(self._h, by_h)
