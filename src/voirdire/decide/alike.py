"""Judges that agree beyond what a model of independent judges expects, and what the panel is worth without each.

Residuals are those of the default model, its mode (:mod:`voirdire.trust.residuals`), one answer a judge and unit. Of
labels with people's answers to `ENOUGH` units they are mistakes: 1 where a judge says otherwise than people, less its
mean; a model that knows no right answers takes copies for judges who are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.decide.audit_answers import ENOUGH, Answers
from voirdire.errors import InputError
from voirdire.fit.answer_weight import unnamed_families
from voirdire.fit.verb import fit
from voirdire.tables.counts import Votes
from voirdire.tables.labels import Labels
from voirdire.trust.dependence import correlations, sizes_without
from voirdire.trust.families import answers_alike, divided
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats

FEWEST = 3


@dataclass(frozen=True)
class Alike:
    """Judges of a panel that are alike.

    Attributes
    ----------
    size : float
        Number of independent judges that the panel is worth.
    without : tuple of float
        The same without each judge.
    nearest : tuple of (str, float)
        Of each judge the one whose residuals are most like its own, and their correlation.
    copy_of : tuple of str or None
        Of each judge an earlier one that it is a copy of.
    """

    size: float
    without: tuple[float, ...]
    nearest: tuple[tuple[str, float], ...]
    copy_of: tuple[str | None, ...]

    def row(self, place: int) -> dict[str, Any]:
        """The measure ``independence`` of a judge."""
        name, rho = self.nearest[place]
        note = (
            f"beyond what is expected it answers most like {name}; the panel is worth {self.size:.1f} independent "
            f"judges, {self.without[place]:.1f} without it"
        )
        found = {"found": self.copy_of[place] is not None, "note": note}
        return {
            "measure": "independence",
            "value": rho,
            "low": None,
            "high": None,
            "n": len(self.without),
            **found,
        }


def alike_judges(table: Any, answers: Answers) -> Alike | None:
    """Compare the residuals of judges; None with fewer than three, or where no model fits the table."""
    if len(table.judges) < FEWEST:
        return None
    asked = np.column_stack(
        [table.judge[table.row_cell] if table.data == Votes.data else table.judge, *table.about]
    )
    once = np.zeros(table.rows, dtype=bool)
    once[np.unique(asked, axis=0, return_index=True)[1]] = (
        True  # repeats of one judge are no further witnesses
    )
    known = once & (answers.people_said[answers.unit] >= 0)
    found: Residuals | SharedErrors
    if isinstance(table, Labels) and len(np.unique(answers.unit[known])) >= ENOUGH:
        found = _mistakes(answers, known)
        family = {
            name: table.judges[of]
            for name, of in zip(table.judges, divided(*answers_alike(found)), strict=True)
        }
    else:
        try:
            fitted = fit(table.subset(once), method="map", families={})
            found = fitted.kind.residuals(fitted.problem, fitted.posterior)
            family = unnamed_families(fitted.problem, fitted.posterior.centre)
        except InputError:
            return None
    pairs, names = correlations(found), table.judges
    rho: Floats = np.full((len(names), len(names)), -np.inf)
    rho[np.ix_(found.judges, found.judges)] = np.where(
        np.eye(len(found.judges), dtype=bool), -np.inf, pairs.rho
    )
    size, rest = sizes_without(found)
    without = np.full(len(names), size)
    without[found.judges] = rest
    copies = [None if family.get(name, name) == name else family[name] for name in names]
    near = [int(np.argmax(row)) for row in rho]
    return Alike(
        size,
        tuple(map(float, without)),
        tuple((names[at], float(max(rho[place, at], -1.0))) for place, at in enumerate(near)),
        tuple(copies),
    )


def _mistakes(answers: Answers, known: Any) -> Residuals:
    """Mistakes of judges, by people's answers, less their mean; unit by unit in the place of comparisons."""
    judges, size = len(answers.judges), len(answers.people)
    r, v = np.zeros((2, 1, judges, size))
    judge, unit = answers.judge[known], answers.unit[known]
    wrong = (answers.said[known] != answers.people_said[unit]).astype(float)
    mean = np.bincount(judge, wrong, minlength=judges) / np.maximum(np.bincount(judge, minlength=judges), 1)
    r[0, judge, unit] = wrong - mean[judge]
    v[0, judge, unit] = (mean * (1 - mean))[judge]
    none, zero = np.zeros(size, dtype=np.int64), np.zeros((1, judges))
    return Residuals(np.arange(judges), r, v, zero, zero, none, none, none)
