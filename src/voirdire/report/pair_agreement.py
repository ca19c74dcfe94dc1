"""Agreement of pairs of judges, observed and expected under the fit; and of a panel with judges who are people.

Two judges agree on a comparison (criterion, context, unordered pair) if both choose the same item, or both tie. With
n_ku(o) the votes of judge k for outcome o of comparison u and p_ku(o) their probability under one draw,

    observed = sum_u sum_o n_ku(o) n_lu(o),
    expected = sum_u sum_o E[q_ku(o) q_lu(o)], q_ku(o) the sum of p_ku(o) over the votes,

both divided by the number of pairs of votes, sum_u N_ku N_lu; the expectation is the mean over draws. The model takes
judges as independent given the strengths. A ratio above one means that two judges share more than the order of the
items, as copies and models of one family do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from voirdire.agreement.coefficients.rows import json_rows
from voirdire.agreement.verb import agreement
from voirdire.errors import InputError
from voirdire.report.page import Block, Facts, Text, isolate_name
from voirdire.report.ppc import cell_probability_draws, votes_of_fit
from voirdire.report.table import make_table
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

RESAMPLES = 2000
MEASURES = ("agreement_rate", "cohen_kappa")


def people_blocks(fit: Fit, human: Sequence[str]) -> Iterator[Block]:
    """Yield blocks about people: agreement of every judge with each human judge, or a hint on how to get it.

    Raises
    ------
    InputError
        A name in ``human`` is no judge of the fit.
    """
    unknown = [name for name in human if name not in fit.problem.judges]
    if unknown:
        raise InputError(
            [
                f"--human {name!r} is none of the {len(fit.problem.judges)} judges of this fit"
                f"{nearest_name(name, fit.problem.judges) or f'; known are {known_names(fit.problem.judges)}'}"
                for name in unknown
            ]
        )
    result = fit.as_dict()
    anchors = result.get("anchors")
    if anchors:
        yield from _anchor_blocks(anchors, fit.kind.page_words.people_noun)
    if result.get("people"):
        yield make_table("people-beside", "People beside the judges", result["people"])
    if not human and not anchors:
        yield Text("This run names no person, so it says nothing about agreement with people.", "lead")
        yield Text(
            "If a judge of the table is a person, make the report with --human NAME; agreement of scores and labels "
            "with people is measured by voirdire metaeval and voirdire agree, whose saved results have reports of "
            "their own.",
            "note",
        )
        return
    if not human:
        return

    votes = votes_of_fit(fit)
    for number, name in enumerate(human):
        rows = _agreement_rows(votes, name, fit.prob, fit.seed)
        defined = [row for row in rows if row["agreement_rate"] is not None]
        yield Text(_agreement_sentence(name, defined), "lead")
        yield make_table(
            f"people-{number}",
            f"Agreement with {isolate_name(name)}, with {100 * fit.prob:g}% bootstrap intervals",
            rows,
            heads={"agreement_rate": "agreement", "cohen_kappa": "Cohen's kappa", "n": "comparisons"},
            note_key="note",
            notes=(
                f"{RESAMPLES:,} resamples of comparisons. The human's own votes are part of the fit as any judge's.",
            ),
        )


def _anchor_blocks(anchors: Mapping[str, Any], people_answers: str) -> Iterator[Block]:
    """Yield blocks on the use of people's answers in the fit, and on its accuracy for answers left out."""
    facts = {key: value for key, value in anchors.items() if isinstance(value, str | int | float)}
    yield Text(f"{people_answers} are part of this fit.", "lead")
    yield Facts("Answers of people", tuple((key.capitalize(), str(value)) for key, value in facts.items()))
    for key, rows in anchors.items():
        if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
            yield make_table(
                f"anchor-{key}", f"{key.capitalize()}: how well each predicts people's answers left out", rows
            )


