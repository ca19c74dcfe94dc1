"""Numbers as they stand in cells, options and files: one rule of what is one.

Text is a number in plain decimal notation, with an exponent or without: ``12``, ``-0.5``, ``1e-3``. Whatever else
readers take for one is none here (``1_0``, digits of other scripts, white space, ``0x10``, ``1,5``, ``inf``), because
nobody can say which number was meant.
"""

from __future__ import annotations

import decimal
import math
import re

import numpy as np

LARGEST = 1e100  # squares of numbers are summed, and must stay finite
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"([+-]?)0*([0-9]+)")
_INFINITE = ("inf", "infinity")
_EXACT = 2**53
_SHOWN = 40  # letters of a text in a message


def read_number(value: object) -> float | int:
    """Read a number; text of digits alone is a whole number.

    Raises
    ------
    ValueError
        It is none, not finite, or beyond 1e100; what it says is worded to follow the name of the column.

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
            plainly = "; write it plainly, such as 12, -0.5 or 1e-3" if any(map(str.isdigit, value)) else ""
            raise ValueError(f"{_short_value(value)} is not a number{number_remedy(value) or plainly}")
        whole = _WHOLE.fullmatch(value)
        short = whole is not None and len(whole[2]) <= round(math.log10(LARGEST))
        number: float | int = int(whole[1] + whole[2]) if whole is not None and short else float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool | np.bool_):
        number = value
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"is {value}, which is not a finite number")
    else:
        raise ValueError(f"{_short_value(value)} is not a number")
    if abs(number) > LARGEST:
        raise ValueError(f"{_short_value(value)} is beyond {LARGEST:g}; give it in a larger unit")
    return number


def number_remedy(said: str) -> str:
    """What to write in the place of a number that is none, as the end of a sentence; nothing where that is not known.

    Examples
    --------
    >>> number_remedy("1,96"), number_remedy("95%"), number_remedy("many")
    ('; write a point for the comma', '; write 95, without the percent sign', '')
    """
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", said):
        point = f", or {said.replace(',', '.')} if the comma is a point" if said.count(",") == 1 else ""
        return f"; write {said.replace(',', '')}{point}"
    if said.endswith("%") and _DECIMAL.fullmatch(said[:-1]):
        return f"; write {said[:-1]}, without the percent sign"
    if _DECIMAL.fullmatch(said.replace(",", ".")):
        return "; write a point for the comma"
    if _DECIMAL.fullmatch(said.replace("\N{MINUS SIGN}", "-")):
        return "; write a hyphen for the minus sign"
    if (parts := re.fullmatch(r"(\S+) ?(?:/|of|out of) ?(\d+)", said)) and _DECIMAL.fullmatch(parts[1]):
        return f"; write {parts[1]}, and name the scale that ends at {parts[2]} by --levels"
    return "; delete the spaces" if _DECIMAL.fullmatch(said.strip()) else ""


def is_number(value: object) -> bool:
    """True where something is a number, by the same rule.

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
    """A finite number as a name: whole ones without a point, as far as they are exact.

    Examples
    --------
    >>> number_text(2.0), number_text(0.5), number_text(1e20)
    ('2', '0.5', '1e+20')
    """
    return str(int(value)) if value.is_integer() and abs(value) <= _EXACT else repr(value)


def _short_value(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}..."
