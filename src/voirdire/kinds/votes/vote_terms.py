"""Terms of models of votes: which latent values the predictors of a vote are the sums of."""

from __future__ import annotations

from voirdire.kinds.votes.layout import VotesLayout
from voirdire.model.design import Term
from voirdire.model.family.two_coin_gradient import DIFFERENCE, FIRST, SECOND, TIE

SHARPNESS = "log_discrimination", "shift"  # of judges without coins, in the place of these
NONE = ""  # the name of no values
#: Of tastes and tie habits that only votes in contexts have, the names.
_IN_CONTEXTS = ("context_strength", "taste", "tie_context", "tie_judge_context", "tie_item")
#: What people's answers have of its own.
_OF_PEOPLE = ("strength", "general", "context_strength", "tie")


def terms_of(density: VotesLayout, table: str, *, one_coin: bool = False) -> list[Term]:
    """Terms of the votes of a table; one after the other the same columns, whatever the table.

    Parameters
    ----------
    density : VotesLayout
    table : str
        "votes"; "criteria": votes on criteria, whose weights are in the place of strengths; "anchors": people's.
    one_coin : bool
        Whether people's answers are apart, as of a family with one coin.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False)
    >>> [term.name for term in terms_of(density, "votes")][-7:-4]
    ['reliability', 'reliability', 'tie']
    """
    first, second = density.coins or SHARPNESS
    terms = [
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
    ]
    if table == "criteria":
        none = (*_IN_CONTEXTS, "general")
        terms[0] = Term("weight", ("item",), DIFFERENCE)
        terms = [_without(term) if term.name in none else term for term in terms]
    if table == "anchors":
        terms = [term if term.name in _OF_PEOPLE else _without(term) for term in terms]
        terms[4:6] = [Term("anchor", (), FIRST), Term(NONE if one_coin else "anchor", (), SECOND)]
    for name, factors in (("slope", ("covariate",)), ("judge_slope", ("covariate", "judge"))):
        slopes = [
            Term(name, factors, DIFFERENCE, at=(("covariate", c),), covariate=c)
            for c in range(density.covariates)
        ]
        terms += slopes if table == "votes" else map(_without, slopes)
    return terms


def _without(term: Term) -> Term:
    """A term of the same columns without values."""
    return term._replace(name=NONE)
