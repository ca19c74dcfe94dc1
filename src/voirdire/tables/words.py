"""Counts with their nouns, in words."""

from __future__ import annotations

import re


def count_in_words(number: int, things: str) -> str:
    """Write a count with its noun, in the singular for 1.

    Parameters
    ----------
    number : int
    things : str
        The noun in the plural, with further words; the first word that ends with an s is made singular.

    Examples
    --------
    >>> count_in_words(1, "judges"), count_in_words(2400, "votes"), count_in_words(1, "more answers of people")
    ('1 judge', '2,400 votes', '1 more answer of people')
    """
    phrase = re.sub(r"(\w)s\b", r"\1", things, count=1) if number == 1 else things
    return f"{number:,} {phrase}"
