"""Collection of all problems of a table, grouped by message and raised together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError

_MAX_SHOWN = 3


@dataclass
class Problems:
    """Problems found so far in one table.

    The same sentence about several rows is reported once, with the first three rows and the number of the
    others. Problems of the table as a whole come first, then those of file lines, then those of rows, each
    by its first place.

    Parameters
    ----------
    name : str
        Name of the table in the messages.
    times : sequence of int, optional
        Number of rows of the table that each row read stands for; messages then give numbers of rows, not places.

    Attributes
    ----------
    row_lines : callable or None
        Returns the line of the file where each row begins. Messages name this line unless it is the row's number plus
        one (the header is the first line); blank lines or cells of several lines make it differ.

    Examples
    --------
    >>> problems = Problems("votes")
    >>> problems.rows([3, 9, 12, 20, 31], "judge is empty")
    >>> problems.raise_any()
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: votes: rows 3, 9, 12 and 2 more: judge is empty
    """

    name: str
    times: Sequence[int] | npt.NDArray[np.int64] | None = None
    row_lines: Callable[[], Sequence[int]] | None = field(default=None, init=False)
    _whole: list[str] = field(default_factory=list, init=False)
    _places: dict[tuple[str, str], list[int]] = field(default_factory=dict, init=False)

    def __bool__(self) -> bool:
        """True where there are problems so far."""
        return bool(self._whole or self._places)

    def table(self, sentence: str) -> None:
        """Record a problem of the table as a whole."""
        if sentence not in self._whole:
            self._whole.append(sentence)

    def line(self, number: int, sentence: str) -> None:
        """Record a problem of a line of a file (the first line is 1)."""
        self._places.setdefault(("line", sentence), []).append(number)

    def rows(self, numbers: Iterable[int], sentence: str) -> None:
        """Record a problem of rows of the table (the first row of data is 1)."""
        self._places.setdefault(("row", sentence), []).extend(int(number) for number in numbers)

    def stop(self, sentence: str) -> NoReturn:
        """Record a problem that prevents further reading of the table, and raise `InputError`."""
        self.table(sentence)
        raise self._as_error()

    def raise_any(self) -> None:
        """Raise `InputError` with all problems, if there are any."""
        if self:
            raise self._as_error()

    @property
    def table_sentences(self) -> tuple[str, ...]:
        """Problems of the table as a whole."""
        return tuple(self._whole)

    def _as_error(self) -> InputError:
        messages = [f"{self.name}: {sentence}" for sentence in self._whole]
        order = sorted(self._places.items(), key=lambda entry: (entry[0][0], min(entry[1])))
        messages += [f"{self.name}: {self._place_with_counts(unit, places)}: {text}" for (unit, text), places in order]
        return InputError(messages)

    def _place_with_counts(self, unit: str, numbers: list[int]) -> str:
        if unit == "line" or self.times is None:
            return _place_in_words(unit, numbers) + (self._lines_in_words(numbers) if unit == "row" else "")
        rows = sum(int(self.times[number - 1]) for number in set(numbers))
        return f"{rows:,} {unit}{'s' if rows > 1 else ''}"

    def _lines_in_words(self, numbers: list[int]) -> str:
        """Write the lines of the named rows, in brackets; empty where lines are unknown, or each row is a line."""
        lines = [] if self.row_lines is None else self.row_lines()
        shown = sorted(set(numbers))[:_MAX_SHOWN]
        if not shown or shown[-1] > len(lines) or all(lines[number - 1] == number + 1 for number in shown):
            return ""
        return f" (line{'s' if len(shown) > 1 else ''} {', '.join(str(lines[number - 1]) for number in shown)})"


def nearest_name(name: str, among: Sequence[str]) -> str:
    """Suggest the name that is probably meant, as the end of a sentence; empty where no name is similar.

    Examples
    --------
    >>> nearest_name("First", ["first", "second", "tie"])
    "; did you mean 'first'?"
    """
    import difflib

    plain_names = {candidate.strip().lower(): candidate for candidate in reversed(among)}
    matches = difflib.get_close_matches(name.strip().lower(), plain_names, n=1, cutoff=0.7)
    return f"; did you mean {plain_names[matches[0]]!r}?" if matches else ""


def names_by_similarity(name: str, among: Sequence[str]) -> list[str]:
    """Sort names by their similarity to a name, the most similar first.

    Examples
    --------
    >>> names_by_similarity("anna", ["ben", "Ann"])
    ['Ann', 'ben']
    """
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.strip().lower())

    def similarity_to_name(candidate: str) -> float:
        matcher.set_seq1(candidate.strip().lower())
        return matcher.ratio()

    return sorted(among, key=similarity_to_name, reverse=True)


def _place_in_words(unit: str, numbers: list[int]) -> str:
    ordered = sorted(set(numbers))
    if len(ordered) == 1:
        return f"{unit} {ordered[0]}"
    shown = [str(number) for number in ordered[:_MAX_SHOWN]]
    omitted = len(ordered) - len(shown)
    last = f"{omitted} more" if omitted else shown.pop()
    return f"{unit}s {', '.join(shown)} and {last}"
