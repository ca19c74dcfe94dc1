"""Sizes of a table of votes, and terms of the predictors of votes.

Terms are of strengths, contexts, tastes, coins, tie habits and further columns; a predictor is a sum of terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voirdire.model.density import LogDensity
from voirdire.model.design import Term
from voirdire.model.family.two_coin import DIFFERENCE, FIRST, SECOND, TIE, TIE_SCALE
from voirdire.model.panel_density import sum_of_terms
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.term import Values


@dataclass(frozen=True)
class VotesLayout(LogDensity):
    """Sizes and structure of the table for a density of votes.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
        Numbers of levels (``criteria`` is 1 if the model collapses them).
    ties : bool
        Whether the table has ties; else the tie term is left out.
    anchors : bool
        Whether there are human answers, with a coin of their own.
    contexts : int
        Number of contexts, 0 if the model or the table has none.
    tastes : bool
        Whether judges have tastes: the model has them, and an item was compared under several criteria.
    over : str
        Contexts of scores: those like the contexts of the table ("new"), or these alone ("these").
    added : tuple of Term
        Terms beside those of the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each further factor of the added terms.
    compared : float
        Mean number of votes on an item under a criterion, for the unit of strengths in models with scores; else 0.
    repeated : bool
        Whether judges vote often enough in one context to identify their habits there.
    """

    ties: bool
    anchors: bool = False
    contexts: int = 0
    tastes: bool = False
    over: str = "new"
    added: tuple[Term, ...] = ()
    added_levels: tuple[tuple[str, int], ...] = ()
    compared: float = 0.0
    repeated: bool = True

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        sizes = {"judge": self.judges, "criterion": self.criteria, "item": self.items}
        return dict(self.added_levels) | sizes | ({"context": self.contexts} if self.contexts else {})

    @cached_property
    def coin_names(self) -> tuple[str, ...]:
        """Names of a judge's coins for the first and for the second item; empty for models without coins."""
        names = {parameter.name for parameter in self.parameters}
        pairs = (("coin_first", "coin_second"), ("reliability", "reliability"))
        return next((pair for pair in pairs if names.issuperset(pair)), ())

    @cached_property
    def has_tie_scale(self) -> bool:
        """True if a parameter says how fast ties become rare between items far apart."""
        return any(parameter.name == "log_tie_scale" for parameter in self.parameters)


DISCRIMINATION_NAMES = "log_discrimination", "shift"  # parameters of judges without coins
NO_VALUES = ""  # name of a term without values
#: Terms of votes on items that votes on criteria do not have.
_ITEM_VOTE_TERMS = (
    "strength", "general", "context_strength", "taste", "tie_context", "tie_judge_context", "tie_item",
)  # fmt: skip
#: Terms that people's votes share with judges' votes.
_PEOPLE_TERMS = ("strength", "general", "context_strength", "tie", "log_tie_scale")


def vote_terms(density: VotesLayout) -> list[Term]:
    """List the terms of judges' votes on items.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False)
    >>> [term.name for term in vote_terms(density)][-9:-6]
    ['reliability', 'reliability', 'tie']
    """
    first, second = density.coin_names or DISCRIMINATION_NAMES
    return [
        Term("strength", ("criterion", "item"), DIFFERENCE),
        Term("general", ("item",), DIFFERENCE),
        Term("context_strength", ("criterion", "item", "context"), DIFFERENCE),
        Term("taste", ("judge", "item"), DIFFERENCE),
        Term(first, ("judge",), FIRST),
        Term(second, ("judge",), SECOND),
        Term("tie", (), TIE),
        Term("tie_judge", ("judge",), TIE),
        Term("tie_context", ("context",), TIE),
        Term("tie_judge_context", ("judge", "context"), TIE),
        Term("tie_item", ("item",), TIE, contrast=False),
        Term("log_tie_scale", (), TIE_SCALE),
        Term("log_vote_scale", (), FIRST),
        *density.added,
    ]


