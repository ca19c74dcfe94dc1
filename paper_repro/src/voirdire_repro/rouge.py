"""ROUGE-L of many texts without a library, for comparison with published values.

F = 2 L / (words of the text + words of the reference), L the length of the longest common subsequence of their words
(Lin 2004); words are runs of a-z and digits, in lower case, not stemmed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def rouge_l(text: str, reference: str) -> float:
    """Compute F of a text; 0 without a common word.

    Examples
    --------
    >>> round(rouge_l("The cat sat.", "the cat sat down"), 4)  # P = 3/3, R = 3/4
    0.8571
    """
    ours, theirs = _split_words(text), _split_words(reference)
    common = _common_length(ours, theirs)
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def _split_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _common_length(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Compute the length of the longest common subsequence by bit operations, word by word (Hyyrö 2004)."""
    positions: dict[str, int] = {}
    for place, word in enumerate(ours):
        positions[word] = positions.get(word, 0) | 1 << place
    every = (1 << len(ours)) - 1
    rows = every
    for word in theirs:
        hit = rows & positions.get(word, 0)
        rows = (rows + hit | rows - hit) & every
    return len(ours) - rows.bit_count()
