"""Sizes of a table of votes that its density needs.

Sums of terms that stand in votes beside strengths: of contexts, tastes, tie habits and further terms.

Terms of models of votes: which latent values the predictors of a vote are the sums of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voirdire.model.density import LogDensity
from voirdire.model.design import Term
from voirdire.model.family.two_coin_gradient import DIFFERENCE, FIRST, SECOND, TIE
from voirdire.model.panel_density import sum_of_terms
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values


@dataclass(frozen=True)
class VotesLayout(LogDensity):
    """Sizes and structure of its table that a density of votes knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
        Numbers of levels (``criteria`` is 1 where the model collapses them).
    ties : bool
        Whether the table has ties; without them the tie term is left out.
    anchors : bool
        Whether there are human answers, with a coin of their own.
    contexts : int
        Number of contexts, 0 where the model or the table has none.
    tastes : bool
        Whether judges have tastes: the model has, and they were asked of an item under several criteria.
    over : str
        Whether scores are over contexts like those of the table ("new") or over these alone ("these").
    added : tuple of Term
        Terms beside those of the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each factor of these that is none of the others.
    compared : float
        Votes on an item under a criterion, on average, where the unit of its strength is made for them.
    repeated : bool
        Whether judges vote in one context often enough that the habits that each has there can be told.
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
        """Names of the coin of a judge that is right of the first item and of that of the second, where it has any."""
        names = {parameter.name for parameter in self.parameters}
        pairs = (("coin_first", "coin_second"), ("reliability", "reliability"))
        return next((pair for pair in pairs if names.issuperset(pair)), ())


DISCRIMINATION_NAMES = "log_discrimination", "shift"  # of judges without coins, in the place of these
NO_VALUES = ""  # the name of no values
#: What votes on items have and votes on criteria have not.
_ITEM_VOTE_TERMS = (
    "strength", "general", "context_strength", "taste", "tie_context", "tie_judge_context", "tie_item",
)  # fmt: skip
#: What people's votes share with judges'.
_PEOPLE_TERMS = ("strength", "general", "context_strength", "tie")


def vote_terms(density: VotesLayout) -> list[Term]:
    """Terms of judges' votes on items.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False)
    >>> [term.name for term in vote_terms(density)][-8:-5]
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
        Term("log_vote_scale", (), FIRST),
        *density.added,
    ]


def criteria_terms(density: VotesLayout) -> list[Term]:
    """Terms of votes on criteria, in the same columns: weights are in the place of strengths."""
    absent = {*_ITEM_VOTE_TERMS, *(term.name for term in density.added)}
    terms = [_without_values(term) if term.name in absent else term for term in vote_terms(density)]
    return [Term("weight", ("item",), DIFFERENCE), *terms[1:]]


def people_terms(density: VotesLayout, *, one_coin: bool) -> list[Term]:
    """Terms of people's votes, in the same columns.

    Parameters
    ----------
    density : VotesLayout
    one_coin : bool
        Whether they are apart, as of a family with one coin.
    """
    terms = [term if term.name in _PEOPLE_TERMS else _without_values(term) for term in vote_terms(density)]
    terms[4:6] = [Term("anchor", (), FIRST), Term(NO_VALUES if one_coin else "anchor", (), SECOND)]
    return terms


def _without_values(term: Term) -> Term:
    """A term of the same columns without values."""
    return term._replace(name=NO_VALUES)


Part = dict[str, Array]
STRENGTH_TERMS = ("strength", "general")  # of items, in the differences of their strengths


def pair_codes(part: Part) -> Part:
    """Parts of a table of pairs by what they are of: judge, criterion, first, second, and others that there are."""
    return {name.removeprefix("pair_"): codes for name, codes in part.items() if name.startswith("pair_")}


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
    terms = [
        term for term in _predictor_terms(density, values, DIFFERENCE) if term.name not in STRENGTH_TERMS
    ]
    about = pair_codes(part)
    first_numbers, second_numbers = about.pop("numbers", (None, None))
    first = sum_of_terms(terms, values, {**about, "item": about["first"]}, first_numbers)
    return first - sum_of_terms(terms, values, {**about, "item": about["second"]}, second_numbers)


def tie_propensity_effects(
    density: VotesLayout, values: Values, part: Part, judge: Array, pair: Array
) -> Array:
    """Effect of contexts and items on log nu of each (judge, pair); 0 where they have no habits."""
    terms = [term for term in _predictor_terms(density, values, TIE) if {"context", "item"} & {*term.factors}]
    about = {name: codes[pair] for name, codes in pair_codes(part).items() if name != "numbers"} | {
        "judge": judge
    }
    total = sum_of_terms([term for term in terms if not term.has_item_columns], values, about, None)
    for side in ("first", "second"):
        item_terms = [term for term in terms if term.has_item_columns]
        total = total + sum_of_terms(item_terms, values, {**about, "item": about[side]}, None)
    return total


def mirror_values(density: VotesLayout, values: Values) -> Values:
    """Values that change sign with the strengths, with the opposite sign."""
    names = {"weight", *(term.name for term in _predictor_terms(density, values, DIFFERENCE))}
    return {name: -values[name] for name in names if name in values}


def _predictor_terms(density: VotesLayout, values: Values, predictor: int) -> list[Term]:
    """Terms of a predictor that there are values of."""
    return [term for term in vote_terms(density) if term.predictor == predictor and term.name in values]
