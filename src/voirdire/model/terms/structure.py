"""Effects of contexts (prompts), tastes and further terms, and spreads that are parts of one scale.

Item i has the value theta_c,i over all contexts, theta_c,i + u_c,i,x in context x, and for judge k v_k,i more, under
any criterion (its taste, or halo). In log-odds; u ~ Normal(0, s_context), v ~ Normal(0, s_taste), both spreads learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogExponential, Parameter, spread_parameters
from voirdire.model.terms.term import Term
from voirdire.typing import Floats


@dataclass(frozen=True)
class LogDivided(LogExponential):
    """Prior of a standard deviation and n - 1 others that makes their common scale Exponential(``rate``).

    With T the sum of all n, M = sqrt(2) T / n ~ Exponential(rate), and the shares of T are uniformly distributed on the
    simplex: T and the shares are independent, and the joint density is a exp(-a T) (n - 1)! / T^(n - 1), a = sqrt(2)
    rate / n. The ``others`` have :class:`LogExponential` priors of the same rate, and so does this parameter's own
    density; :meth:`log_division` converts their product to the joint prior.

    If the n were independent, T would be Gamma(n): with more parts the prior of the common scale would be more
    concentrated, although votes contain little information on it. For n = 2 equal parts s, M is
    sqrt(2) s, the standard deviation of the sum of both effects.

    Attributes
    ----------
    others : str
        Name of the parameter with the logarithms of the others, shape (..., n - 1).

    Examples
    --------
    >>> import numpy as np
    >>> prior = LogDivided(rate=0.3, others="log_spread")
    >>> logs = np.log([1.0, 2.0])
    >>> joint = LogExponential(0.3).log_density(logs, np).sum() + prior.log_division(logs, 2, np).sum()
    >>> rate = prior.rate_of_sum(2)
    >>> bool(np.isclose(joint, np.log(rate) - 3.0 * rate - np.log(3.0) + logs.sum()))
    True
    """

    words: ClassVar[str] = (
        "log divided Exponential(rate): with T the sum of exp(x) of this and the others, n in all, a = sqrt(2) rate / "
        "n, the joint density of all n is log a - a T + log (n - 1)! - (n - 1) log T + the sum of all x, which takes "
        "the place of log rate + x - rate exp(x) of each"
    )

    others: str

    def __str__(self) -> str:
        return f"log divided Exponential({self.rate:g}) with {self.others}"

    def log_division(self, logs: Array, n: int, xp: Any) -> Array:
        """Log joint density minus that of independent exponential priors, in shares; only their sum is meaningful.

        Parameters
        ----------
        logs : array, shape (..., n)
            Logarithms of all n standard deviations.
        n : int

        Returns
        -------
        array, shape (..., n)
        """
        highest = logs.max(axis=-1)[..., None]
        log_sum = highest + xp.log(xp.exp(logs - highest).sum(axis=-1))[..., None]
        return (self.division_constant(n) - (n - 1) * log_sum) / n + self.beyond(n) * xp.exp(logs)

    def division_constant(self, n: int) -> float:
        """Constant of :meth:`log_division` summed over n parts, beside (1 - n) log T + beyond T, T their sum."""
        return math.log(self.rate_of_sum(n)) - n * math.log(self.rate) + math.lgamma(n)

    def beyond(self, n: int) -> float:
        """Coefficient of T in :meth:`log_division` summed over all n parts."""
        return self.rate - self.rate_of_sum(n)

    def slope(self, logs: Floats) -> Floats:
        """Slope of :meth:`log_division` by each logarithm, shape (..., n)."""
        n, spreads = logs.shape[-1], np.exp(logs)
        by_sum = self.beyond(n) - (n - 1) / spreads.sum(axis=-1)
        return np.asarray(spreads * by_sum[..., None])

    def rate_of_sum(self, n: int) -> float:
        """Rate of the exponential distribution of the sum of all n standard deviations."""
        return math.sqrt(2.0) * self.rate / n


class ItemContext(Term):
    """u_c,i,x ~ Normal(0, s_context): an item's additional value in a context; s_context ~ Exponential(rate).

    Only differences within a context enter the likelihood; the prior determines the rest.

    Examples
    --------
    >>> [p.name for p in ItemContext().parameters({"rate": 1.0})]
    ['context_strength', 'log_context_spread']
    """

    kind: ClassVar[str] = "item-context"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``context_strength``, shape (criterion, item, context), and ``log_context_spread``."""
        dims = ("criterion", "item", "context")
        return spread_parameters("context_strength", dims, "log_context_spread", prior["rate"])


