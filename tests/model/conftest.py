"""One problem and a few points per model file and kind of table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.kinds import Request, encode_labels, encode_scores, encode_votes
from voirdire.kinds.rankings.problem import encode_rankings
from voirdire.kinds.votes.terms import with_terms
from voirdire.kinds.votes_and_scores.problem import encode_votes_and_scores
from voirdire.model import load_model, model_names
from voirdire.tables import read_labels, read_rankings, read_scores, read_votes
from voirdire.tables.covariates import covariate_columns
from voirdire.tables.votes_and_scores import read_votes_and_scores

LABELS = ["bad", "good", "unsure"]
CONTEXTS = ["p", "q", "r"]
ITEMS, CRITERIA, JUDGES = ["w", "x", "y", "z"], ["clear", "kind", "true"], ["ann", "bob", "cem"]


def random_rows(names: list[str], judges: list[str], count: int, ties: bool, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(names), count)
    second = (first + rng.integers(1, len(names), count)) % len(names)
    outcomes = ["first", "second", "tie"] if ties else ["first", "second"]
    return pd.DataFrame(
        {
            "judge": rng.choice(judges, count),
            "criterion": rng.choice(CRITERIA, count),
            "first": np.array(names)[first],
            "second": np.array(names)[second],
            "winner": rng.choice(outcomes, count),
        }
    )


class Case:
    """A model encoded to a random table: repeated votes, both orders, and a judge who votes on criteria alone."""

    covariates = False

    def __init__(self, name: str, ties: bool) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        self.votes = random_rows(ITEMS, JUDGES, 70, ties, seed=1)
        self.on_criteria = random_rows(CRITERIA, [*JUDGES, "dot"], 25, ties, seed=2).drop(columns="criterion")
        self.new_votes = random_rows(ITEMS, JUDGES, 40, ties, seed=5)
        if self.model.context is not None:
            for table, seed in ((self.votes, 7), (self.new_votes, 8)):
                table["context"] = np.random.default_rng(seed).choice(CONTEXTS, len(table))
        # the variant with ties is one with covariates, too, where the model is one of single votes
        self.covariates = ties and self.model.pool == "none"
        if self.covariates:
            for table, seed in ((self.votes, 9), (self.new_votes, 10)):
                for name in ("length", "lists"):
                    for side in ("first", "second"):
                        table[f"{name}_{side}"] = np.random.default_rng(seed).integers(1, 5, len(table))
                        seed += 20
        given = read_votes(self.on_criteria) if self.model.criteria == "separate" else None
        votes = read_votes(self.votes, keep=covariate_columns(["length", "lists"]))
        asked = Request(covariates="length,lists" if self.covariates else None)
        votes, model, _ = with_terms(votes, self.model, asked)
        self.problem = encode_votes(model, votes, given)
        self.density = self.problem.density
        rng = np.random.default_rng(3)
        # two ordinary points, a wide one with near-certain coins, and the origin
        self.points = [rng.normal(size=self.density.size) * scale for scale in (1.0, 1.0, 2.0, 0.0)]

    def values(self, x: np.ndarray) -> dict[str, Any]:
        return self.density.values(x, np)

    def log_likelihood(self, values: dict[str, Any]) -> float:
        return float(self.density.log_likelihood(values, self.problem.data, np))


class LabelCase(Case):
    """A model encoded to a random table of labels: repeated labels, two criteria; ``ties`` stands for a second variant,
    in which one label is no class, two items' classes are known and two judges are a family."""

    def __init__(self, name: str, ties: bool) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        rng = np.random.default_rng(1)
        self.labels = pd.DataFrame(
            {
                "judge": rng.choice(JUDGES, 60),
                "criterion": rng.choice(CRITERIA[:2], 60),
                "item": rng.choice(ITEMS, 60),
                "label": rng.choice(LABELS, 60),
            }
        )
        known = self.labels.drop_duplicates(["item", "criterion"]).head(2).drop(columns="judge")
        self.known = known.assign(label=["good", "good"])
        table = read_labels(self.labels, levels=LABELS)
        self.classes = LABELS[:2] if ties else LABELS
        anchors = read_labels(self.known, levels=LABELS, judge="people") if ties else None
        self.families = {"ann": "old", "bob": "old", "cem": "cem"} if ties else {}
        self.problem = encode_labels(self.model, table, classes=self.classes, anchors=anchors, families=self.families)
        self.density = self.problem.density
        rng = np.random.default_rng(3)
        self.points = [rng.normal(size=self.density.size) * scale for scale in (1.0, 1.0, 2.0, 0.0)]


