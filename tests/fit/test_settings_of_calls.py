"""Settings of Python calls that have the wrong form: one sentence with the setting, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import voirdire
from voirdire.decide.informative_prompts import telling
from voirdire.errors import InputError

SCORES = pd.DataFrame({"judge": list("ab") * 6, "item": [n // 2 for n in range(12)], "score": [1, 2, 3, 4, 2, 3] * 2})
LABELS = pd.DataFrame({"judge": list("ab") * 6, "item": [n // 2 for n in range(12)], "label": ["no", "yes", "no"] * 4})
VOTES = pd.DataFrame({"judge": list("ab") * 6, "first": list("xyz") * 4, "second": list("yzx") * 4, "winner": "first"})
PEOPLE = LABELS[LABELS["judge"] == "a"][["item", "label"]]


def map_fit(table: pd.DataFrame, **settings: Any) -> voirdire.Fit:
    return voirdire.fit(table, **{"method": "map", **settings})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: map_fit(LABELS, prob="0.9"), "prob '0.9' is not between 0 and 1"),
        (lambda: map_fit(LABELS, seconds="3"), "seconds '3' is not positive and finite"),
        (lambda: map_fit(LABELS, levels=2.5), "levels=2.5 is no list; give one"),
        (lambda: map_fit(LABELS, people=LABELS), "people= is a table, not a list; give a list"),
        (lambda: voirdire.cross_validate(VOTES, models=2.5), "models=2.5 is no list; give one"),
        (lambda: voirdire.cross_validate(VOTES, ["crowd-bt"], by=2.5), "by=2.5 is no list; give one"),
        (lambda: voirdire.agreement(SCORES, measures=2.5), "measures=2.5 is no list; give one"),
        (lambda: voirdire.agreement(SCORES, measures=[1]), "'1'"),
        (lambda: voirdire.agreement(SCORES, judges=2.5), "judges=2.5 is no list; give one"),
        (lambda: voirdire.agreement(SCORES, judges=[1]), "judge '1' is not in the table"),
        (lambda: voirdire.agreement(SCORES, against=[1]), "is not in the table"),
        (lambda: voirdire.rate(LABELS, PEOPLE, by=2.5), "2.5"),
        (lambda: map_fit(LABELS, classes=2.5), "classes=2.5 is no list; give one"),
        (lambda: map_fit(LABELS, people=3), "people=3 is no list; give one"),
        (lambda: map_fit(LABELS, people=[1]), "people: '1' is no judge of the table"),
        (lambda: map_fit(VOTES, priors="strength.sd=2"), "priors 'strength.sd=2' is no mapping; write"),
        (lambda: map_fit(VOTES).bootstrap("100"), "resamples '100' is too few"),
        (lambda: map_fit(LABELS).escalate(PEOPLE, cost_human="2"), "cost_human '2' is no price"),
        (lambda: map_fit(LABELS).escalate(PEOPLE, error="0.1"), "error '0.1' is not between 0 and 1"),
        (lambda: voirdire.cross_validate(LABELS, folds=2.5), "folds 2.5: must be a whole number between 2"),
        (lambda: voirdire.cross_validate(LABELS, seed="a"), "seed 'a' is no whole number from 0"),
        (lambda: voirdire.gate(LABELS, LABELS, margin="0.1"), "margin '0.1' is not 0 or more"),
        (lambda: voirdire.gate(LABELS, LABELS, items="9"), "items '9' is no count"),
        (lambda: voirdire.gate(LABELS, versions="new"), "versions 'new' are not two; write versions="),
        (lambda: voirdire.rate(LABELS, people="a", margin="0.1"), "margin '0.1' is not between 0 and 1"),
        (lambda: voirdire.agreement(LABELS, prob="0.9"), "prob '0.9' is not between 0 and 1"),
        (lambda: voirdire.plan([0.8], items="9"), "items '9': a whole number of at least 3"),
        (lambda: voirdire.plan([0.8], items=9, target="0.9"), "target '0.9': a concordance"),
        (lambda: voirdire.read(LABELS, where="judge=a"), "where='judge=a' is no mapping; write where="),
        (lambda: voirdire.read(LABELS, map=3), "map=3 is no mapping; write map="),
        (lambda: voirdire.read(LABELS, table=3), "table=3 is no text; give one"),
        (lambda: telling(LABELS, keep="0.9"), "keep '0.9' is no tau between 0 and 1"),
    ],
)
def test_a_value_of_the_wrong_form_is_named_with_the_remedy(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError) as found:
        call()
    assert said in str(found.value)
    assert len(found.value.problems) == 1


def test_text_in_the_place_of_a_list_is_read_as_on_the_command_line() -> None:
    assert map_fit(SCORES, levels="1, 5,2,3,4").problem.scale.levels == (1, 2, 3, 4, 5)
    found = map_fit(LABELS, levels="no,yes,unsure", classes="no,yes")
    assert sorted(found.shares()["class"]) == ["no", "yes"]
    assert voirdire.read(LABELS, levels="no,yes").levels == ("no", "yes")
    assert voirdire.gate(SCORES, SCORES, levels="1,5")["n"] == 6
    assert set(voirdire.agreement(SCORES, levels="1,2,3,4,5", resamples=20)["measure"])
    named = SCORES.assign(judge=SCORES["judge"].map({"a": "Smith, Ann", "b": "bob"}))
    assert list(map_fit(named, people='"Smith, Ann"').judges()["judge"]) == ["bob"]


def test_judges_as_text_are_read_by_names_not_by_letters() -> None:
    with pytest.raises(InputError, match="judge 'ann' is not in the table; its judges are a, b"):
        voirdire.rate(LABELS, PEOPLE, judges="a,ann")