class JudgeTaste(Term):
    """v_k,i ~ Normal(0, s_taste), s_taste ~ Exponential(rate): an item's additional value for a judge, any criterion.

    Without it a judge's opinion of an item counts once for each context and criterion.

    Examples
    --------
    >>> [p.name for p in JudgeTaste().parameters({"rate": 1.0})]
    ['taste', 'log_taste_spread']
    """

    kind: ClassVar[str] = "judge-item"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``taste``, shape (judge, item), and ``log_taste_spread``."""
        return spread_parameters("taste", ("judge", "item"), "log_taste_spread", prior["rate"])


class JudgeTasteEach(JudgeTaste):
    """As :class:`JudgeTaste`, with a separate spread of each judge: v_k,i ~ Normal(0, s_k), s_k ~ Exponential(rate).

    A judge with strong tastes has less weight in the items' values, like a noisy one.

    Examples
    --------
    >>> [p.dims for p in JudgeTasteEach().parameters({"rate": 6.0})]
    [('judge', 'item'), ('judge',)]
    """

    kind: ClassVar[str] = "judge-item-each"

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``taste``, shape (judge, item), and ``log_taste_spread``, shape (judge,)."""
        return spread_parameters("taste", ("judge", "item"), "log_taste_spread", prior["rate"], rows=1)


class PanelError(Term):
    """b_c,i ~ Normal(0, s_panel): an item's additional value for all judges, not people; s_panel ~ Exponential(rate).

    People's rankings, which follow the value without b, identify it; without such rankings there is no b.

    Examples
    --------
    >>> [p.name for p in PanelError().parameters({"rate": 1.0})]
    ['panel_error', 'log_panel_error_spread']
    """

    kind: ClassVar[str] = "panel-error"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``panel_error``, shape (panel, criterion, item) of one panel, and ``log_panel_error_spread``."""
        dims = ("panel", "criterion", "item")
        return spread_parameters("panel_error", dims, "log_panel_error_spread", prior["rate"])


class FamilyItem(Term):
    """u_f,i ~ Normal(0, s_f): the view of item i by all judges of family f, by any criterion; s_f ~ Exponential(rate).

    In log-odds. Judges of a family share u as one witness: the larger u, the less information another member adds.
    Only judges of other families separate u from the items' values, so that no family may contain all judges.

    Examples
    --------
    >>> [p.name for p in FamilyItem().parameters({"rate": 1.0})]
    ['family_item', 'log_family_spread']
    """

    kind: ClassVar[str] = "family-item"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``family_item``, shape (family, item), and ``log_family_spread``, shape (family,)."""
        return spread_parameters("family_item", ("family", "item"), "log_family_spread", prior["rate"], rows=1)


def tie_habit_parameters(rates: dict[str, float], *, within: bool) -> tuple[Parameter, ...]:
    """Tie habits of contexts, of judges in contexts and of items, with their spreads; see :class:`.DavidsonByContext`.

    Those of judges in contexts only if ``within``: where each judge votes about once in a context, a habit cannot be
    separated from chance.
    """
    parameters: list[Parameter] = []
    for dims in (("context",), ("judge", "context"), ("item",)):
        if len(dims) == 1 or within:
            name = "_".join(("tie", *dims))
            parameters += spread_parameters(name, dims, f"log_{name}_spread", rates[f"{'_'.join(dims)}_rate"])
    return tuple(parameters)
