"""Which pairs a design makes, in which order, how often, and that they connect the items."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire.errors import InputError
from voirdire.simulate import (
    Accuracy,
    AllPairs,
    AlwaysFirst,
    GivenPairs,
    InContexts,
    NormalTruth,
    Random,
    Referenced,
    RoundRobin,
    SharePairs,
    simulate_counts,
    simulate_votes,
)
from voirdire.simulate.graph import all_pairs, component_labels, item_names, random_tree


def _connected(items, pairs):
    """By repeated merging, apart from the package's own routine."""
    groups = [{item} for item in range(items)]
    for first, second in pairs:
        a = next(group for group in groups if first in group)
        b = next(group for group in groups if second in group)
        if a is not b:
            groups.remove(b)
            a |= b
    return len(groups) == 1


def _rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("items", [2, 3, 7, 50])
def test_all_pairs(items):
    pairs = AllPairs().compared_pairs(items, _rng())
    assert [tuple(pair) for pair in pairs] == list(combinations(range(items), 2))


@pytest.mark.parametrize(("share", "size"), [(0.5, 23), (1.0, 45), (0.3, 14), (0.7, 32)])
@pytest.mark.parametrize("connect", ["resample", "tree"])
def test_a_share_has_its_size_and_is_connected(share, size, connect):
    # 45 pairs: 22.5, 45, 13.5, 31.5, rounded half up.
    for seed in range(20):
        pairs = SharePairs(share, connect=connect).compared_pairs(10, np.random.default_rng(seed))
        assert pairs.shape == (size, 2)
        assert (pairs[:, 0] < pairs[:, 1]).all()
        assert len({tuple(pair) for pair in pairs}) == size
        assert _connected(10, pairs)


def test_a_tree_connects_with_the_fewest_pairs():
    for items in (2, 3, 6, 50):
        for seed in range(10):
            pairs = SharePairs(2 / items, connect="tree").compared_pairs(items, np.random.default_rng(seed))
            assert len(pairs) == items - 1
            assert _connected(items, pairs)


def test_random_trees_are_uniform():
    """Cayley: 4^2 = 16 trees on 4 nodes; each within 4 standard errors of 1/16 in 8,000 draws."""
    rng, counts = np.random.default_rng(1), {}
    for _ in range(8000):
        tree = tuple(sorted(random_tree(4, rng)))
        counts[tree] = counts.get(tree, 0) + 1
    assert len(counts) == 16
    assert max(abs(count - 500) for count in counts.values()) < 4 * np.sqrt(8000 / 16 * 15 / 16)


@pytest.mark.slow
def test_resampled_shares_are_uniform_over_connected_choices():
    """On 4 items 3 of 6 pairs connect in 16 of 20 choices (the trees): each equally often."""
    rng, counts = np.random.default_rng(1), {}
    for _ in range(4000):
        chosen = tuple(map(tuple, SharePairs(0.5).compared_pairs(4, rng)))
        counts[chosen] = counts.get(chosen, 0) + 1
    assert len(counts) == 16
    assert max(abs(count - 250) for count in counts.values()) < 4 * np.sqrt(4000 / 16 * 15 / 16)


def test_resampling_gives_up_with_a_clear_error():
    # 49 random pairs of 50 items are practically never a tree.
    with pytest.raises(InputError, match=r"200 random draws of 49 pairs of 50 items .* connect = 'tree'"):
        SharePairs(0.04).compared_pairs(50, _rng())


def test_own_shares_differ_between_judges_and_connect_together():
    design = SharePairs(0.2, per_judge=True)
    votes = simulate_counts([{"kind": "random", "count": 8}], items=10, criteria=2, design=design).votes
    seen = []
    for judge in range(8):
        own = {
            criterion: set(zip(votes.first[chosen], votes.second[chosen], strict=True))
            for criterion in (0, 1)
            if (chosen := (votes.judge == judge) & (votes.criterion == criterion)).any()
        }
        assert len(own[0]) == 9
        assert own[0] == own[1]
        seen.append(frozenset(own[0]))
    assert len(set(seen)) == 8
    with pytest.raises(InputError, match="never compared with each other"):
        simulate_counts(["random"], items=10, design=design)


