"""Counts in words."""

from __future__ import annotations

import re


def count_in_words(number: int, things: str) -> str:
    """A number of things, singular where there is one.

    Parameters
    ----------
    number : int
    things : str
        What there are: the first word that ends with an s is their name in the plural.

    Examples
    --------
    >>> count_in_words(1, "judges"), count_in_words(2400, "votes"), count_in_words(1, "more answers of people")
    ('1 judge', '2,400 votes', '1 more answer of people')
    """
    named = re.sub(r"(\w)s\b", r"\1", things, count=1) if number == 1 else things
    return f"{number:,} {named}"
