"""Judges, designs and truths from tables, and one clear error for each thing that can be wrong."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from voirdire.errors import InputError
from voirdire.simulate import (
    Accuracy,
    AllPairs,
    AlwaysFirst,
    BradleyTerry,
    Copycat,
    Drifting,
    GivenPairs,
    GivenTruth,
    Halo,
    Lazy,
    NormalTruth,
    OneCoin,
    Random,
    RanksTruth,
    Referenced,
    RoundRobin,
    SharePairs,
    TieProne,
    TwoCoin,
    VerbosityBiased,
    check_simulation,
    design_from_spec,
    judge_from_spec,
    panel_from_spec,
    simulate_counts,
    simulate_votes,
    truth_from_spec,
)
from voirdire.simulate.panel import JUDGES


def _problems(function, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        function(*args, **kwargs)
    return caught.value.problems


def test_a_panel_from_toml():
    table = tomllib.loads(
        """
        [[panel]]
        kind = "accuracy"
        accuracy = 1
        [[panel]]
        name = "ada"
        kind = "tie-prone"
        nu = 0.5
        of = {kind = "lazy", share = 0.1, of = {kind = "two-coin", eta1 = 0.9, eta2 = 0.6}}
        [[panel]]
        kind = "always-first"
        count = 2
        [[panel]]
        name = "echo"
        kind = "copycat"
        copies = "ada"
        count = 1
        [[panel]]
        kind = "random"
        count = 0
        """
    )
    assert panel_from_spec(table["panel"]) == {
        "judge-001": Accuracy(1),
        "ada": TieProne(0.5, of=Lazy(0.1, of=TwoCoin(0.9, 0.6))),
        "always-first-01": AlwaysFirst(),
        "always-first-02": AlwaysFirst(),
        "echo-01": Copycat("ada"),
    }


def test_objects_kinds_and_tables_may_be_mixed():
    panel = panel_from_spec({"a": "random", "b": Random(), "c": {"kind": "random"}})
    assert set(panel.values()) == {Random()}
    nested = judge_from_spec({"kind": "halo", "pull": 0.5, "of": OneCoin(0.9)})
    assert nested == Halo(0.5, of=OneCoin(0.9))
    assert judge_from_spec({"kind": "lazy", "share": 0.5, "of": "random"}) == Lazy(0.5, of=Random())


@pytest.mark.parametrize(
    "judge",
    [
        Accuracy(0.7, exact=False),
        Accuracy(flips=3),
        Drifting(OneCoin(0.9, scale=2.0), Halo(0.4)),
        TieProne(0.5, of=Lazy(0.1, of=Copycat("x", 0.4), skips=True)),
        VerbosityBiased(0.3),
    ],
)
def test_judges_survive_the_way_through_a_table(judge):
    assert judge_from_spec(judge.spec()) == judge


def test_every_kind_is_known_by_its_name():
    assert sorted(JUDGES) == [
        "accuracy",
        "adversarial",
        "always-first",
        "always-second",
        "bradley-terry",
        "copycat",
        "criterion-blind",
        "discrimination",
        "drifting",
        "halo",
        "lazy",
        "one-coin",
        "random",
        "tie-prone",
        "two-coin",
        "verbosity-biased",
    ]
    for kind, cls in JUDGES.items():
        assert "Violated assumptions" in cls.__doc__, kind


@pytest.mark.parametrize(
    "design", [AllPairs(), SharePairs(0.2, order="swap", connect="tree"), RoundRobin(3, repeats=2)]
)
def test_designs_survive_the_way_through_a_table(design):
    assert design_from_spec(design.spec()) == design


def test_truths_survive_the_way_through_a_table():
    assert truth_from_spec(NormalTruth(2.0, correlation=0.3).spec()) == NormalTruth(2.0, correlation=0.3)
    given = truth_from_spec(GivenTruth(np.eye(2), weights=np.ones(2)).spec())
    assert given.spec() == {"kind": "given", "strengths": [[1.0, 0.0], [0.0, 1.0]], "weights": [1.0, 1.0]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"kind": "twocoin"}, ["judge: unknown kind 'twocoin'; did you mean 'two-coin'? Known: accuracy"]),
        ({"kind": 3}, ["judge: unknown kind 3; Known: accuracy"]),
        ({"accuracy": 0.7}, ["judge: 'kind' is missing; Known: accuracy"]),
        (0.7, ["judge: 0.7 is neither a kind nor a table"]),
        (None, ["judge: None is neither a kind nor a table"]),
        (AllPairs(), ["judge: a design stands here"]),
        (
            {"kind": "accuracy", "acuracy": 0.7},
            ["judge: unknown key 'acuracy' for kind 'accuracy'; did you mean 'accuracy'?"],
        ),
        ({"kind": "random", "share": 1}, ["judge: unknown key 'share' for kind 'random'; it has none"]),
        ("accuracy", ["accuracy judge: give either accuracy or flips (neither is given)"]),
        ({"kind": "two-coin"}, ["judge: 'eta1' is missing", "judge: 'eta2' is missing"]),
        (
            {"kind": "accuracy", "accuracy": 1.2},
            ["judge: accuracy judge: accuracy is 1.2; give a number from 0 to 1, or leave it out"],
        ),
        ({"kind": "accuracy", "accuracy": -0.1}, ["accuracy is -0.1; give a number from 0 to 1"]),
        ({"kind": "accuracy", "accuracy": float("nan")}, ["accuracy is nan; give a number from 0 to 1"]),
        ({"kind": "accuracy", "accuracy": "0.7"}, ["accuracy is '0.7'; give a number from 0 to 1"]),
        ({"kind": "accuracy", "accuracy": True}, ["accuracy is True; give a number from 0 to 1"]),
        ({"kind": "accuracy", "accuracy": 0.7, "exact": 1}, ["exact is 1; give true or false"]),
        ({"kind": "accuracy", "flips": 2.5}, ["flips is 2.5; give a whole number of at least 0"]),
        ({"kind": "accuracy", "flips": -1}, ["flips is -1; give a whole number of at least 0"]),
        ({"kind": "one-coin", "eta": 2, "scale": 0}, ["eta is 2;", "scale is 0; give a number above 0"]),
        ({"kind": "discrimination", "a": float("inf")}, ["a is inf; give a finite number"]),
        ({"kind": "tie-prone", "nu": -1}, ["nu is -1; give a number of at least 0"]),
        ({"kind": "copycat", "copies": " "}, ["copies is ' '; give a name"]),
        ({"kind": "lazy", "share": 0.5, "of": {"kind": "one-coin", "eta": 7}}, ["judge, of: one-coin judge: eta is 7"]),
        ({"kind": "lazy", "share": 0.5, "of": 3}, ["judge, of: 3 is neither a kind nor a table"]),
    ],
)
def test_bad_judges(spec, expected):
    problems = _problems(judge_from_spec, spec)
    assert len(problems) == len(expected)
    for problem, part in zip(problems, expected, strict=True):
        assert part in problem


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        ({}, ["panel: it has no judges"]),
        ([], ["panel: it has no judges"]),
        ([{"kind": "random", "count": 0}], ["panel: it has no judges"]),
        ("random", ["panel: 'random' is neither a mapping"]),
        ({"": "random"}, ["panel: a judge is named ''"]),
        ([{"name": "a", "kind": "random"}, {"name": "a", "kind": "random"}], ["two judges are called 'a'"]),
        ([{"name": 3, "kind": "random"}], ["judge 1 of the list: its name is 3"]),
        ([{"kind": "random", "count": -1}], ["judge 1 of the list: count is -1"]),
        ([{"kind": "random", "count": 1.5}], ["judge 1 of the list: count is 1.5"]),
        ([{"count": 2}], ["judge 1 of the list: its name is None"]),
        (
            {"a": {"kind": "copycat", "copies": "bbo"}, "bob": "random"},
            ["judge 'a' copies 'bbo', who is not in the panel; did you mean 'bob'?"],
        ),
        ({"a": Lazy(0.5, of=Copycat("z")), "b": "random"}, ["judge 'a' copies 'z', who is not in the panel"]),
        ({"a": Copycat("a")}, ["judges copy each other in a circle: a -> a"]),
        (
            {"d": Copycat("a"), "a": Copycat("b"), "b": Lazy(0.1, of=Copycat("c")), "c": Copycat("a")},
            ["judges copy each other in a circle: a -> b -> c -> a"],
        ),
        (
            {"a": {"kind": "acuracy"}, "b": {"kind": "one-coin", "eta": 3}},
            ["judge 'a': unknown kind 'acuracy'; did you mean 'accuracy'?", "judge 'b': one-coin judge: eta is 3"],
        ),
    ],
)
def test_bad_panels(panel, expected):
    problems = _problems(panel_from_spec, panel)
    assert len(problems) == len(expected)
    for problem, part in zip(problems, expected, strict=True):
        assert part in problem


def test_a_bad_table_behind_count_is_named_once_for_each_judge():
    problems = _problems(panel_from_spec, [{"name": "x", "kind": "one-coin", "eta": 3, "count": 2}])
    assert [problem.split(":")[0] for problem in problems] == ["judge 'x-01'", "judge 'x-02'"]


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ("all_pairs", "design: unknown kind 'all_pairs'; did you mean 'all-pairs'?"),
        ({"kind": "share", "share": 0}, "share is 0; give a number above 0 and at most 1"),
        ({"kind": "share", "share": 1.5}, "share is 1.5;"),
        ({"kind": "all-pairs", "order": "swapped"}, "order is 'swapped'; give one of 'fixed', 'swap', 'random'"),
        ({"kind": "all-pairs", "repeats": 0}, "repeats is 0; give a whole number of at least 1"),
        ({"kind": "round-robin", "contexts": 0}, "contexts is 0; give a whole number of at least 1"),
        ({"kind": "round-robin", "contexts": 46}, "design: 46 contexts for 45 pairs"),
        ({"kind": "share", "share": 0.1}, "is 5 pairs, which leaves items unconnected; at least 9 pairs are needed"),
        ({"kind": "referenced", "reference": 10}, "there is no item 10; give an index from 0 to 9"),
        ({"kind": "referenced", "reference": "item-1"}, "no item 'item-1'; give an index from 0 to 9 or a name from"),
        ({"kind": "pairs", "listed": []}, "listed is []; give a list of pairs of items"),
        ({"kind": "pairs", "listed": [[0, 1, 2]]}, "listed is [[0, 1, 2]]; give a list of pairs of items"),
        ({"kind": "pairs", "listed": [[0, 1], [1, 1]]}, "pair 2 compares 'item-02' with itself"),
        ({"kind": "pairs", "listed": [[0, 1], [1, 0]]}, "pair 2 is pair 1 again"),
        ({"kind": "pairs", "listed": [[0, 77]]}, "there is no item 77"),
        (
            {"kind": "pairs", "listed": [[0, 1], [1, 2], [3, 4]]},
            "7 groups that are never compared with each other"
            " (item-01, item-02, item-03; item-04, item-05; item-06; ...); add pairs between them",
        ),
    ],
)
def test_bad_designs(design, expected):
    for function in (simulate_votes, simulate_counts, check_simulation):
        problems = _problems(function, ["random"], items=10, design=design)
        assert len(problems) == 1
        assert expected in problems[0]


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        ("rank", "truth: unknown kind 'rank'; did you mean 'ranks'?"),
        ({"kind": "normal", "sd": -1}, "sd is -1; give a number of at least 0"),
        ({"kind": "ranks", "correlation": 2}, "correlation is 2; give a number from 0 to 1"),
        ({"kind": "given", "strengths": [[1, 2], [3]]}, "give a list of finite numbers for each criterion"),
        ({"kind": "given", "strengths": [[1, float("nan")]]}, "give a list of finite numbers for each criterion"),
        ({"kind": "given", "strengths": [[1, 2]], "weights": [1, 2]}, "2 weights for 1 criteria"),
        ({"kind": "given", "strengths": [[1, 2]], "length": [1]}, "1 lengths for 2 items"),
        ({"kind": "given", "strengths": [[1, 2]], "length": "long"}, "length is 'long'; give a list of finite"),
    ],
)
def test_bad_truths(truth, expected):
    problems = _problems(simulate_votes, ["random"], truth=truth)
    assert len(problems) == 1
    assert expected in problems[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"items": 1}, "items is 1; give a whole number of at least 2"),
        ({"items": 2.0}, "items is 2.0; give a whole number of at least 2"),
        ({"criteria": 0}, "criteria is 0; give a whole number of at least 1"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
        ({"seed": 0.5}, "seed is 0.5;"),
        ({"seed": None}, "seed is None;"),
        ({"seed": ()}, "seed is ();"),
        ({"items": 3, "truth": np.eye(2)}, "items is 3, but the given strengths have 2; leave items out"),
        ({"criteria": 3, "truth": np.eye(2)}, "criteria is 3, but the given strengths have 2"),
        ({"truth": np.ones((2, 1))}, "items is 1; give a whole number of at least 2"),
    ],
)
def test_bad_sizes_and_seeds(arguments, expected):
    problems = _problems(simulate_votes, ["random"], **arguments)
    assert len(problems) == 1
    assert expected in problems[0]


def test_more_flips_than_votes():
    # 6 pairs x 2 criteria + 1 pair of criteria = 13 votes.
    arguments = {"items": 4, "criteria": 2}
    assert len(simulate_counts({"a": Accuracy(flips=13)}, **arguments).votes.outcome) == 12
    (problem,) = _problems(simulate_votes, {"a": Accuracy(flips=14)}, **arguments)
    assert problem == ("judge 'a': flips is 14, but this judge gives only 13 votes; lower it or give accuracy")


def test_everything_wrong_is_said_at_once():
    problems = _problems(
        simulate_votes, {"a": {"kind": "acuracy"}}, items=1, criteria=0, design="al-pairs", truth="rank", seed=-3
    )
    assert len(problems) == 6


def test_a_design_that_suits_no_items_is_reported_beside_a_bad_panel():
    problems = _problems(simulate_votes, ["rando"], items=4, design=Referenced(9))
    assert len(problems) == 2


def test_defaults():
    assert judge_from_spec("bradley-terry") == BradleyTerry(1.0)
    assert truth_from_spec("ranks") == RanksTruth(0.0)
    assert design_from_spec({"kind": "pairs", "listed": [["item-1", 1]]}) == GivenPairs([["item-1", 1]])