class ScoreCase(Case):
    """A model encoded to a random table of scores on four levels; ``ties`` stands for a second variant, with repeated
    scores, groups of judges and human scores, in which not every judge scores every item."""

    def __init__(self, name: str, ties: bool, weighed: bool = True) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        rng = np.random.default_rng(1)
        judge, criterion, item = (part.ravel() for part in np.indices((3, 2, 4)))
        if ties:
            more = rng.integers(0, 24, 40)
            judge, criterion, item = (np.append(c[c >= 0], c[more]) for c in (judge, criterion, item))
        self.scores = pd.DataFrame(
            {
                "judge": np.array(JUDGES)[judge],
                "criterion": np.array(CRITERIA)[criterion],
                "item": np.array(ITEMS)[item],
                "score": rng.integers(1, 5, len(judge)),
            }
        )
        if self.model.context is not None:
            self.scores["context"] = np.random.default_rng(7).choice(CONTEXTS, len(judge))
        if ties:
            self.scores["group"] = self.scores["judge"].map({"ann": "old", "bob": "new", "cem": "new"})
        if name.startswith("rating-continuous"):  # between the ends too
            self.scores["score"] = np.where(
                rng.random(len(judge)) < 0.6, rng.uniform(1, 4, len(judge)), self.scores["score"]
            )
        self.on_criteria = random_rows(CRITERIA[:2], [*JUDGES, "dot"], 25, False, seed=2).drop(columns="criterion")
        learned = weighed and self.model.weights is not None and self.model.weights.kind == "votes"
        votes = read_votes(self.on_criteria) if learned else None
        anchored = ties and self.model.anchors is not None
        self.people = self.scores.iloc[:10].assign(score=self.scores["score"].iloc[::-1].iloc[:10].to_numpy())
        self.people = self.people.drop(columns=["judge", *{"group"} & set(self.people)])
        self.people = self.people if anchored else self.people.iloc[:0]
        self.problem = encode_scores(
            self.model,
            read_scores(self.scores),
            levels=[1, 2, 3, 4],
            criteria=votes,
            anchors=self.people if anchored else None,
        )
        self.density = self.problem.density
        rng, more = np.random.default_rng(3), np.random.default_rng(6)
        size = sum(math.prod(p.free_shape(self.density.sizes)) for p in of_people(self.density))
        # of noise no wide ones: of scores tens of noises beyond an end, where JAX has a series, digits are lost
        near, wide = (0.7, 1.0) if self.model.reliability.kind.startswith("rater-noise") else (1.0, 2.0)
        panel = [rng.normal(size=self.density.size - size) * scale for scale in (near, near, wide, 0.0)]
        self.points = [np.append(x, more.normal(size=size) * np.any(x)) for x in panel]


def of_people(density: Any) -> list[Any]:
    """The parameters of people, which stand last in the flat vector."""
    return [p for p in density.parameters if p.name.endswith("people")]


