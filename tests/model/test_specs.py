"""Model files: every fault is found, named and, where a word is misspelt, corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voirdire.errors import InputError
from voirdire.model import load_model, model_names, specification_folder

SHIPPED = [
    *("bradley-terry", "bradley-terry-judge-ties", "bt-sigma", "bt-sigma-position"),
    *("crowd-bt", "crowd-bt-position", "majority-vote", "maple", "maple-criterion-reliability"),
    *("maple-fixed-reliability", "maple-fixed-weights", "maple-position"),
]


def problems(source: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_model(source)
    return str(caught.value)


@pytest.fixture
def changed(tmp_path: Path) -> Any:
    """A copy of a shipped file with some text replaced."""

    def make(old: str, new: str, name: str = "crowd-bt-position") -> Path:
        text = (specification_folder("models") / f"{name}.toml").read_text()
        assert text.count(old) == 1, old
        path = tmp_path / "changed.toml"
        path.write_text(text.replace(old, new))
        return path

    return make


def test_the_shipped_models_are_there() -> None:
    assert set(SHIPPED) <= set(model_names())
    for name in model_names():
        model = load_model(name)
        assert model.name == name
        assert all(text for text in (model.title, model.equation, model.identifiability, model.source))
        assert {reduction.model for reduction in model.reduces_to} <= set(model_names())


def test_position_aware_models_are_the_ones_that_say_position() -> None:
    aware = {name for name in model_names() if load_model(name).position_aware}
    said = {name for name in model_names() if name.endswith(("-position", "-contexts", "-tastes"))}
    assert aware == {name for name in said if not name.startswith(("unordered-", "plackett-luce", "rating-"))}


def test_a_file_of_ones_own_reads_like_a_shipped_one(changed: Any) -> None:
    model = load_model(changed("judge_sd = 1.0", "judge_sd = 0.5"))
    assert model.ties is not None
    assert model.ties.numbers["judge_sd"] == 0.5
    assert model.reliability == load_model("crowd-bt-position").reliability
    assert load_model(model) is model


def test_an_unknown_name_suggests_the_nearest() -> None:
    message = problems("crowd-bt-positon")
    assert "unknown model 'crowd-bt-positon'" in message
    assert "did you mean 'crowd-bt-position'?" in message
    assert "bradley-terry" in problems("xyz")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("judge_sd = 1.0", "judge_sd = -1.0", "[ties] judge_sd must be positive, not -1.0"),
        ("judge_sd = 1.0", "judge_sd = 0", "[ties] judge_sd must be positive, not 0"),
        ("judge_sd = 1.0", 'judge_sd = "wide"', "[ties] judge_sd must be a number, not 'wide'"),
        ("judge_sd = 1.0", "judge_sd = true", "[ties] judge_sd must be a number, not True"),
        ("judge_sd = 1.0", "judge_sd = inf", "[ties] judge_sd must be a number, not inf"),
        ("judge_sd = 1.0", "", "[ties] needs 'judge_sd', a positive number"),
        ("judge_sd = 1.0", "judge_sd = 1.0\nmeen = 2.0", "no key 'meen' (did you mean 'mean'?)"),
        ('kind = "two-coin"', 'kind = "two-coins"', "kind 'two-coins' is unknown (did you mean 'two-coin'?)"),
        ('kind = "normal"', "", "[strength] needs a 'kind'"),
        ('criteria = "collapse"', 'criteria = "separate"', "criteria = 'separate' needs a [weights] section"),
        ('criteria = "collapse"', 'criteria = "both"', "criteria = 'both' is none of collapse, separate"),
        ('data = "votes"', 'data = "stars"', "data = 'stars'"),
        ('data = "votes"', 'data = "votes"\nsauce = "x"', "unknown key 'sauce' (did you mean 'source'?)"),
        ('data = "votes"', "data = 3", "data must be text, not 3"),
        ('data = "votes"', "", "'data' is missing"),
        ('data = "votes"', "data = votes", "not valid TOML"),
        ('when = "e1_k = e2_k for every judge"', "", "each [[reduces_to]] needs exactly 'model' and 'when'"),
    ],
)
def test_a_fault_in_a_file_is_named(changed: Any, old: str, new: str, expected: str) -> None:
    path = changed(old, new)
    message = problems(path)
    assert expected in message
    assert str(path) in message


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text('name = "x"\n[strength]\nkind = "normal"\nsd = -1.0\n[reliability]\nkind = "coin"\n')
    message = problems(path)
    for part in ("'title' is missing", "sd must be positive", "kind 'coin' is unknown", "'ties' is missing"):
        assert part in message


@pytest.mark.parametrize("make", ["missing", "folder", "binary"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, make: str) -> None:
    path = tmp_path / "model.toml"
    if make == "folder":
        path.mkdir()
    elif make == "binary":
        path.write_bytes(bytes(range(256)))
    assert str(path) in problems(path)


# --- overrides ---------------------------------------------------------------------------------------------------


def test_overrides_change_one_number_and_are_recorded() -> None:
    model = load_model("maple")
    other = model.with_priors({"reliability": {"a": 8}, "strength": {"sd": 2.5}})
    assert other.reliability.numbers == model.reliability.numbers | {"a": 8}
    assert other.strength.numbers == {"sd": 2.5}
    assert other.ties == model.ties
    assert set(other.overrides) == {("reliability", "a", 8.0), ("strength", "sd", 2.5)}
    assert model.overrides == ()
    assert model.with_priors(None) is model
    assert hash(other) != hash(model)


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ({"strenght": {"sd": 1}}, "no section 'strenght'"),
        ({"weights": {"sd": 1}}, "model crowd-bt has no section 'weights'; it has strength, reliability, ties"),
        ({"strength": {"sdd": 1}}, "no key 'sdd' (did you mean 'sd'?)"),
        ({"strength": {"sd": 0}}, "sd must be positive, not 0"),
        ({"strength": {"sd": float("nan")}}, "sd must be a number, not nan"),
        ({"reliability": {"reversed": 0.5}}, "reversed must be from 0 to below 0.5, not 0.5"),
        ({"reliability": {"reversed": -0.1}}, "reversed must be from 0 to below 0.5, not -0.1"),
        ({"strength": 3}, "strength"),
        ({"strength": {"sd": "3"}}, "sd must be a number, not '3'"),
    ],
)
def test_a_wrong_override_is_refused(priors: Any, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model("crowd-bt").with_priors(priors)
    assert expected in str(caught.value)
    with pytest.raises(InputError) as several:
        load_model("crowd-bt").with_priors({"nothing": {"x": 1}, **priors})
    assert "no section 'nothing'" in str(several.value)
    assert expected in str(several.value)


# --- flat names --------------------------------------------------------------------------------------------------

NUMBERS = [
    (name, section, key, value)
    for name in model_names()
    for section, term in load_model(name).sections.items()
    for key, value in term.prior
]


@pytest.mark.parametrize(("name", "section", "key", "value"), NUMBERS)
def test_every_number_of_every_model_has_a_flat_name(name: str, section: str, key: str, value: float) -> None:
    new = value / 2 if value else 0.25
    by_section = load_model(name).with_priors({section: {key: new}})
    assert load_model(name).with_priors({f"{section}.{key}": new}) == by_section
    assert by_section.sections[section].numbers[key] == new
    assert by_section.overrides == ((section, key, new),)


def test_both_forms_stand_in_one_mapping() -> None:
    changed = load_model("crowd-bt").with_priors({"strength.sd": 2.0, "reliability": {"a": 8}, "reliability.b": 3})
    assert changed.strength.numbers["sd"] == 2.0
    assert changed.reliability.numbers["a"] == 8
    assert changed.reliability.numbers["b"] == 3


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ({"strenght.sd": 1}, "no section 'strenght' (did you mean 'strength'?); it has strength, reliability"),
        ({"strength.sdd": 1}, "strength has no key 'sdd' (did you mean 'sd'?)"),
        ({"reliability_a": 1}, "no number 'reliability_a' (did you mean 'reliability.a'?); it has strength.sd, rel"),
        ({"strength.sd": {"sd": 1}}, "strength.sd must be a number, not {'sd': 1}"),
        ({"strength.sd": 1, "strength": {"sd": 2}}, "strength.sd is given twice; give it once"),
        ({"strength.sd": -1}, "strength sd must be positive, not -1"),
    ],
)
def test_a_wrong_flat_name_is_answered_with_those_that_there_are(priors: Any, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model("crowd-bt").with_priors(priors)
    assert expected in str(caught.value)
