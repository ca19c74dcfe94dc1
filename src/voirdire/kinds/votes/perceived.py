"""Sums of terms that stand in votes beside strengths: of contexts, tastes, tie habits and further terms."""

from __future__ import annotations

from voirdire.kinds.votes.layout import VotesLayout
from voirdire.kinds.votes.vote_terms import vote_terms
from voirdire.model.added_terms import sum_of_terms
from voirdire.model.design import Term
from voirdire.model.family.two_coin_gradient import DIFFERENCE, TIE
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values

Part = dict[str, Array]
WORTH = ("strength", "general")  # of items, in the differences of their strengths


def pair_codes(part: Part) -> Part:
    """Parts of a table of pairs by what they are of: judge, criterion, first, second, and others that there are."""
    return {name.removeprefix("pair_"): of for name, of in part.items() if name.startswith("pair_")}


def difference_effects(density: VotesLayout, values: Values, part: Part) -> Array:
    """Effect of all terms beside strengths on the difference of each pair, shape (pairs,); 0 without any.

    Parameters
    ----------
    density : VotesLayout
    values : dict of array
    part : dict of array
        ``pair_criterion``, ``pair_first``, ``pair_second``, ``pair_context``, ``pair_judge``, shape (pairs,) each;
        and of further terms ``pair_...`` of each factor; ``pair_numbers``, shape (2, pairs, numbers).
    """
    terms = [term for term in _predictor_terms(density, values, DIFFERENCE) if term.name not in WORTH]
    about = pair_codes(part)
    one, other = about.pop("numbers", (None, None))
    first = sum_of_terms(terms, values, {**about, "item": about["first"]}, one)
    return first - sum_of_terms(terms, values, {**about, "item": about["second"]}, other)


def tie_habits(density: VotesLayout, values: Values, part: Part, judge: Array, pair: Array) -> Array:
    """Effect of contexts and items on log nu of each (judge, pair); 0 where they have no habits."""
    terms = [term for term in _predictor_terms(density, values, TIE) if {"context", "item"} & {*term.factors}]
    about = {name: of[pair] for name, of in pair_codes(part).items() if name != "numbers"} | {"judge": judge}
    total = sum_of_terms([term for term in terms if not term.has_item_columns], values, about, None)
    for side in ("first", "second"):
        of_items = [term for term in terms if term.has_item_columns]
        total = total + sum_of_terms(of_items, values, {**about, "item": about[side]}, None)
    return total


def mirror_values(density: VotesLayout, values: Values) -> Values:
    """Values that change sign with the strengths, with the opposite sign."""
    names = {"weight", *(term.name for term in _predictor_terms(density, values, DIFFERENCE))}
    return {name: -values[name] for name in names if name in values}


def _predictor_terms(density: VotesLayout, values: Values, predictor: int) -> list[Term]:
    """Terms of a predictor that there are values of."""
    return [term for term in vote_terms(density) if term.predictor == predictor and term.name in values]
