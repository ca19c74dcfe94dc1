"""The state machine of a group's debate, without any model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.collect.protocols.turns import Turns


def test_a_debate_step_by_step() -> None:
    turns = Turns(("ann", "bob", "cy"), most=9)
    assert (turns.needs, turns.next, turns.over) == ("choice", None, None)
    turns = turns.choose("bob")
    assert (turns.needs, turns.next) == ("speech", "bob")
    turns = turns.speak(ends=False)
    assert (turns.needs, turns.active) == ("choice", ("ann", "bob", "cy"))
    turns = turns.choose("bob").speak(ends=True)
    assert turns.active == ("ann", "cy")
    turns = turns.choose("ann").speak(ends=True)
    # nobody chooses where one is left
    assert (turns.needs, turns.next) == ("speech", "cy")
    turns = turns.speak(ends=False)
    assert (turns.needs, turns.next) == ("speech", "cy")
    turns = turns.speak(ends=True)
    assert (turns.needs, turns.next, turns.over) == ("nothing", None, "all have ended")
    assert turns.spoken == ("bob", "bob", "ann", "cy", "cy")
    assert turns.ended == ("bob", "ann", "cy")


def test_the_rounds_end_it_too() -> None:
    turns = Turns(("ann", "bob"), most=2)
    turns = turns.choose("ann").speak(ends=False).choose("ann").speak(ends=False)
    assert (turns.needs, turns.over) == ("nothing", "the rounds are used up")
    assert turns.ended == ()


def test_all_ended_in_the_last_round_is_told_as_that() -> None:
    assert Turns(("ann",), most=1).speak(ends=True).over == "all have ended"


@pytest.mark.parametrize(
    "illegal",
    [
        lambda: Turns(("ann", "bob"), 3).choose("cy"),
        lambda: Turns(("ann", "bob"), 3).choose("ann").choose("bob"),
        lambda: Turns(("ann", "bob"), 3).speak(ends=False),
        lambda: Turns(("ann", "bob", "cy"), 3).choose("ann").speak(ends=True).choose("ann"),
        lambda: Turns(("ann",), 3).choose("ann"),
        lambda: Turns(("ann",), 1).speak(ends=True).speak(ends=True),
        lambda: Turns((), 3),
        lambda: Turns(("ann", "ann"), 3),
        lambda: Turns(("ann",), 0),
    ],
)
def test_what_is_not_allowed_raises(illegal) -> None:
    with pytest.raises(ValueError, match=r"chosen|speak|names|at least"):
        illegal()


def test_the_quietest_is_who_spoke_longest_ago() -> None:
    turns = Turns(("ann", "bob", "cy"), most=9)
    assert turns.quietest == "ann"
    turns = turns.choose("ann").speak(ends=False)
    assert turns.quietest == "bob"
    turns = turns.choose("bob").speak(ends=True).choose("cy").speak(ends=False)
    assert turns.quietest == "ann"


@given(
    size=st.integers(1, 5),
    most=st.integers(1, 12),
    moves=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12, min_size=12),
)
def test_every_course_stops_in_time_and_nobody_speaks_after_ending(size, most, moves) -> None:
    turns = Turns(tuple("abcde"[:size]), most)
    for pick, ends in moves:
        if turns.needs == "choice":
            turns = turns.choose(turns.active[pick % len(turns.active)])
        if turns.needs == "nothing":
            break
        turns = turns.speak(ends=ends)
    assert turns.needs == "nothing" or len(moves) < most
    assert len(turns.spoken) <= most
    assert len(set(turns.ended)) == len(turns.ended)
    for name in turns.ended:
        last = max(place for place, speaker in enumerate(turns.spoken) if speaker == name)
        # the n-th to end did so at its last speech, in that order
        assert [
            n for n in turns.ended if max(p for p, s in enumerate(turns.spoken) if s == n) < last
        ] == list(turns.ended[: turns.ended.index(name)])
