"""Effects of contexts (prompts), tastes and further terms on strengths and tie habits.

Item i is worth theta_c,i over all contexts, theta_c,i + u_c,i,x in context x, and to judge k v_k,i more, under whatever
criterion (its taste, or halo). In log-odds; u ~ Normal(0, s_context), v ~ Normal(0, s_taste), both spreads learned.
"""

from __future__ import annotations

from typing import ClassVar

from voirdire.model.terms.parameters import Parameter, spread_parameters
from voirdire.model.terms.term import Term


class ItemContext(Term):
    """u_c,i,x ~ Normal(0, s_context): what an item is worth more in a context; s_context ~ Exponential(rate).

    Only differences within a context enter the likelihood; the prior fixes the rest.

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
    """v_k,i ~ Normal(0, s_taste), s_taste ~ Exponential(rate): what an item is worth more to a judge, by any criterion.

    Without it an opinion of an item counts once for each context and criterion that it was asked under.

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
    """As :class:`JudgeTaste`, each judge with a spread of its own: v_k,i ~ Normal(0, s_k), s_k ~ Exponential(rate).

    A judge of strong tastes counts for less in what items are worth, as a noisy one does.

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
    """b_c,i ~ Normal(0, s_panel): what an item is worth more to all judges than to people; s_panel ~ Exponential(rate).

    Told by the rankings of people, who rank items by what these are worth; without such rankings there is no b.

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
    """u_f,i ~ Normal(0, s_f): what all judges of family f make of item i, by any criterion; s_f ~ Exponential(rate).

    In log-odds. Judges of a family are one witness as far as u goes: the more they share, the less a further one adds.
    u is told from what items are worth by judges of other families alone, so no family may be of all judges.

    Examples
    --------
    >>> [p.name for p in FamilyItem().parameters({"rate": 1.0})]
    ['family_item', 'log_family_spread']
    """

    kind: ClassVar[str] = "family-item"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``family_item``, shape (family, item), and ``log_family_spread``, shape (family,)."""
        return spread_parameters(
            "family_item", ("family", "item"), "log_family_spread", prior["rate"], rows=1
        )


def tie_habit_parameters(rates: dict[str, float], *, within: bool) -> tuple[Parameter, ...]:
    """Tie habits of contexts, of judges in them and of items, with their spreads; see :class:`.DavidsonByContext`.

    Of judges in contexts only if ``within``: where each votes about once in a context, what is a habit and what chance
    cannot be told.
    """
    parameters: list[Parameter] = []
    for dims in (("context",), ("judge", "context"), ("item",)):
        if len(dims) == 1 or within:
            name = "_".join(("tie", *dims))
            parameters += spread_parameters(name, dims, f"log_{name}_spread", rates[f"{'_'.join(dims)}_rate"])
    return tuple(parameters)
