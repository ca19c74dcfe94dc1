"""Names in forms for people: no formula, and the same name when they are read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voirdire.tables.forms import guard, unguard

NAMES = st.text(alphabet="=+-@\t'ab1.", max_size=6)


@given(st.sets(NAMES, min_size=1, max_size=6))
def test_a_guarded_name_is_no_formula_and_comes_back(names: set[str]) -> None:
    written = [guard(name) for name in names]
    for cell in written:
        if cell[:1] in ("=", "@", "\t") or cell[:1] in ("+", "-"):
            float(cell)  # a number is none
    if not set(written) & names - {name for name in names if guard(name) == name}:
        assert set(unguard(written, names)) == names


def test_a_name_that_is_written_both_ways_stays_as_it_is() -> None:
    assert unguard(["'=a", "=a"], {"=a"}) == ("'=a", "=a")
