"""Judges that are rules, not models: they read the two texts of a comparison and nothing else.

``rule:longer`` prefers the longer text, ``rule:rare-words`` the one with the larger share of long words, ``rule:noise``
guesses by its seed. They cost nothing, and show in a fit what a judge looks like that leans on length or guesses.
"""

from __future__ import annotations

from collections.abc import Iterable

from voirdire.collect.panel import RULE
from voirdire.collect.protocol import Judge
from voirdire.tables.problems import nearest

RULES = ("longer", "rare-words", "noise")


def rule_problems(judges: Iterable[Judge]) -> list[str]:
    """Which rules of a panel there are not, one sentence each.

    Examples
    --------
    >>> rule_problems([Judge("a", "rule:long")])
    ["judge 'a': rule 'long' is unknown; did you mean 'longer'?"]
    """
    found = []
    for judge in judges:
        name = judge.model.removeprefix(RULE)
        if judge.model.startswith(RULE) and name not in RULES:
            near = nearest(name, RULES) or f"; there are {', '.join(RULES)}"
            found.append(f"judge {judge.name!r}: rule {name!r} is unknown{near}")
    return found
