"""Rankings as a kind of data."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import records
from voirdire.kinds.held_out import Seen
from voirdire.kinds.in_contexts import strengths
from voirdire.kinds.kind import Kind, Packed, Request, Results
from voirdire.kinds.packing import pack_rated, unpack_rated
from voirdire.kinds.rankings import checks, results
from voirdire.kinds.rankings.density import no_contexts, no_tastes
from voirdire.kinds.rankings.predict import draw, predict
from voirdire.kinds.rankings.problem import RankingsProblem, pose_rankings
from voirdire.kinds.shares import Calibration, Shares
from voirdire.kinds.spreads import spreads
from voirdire.kinds.votes import results as vote_results
from voirdire.model.specs import Model
from voirdire.model.terms.reliability import Values
from voirdire.tables.detect import read_new
from voirdire.tables.joined import joined
from voirdire.tables.rankings import Rankings
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints

AS_VOTES = "read the rankings as votes (--table votes, or voirdire.read(..., table='votes'))"
MANY = "a ranking has too many possible answers to list; predict() gives probabilities of first places, and ranks"


class RankingsKind(Kind[Rankings, RankingsProblem]):
    """Judges put items in order."""

    name = "rankings"
    words = "rankings"
    refused = ("criteria", "levels", "classes", "positive", "by", "order", "about")
    compared = ("rankings",)
    results: ClassVar[Results] = {
        "items": vote_results.ranking,
        "judges": results.judges,
        "criteria": vote_results.criteria,
    }

    checks = staticmethod(checks.all_checks)
    predict = staticmethod(predict)
    draw = staticmethod(draw)

    def check_request(self, request: Request) -> None:
        """As in :class:`.Kind`; what only models of votes have is known from rankings read as votes."""
        super().check_request(request)
        of_votes = {
            name: getattr(request, name)
            for name in ("anchors", "anchor_mode", "families", "covariates", "item_families")
        }
        of_votes["without_own_family"] = request.without_own_family or None
        if problems := [
            f"{name}= is not for tables of rankings; leave it out, or {AS_VOTES}"
            for name, value in of_votes.items()
            if value is not None
        ]:
            raise InputError(problems)

    def default_model(self, table: Rankings, request: Request) -> tuple[str, str]:
        """``plackett-luce-tastes`` where some judge ranks an item several times, else ``plackett-luce-contexts``.

        ``plackett-luce`` where neither that can be told, nor what items are worth in each context.
        """
        contexts, tastes = no_contexts(table), no_tastes(table)
        if tastes is None:
            also = ", some of them in several contexts" if contexts is None else ""
            return "plackett-luce-tastes", f"judges rank items several times{also}"
        if contexts is None:
            return (
                "plackett-luce-contexts",
                f"items are ranked in several contexts; tastes are left out: {tastes}",
            )
        return "plackett-luce", f"the table has rankings; contexts are left out: {contexts}; tastes: {tastes}"

    def pose(self, model: Model, table: Rankings, request: Request) -> tuple[RankingsProblem, list[str]]:
        """See :func:`.rankings.problem.pose_rankings`; with what the model has and the table says nothing of."""
        problem = pose_rankings(model, table, over=request.over)
        notes = [
            f"Model {model.name} is fitted without {what}: {why}."
            for what, section, why in (
                ("contexts", model.context, no_contexts(table)),
                ("tastes", model.taste, no_tastes(table)),
            )
            if section is not None and why is not None and table.context is not None
        ]
        sizes = np.bincount(table.ranking)
        if alone := int((sizes < 2).sum()):
            notes.append(f"{alone:,} rankings of a single item say nothing.")
        if "context" in {factor for term in problem.density.terms for factor in term.factors}:
            over = "contexts like these" if request.over == "new" else "these contexts alone"
            notes.append(f"Scores are over {over} ({len(table.contexts):,} in the table).")
        return problem, notes

    def table_of(self, problem: RankingsProblem) -> Rankings:
        """The rankings."""
        return problem.table

    def reposed(
        self,
        problem: RankingsProblem,
        *,
        table: Rankings | None = None,
        criteria: Any = None,
        answer_weight: Floats | None = None,
    ) -> RankingsProblem:
        """As in :class:`.Kind`."""
        return pose_rankings(
            problem.model, problem.table if table is None else table, over=problem.density.over
        )

    def join(self, problem: RankingsProblem, new: object) -> Rankings:
        """Old and new rankings."""
        both: Rankings = joined(problem.table, read_new(new, problem.table))
        return both

    def on_criteria(self, problem: RankingsProblem, criteria: tuple[str, ...], given: object) -> Any:
        """Refused: criteria of rankings count equally."""
        self.check_request(Request(criteria=given))

    def has_anchors(self, problem: RankingsProblem) -> bool:
        """Never."""
        return False

    def structure(self, problem: RankingsProblem, posterior: Posterior, prob: float) -> dict[str, Any]:
        """The spreads that were learned, and what scores are over where there are contexts."""
        over = {} if self.in_contexts(problem, posterior) is None else {"over": problem.density.over}
        return {**over, "spreads": records(spreads(problem, posterior, prob))}

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({"votes": "rankings"})

    def in_contexts(self, problem: RankingsProblem, posterior: Posterior) -> Floats | None:
        """Draws of what each item is worth in each context."""
        values = posterior.values
        if values is None or "context_strength" not in values:
            return None
        return strengths(problem.density, values)

    def can_weigh_answers(self, problem: RankingsProblem) -> bool:
        """Never: a ranking counts once."""
        return False

    def residuals(self, problem: RankingsProblem, posterior: Posterior) -> Residuals:
        """Refused: what judges share beyond the model is looked at in votes."""
        _not_of_rankings("what judges' answers have in common beyond the model is told of votes")

    def chances(self, problem: RankingsProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
        """Refused: there are too many possible rankings."""
        _not_of_rankings(MANY)

    def check_single(self, problem: RankingsProblem) -> None:
        """Refused, as :meth:`chances`."""
        _not_of_rankings(MANY)

    def shares(self, problem: RankingsProblem, tables: Sequence[Rankings]) -> Shares:
        """Refused, as :meth:`chances`."""
        _not_of_rankings(MANY)

    def calibration(self, problem: RankingsProblem, posterior: Posterior) -> Calibration:
        """Refused, as :meth:`chances`."""
        _not_of_rankings(MANY)

    def held_out(self, model: Model, table: Rankings, fold: Ints, request: Request) -> Seen:
        """Refused: models are compared by votes."""
        _not_of_rankings("models are compared by the probability of single answers")

    def refit_resampled(
        self, problem: RankingsProblem, mode: Floats, resamples: int, rng: np.random.Generator
    ) -> Floats:
        """Refused: intervals are those of the posterior."""
        raise InputError("rankings have no bootstrap; their intervals are those of the posterior")

    def pack(self, problem: RankingsProblem) -> Packed:
        """The rankings."""
        names, arrays = pack_rated(problem.table, "rankings")
        return Packed({"tables": {"rankings": names}, "anchors": None, "over": problem.density.over}, arrays)

    def unpack(self, model: Model, packed: Packed) -> RankingsProblem:
        """The problem of :meth:`pack`."""
        table = Rankings(**unpack_rated(packed.sections["tables"]["rankings"], packed.arrays, "rankings"))
        return pose_rankings(model, table, over=packed.sections["over"])


def _not_of_rankings(why: str) -> NoReturn:
    raise InputError(f"{why}; {AS_VOTES}")


RANKINGS = RankingsKind()