class JointCase(Case):
    """The votes of ``Case`` and the scores of ``ScoreCase``; ``ties`` stands for ties, repeated scores and groups."""

    def __init__(self, name: str, ties: bool) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        of_votes, of_scores = Case("bt-sigma", ties), ScoreCase("rating-severity", ties)
        self.votes, self.new_votes, self.scores = of_votes.votes, of_votes.new_votes, of_scores.scores
        judges = ["ann", "bob", "dot"]  # of whom one never scores, while another never votes
        self.on_criteria = random_rows(CRITERIA, judges, 25, ties, seed=2).drop(columns="criterion")
        for table in (self.votes, self.new_votes):
            table["judge"] = table["judge"].replace("cem", "dot")
        if self.model.context is not None:
            for table, seed in ((self.votes, 7), (self.new_votes, 8), (self.scores, 11)):
                table["context"] = np.random.default_rng(seed).choice(CONTEXTS, len(table))
        learned = self.model.weights is not None and self.model.weights.kind == "votes"
        tables = read_votes_and_scores([self.votes, self.scores])
        criteria = self.on_criteria if learned and not ties else None
        if criteria is None:
            self.on_criteria = self.on_criteria.head(0)
        self.problem = encode_votes_and_scores(self.model, tables, levels=[1, 2, 3, 4], criteria=criteria)
        self.density = self.problem.density
        rng = np.random.default_rng(7)  # others have spreads of e^3, by which a vote has odds of e^7000
        self.points = [rng.normal(size=self.density.size) * scale for scale in (1.0, 1.0, 2.0, 0.0)]


class RankingCase(Case):
    """A model encoded to random rankings of four items; ``ties`` stands for ties of all kinds and shorter rankings."""

    def __init__(self, name: str, ties: bool) -> None:
        self.name, self.ties, self.model = name, ties, load_model(name)
        rng = np.random.default_rng(1)
        patterns = [[1, 2, 3, 4]] if not ties else [[1, 2, 2, 3], [1, 1, 2, 3], [1, 2, 2, 2], [1, 2], [1, 1, 2]]
        rows = []
        for run in range(24):
            about = (rng.choice(JUDGES), rng.choice(CRITERIA[:2]), rng.choice(CONTEXTS), run)
            ranks = patterns[run % len(patterns)]
            rows += [(*about, item, rank) for item, rank in zip(rng.permutation(ITEMS), ranks, strict=False)]
        self.rankings = pd.DataFrame(rows, columns=["judge", "criterion", "context", "run", "item", "rank"])
        self.problem = encode_rankings(self.model, read_rankings(self.rankings))
        self.density = self.problem.density
        rng = np.random.default_rng(3)
        self.points = [rng.normal(size=self.density.size) * scale for scale in (1.0, 1.0, 2.0, 0.0)]


def made(name: str, ties: bool, **more: bool) -> Case:
    kinds = {"votes": Case, "labels": LabelCase, "scores": ScoreCase, "joint": JointCase, "rankings": RankingCase}
    return kinds[load_model(name).data](name, ties, **more)


@pytest.fixture(
    scope="module",
    params=[(name, ties) for name in model_names() for ties in (False, True)],
    ids=lambda param: f"{param[0]}-{'ties' if param[1] else 'decided'}",
)
def case(request: pytest.FixtureRequest) -> Case:
    return made(*request.param)


@pytest.fixture(scope="session")
def make_case() -> Callable[..., Case]:
    return made


QUICK = (
    "crowd-bt-position-ties",
    "crowd-bt-contexts-ties",
    "rating-severity-ties",
    "joint-position-ties",
    "ordered-labels-decided",
    "plackett-luce-tastes-ties",
)
COMPILED = (
    "test_numpy_and_jax_agree_and_derivatives_are_right",
    "test_pymc_has_the_density",
    "test_the_generating_model_has_the_density",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What compiles for seconds is among the longer tests for a model of each kind, for all among the longest."""
    for item in items:
        name, _, case = item.name.rstrip("]").partition("[")
        if name in COMPILED:
            item.add_marker(pytest.mark.slow)
            if case not in QUICK:
                item.add_marker(pytest.mark.long)
