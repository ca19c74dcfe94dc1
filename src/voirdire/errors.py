"""The one exception for input or a request that is wrong, with every problem named at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_MAX_SHOWN = 20


class InputError(ValueError):
    """The input or the request is wrong.

    Parameters
    ----------
    problems : str or sequence of str
        One sentence each, naming the place, the value and the remedy. The message shows the first
        20 and counts the rest; ``problems`` keeps them all.
    remedy : str
        What can be done about all of them, the last line of the message.

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
    """Add the problems of what fails to others, in the place of raising them.

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


def raise_problems(problems: Sequence[str]) -> None:
    """Raise all problems that were found at once; nothing where there are none.

    Raises
    ------
    InputError
        With every problem.

    Examples
    --------
    >>> raise_problems([])
    """
    if problems:
        raise InputError(problems)


class NotThisKindError(InputError, AttributeError):
    """A fit of one kind of data was asked for what only fits of another have; ``hasattr`` says so beforehand."""
