"""Exception for wrong input or a wrong request, with all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

_MAX_SHOWN = 20


class InputError(ValueError):
    """Error of the input or the request.

    Parameters
    ----------
    problems : str or sequence of str
        One sentence per problem, with place, value and remedy. The message shows the first 20 and the number of
        further ones; ``problems`` has all of them.
    remedy : str
        Remedy for all problems, the last line of the message.

    Examples
    --------
    >>> InputError(["row 3: winner is empty", "row 9: winner is empty"]).problems
    ('row 3: winner is empty', 'row 9: winner is empty')
    """

    def __init__(self, problems: str | Sequence[str], remedy: str = "") -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        if len(self.problems) == 1:
            message = self.problems[0]
        else:
            shown = [f"  {problem}" for problem in self.problems[:_MAX_SHOWN]]
            hidden = len(self.problems) - len(shown)
            if hidden:
                shown.append(f"  ... and {hidden} more")
            message = "\n".join([f"{len(self.problems)} problems:", *shown])
        super().__init__(f"{message}\n  {remedy}" if remedy else message)


@contextmanager
def gathered_problems(problems: list[str]) -> Iterator[None]:
    """Add the problems of an InputError in the block to ``problems`` instead of raising it.

    Examples
    --------
    >>> problems = ["row 3: winner is empty"]
    >>> with gathered_problems(problems):
    ...     raise InputError("seed is -1")
    >>> problems
    ['row 3: winner is empty', 'seed is -1']
    """
    try:
        yield
    except InputError as error:
        problems += error.problems


Built = TypeVar("Built")


def build_or_report(make: Callable[[Any], Built], spec: object, problems: list[str]) -> Built | None:
    """Build an object from a specification; if it is invalid, report the problems and return None."""
    with gathered_problems(problems):
        return make(spec)
    return None


def raise_problems(problems: Sequence[str]) -> None:
    """Raise all problems at once; do nothing if there are none.

    Raises
    ------
    InputError
        Error with all problems.

    Examples
    --------
    >>> raise_problems([])
    """
    if problems:
        raise InputError(problems)


class NotThisKindError(InputError, AttributeError):
    """Error of asking a fit for a result that only fits of another kind of data have; ``hasattr`` returns False."""
