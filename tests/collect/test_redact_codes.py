"""Keys in codes, and in codes of codes, are taken out; all else stays as it is, at a cost that is bounded."""

from __future__ import annotations

import base64
import itertools
import json
import random
import urllib.parse
from collections.abc import Callable

import pytest
from growth import least_seconds
from hypothesis import assume, example, given
from hypothesis import strategies as st

from voirdire.collect.redact import KEY_MASK, Redactor

KEY = "sk-Qz7/9+a&b'c-0123456789~x"
HIDE = Redactor([KEY])
Code = Callable[[str], str]


def each(form: str, between: str = "") -> Code:
    """Every byte by itself."""
    return lambda text: between.join(form.format(byte) for byte in text.encode())


def mixed_case(text: str) -> str:
    """Hexadecimal with letters of either case."""
    digits = text.encode().hex()
    return "".join(d.upper() if n % 3 else d for n, d in enumerate(digits))


def in_lines(text: str) -> str:
    return "\r\n   ".join(text[at : at + 5] for at in range(0, len(text), 5))


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


#: Codes of a text, which may be in each other.
CODES: dict[str, Code] = {
    "percent": lambda text: urllib.parse.quote(text, safe=""),
    "percent, every character": each("%{:02x}"),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON, every character": each("\\u{:04X}"),
    "some of JSON": lambda text: text.replace("s", "\\u0073").replace("9", "\\u{39}").replace("M", "\\u004d"),
    "Python": each("\\x{:02x}"),
    "HTML": each("&#{};"),
    "HTML, hexadecimal": each("&#x{:X};"),
    "octal escapes": each("\\{:03o}"),
    "octal, spaced": each("{:03o}", " "),
    "octal, as Python has it": each("0o{:03o}", ", "),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, upper case": lambda text: text.encode().hex().upper(),
    "hexadecimal, mixed case": mixed_case,
    "hexadecimal with colons": each("{:02X}", ":"),
    "hexadecimal with 0x": each("0x{:02x}", ", "),
    "base64": base64_of,
    "base64 of more": lambda text: base64_of(f"Bearer {text}, sent"),
    "base64 without padding": lambda text: base64_of(f"x{text}").rstrip("="),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"xy{text}".encode()).decode(),
    "base64 on lines": lambda text: base64.encodebytes(f"{'long' * 20}{text}".encode()).decode(),
    "white space": " ".join,
    "lines": in_lines,
}
#: Codes that are found by themselves, and in others.
INNERMOST: dict[str, Code] = {
    "octal without zeros": each("{:o}", " "),
    "octal numbers of Python": lambda text: json.dumps([oct(byte) for byte in text.encode()]),
    "decimal": lambda text: str(list(text.encode())),
    "turned round": lambda text: text[::-1],
}
ALL = CODES | INNERMOST
PAIRS = list(itertools.product(CODES, ALL))


@pytest.mark.parametrize("name", ALL)
def test_a_key_in_a_code_is_taken_out_and_what_is_around_it_stays(name: str) -> None:
    written = ALL[name](KEY)
    shown = HIDE.redact_text(f"Error 401: {written} is no valid key (see https://example.org/a%20b).")
    assert shown.startswith("Error 401: ")
    assert shown.endswith(" is no valid key (see https://example.org/a%20b).")
    assert KEY_MASK in shown
    assert written not in shown
    assert not HIDE.contains_key(shown)
    # what is left of the code is its frame, and what else was in it
    left = len(shown) - len("Error 401: [key] is no valid key (see https://example.org/a%20b).")
    assert left <= len(ALL[name]("")) + 6


@pytest.mark.slow
def test_a_key_in_a_code_of_a_code_is_taken_out() -> None:
    missed = []
    for outer, inner in PAIRS:
        written = CODES[outer](ALL[inner](KEY))
        shown = HIDE.redact_text(f"Error: {written} .")
        if KEY_MASK not in shown or HIDE.contains_key(shown) or written in shown:
            missed.append((outer, inner))
        assert shown.startswith("Error: "), (outer, inner)
        assert shown.endswith(" ."), (outer, inner)
    assert missed == []


secrets = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\%&"), min_size=12, max_size=60
).filter(lambda key: len(set(key)) > 5)


