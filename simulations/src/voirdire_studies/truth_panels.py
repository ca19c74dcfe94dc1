"""Tables whose truth no model draws: easy items only, drift, copies, cycles, shared biases, heavy tails.

Every function takes a generator and gives a table with what is true of its items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.typing import Bools, Floats, Ints
from voirdire_studies.truth_measures import ClassTruth, QualityTruth

ITEMS, JUDGES, VOTES = 10, 6, 600
RATED, RATERS = 30, 6
LABELLED, LABELLERS = 150, 6
CLASSES = np.array(["a", "b", "c"])


class Meetings(NamedTuple):
    """Judge and items of each vote, shape (votes,), and sharpness of each judge, shape (judges,)."""

    judge: Ints
    first: Ints
    second: Ints
    sharp: Floats


def item_names(count: int) -> list[str]:
    """Names of items.

    Examples
    --------
    >>> item_names(2)
    ['i000', 'i001']
    """
    return [f"i{number:03d}" for number in range(count)]


def _draw_meetings(rng: np.random.Generator, votes: int = VOTES) -> Meetings:
    first = rng.integers(ITEMS, size=votes)
    second = (first + rng.integers(1, ITEMS, votes)) % ITEMS
    return Meetings(rng.integers(JUDGES, size=votes), first, second, rng.uniform(0.5, 1.5, JUDGES))


def _votes_of(
    rng: np.random.Generator, met: Meetings, perceived: Floats, quality: Floats, first_won: Bools | None = None
) -> QualityTruth:
    """Votes drawn from the differences that judges perceive (log-odds), or as given by ``first_won``."""
    import pandas as pd

    names = np.array(item_names(len(quality)))
    if first_won is None:
        first_won = rng.random(len(perceived)) < logistic_sigmoid(perceived, np)
    table = pd.DataFrame(
        {
            "judge": [f"j{number}" for number in met.judge],
            "first": names[met.first],
            "second": names[met.second],
            "winner": np.where(first_won, "first", "second"),
        }
    )
    return QualityTruth(table, dict(zip(names.tolist(), quality.tolist(), strict=True)))


def _seen(met: Meetings, quality: Floats) -> Floats:
    return np.asarray((quality[met.first] - quality[met.second]) * met.sharp[met.judge])


def _plain(rng: np.random.Generator, quality: Floats) -> QualityTruth:
    met = _draw_meetings(rng)
    return _votes_of(rng, met, _seen(met, quality), quality)


def votes_as_drawn(rng: np.random.Generator) -> QualityTruth:
    """Items and judges as a model has them: the control."""
    return _plain(rng, rng.standard_normal(ITEMS))


def votes_two_groups(rng: np.random.Generator) -> QualityTruth:
    """Half of the items good, half bad, next to nothing between those of one half."""
    return _plain(rng, np.where(np.arange(ITEMS) % 2, 2.0, -2.0) + 0.1 * rng.standard_normal(ITEMS))


def votes_heavy_tails(rng: np.random.Generator) -> QualityTruth:
    """Qualities from a t distribution with 1.5 degrees of freedom, within 12 of zero."""
    return _plain(rng, np.clip(rng.standard_t(1.5, ITEMS), -12.0, 12.0))


def votes_easy_only(rng: np.random.Generator) -> QualityTruth:
    """Half of the judges tell items apart where they differ by more than 1.5, and guess elsewhere."""
    met, quality = _draw_meetings(rng), 1.3 * rng.standard_normal(ITEMS)
    close = np.abs(quality[met.first] - quality[met.second]) < 1.5
    return _votes_of(rng, met, np.where((met.judge < 3) & close, 0.0, 2.0 * _seen(met, quality)), quality)


def votes_drift(rng: np.random.Generator) -> QualityTruth:
    """Half of the judges turn, from 1.5 times as sharp as the panel to wrong more often than right."""
    met, quality = _draw_meetings(rng), rng.standard_normal(ITEMS)
    seen = 1.5 * (quality[met.first] - quality[met.second])
    turned = 1.0 - 1.6 * np.linspace(0.0, 1.0, VOTES)
    return _votes_of(rng, met, np.where(met.judge < 3, seen * turned, seen), quality)


def votes_copies(rng: np.random.Generator) -> QualityTruth:
    """Seven judges of the same 110 pairs, three of whom repeat the first one's votes and guess a tenth of them."""
    count, quality, sharp = 110, rng.standard_normal(ITEMS), rng.uniform(0.5, 1.5, 7)
    pairs = _draw_meetings(rng, count)
    seen = quality[pairs.first] - quality[pairs.second]
    first_won = rng.random((7, count)) < logistic_sigmoid(sharp[:, None] * seen, np)
    first_won[1:4] = np.where(rng.random((3, count)) < 0.1, rng.random((3, count)) < 0.5, first_won[0])
    met = Meetings(np.repeat(np.arange(7), count), np.tile(pairs.first, 7), np.tile(pairs.second, 7), sharp)
    return _votes_of(rng, met, np.empty(0), quality, first_won.ravel())