def criteria_terms(density: VotesLayout) -> list[Term]:
    """List the terms of votes on criteria, in the same columns: weights replace strengths."""
    absent = {*_ITEM_VOTE_TERMS, *(term.name for term in density.added)}
    terms = [_without_values(term) if term.name in absent else term for term in vote_terms(density)]
    return [Term("weight", ("item",), DIFFERENCE), *terms[1:]]


def people_terms(density: VotesLayout, *, one_coin: bool) -> list[Term]:
    """List the terms of people's votes, in the same columns.

    Parameters
    ----------
    density : VotesLayout
    one_coin : bool
        Whether people's votes are a family of their own, with one coin.
    """
    terms = [term if term.name in _PEOPLE_TERMS else _without_values(term) for term in vote_terms(density)]
    terms[4:6] = [Term("anchor", (), FIRST), Term(NO_VALUES if one_coin else "anchor", (), SECOND)]
    return terms


def _without_values(term: Term) -> Term:
    """Make a term with the same columns and without values."""
    return term._replace(name=NO_VALUES)


Part = dict[str, Array]
STRENGTH_TERMS = ("strength", "general")  # terms of the strengths of items


def pair_codes(part: Part) -> Part:
    """Select the codes of pairs by factor: judge, criterion, first, second, and further factors, if any."""
    return {name.removeprefix("pair_"): codes for name, codes in part.items() if name.startswith("pair_")}


def difference_effects(density: VotesLayout, values: Values, part: Part) -> Array:
    """Sum the effects of all terms but strengths on the difference of each pair, shape (pairs,); 0 without any.

    Effects of position are added for the first item; other effects are those of the first minus those of the second.

    Parameters
    ----------
    density : VotesLayout
    values : dict of array
    part : dict of array
        ``pair_criterion``, ``pair_first``, ``pair_second``, ``pair_context``, ``pair_judge``, shape (pairs,) each; for
        further terms ``pair_...`` of each factor, and ``pair_numbers``, shape (2, pairs, numbers).
    """
    terms = [term for term in _predictor_terms(density, values, DIFFERENCE) if term.name not in STRENGTH_TERMS]
    about = pair_codes(part)
    first_numbers, second_numbers = about.pop("numbers", (None, None))
    of_position = [term for term in terms if not term.contrast]
    total = sum_of_terms([term for term in of_position if not term.has_item_columns], values, about, None)
    item_terms, contrasts = ([t for t in of_position if t.has_item_columns], [t for t in terms if t.contrast])
    for side, sign, numbers in (("first", 1.0, first_numbers), ("second", -1.0, second_numbers)):
        about_side = {**about, "item": about[side]}
        total = total + sum_of_terms(item_terms, values, about_side, None)
        total = total + sign * sum_of_terms(contrasts, values, about_side, numbers)
    return total


def tie_propensity_effects(density: VotesLayout, values: Values, part: Part, judge: Array, pair: Array) -> Array:
    """Sum the effects of contexts and items on log nu of each (judge, pair); 0 without tie habits."""
    terms = [term for term in _predictor_terms(density, values, TIE) if {"context", "item"} & {*term.factors}]
    about = {name: codes[pair] for name, codes in pair_codes(part).items() if name != "numbers"} | {"judge": judge}
    total = sum_of_terms([term for term in terms if not term.has_item_columns], values, about, None)
    for side in ("first", "second"):
        item_terms = [term for term in terms if term.has_item_columns]
        total = total + sum_of_terms(item_terms, values, {**about, "item": about[side]}, None)
    return total


def mirror_values(density: VotesLayout, values: Values) -> Values:
    """Reverse the sign of all values that change sign with the strengths."""
    names = {"weight", *(term.name for term in _predictor_terms(density, values, DIFFERENCE))}
    return {name: -values[name] for name in names if name in values}


def _predictor_terms(density: VotesLayout, values: Values, predictor: int) -> list[Term]:
    """List the terms of a predictor that have values."""
    return [term for term in vote_terms(density) if term.predictor == predictor and term.name in values]
