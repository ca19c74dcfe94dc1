"""Terms of models of votes: which latent values the predictors of a vote are the sums of."""

from __future__ import annotations

from voirdire.kinds.votes.layout import VotesLayout
from voirdire.model.design import Term
from voirdire.model.family.two_coin_gradient import DIFFERENCE, FIRST, SECOND, TIE

SHARPNESS = "log_discrimination", "shift"  # of judges without coins, in the place of these
NONE = ""  # the name of no values
#: What votes on items have and votes on criteria have not.
_ON_ITEMS = (
    "strength", "general", "context_strength", "taste", "tie_context", "tie_judge_context", "tie_item",
)  # fmt: skip
#: What people's votes share with judges'.
_OF_PEOPLE = ("strength", "general", "context_strength", "tie")


def vote_terms(density: VotesLayout) -> list[Term]:
    """Terms of judges' votes on items.

    Examples
    --------
    >>> from voirdire.kinds.votes.density import VotesDensity
    >>> from voirdire.model.specs import load_model
    >>> density = VotesDensity(load_model("crowd-bt"), judges=2, criteria=1, items=3, ties=False)
    >>> [term.name for term in vote_terms(density)][-7:-4]
    ['reliability', 'reliability', 'tie']
    """
    first, second = density.coin_names or SHARPNESS
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
        *density.added,
    ]


def criteria_terms(density: VotesLayout) -> list[Term]:
    """Terms of votes on criteria, in the same columns: weights are in the place of strengths."""
    lost = {*_ON_ITEMS, *(term.name for term in density.added)}
    terms = [_without_values(term) if term.name in lost else term for term in vote_terms(density)]
    return [Term("weight", ("item",), DIFFERENCE), *terms[1:]]


def people_terms(density: VotesLayout, *, one_coin: bool) -> list[Term]:
    """Terms of people's votes, in the same columns.

    Parameters
    ----------
    density : VotesLayout
    one_coin : bool
        Whether they are apart, as of a family with one coin.
    """
    terms = [term if term.name in _OF_PEOPLE else _without_values(term) for term in vote_terms(density)]
    terms[4:6] = [Term("anchor", (), FIRST), Term(NONE if one_coin else "anchor", (), SECOND)]
    return terms


def _without_values(term: Term) -> Term:
    """A term of the same columns without values."""
    return term._replace(name=NONE)
