"""Kinds of data with strengths of items and terms of further columns: votes, scores, rankings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.column_checks import context_codes, has_recurring_items
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.further_terms import FACTORS, FAMILY, has_family_terms
from voirdire.kinds.kind import Kind
from voirdire.kinds.quantities import effect_tables, spread_table
from voirdire.kinds.results import context_strengths
from voirdire.kinds.target_predictions import ItemQuestions, predict_about_target
from voirdire.model.panel_density import STEP, TIME
from voirdire.notices import give_notice
from voirdire.tables.detect import read_new
from voirdire.tables.joined import joined_table
from voirdire.typing import Floats

T = TypeVar("T")
P = TypeVar("P", bound=Any)


def _has_contexts(problem: Any) -> bool:
    """True if the model of a problem has effects of contexts."""
    return "context_strength" in {p.name for p in problem.density.parameters}


class TermsKind(Kind[T, P]):
    """Kind of data whose problems have ``added`` terms."""

    models_with_contexts: ClassVar[str]  # names of models with contexts, in words
    predicts_families: ClassVar[bool] = True  # predictions use the judge's family, not the mean over families

    @abstractmethod
    def item_questions(self, problem: P, table: object) -> ItemQuestions:
        """Make the questions of a table about items, independent of who answers.

        Raises
        ------
        InputError
        """

    def predict_target(self, problem: P, posterior: Posterior, table: object, prob: float) -> Columns:
        """See :func:`.target_predictions.predict_about_target`."""
        return predict_about_target(problem, posterior, self.item_questions(problem, table), prob)

    def context_results(self, problem: P, posterior: Posterior, prob: float) -> dict[str, Any]:
        """Collect the contexts of scores (``over``), learned spreads, and effects of further terms."""
        tables: dict[str, Any] = {}
        if "context_strength" in posterior.central_values:
            tables["over"] = problem.density.over
        if problem.density.uses_marginal_likelihood:
            tables["spreads"] = to_records(spread_table(problem, posterior, prob))
        return tables | effect_tables(problem, posterior, prob)

    def predicted_on_average(self, problem: P) -> tuple[str, ...]:
        """Names of covariates, columns and times of further terms, over which predictions are averaged."""
        known = {"judge", "criterion", "item", *(("context",) if _has_contexts(problem) else ())}
        known |= {FAMILY} if self.predicts_families else set()
        terms = problem.added.terms
        factors = [TIME if name == STEP else name for term in terms for name in term.factors if name not in known]
        return tuple(dict.fromkeys([*problem.added.units, *factors]))

    def check_contexts(self, problem: P) -> None:
        """Refuse to show strengths in each context if the model or the table has no contexts."""
        if _has_contexts(problem):
            return
        table: Any = self.table_of(problem)
        if not any(has_recurring_items(part) for part in table.parts):
            raise InputError(f"contexts need items that are in several contexts; in these {self.words} none is")
        raise InputError(
            f"contexts need a model with contexts, such as {self.models_with_contexts}; the model here is "
            f"{problem.model.name}"
        )

    def in_contexts(self, problem: P, posterior: Posterior) -> Floats | None:
        """Draws of strengths in each context, shape (draws, contexts, items); None without contexts or draws."""
        values = posterior.values
        if values is None or "context_strength" not in values:
            return None
        return context_strengths(problem.density, values)

    def uses_families(self, problem: P) -> bool:
        """True if the model has a term of families of judges."""
        return has_family_terms(problem.model)

    def join(self, problem: P, new: object) -> T:
        """Join old and new answers."""
        self.refuse_without_columns(problem, self.name)
        old: Any = self.table_of(problem)
        added: Any = read_new(new, old)
        self.check_new_answers(problem, added)
        joined: T = joined_table(old, added)
        return self.with_families_of(problem, joined) if FAMILY in old.further.factors else joined

    def refuse_without_columns(self, problem: P, answers: str) -> None:
        """Refuse new answers to a fit with terms of further columns; ``answers`` is the noun of the message.

        Raises
        ------
        InputError
        """
        if problem.added.units or {*problem.added.levels} - {*FACTORS, FAMILY}:
            raise InputError(
                f"a fit with terms of further columns takes no new {answers} alone; fit old and new ones together"
            )

    def with_families_of(self, problem: P, table: Any) -> T:
        """Add the families of a problem to a table; judges that it does not know have no family."""
        known = dict(zip(problem.judges, problem.family_of_judges.tolist(), strict=True))
        code = np.array([known.get(judge, -1) for judge in table.judges])[table.judge]
        extended: T = table.with_further(table.further.with_factor(FAMILY, problem.added.levels[FAMILY], code))
        return extended

    def check_new_answers(self, problem: P, added: T) -> None:
        """Refuse new answers without contexts if the fit has contexts.

        If only the new answers have contexts, these are left out, with a notice.

        Raises
        ------
        InputError
        """
        old, new = context_codes(self.table_of(problem)), context_codes(added)
        if old is None and new is not None:
            give_notice(f"Column context of the new {self.name} is left out, as the old ones have none.")
        if problem.density.sizes.get("context") and old is not None and new is None:
            raise InputError(f"new {self.name}: column 'context' is missing, and the fit has contexts; name them")
