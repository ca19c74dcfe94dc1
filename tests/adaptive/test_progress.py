"""Conditions: what is read, what is refused and how."""

from __future__ import annotations

import pytest

from voirdire.adaptive.progress import GroupProgress, read_conditions, unmet_conditions
from voirdire.errors import InputError

WELL = GroupProgress("x", p_best=0.97, loss=0.01, width=2.0, accuracy=0.95)


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("p_best >= 0.95", ["p_best >= 0.95"], 0),
        ("p_best>.98", ["p_best >= 0.98"], 1),
        ("width(ranks) <= 2", ["width(ranks) <= 2"], 0),
        ("width( ranks ) < 1 and loss <= 0.02", ["width(ranks) <= 1", "loss <= 0.02"], 1),
        ("accuracy ≥ 0.96, loss ≤ 0", ["accuracy >= 0.96", "loss <= 0"], 2),
    ],
)
def test_conditions_are_read(text: str, shown: list[str], left: int) -> None:
    found = read_conditions(text)
    assert [str(one) for one in found] == shown
    assert len(unmet_conditions(found, WELL)) == left


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p_bets >= 0.95", "quantity 'p_bets' is unknown; did you mean 'p_best'?"),
        ("speed >= 2", "quantity 'speed' is unknown; there are p_best, loss, width(ranks), accuracy"),
        ("p_best <= 0.95", "'p_best <= 0.95' holds where little is known; write 'p_best >= 0.95'"),
        ("loss >= 0.1", "'loss >= 0.1' holds where little is known; write 'loss <= 0.02'"),
        ("loss == 0.1", "'loss == 0.1' holds where little is known; write 'loss <= 0.02'"),
        ("p_best >= 95", "p_best >= 95: the bound must be a number from 0 to below 1"),
        ("p_best >= 1", "p_best >= 1: the bound must be a number from 0 to below 1"),
        ("loss <= nan", "loss <= nan: the bound must be a number of at least 0"),
        ("loss <= -1", "loss <= -1: the bound must be a number of at least 0"),
        ("p_best >= 95%", "'95%' is no number; write for example 'p_best >= 0.95'"),
        ("p_best", "'p_best' is no condition; write for example 'p_best >= 0.95'"),
        ("", "'' is no condition; write for example 'p_best >= 0.95'"),
    ],
)
def test_wrong_conditions_say_what_to_write(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_conditions(text)
    assert caught.value.problems == (f"until: {says}",)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_conditions("p_bets >= 0.9 and loss >= 1")
    assert len(caught.value.problems) == 2