@pytest.mark.parametrize("reference", [0, 3, "item-7"])
def test_references_make_a_star(reference):
    pairs = Referenced(reference).compared_pairs(7, _rng())
    index = 6 if reference == "item-7" else reference
    assert len(pairs) == 6
    assert (pairs == index).any(axis=1).all()
    assert _connected(7, pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


@given(st.integers(2, 15), st.integers(1, 20), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_round_robin_deals_all_pairs_evenly(items, contexts, seed):
    size = items * (items - 1) // 2
    design = RoundRobin(min(contexts, size))
    pairs, context = design.compared_pairs(items, np.random.default_rng(seed)), design.pair_contexts(size)
    assert sorted(map(tuple, pairs)) == list(combinations(range(items), 2))
    dealt = np.bincount(context)
    assert len(dealt) == design.contexts
    assert dealt.max() - dealt.min() <= 1
    for number in range(design.contexts):
        appearances = np.bincount(pairs[context == number].ravel(), minlength=items)
        assert appearances.max() - appearances.min() <= 2 + items % 2


def test_round_robin_puts_each_pair_in_one_context():
    simulation = simulate_votes(["random", "random"], items=6, criteria=2, design=RoundRobin(4))
    votes = simulation.votes
    assert sorted(votes["context"].unique()) == ["context-1", "context-2", "context-3", "context-4"]
    assert (votes.groupby(["first", "second"])["context"].nunique() == 1).all()
    assert "context" not in simulation.criteria_votes.columns


def test_listed_pairs_keep_their_order():
    votes = simulate_counts(["random"], items=3, criteria=1, design=GivenPairs([[2, 0], [0, 1]])).votes
    assert votes.first.tolist() == [2, 0]
    assert votes.second.tolist() == [0, 1]


@given(st.integers(2, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12))
@settings(max_examples=60, deadline=None)
def test_components_agree_with_merging(items, listed):
    pairs = [(a, b) for a, b in listed if a < items and b < items and a != b]
    labels = component_labels(items, np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert (labels.max() == 0) == _connected(items, pairs)


def test_names_sort_as_their_indices():
    for items in (2, 9, 10, 100, 1000):
        names = item_names(items)
        assert names == sorted(names)
    assert item_names(50)[0] == "item-01"


def _shown(order, repeats=1, judges=2):
    panel = {f"j{number}": AlwaysFirst() for number in range(judges)}
    return simulate_counts(panel, items=20, criteria=3, design=AllPairs(order=order, repeats=repeats), seed=3)


def test_fixed_order_shows_the_lower_index_first():
    simulation = _shown("fixed")
    for votes in (simulation.votes, simulation.criteria_votes):
        assert (votes.first < votes.second).all()
    # Always-first then votes for the lower index in every pair.
    assert (simulation.votes.outcome == 0).all()


def test_swap_shows_every_pair_in_both_orders():
    simulation = _shown("swap")
    votes = simulation.votes
    assert len(votes.first) == 2 * 3 * 190 * 2
    shown = set(zip(votes.judge, votes.criterion, votes.first, votes.second, strict=True))
    assert len(shown) == len(votes.first)
    assert shown == {(j, c, b, a) for j, c, a, b in shown}
    assert len(simulation.criteria_votes.first) == 2 * 3 * 2


def _orders(votes):
    """Whether the lower index is shown first, (judge, criterion, run, pair)."""
    run = np.zeros_like(votes.judge) if votes.run is None else votes.run
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    rows = np.lexsort((high, low, run, votes.criterion, votes.judge))
    return (votes.first < votes.second)[rows].reshape(
        votes.judge.max() + 1, votes.criterion.max() + 1, run.max() + 1, -1
    )


def test_random_order_is_drawn_for_each_judge_pair_and_run():
    orders = _orders(_shown("random", repeats=2).votes)
    assert (orders == orders[:, :1]).all()
    drawn = orders[:, 0]
    assert abs(drawn.sum() - drawn.size / 2) < 4 * np.sqrt(drawn.size / 4)
    for a, b in combinations(drawn.reshape(4, -1), 2):
        assert abs((a == b).sum() - 95) < 4 * np.sqrt(190 / 4)


def test_random_order_by_criterion_is_drawn_for_each_criterion_too():
    orders = _orders(_shown("random-by-criterion").votes).reshape(6, -1)
    for a, b in combinations(orders, 2):
        assert abs((a == b).sum() - 95) < 4 * np.sqrt(190 / 4)


def test_repeats_make_runs():
    simulation = simulate_votes(["random"], items=4, criteria=2, design=AllPairs(order="swap", repeats=3))
    assert sorted(simulation.votes["run"].unique()) == [1, 2, 3]
    assert len(simulation.votes) == 6 * 2 * 2 * 3
    assert sorted(simulation.criteria_votes["run"].unique()) == [1, 2, 3]
    assert len(simulation.criteria_votes) == 1 * 2 * 3
    # Runs are answered afresh.
    answers = simulation.votes.pivot_table(
        index=["criterion", "first", "second"], columns="run", values="winner", aggfunc="first"
    )
    assert not (answers[1] == answers[2]).all()


@pytest.mark.parametrize(("criteria", "asked", "votes"), [(1, True, None), (5, True, 10), (5, False, None)])
def test_votes_on_criteria(criteria, asked, votes):
    design = AllPairs(criteria_votes=asked)
    simulation = simulate_votes(["random"], items=3, criteria=criteria, design=design)
    if votes is None:
        assert simulation.criteria_votes is None
    else:
        assert len(simulation.criteria_votes) == votes
        assert simulation.criteria_votes.columns.tolist() == ["judge", "first", "second", "winner"]
        assert set(simulation.criteria_votes["first"]) <= set(simulation.truth.criteria)


def test_shuffling_changes_the_sequence_but_not_the_questions():
    listed = simulate_votes({"a": Random()}, items=6, criteria=2)
    shuffled = simulate_votes({"a": Random()}, items=6, criteria=2, design=AllPairs(shuffle=True))
    columns = ["criterion", "first", "second"]
    assert listed.votes[columns].values.tolist() != shuffled.votes[columns].values.tolist()
    assert sorted(listed.votes[columns].values.tolist()) == sorted(shuffled.votes[columns].values.tolist())


def test_pair_numbers_are_lexicographic():
    assert all_pairs(4).tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_every_pair_meets_in_every_context_and_judges_take_their_share():
    votes = simulate_counts(["random"] * 2, items=5, criteria=2, design=InContexts(contexts=5)).votes
    assert len(votes.context) == 2 * 2 * 5 * 10
    asked = set(zip(votes.judge, votes.criterion, votes.context, votes.first, votes.second, strict=True))
    assert len(asked) == len(votes.context)
    own = simulate_counts(["random"] * 4, items=5, criteria=1, design=InContexts(contexts=3, share=0.5)).votes
    assert np.bincount(own.judge).tolist() == [15] * 4
    assert len({tuple(own.context[own.judge == k]) for k in range(4)}) > 1


@pytest.mark.parametrize("order", ["fixed", "swap", "random"])
def test_judges_see_what_items_are_worth_in_each_context(order):
    """A judge that never errs orders every pair as the strengths there are, which differ by twice the variance."""
    design, truth = InContexts(contexts=40, order=order), NormalTruth(sd=1.0, context_sd=2.0)
    made = simulate_votes({"ada": Accuracy(1.0)}, items=12, criteria=2, design=design, truth=truth, seed=3)
    here, names = made.truth.in_contexts, {name: place for place, name in enumerate(made.truth.items)}
    code = made.votes.assign(
        x=made.votes["context"].str.split("-").str[1].astype(int) - 1,
        c=made.votes["criterion"].str.split("-").str[1].astype(int) - 1,
    )
    first, second = (code[name].map(names) for name in ("first", "second"))
    ahead = here[code["x"], code["c"], first] > here[code["x"], code["c"], second]
    assert (np.where(ahead, "first", "second") == made.votes["winner"]).all()
    around = here - made.truth.strengths
    assert around.std() == pytest.approx(2.0, rel=0.1)
    np.testing.assert_allclose(around.sum(axis=-1), 0.0, atol=1e-12)
    assert made.truth.judges["reliability"].tolist() == [1.0]


def test_contexts_leave_the_rest_of_the_truth_as_it_was():
    alike = simulate_votes(["random"], items=6, criteria=2, truth=NormalTruth(), seed=4).truth
    design = InContexts(contexts=2)
    apart = simulate_votes(
        ["random"], items=6, criteria=2, design=design, truth=NormalTruth(context_sd=1.0), seed=4
    ).truth
    np.testing.assert_array_equal(alike.strengths, apart.strengths)
    assert alike.in_contexts is None


def test_contexts_that_differ_need_a_design_with_contexts():
    with pytest.raises(InputError, match=r"strengths differ between contexts, but design 'all-pairs' has none"):
        simulate_votes(["random"], items=6, truth=NormalTruth(context_sd=1.0))
