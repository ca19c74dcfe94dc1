"""Interface of all terms in model files."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from voirdire.model.terms.parameters import Parameter


class Term:
    """A term of a model file; by default without numbers and parameters.

    Attributes
    ----------
    kind : str
        Its name in model files.
    keys : dict
        Numbers of its prior, with the rule for each.
    says : str
        Additions to the model's equation, for the model's card.
    """

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]] = {}
    says: ClassVar[str] = ""

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters and their priors, from the model file's numbers."""
        return ()


AnyTerm = TypeVar("AnyTerm", bound=Term)


def by_kind(*terms: AnyTerm) -> dict[str, AnyTerm]:
    """Index terms by their names in model files."""
    return {term.kind: term for term in terms}
