"""Interface of all terms that a model file may name."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from voirdire.model.terms.parameters import Parameter


class Term:
    """A term of a model file; without numbers and parameters unless it says otherwise.

    Attributes
    ----------
    kind : str
        Its name in model files.
    keys : dict
        The numbers of its prior, and what each must be.
    says : str
        What it does beyond the model's equation, for the model's card.
    """

    kind: ClassVar[str]
    keys: ClassVar[dict[str, str]] = {}
    says: ClassVar[str] = ""

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters and their priors, from the model file's numbers."""
        return ()


AnyTerm = TypeVar("AnyTerm", bound=Term)


def by_kind(*terms: AnyTerm) -> dict[str, AnyTerm]:
    """Terms by their names in model files."""
    return {term.kind: term for term in terms}
