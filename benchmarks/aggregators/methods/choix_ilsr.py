"""choix's Bradley-Terry (I-LSR) with a little regularisation; a tie is half a win of either."""

from __future__ import annotations

from benchmarks.aggregators.methods import by_strength, duels

NAME = "choix"
USES_KNOWN = True
ALPHA = 0.01


def answer(task):
    import choix

    votes = duels(task)
    names = sorted({*votes["first"], *votes["second"]})
    place = {name: n for n, name in enumerate(names)}
    wins = []
    for first, second, winner in votes[["first", "second", "winner"]].itertuples(index=False, name=None):
        a, b = place[first], place[second]
        wins += {"first": [(a, b)] * 2, "second": [(b, a)] * 2, "tie": [(a, b), (b, a)]}[winner]
    found = choix.ilsr_pairwise(len(names), wins, alpha=ALPHA, max_iter=200)
    return by_strength(task, dict(zip(names, map(float, found), strict=True)))