@given(st.text(), st.text(), st.sampled_from(PAIRS), secrets)
@example("", "", ("base64", "base64"), "sk-0123456789abcdef")
@example("9", "9", ("octal, spaced", "hexadecimal, mixed case"), "sk-0123456789abcdef")
def test_whatever_the_key_and_whatever_is_around_it(before: str, after: str, codes: tuple[str, str], key: str) -> None:
    hide = Redactor([key])
    written = CODES[codes[0]](ALL[codes[1]](key))
    shown = hide.redact_text(f"{before} {written} {after}")
    assert KEY_MASK in shown
    assert not hide.contains_key(shown)
    assert key not in shown
    assert written not in shown


@given(st.text(), st.sampled_from(PAIRS), secrets)
def test_another_key_is_none(text: str, codes: tuple[str, str], key: str) -> None:
    """The negative control: what differs in one character stays byte for byte, in every code."""
    assume(key not in text)
    other = key[:5] + ("a" if key[5] != "a" else "b") + key[6:]
    written = f"{text} {CODES[codes[0]](ALL[codes[1]](other))} {text}"
    assert Redactor([key]).redact_text(written) == written


WORDS = "the judge prefers answer B since it cites sources; 42% of 3.14 items, they're at example.org"


def ordinary(size: int) -> dict[str, str]:
    """Long texts as answers, journals and tables have them."""
    rng = random.Random(0)
    words = WORDS.split()
    prose = " ".join(rng.choice(words) for _ in range(size // 5))[:size]
    return {
        "prose": prose,
        "JSON": json.dumps({"answer": prose, "tokens": prose.split()[: size // 20]})[:size],
        "numbers": " ".join(f"{rng.random():.6f}" for _ in range(size // 9)),
        "base64": base64.b64encode(rng.randbytes(size * 3 // 4)).decode(),
        "base64 of prose": base64_of(prose[: size * 3 // 4]),
        "hexadecimal": rng.randbytes(size // 2).hex(),
        "URLs": "&".join(f"q={urllib.parse.quote(word)}" for word in prose.split())[:size],
        "program": "\n".join(f'    print("{n}\\n\\t{word}")' for n, word in enumerate(prose.split()))[:size],
        "other scripts": ("Richter urteilen über Antworten, 判事は答えを比べる. " * (size // 30))[:size],
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ordinary(100))
def test_ordinary_texts_stay_as_they_are_and_take_little_time(kind: str) -> None:
    text = ordinary(1_000_000)[kind]
    hide = Redactor([KEY, "another-0123456789"])
    hide.redact_text(text[:1000])
    assert hide.redact_text(text) == text
    assert least_seconds(lambda: hide.redact_text(text), 0.5) < 0.5  # a tenth of a second beside no other work


@pytest.mark.slow
def test_many_hidden_keys_take_no_longer_than_a_whole_text() -> None:
    written = base64_of(base64_of(KEY))
    few = "and ".join([written] * 20)
    shown = HIDE.redact_text(few)
    assert shown.count(KEY_MASK) == 20
    assert shown.count("and ") == 19
    many = "and ".join([written] * 10_000)
    assert HIDE.redact_text(many) == KEY_MASK
    assert least_seconds(lambda: HIDE.redact_text(many), 10.0) < 10


def test_a_key_broken_over_a_whole_text_is_found() -> None:
    spread = ("\n" * 5000).join(KEY)
    shown = HIDE.redact_text(f"before {spread} after")
    assert shown == f"before {KEY_MASK} after"
    # white space that is none of ASCII's, and what is not seen at all
    for between in ("\u00a0", "\u2003", "\u200b", "\ufeff"):
        assert HIDE.redact_text(f"before {between.join(KEY)} after") == f"before {KEY_MASK} after"


def test_values_names_and_digits() -> None:
    hide = Redactor([KEY, "81726354901827"])
    value = {
        mixed_case(KEY): [each("\\{:03o}")(KEY), {"a": base64_of(base64_of(KEY))}, 81726354901827, True, None, 1.5],
        "b": "ordinary",
    }
    assert hide.redact_value(value) == {
        KEY_MASK: [KEY_MASK, {"a": KEY_MASK}, KEY_MASK, True, None, 1.5],
        "b": "ordinary",
    }
