"""Sums of terms that stand in votes beside strengths: of contexts, tastes, tie habits and further terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voirdire.model.added_terms import contribution
from voirdire.model.design import Term
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values

Part = dict[str, Array]
CHANGING = ("context_strength", "taste")  # sign with the strengths


def about_of(part: Part) -> Part:
    """Parts of a table of pairs by what they are of: judge, criterion, first, second, and others that there are."""
    return {name.removeprefix("pair_"): of for name, of in part.items() if name.startswith("pair_")}


def perceived(values: Values, part: Part, added: Sequence[Term]) -> Array:
    """Effect of contexts, tastes and further terms on the difference of each pair, shape (pairs,); 0 without any.

    Parameters
    ----------
    values : dict of array
    part : dict of array
        ``pair_criterion``, ``pair_first``, ``pair_second``, ``pair_context``, ``pair_judge``, shape (pairs,) each;
        and of further terms ``pair_...`` of each factor; ``pair_numbers``, shape (2, pairs, numbers).
    added : sequence of Term
    """
    total: Any = 0.0
    first, second = part["pair_first"], part["pair_second"]
    if added:
        about = about_of(part)
        one, other = about.pop("numbers", (None, None))
        total = contribution(added, values, {**about, "item": first}, one)
        total = total - contribution(added, values, {**about, "item": second}, other)
    if "context_strength" in values:
        criterion, context = part["pair_criterion"], part["pair_context"]
        u = values["context_strength"]
        total = total + u[..., criterion, first, context] - u[..., criterion, second, context]
    if "taste" in values:
        judge = part["pair_judge"]
        total = total + values["taste"][..., judge, first] - values["taste"][..., judge, second]
    return total


def tie_habits(values: Values, part: Part, judge: Array, pair: Array) -> Array:
    """Effect of contexts and items on log nu of each (judge, pair); 0 where they have no habits."""
    if "tie_context" not in values:
        return 0.0
    context = part["pair_context"][pair]
    by_context = values["tie_context"][..., context] + values["tie_judge_context"][..., judge, context]
    return (
        by_context
        + values["tie_item"][..., part["pair_first"][pair]]
        + values["tie_item"][..., part["pair_second"][pair]]
    )


def mirrored(values: Values) -> Values:
    """Values that change sign with the strengths, with the opposite sign."""
    changed: dict[str, Any] = {name: -values[name] for name in CHANGING if name in values}
    return changed
