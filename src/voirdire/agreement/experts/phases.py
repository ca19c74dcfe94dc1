"""Agreement of a panel in two phases, such as before and after a debate (MAJ-EVAL, Table 8)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.measures import find_measure, misfit_reason, statistic_of
from voirdire.agreement.coefficients.ratings import Ratings, unknown_names
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.engine.combine import difference_statistic, with_fixed_judges
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.errors import InputError, raise_problems
from voirdire.settings import read_list
from voirdire.tables.run_folders import run_folder
from voirdire.tables.scores import Scores, read_scores

if TYPE_CHECKING:
    import pandas as pd


def phase_change(
    table: object,
    before: str,
    after: str,
    judges: Sequence[str] | None = None,
    *,
    measure: str = "krippendorff_alpha_interval",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Measure the agreement of a panel in two phases and its change, on the items of both.

    Parameters
    ----------
    table : path, folder of a run, dataframe or Scores
        Scores with a column ``phase``.
    before, after : str
        The two phases.
    judges : sequence of str, optional
        The panel, such as one stakeholder group. The default is each group in turn where the table has a column
        ``group`` (separately for each model, for agents named ``model/...``), else all judges.
    measure : str
        Name of a measure.
    **settings
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Three rows per criterion and panel. Their levels are the name of ``before``, that of ``after``, and
        "AFTER - BEFORE" with both names; with groups, "GROUP: " precedes the level.

    Raises
    ------
    InputError
        If there is no phase column, or a phase or judge is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a", "b"] * 6, "item": [1, 1, 2, 2, 3, 3] * 2,
    ...                       "phase": ["initial"] * 6 + ["final"] * 6,
    ...                       "score": [1, 2, 2, 3, 3, 1, 1, 1, 2, 2, 3, 3]})
    >>> phase_change(table, "initial", "final", resamples=100)[["level", "value"]].round(3).values.tolist()
    [['initial', -0.25], ['final', 1.0], ['final - initial', 1.25]]
    """
    resampling = Resampling.from_settings(settings)
    scores = read_scores(_scores_of_all_phases(table))
    if scores.phase is None:
        raise InputError("the table has no column 'phase'; add one that names the two phases")
    problems = unknown_names("phase", [before, after], scores.phases)
    if before == after:
        problems.append(f"phase {before!r} is compared with itself; name two phases")
    raise_problems(problems)
    panels: dict[str, Sequence[str] | None] = {"": None if judges is None else read_list("judges", judges)}
    if judges is None and scores.groups:
        panels = dict(_common_judges_by_group(scores, (before, after)))
    chosen_measure = find_measure(measure)
    matched = ratings_by_criterion(scores)
    tasks: list[Task] = []
    for criterion in dict.fromkeys(ratings.criterion for ratings in matched):
        phases = {ratings.phase: ratings for ratings in matched if ratings.criterion == criterion}
        for name, panel in panels.items():
            parts = _common_ratings(phases[before], phases[after], panel)
            if problem := misfit_reason(chosen_measure, parts[0]):
                raise InputError(problem)
            statistic_before, statistic_after = (
                with_fixed_judges(statistic_of(chosen_measure, part)) for part in parts
            )
            first, second = parts
            change = difference_statistic(statistic_after, statistic_before)
            shown = (
                (statistic_before, before, first),
                (statistic_after, after, second),
                (change, f"{after} - {before}", second),
            )
            for statistic, level, part in shown:
                label = f"{name}: {level}" if name else level
                tasks.append(Task(measure, part.judges, statistic, part, label, is_difference=statistic is change))
    return result_frame(result_rows(tasks, resampling))


def _scores_of_all_phases(table: object) -> object:
    """Path of a run's scores with every phase and agent; any other table as it is."""
    run = run_folder(table) if isinstance(table, str | os.PathLike) else None
    return table if run is None else run.path / "scores.csv"


def _common_judges_by_group(scores: Scores, phases: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The judges of each group who score in both phases, at least two; groups of several models are separate."""
    assert scores.phase is not None
    assert scores.group is not None
    speakers = [set(scores.judge[scores.phase == scores.phases.index(phase)].tolist()) for phase in phases]
    judges_by_group: dict[tuple[str, str], list[str]] = {}
    for judge, group in sorted(set(zip(scores.judge.tolist(), scores.group.tolist(), strict=True))):
        if group >= 0 and all(judge in phase_judges for phase_judges in speakers):
            owner, _, agent = scores.judges[judge].partition("/")
            judges_by_group.setdefault((owner if agent else "", scores.groups[group]), []).append(scores.judges[judge])
    several = len({owner for owner, _ in judges_by_group}) > 1
    panels = {
        f"{owner}/{group}" if several and owner else group: tuple(judges)
        for (owner, group), judges in judges_by_group.items()
        if len(judges) > 1
    }
    if not panels:
        raise InputError(
            f"no group has two judges who score in phases {phases[0]!r} and {phases[1]!r}; "
            "name judges (--judge, judges=)"
        )
    return panels


def _common_ratings(first: Ratings, second: Ratings, judges: Sequence[str] | None) -> list[Ratings]:
    """Ratings of both phases for their common items, in the same order."""
    parts = []
    for ratings, other_ratings in ((first, second), (second, first)):
        shared = set(other_ratings.units)
        kept = ratings.keep_units(np.array([name in shared for name in ratings.units], bool))
        parts.append(kept if judges is None else kept.select_judges(judges))
    return parts
