"""Numbers in cells, options and files: one rule for all; and counts with their nouns.

Text is a number in plain decimal notation, with or without an exponent: ``12``, ``-0.5``, ``1e-3``. Other notations
(``1_0``, digits of other scripts, white space, ``0x10``, ``1,5``, ``inf``) are refused, because their meaning is
ambiguous.
"""

from __future__ import annotations

import decimal
import math
import re

import numpy as np


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


MAX_NUMBER = 1e100  # squares of numbers are summed, and must stay finite
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"([+-]?)0*([0-9]+)")
_INFINITE = ("inf", "infinity")
_MAX_EXACT_INTEGER = 2**53
_MAX_SHOWN_LETTERS = 40  # letters of a text in a message


def read_number(value: object) -> float | int:
    """Read a number; text of digits alone is a whole number.

    Raises
    ------
    ValueError
        The value is not a number, not finite, or beyond 1e100; the message is worded to follow the column's name.

    Examples
    --------
    >>> read_number("12"), read_number("-0.5"), read_number("1e-3"), read_number(4.0)
    (12, -0.5, 0.001, 4.0)
    >>> read_number("1_0")
    Traceback (most recent call last):
    ...
    ValueError: '1_0' is not a number; write it plainly, such as 12, -0.5 or 1e-3
    """
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, decimal.Decimal):
        value = str(value)
    if isinstance(value, str):
        if value.lstrip("+-").lower() in _INFINITE:
            raise ValueError(f"is {value}, which is not a finite number")
        if not _DECIMAL.fullmatch(value):
            hint = "; write it plainly, such as 12, -0.5 or 1e-3" if any(map(str.isdigit, value)) else ""
            raise ValueError(f"{_short_value(value)} is not a number{number_remedy(value) or hint}")
        integer = _WHOLE_NUMBER.fullmatch(value)
        short = integer is not None and len(integer[2]) <= round(math.log10(MAX_NUMBER))
        number: float | int = int(integer[1] + integer[2]) if integer is not None and short else float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool | np.bool_):
        number = value
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"is {value}, which is not a finite number")
    else:
        raise ValueError(f"{_short_value(value)} is not a number")
    if abs(number) > MAX_NUMBER:
        raise ValueError(f"{_short_value(value)} is beyond {MAX_NUMBER:g}; give it in a larger unit")
    return number


def number_remedy(text: str) -> str:
    """Suggest a correction for text that is not a number, as the end of a sentence; empty without a suggestion.

    Examples
    --------
    >>> number_remedy("1,96"), number_remedy("95%"), number_remedy("many")
    ('; write a point for the comma', '; write 95, without the percent sign', '')
    """
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", text):
        point = f", or {text.replace(',', '.')} if the comma is a point" if text.count(",") == 1 else ""
        return f"; write {text.replace(',', '')}{point}"
    if text.endswith("%") and _DECIMAL.fullmatch(text[:-1]):
        return f"; write {text[:-1]}, without the percent sign"
    if _DECIMAL.fullmatch(text.replace(",", ".")):
        return "; write a point for the comma"
    if _DECIMAL.fullmatch(text.replace("\N{MINUS SIGN}", "-")):
        return "; write a hyphen for the minus sign"
    if (fraction := re.fullmatch(r"(\S+) ?(?:/|of|out of) ?(\d+)", text)) and _DECIMAL.fullmatch(fraction[1]):
        return f"; write {fraction[1]}, and name the scale that ends at {fraction[2]} by --levels"
    return "; delete the spaces" if _DECIMAL.fullmatch(text.strip()) else ""


def is_number(value: object) -> bool:
    """True where a value is a number, by the rule of `read_number`.

    Examples
    --------
    >>> is_number("1e3"), is_number("0x10"), is_number(True)
    (True, False, False)
    """
    try:
        read_number(value)
    except ValueError:
        return False
    return True


def number_text(value: float) -> str:
    """Write a finite number as a name; whole numbers up to 2**53 have no decimal point.

    Examples
    --------
    >>> number_text(2.0), number_text(0.5), number_text(1e20)
    ('2', '0.5', '1e+20')
    """
    return str(int(value)) if value.is_integer() and abs(value) <= _MAX_EXACT_INTEGER else repr(value)


def _short_value(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= _MAX_SHOWN_LETTERS else f"{text[: _MAX_SHOWN_LETTERS - 1]}..."