def votes_cycles(rng: np.random.Generator) -> QualityTruth:
    """Items in threes: each beats the next, and the last the first, by 2 more than their difference in quality."""
    met, quality = _draw_meetings(rng), rng.standard_normal(ITEMS)
    lead = np.zeros((ITEMS, ITEMS))
    for start in range(0, ITEMS - 2, 3):
        for here, there in ((0, 1), (1, 2), (2, 0)):
            lead[start + here, start + there] += 2.0
            lead[start + there, start + here] -= 2.0
    return _votes_of(rng, met, _seen(met, quality) + lead[met.first, met.second] * met.sharp[met.judge], quality)


def votes_shared_bias(rng: np.random.Generator) -> QualityTruth:
    """All judges like longer items, which are no better: a bias as large as the spread of quality."""
    met, quality, length = _draw_meetings(rng), rng.standard_normal(ITEMS), rng.standard_normal(ITEMS)
    return _votes_of(rng, met, _seen(met, quality) + length[met.first] - length[met.second], quality)


def votes_left_out(rng: np.random.Generator) -> QualityTruth:
    """Four fifths of the pairs of strong items are never asked, and two fifths of the mixed ones."""
    met, quality = _draw_meetings(rng, 1000), rng.standard_normal(ITEMS)
    strong = quality > np.median(quality)
    both = strong[met.first].astype(int) + strong[met.second]
    kept = rng.random(1000) < np.array([1.0, 0.6, 0.2])[both]
    met = Meetings(met.judge[kept], met.first[kept], met.second[kept], met.sharp)
    return _votes_of(rng, met, _seen(met, quality), quality)


def _scores_of(perceived: Floats, quality: Floats, cuts: tuple[float, ...] = (-2.0, -0.7, 0.7, 2.0)) -> QualityTruth:
    """Scores from 1 of what judges perceive, shape (judges, items)."""
    import pandas as pd

    judges, items = perceived.shape
    table = pd.DataFrame(
        {
            "judge": np.repeat([f"j{number}" for number in range(judges)], items),
            "item": np.tile(item_names(items), judges),
            "score": 1 + np.searchsorted(cuts, perceived).ravel(),
        }
    )
    return QualityTruth(table, dict(zip(item_names(items), quality.tolist(), strict=True)))


def _rate(rng: np.random.Generator, quality: Floats, judges: int = RATERS) -> Floats:
    """Draw what judges perceive of items: quality, less a severity of sd 0.7, plus noise."""
    severity = 0.7 * rng.standard_normal((judges, 1))
    return np.asarray(quality - severity + rng.logistic(size=(judges, len(quality))))


def scores_as_drawn(rng: np.random.Generator) -> QualityTruth:
    """Scores from 1 to 5 as a model has them: the control."""
    quality = 1.5 * rng.standard_normal(RATED)
    return _scores_of(_rate(rng, quality), quality)


def scores_two_ends(rng: np.random.Generator) -> QualityTruth:
    """One judge uses the ends of the scale alone."""
    quality = 1.5 * rng.standard_normal(RATED)
    truth = _scores_of(_rate(rng, quality), quality)
    first = truth.table["judge"] == "j0"
    truth.table.loc[first, "score"] = np.where(truth.table.loc[first, "score"] > 2, 5, 1)
    return truth


def scores_copies(rng: np.random.Generator) -> QualityTruth:
    """Seven judges, three of whom repeat the first one's scores but for noise of sd 0.3."""
    quality = 1.5 * rng.standard_normal(RATED)
    perceived = _rate(rng, quality, 7)
    perceived[1:4] = perceived[0] + 0.3 * rng.standard_normal((3, RATED))
    return _scores_of(perceived, quality)


