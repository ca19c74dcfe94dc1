"""Class that counts as a success: the class that the user named, or a known word.

A word is recognised if it is unambiguous: one label is a word of success, and all others are words of failure, neutral
words, or its negation. With two labels the other may be any word if no word is better than the success word (right,
made up), but not if some may be (good, excellent; safe, harmless). Single letters and numbers need their counterpart
(C and I, 1 and 0). Labels that name a property (spam, toxic) are not recognised: they do not say if more of it is
better.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path

from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names

_WORDS = tomllib.loads(Path(__file__).with_name("success_words.toml").read_text(encoding="utf-8"))
SUCCESS_WORDS, SHORT_WORDS = _WORDS["opposites"], _WORDS["short"]  # each with its opposites, or counterparts
BEST_WORDS, NEUTRAL_WORDS = _WORDS["best"], _WORDS["neutral"]
FAILURE_WORDS = frozenset(word for words in SUCCESS_WORDS.values() for word in words)


def known_success(classes: Sequence[str]) -> str | None:
    """The class of success by its word, or None.

    Examples
    --------
    >>> known_success(["right", "wrong"]), known_success(["No", "Unsure", "Yes"]), known_success(["C", "I"])
    ('right', 'Yes', 'C')
    >>> known_success(["0", "1"]), known_success(["spam", "ham"]), known_success(["good", "fair", "poor"])
    ('1', None, None)
    """
    words = {name: _normalise_name(name) for name in classes}
    successes = [name for name, word in words.items() if word in SUCCESS_WORDS]
    others = [word for word in words.values() if word not in SUCCESS_WORDS]
    if len(successes) == 1 and all(_is_worse(word, words[successes[0]], len(others) == 1) for word in others):
        return successes[0]
    if successes:
        return None
    for short, failures in SHORT_WORDS.items():
        matches = [name for name, word in words.items() if word == short]
        other_words = {word for word in words.values() if word != short}
        if (
            matches
            and other_words & set(failures)
            and other_words <= {*failures, *NEUTRAL_WORDS, *(("p", "n") if short == "c" else ())}
        ):
            return matches[0]
    return None


def success_class(classes: Sequence[str], positive: object = None) -> str | None:
    """The class that counts as a success: the named class, else the class with a known word.

    Raises
    ------
    InputError
        The named class does not exist.

    Examples
    --------
    >>> success_class(["ham", "spam"], "ham"), success_class(["ham", "spam"])
    ('ham', None)
    """
    if positive is None:
        return known_success(classes)
    name = str(positive)
    if name not in classes:
        raise InputError(
            f"positive {name!r} is no class; classes are {known_names(classes)}{nearest_name(name, classes)}"
        )
    return name


def success_note(classes: Sequence[str], chosen: str) -> str:
    """Note on a fit with success recognised by a word.

    Examples
    --------
    >>> success_note(["right", "wrong"], "right")
    "Success is taken to be 'right', so that more of it is better; --positive wrong says otherwise."
    """
    others = [name for name in classes if name != chosen]
    other = shlex.quote(others[0]) if len(others) == 1 else "CLASS"
    return f"Success is taken to be {chosen!r}, so that more of it is better; --positive {other} says otherwise."


def positive_example(classes: Sequence[str]) -> str:
    """Example option that names the most likely success class.

    That is a word of success, else the highest number, else the first label without a word of failure and not neutral.

    Examples
    --------
    >>> positive_example(["bad", "good", "no answer"])
    "--positive good, if that is it (in Python positive='good')"
    >>> positive_example(["it is ok", "spam"])
    "--positive 'it is ok', if that is it (in Python positive='it is ok')"
    >>> positive_example(["1", "2", "10"])
    "--positive 10, if that is it (in Python positive='10')"
    """
    words = {name: _normalise_name(name) for name in classes}
    successes = [name for name, word in words.items() if word in SUCCESS_WORDS]
    numbers = sorted(words, key=lambda name: -float(words[name])) if all(map(_is_number, words.values())) else []
    bad_words = FAILURE_WORDS | {"not", "no"}
    others = [name for name, word in words.items() if not bad_words & set(word.split()) and word not in NEUTRAL_WORDS]
    name = next(iter([*successes, *numbers, *others, *classes]))
    return f"--positive {shlex.quote(name)}, if that is it (in Python positive={name!r})"


def unknown_success_error(classes: Sequence[str]) -> InputError:
    """The error for a board, or a rate, if no class is known to be better.

    Examples
    --------
    >>> str(unknown_success_error(["ham", "spam"]))[:84]
    "a board ranks systems by how often they succeed, and of the classes 'ham', 'spam' no"
    """
    options = " or ".join(f"--positive {shlex.quote(name)}" for name in classes[:4])
    numbers = all(name.isdecimal() for name in classes)
    grade = f"; or that they are grades: --levels {shlex.quote(','.join(classes))}" if numbers else ""
    return InputError(
        f"a board ranks systems by how often they succeed, and of the classes {known_names(classes)} none is known to "
        f"be the better one; say which counts as a success: {options} (in Python positive={classes[0]!r}){grade}"
    )


def _is_worse(word: str, success: str, only_other: bool) -> bool:
    """True if the words of a label make it worse than a word of success, or neutral."""
    if word in FAILURE_WORDS or word in NEUTRAL_WORDS:
        return True
    if word in {f"{no}{success}" for no in ("not ", "no ", "non ", "non", "un", "in", "ir", "im", "dis")}:
        return True
    return only_other and success in BEST_WORDS and success not in word.split()


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _normalise_name(name: str) -> str:
    word = " ".join(name.casefold().replace("_", " ").split())
    word = word if word in ("-", "-1") else word.replace("-", " ").strip() or word
    try:
        return f"{float(word):g}"
    except ValueError:
        return word.rstrip(".!")