def _agreement_sentence(name: str, rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return f"No judge answered a comparison that {isolate_name(name)} answered."
    best = rows[0]
    return (
        f"Of the judges who share comparisons with {isolate_name(name)}, {isolate_name(best['judge'])} agrees most "
        f"often: in {best['agreement_rate']:.0%} of {best['n']:,}."
    )


def _agreement_rows(votes: Any, human: str, prob: float, seed: int) -> list[dict[str, Any]]:
    coefficients = agreement(votes, measures=MEASURES, against=human, resamples=RESAMPLES, prob=prob, seed=seed)
    rows: dict[tuple[str, Any], dict[str, Any]] = {}
    for row in json_rows(coefficients):
        judge = row["judges"][0]
        judge_row = rows.setdefault((judge, row["criterion"]), {"judge": judge, "criterion": row["criterion"]})
        measure = row["measure"]
        judge_row |= {measure: row["value"], f"{measure}_low": row["low"], f"{measure}_high": row["high"]}
        judge_row |= {"n": max(row["n"], judge_row.get("n", 0))}
        if row["note"] and not judge_row.get("note"):
            judge_row["note"] = row["note"]
    return sorted(rows.values(), key=lambda row: -(row["agreement_rate"] or -1.0))


Floats = npt.NDArray[np.float64]

MAX_DRAWS = 40  # draws to average over; a mean of products of probabilities needs few
MIN_COMMON_VOTES = 5  # minimum number of common votes for a ratio
FALSE_DISCOVERY_RATE = 0.1  # false discovery rate among the pairs that are called clear
_AGREEMENT_CACHE: WeakKeyDictionary[Fit, PairAgreement] = WeakKeyDictionary()  # a page needs it several times


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """Agreement of pairs of judges.

    Attributes
    ----------
    judges : tuple of str
    common, observed, expected : array, shape (judges, judges)
        Number of votes on the same comparisons, each counted once; share of pairs of these votes that agree; expected
        share. The shares are NaN without a common vote.
    """

    judges: tuple[str, ...]
    common: Floats
    observed: Floats
    expected: Floats

    @property
    def log_ratio(self) -> Floats:
        """Array of log2 of observed over expected, shape (judges, judges); NaN with fewer than 5 common votes."""
        too_few = self.common < MIN_COMMON_VOTES
        with np.errstate(divide="ignore", invalid="ignore"):
            # no agreement at all counts as half a vote, so that its logarithm is finite
            share = np.maximum(self.observed, 0.5 / np.maximum(self.common, 1))
            return np.where(too_few, np.nan, np.log2(share / self.expected))

    @cached_property
    def clear_pairs(self) -> npt.NDArray[np.bool_]:
        """Mask of pairs that agree more or less than expected, beyond chance; shape (judges, judges).

        Uses two-sided binomial tests of the number of agreements, as if pairs of votes were independent, with a false
        discovery rate of 0.1 (Benjamini and Hochberg 1995).
        """
        from scipy.stats import binom, false_discovery_control

        is_clear = np.zeros(self.common.shape, dtype=bool)
        a, b = np.nonzero(np.triu(self.common >= MIN_COMMON_VOTES, 1))
        if len(a):
            n, p = self.common[a, b].round(), np.clip(self.expected[a, b], 0.0, 1.0)
            k = (self.observed[a, b] * n).round()
            tails = np.minimum(binom.cdf(k, n, p), binom.sf(k - 1, n, p))
            is_clear[a, b] = false_discovery_control(np.minimum(1.0, 2 * tails)) <= FALSE_DISCOVERY_RATE
        return is_clear | is_clear.T

    def pair_records(self) -> list[dict[str, Any]]:
        """Return rows of pairs with at least 5 common votes: judges, votes, observed, expected, ratio, z, clear.

        ``z`` is (observed - expected) over its standard error for independent votes; the largest come first.
        """
        rows = []
        for a, b in zip(*np.triu_indices(len(self.judges), 1), strict=True):
            n, expected = self.common[a, b], self.expected[a, b]
            if n < MIN_COMMON_VOTES:
                continue
            error = np.sqrt(expected * (1 - expected) / n)
            z = float((self.observed[a, b] - expected) / error) if error > 0 else None
            row = {"judge a": self.judges[a], "judge b": self.judges[b], "common votes": int(n)}
            ratio = float(self.observed[a, b] / expected)
            row |= {
                "observed": float(self.observed[a, b]),
                "expected": float(expected),
                "ratio": ratio,
                "z": z,
                "clear": bool(self.clear_pairs[a, b]),
            }
            rows.append(row)
        return sorted(rows, key=lambda row: -(row["z"] or 0.0))


def observed_over_expected(fit: Fit) -> PairAgreement:
    """Return the agreement of the judges of a fit of votes; cached.

    Raises
    ------
    InputError
        The fit is not of votes, or pools them.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": list("abab"), "first": ["x", "x", "y", "y"], "second": "z", "winner": "first"})
    >>> found = observed_over_expected(fit(table, model="bradley-terry"))
    >>> found.observed[0].tolist(), found.common[0].tolist()
    ([1.0, 1.0], [2.0, 2.0])
    """
    from scipy import sparse

    if fit in _AGREEMENT_CACHE:
        return _AGREEMENT_CACHE[fit]
    votes = votes_of_fit(fit)
    cell = votes.row_cell
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    key = ((votes.criterion * len(votes.items) + low) * len(votes.items) + high)[cell]
    if votes.row_context is not None:
        key = key * (len(votes.contexts) + 1) + votes.row_context
    _, unit = np.unique(key, return_inverse=True)
    swapped = (votes.first > votes.second)[cell]
    outcome = np.where(swapped & (votes.row_outcome < 2), 1 - votes.row_outcome, votes.row_outcome)
    judge = votes.judge[cell]
    shape = (len(votes.judges), int(unit.max()) + 1)

    def judge_by_unit(weight: Floats) -> Any:
        return sparse.csr_matrix((weight, (judge, unit)), shape=shape)

    def common_counts(parts: list[Any]) -> Floats:
        return np.asarray(sum((part @ part.T).toarray() for part in parts))

    pairs = common_counts([judge_by_unit(np.ones(len(cell)))])
    vote_counts = judge_by_unit(np.ones(len(cell)))
    # votes in common on one comparison: the smaller of the two judges' numbers of votes
    common = common_counts([(vote_counts > r).astype(float) for r in range(int(vote_counts.max()))])
    agreeing = common_counts([judge_by_unit((outcome == o).astype(float)) for o in range(3)])
    expected = np.zeros_like(common)
    draws = cell_probability_draws(fit, MAX_DRAWS)
    for probabilities in draws:
        rows = probabilities[cell]
        rows = np.where(swapped[:, None], rows[:, [1, 0, 2]], rows)
        expected += common_counts([judge_by_unit(rows[:, o]) for o in range(3)])
    with np.errstate(invalid="ignore"):
        shares = agreeing / pairs, expected / len(draws) / pairs
    _AGREEMENT_CACHE[fit] = PairAgreement(votes.judges, common, *shares)
    return _AGREEMENT_CACHE[fit]