def scores_shared_bias(rng: np.random.Generator) -> QualityTruth:
    """All judges like longer items, which are no better: a bias as large as the spread of quality."""
    quality = 1.5 * rng.standard_normal(RATED)
    return _scores_of(_rate(rng, quality + 1.5 * rng.standard_normal(RATED)), quality)


def scores_of_noise(rng: np.random.Generator) -> QualityTruth:
    """Scores that have nothing to do with items."""
    return _scores_of(rng.logistic(size=(RATERS, RATED)), rng.standard_normal(RATED))


def _labels_of(rng: np.random.Generator, truth: Ints, chance: Floats, wrong: Ints, asked: float = 1.0) -> ClassTruth:
    """Labels right with ``chance``, shape (judges, items), else ``wrong``; each given with probability ``asked``."""
    import pandas as pd

    judges, items = chance.shape
    labels = np.where(rng.random(chance.shape) < chance, truth, wrong)
    table = pd.DataFrame(
        {
            "judge": np.repeat([f"j{number:02d}" for number in range(judges)], items),
            "item": np.tile(item_names(items), judges),
            "label": CLASSES[labels].ravel(),
        }
    )
    kept = rng.random(len(table)) < asked
    return ClassTruth(
        table[kept].reset_index(drop=True), dict(zip(item_names(items), CLASSES[truth].tolist(), strict=True))
    )


def _label(rng: np.random.Generator, easiness: Floats, judges: int = LABELLERS) -> tuple[Ints, Floats, Ints]:
    """True classes, chances of a right label given easiness (log-odds), and the class that is said else."""
    truth = rng.integers(3, size=LABELLED)
    skill = rng.uniform(0.5, 1.8, (judges, 1))
    wrong = (truth + rng.integers(1, 3, (judges, LABELLED))) % 3
    return truth, np.asarray(logistic_sigmoid(skill + easiness, np)), wrong


def labels_as_drawn(rng: np.random.Generator) -> ClassTruth:
    """Judges right on 0.62 to 0.86 of the items, independent of each other: the control."""
    return _labels_of(rng, *_label(rng, np.zeros(LABELLED)))


def labels_look_alike(rng: np.random.Generator) -> ClassTruth:
    """A fifth of the items looks like another class to everybody: nine of ten judges say that one."""
    truth, chance, wrong = _label(rng, np.zeros(LABELLED))
    alike = rng.random(LABELLED) < 0.2
    other = (truth + 1 + rng.integers(2, size=LABELLED)) % 3
    return _labels_of(rng, truth, np.where(alike, 0.1, chance), np.where(alike, other, wrong))


def labels_pulled(rng: np.random.Generator) -> ClassTruth:
    """Long items, a third of them, pull half of all labels to the first class, whatever they are."""
    truth, chance, wrong = _label(rng, np.zeros(LABELLED))
    pulled = (rng.random(LABELLED) < 1 / 3) & (rng.random(chance.shape) < 0.5)
    return _labels_of(rng, truth, np.where(pulled, (truth == 0).astype(float), chance), np.where(pulled, 0, wrong))


def labels_easy_and_hard(rng: np.random.Generator) -> ClassTruth:
    """Items that are easy or hard for all, log-odds of a right label with sd 1.5."""
    return _labels_of(rng, *_label(rng, 1.5 * rng.standard_normal(LABELLED)))


def labels_sparse(rng: np.random.Generator) -> ClassTruth:
    """Forty judges of whom some three label each item."""
    return _labels_of(rng, *_label(rng, np.zeros(LABELLED), 40), asked=3 / 40)


TRUTHS: dict[str, Callable[[np.random.Generator], QualityTruth | ClassTruth]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        votes_as_drawn, votes_two_groups, votes_heavy_tails, votes_easy_only, votes_drift, votes_copies, votes_cycles,
        votes_shared_bias, votes_left_out, scores_as_drawn, scores_two_ends, scores_copies, scores_shared_bias,
        scores_of_noise, labels_as_drawn, labels_look_alike, labels_pulled, labels_easy_and_hard, labels_sparse,
    )
}  # fmt: skip
