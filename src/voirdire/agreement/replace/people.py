"""People's answers with their names, and the probability that each unit was asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import InputError
from voirdire.settings import read_list
from voirdire.tables.encode import cell_to_name
from voirdire.tables.people import PERSON, join_people_answers
from voirdire.tables.problems import Problems
from voirdire.tables.read import read_columns

if TYPE_CHECKING:
    import pandas as pd

PROBABILITY = "probability"
DEFAULT_PERSON = "human"  # the name of the person in a table without names


@dataclass(frozen=True)
class AskingProbabilities:
    """Relative probability that a unit was asked, by its criterion, context and items."""

    by_unit: Mapping[tuple[str, ...], float]

    def of_units(self, ratings: Ratings) -> FloatArray:
        """Probabilities of the units of ratings; NaN for units without one."""
        paired = ratings.pairs is not None
        probabilities = np.full(len(ratings.codes), np.nan)
        by_items: dict[tuple[str, ...], float] = {}
        for (criterion, *items), probability in self.by_unit.items():
            if ratings.criterion is None or criterion == ratings.criterion:
                by_items[tuple(items)] = probability
        for unit in range(len(probabilities)):
            if paired:
                assert ratings.pairs is not None
                names = tuple(sorted(ratings.items[index] for index in ratings.pairs[unit]))
            else:
                names = (ratings.units[unit],)
            probabilities[unit] = by_items.get(names, np.nan)
        return probabilities


def required_people(humans: object, answers: Any) -> object:
    """People's answers from a separate table or from the judges' table.

    Raises
    ------
    InputError
        If there are none.
    """
    people_answers = join_people_answers(humans, answers)
    if people_answers is None:
        raise InputError("say who are people: their answers (--humans FILE), or judges of the table (--people NAMES)")
    return people_answers


def choose_judges(judges: Sequence[str] | None, table_judges: Sequence[str]) -> tuple[str, ...] | None:
    """The requested judges, None for all; raises `InputError` for a judge that is not in the table."""
    chosen = None if judges is None else tuple(map(str, read_list("judges", judges)))
    if unknown := sorted(set(chosen or ()) - set(table_judges)):
        raise InputError(f"judge {unknown[0]!r} is not in the table; its judges are {', '.join(table_judges)}")
    return chosen


def read_people(humans: object) -> tuple[pd.DataFrame, AskingProbabilities | None]:
    """Read people's answers as one table with people as judges, and the probabilities of its units, if given.

    Parameters
    ----------
    humans : path or dataframe, or a list of them
        Answers with a column ``person`` or ``judge``. Without both columns, one of several files is named by its file,
        and any other table belongs to one person.

    Raises
    ------
    InputError
        If a probability is not above 0, or a unit has different probabilities.

    Examples
    --------
    >>> import pandas as pd
    >>> table, chances = read_people(pd.DataFrame({"item": ["x"], "label": "yes", "probability": 0.5}))
    >>> table["judge"].tolist(), chances.by_unit
    (['human'], {('', 'x'): 0.5})
    """
    import pandas as pd

    tables: Sequence[Any] = humans if isinstance(humans, list | tuple) else [humans]
    frames = []
    for source in tables:
        problems = Problems("humans")
        frame = pd.DataFrame(read_columns(source, [], None, problems))
        problems.raise_any()
        if PERSON in frame:
            frame = frame.drop(columns="judge", errors="ignore").rename(columns={PERSON: "judge"})
        elif "judge" not in frame:
            frame["judge"] = (
                Path(source).stem if len(tables) > 1 and isinstance(source, str | os.PathLike) else DEFAULT_PERSON
            )
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    return table, _read_probabilities(table) if PROBABILITY in table else None


def _read_probabilities(table: pd.DataFrame) -> AskingProbabilities:
    import pandas as pd

    problems = Problems("humans")
    probability_by_unit: dict[tuple[str, ...], float] = {}
    if "context" in table:
        problems.stop("a column 'probability' is for units that are named by criterion and items only; drop 'context'")
    about = ["first", "second"] if "first" in table else ["item"]
    probabilities = pd.to_numeric(table[PROBABILITY], errors="coerce").tolist()
    for row, (probability, cells) in enumerate(zip(probabilities, table[about].to_numpy(), strict=True), start=1):
        if not probability > 0:
            problems.rows([row], f"probability {table[PROBABILITY].iloc[row - 1]!r} is no number above 0")
            continue
        criterion = str(cell_to_name(table["criterion"].iloc[row - 1])) if "criterion" in table else ""
        unit = (criterion, *sorted(str(cell_to_name(cell)) for cell in cells))
        if not np.isclose(probability_by_unit.setdefault(unit, probability), probability):
            problems.rows([row], "the same unit has another probability in another row; give it one")
    problems.raise_any()
    if not probability_by_unit:
        raise InputError("humans: no unit has a probability")
    return AskingProbabilities(probability_by_unit)
