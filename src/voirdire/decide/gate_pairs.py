"""Answers as numbers on one scale, and differences, new minus old, paired by judge and question, one for each unit.

Answers as numbers on one scale: scores, labels with one good label, labels that are grades.

Votes between two versions are differences: 1 where the new one won, -1 where the old one won, 0 for a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.labels.success import positive_example, success_class
from voirdire.settings import read_list
from voirdire.tables.counts import Votes
from voirdire.tables.labels import Labels, sort_labels
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.tables.scores import Scores
from voirdire.typing import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

Scale = tuple[float, float]
ABOUT = ("criterion", "phase", "context", "item")
AGGREGATION = {"value": "mean", "time": "min", "place": "min"}


@dataclass(frozen=True)
class Versions:
    """Names of the two versions in the tables; None where they have none."""

    new: str | None = None
    old: str | None = None

    def check_names(self, known: Sequence[str]) -> dict[str, str]:
        """Check both names against the names in a table with both versions, and return them by option.

        Raises
        ------
        InputError
            A name is missing, both are the same, or the table does not have one.
        """
        if self.new is None or self.old is None:
            raise InputError(
                "of one table say which version is new and which is old: --new NAME --old NAME (in Python "
                f"versions=(NEW, OLD)); it has {known_names(known)}"
            )
        if self.new == self.old:
            raise InputError(f"--new and --old both name {self.new!r}; name two versions")
        for option, name in (("--new", self.new), ("--old", self.old)):
            if name not in known:
                raise InputError(f"{option} {name!r} is none of {known_names(known)}{nearest_name(name, known)}")
        return {"--new": self.new, "--old": self.old}


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences, new minus old, one for each unit, in the order of arrival of the units.

    Attributes
    ----------
    units : tuple of str
        Contexts where the tables have some, else items; for votes without contexts, single votes.
    values : float array, shape (units,)
    scale : (float, float)
        Smallest and largest possible answer.
    judges : tuple of str
    unit, compared : str
        Words for a unit and for the compared quantity.
    notes : tuple of str
    versions : Versions
        Names of both versions.
    known : tuple
        Labels, or ends of the scale, that other tables of the same gate share.
    """

    units: tuple[str, ...]
    values: Floats
    scale: Scale
    judges: tuple[str, ...]
    unit: str
    compared: str
    notes: tuple[str, ...] = ()
    versions: Versions = Versions()
    known: tuple[Any, ...] = ()

    @property
    def largest_difference(self) -> float:
        """Largest possible difference."""
        return self.scale[1] - self.scale[0]

    def in_order(self, order: Any) -> Differences:
        """Reorder the units."""
        return replace(self, units=tuple(self.units[index] for index in order), values=self.values[order])


class Meaning(NamedTuple):
    """Meaning of answers as numbers.

    Attributes
    ----------
    scale : (float, float)
        Smallest and largest possible answer.
    mean_name : str
        Name of the mean of the answers.
    notes : tuple of str
    known : tuple
        Labels, or ends of the scale, that other tables of the same gate share.
    """

    scale: Scale
    mean_name: str
    notes: tuple[str, ...] = ()
    known: tuple[Any, ...] = ()


def pair_answers(new: pd.DataFrame, old: pd.DataFrame, meaning: Meaning, versions: Versions) -> Differences:
    """Pair answers by judge and question, and take the mean of each unit.

    Parameters
    ----------
    new, old : DataFrame
        Columns judge, those of `ABOUT` that exist, value, time and place (the row number).
    meaning : Meaning
    versions : Versions

    Raises
    ------
    InputError
        The tables have no judge or no question in common, or only one question.
    """
    keys, notes = [name for name in ABOUT if name in new], list(meaning.notes)
    if unmatched := [name for name in ABOUT if (name in new) != (name in old)]:
        has, lacks = ("NEW", "OLD") if unmatched[0] in new else ("OLD", "NEW")
        raise InputError(
            f"{has} has a column {unmatched[0]!r} and {lacks} has not, so that answers cannot be paired; "
            "give it to both"
        )
    judges = sorted({*new["judge"]} & {*old["judge"]})
    if not judges:
        raise InputError(
            f"NEW is judged by {known_names(sorted({*new['judge']}))} and OLD by "
            f"{known_names(sorted({*old['judge']}))}: no judge in common, so that their severities would count as a "
            "difference; have the same judges answer both"
        )
    if left_out := sorted({*new["judge"], *old["judge"]} - {*judges}):
        notes.append(f"left out, because only one version has their answers: {known_names(left_out)}")
    merged = _merge_versions(new, old, keys)
    if merged.empty and {"context", "item"} <= {*keys}:
        keys.remove("item")  # items may be the answers themselves, each of one version
        merged = _merge_versions(new, old, keys)
    if merged.empty:
        a, b = (" / ".join(map(str, side.iloc[0][keys])) for side in (new, old))
        raise InputError(
            f"NEW and OLD have no item in common: NEW has {a!r}, OLD has {b!r}; name the same question alike in both"
        )
    unit = "context" if "context" in keys else "item"
    missing = [len({*a[unit]} - {*b[unit]}) for a, b in ((new, old), (old, new))]
    for count, has, lacks in zip(missing, ("NEW", "OLD"), ("OLD", "NEW"), strict=True):
        if count:
            notes.append(f"{count:,} {unit}s of {has} have no answer in {lacks} and are left out")
    merged["value"] = merged["value_new"] - merged["value_old"]
    merged["time"], merged["place"] = merged["time_new"], merged["place_new"]
    return differences_by_unit(merged, keys, unit, meaning._replace(notes=tuple(notes)), versions)


def _merge_versions(new: pd.DataFrame, old: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    sides = [side.groupby(["judge", *keys], sort=False, as_index=False).agg(AGGREGATION) for side in (new, old)]
    return sides[0].merge(sides[1], on=["judge", *keys], suffixes=("_new", "_old"))


def differences_by_unit(
    merged: pd.DataFrame, keys: list[str], unit: str, meaning: Meaning, versions: Versions
) -> Differences:
    """Mean over judges of each question, then over the questions of each unit."""
    judges = tuple(sorted({*merged["judge"]}))
    questions = merged.groupby(keys, sort=False, as_index=False).agg(AGGREGATION)
    units = questions.groupby(unit, sort=False).agg(AGGREGATION).sort_values(["time", "place"], kind="stable")
    if len(units) < 2:
        hint = "; leave the column 'context' out, and items count" if unit == "context" else ""
        raise InputError(
            f"there is only one {unit} in common ({units.index[0]!r}), which tells nothing of others{hint}"
        )
    per_unit = len(questions) / len(units)
    note = f"each of {len(units):,} {unit}s counts once, with the mean of its {per_unit:.3g} questions"
    notes = (*meaning.notes, note) if per_unit > 1 else meaning.notes
    names, values = tuple(map(str, units.index)), units["value"].to_numpy(dtype=float)
    return Differences(names, values, meaning.scale, judges, unit, meaning.mean_name, notes, versions, meaning.known)


def differences_of_votes(votes: Votes, versions: Versions) -> Differences:
    """Pair votes by judge and context.

    Raises
    ------
    InputError
        A version is not among the items, or no vote is between the two.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "gpt", "context": [1, 1, 2], "first": ["a", "b", "a"], "second": ["b", "a", "b"]}
    >>> votes = read_votes(pd.DataFrame({**table, "winner": ["a", "tie", "b"]}))
    >>> differences_of_votes(votes, Versions("a", "b")).values.tolist()
    [0.5, -1.0]
    """
    import pandas as pd

    new, old = (votes.items.index(name) for name in versions.check_names(votes.items).values())
    first, second = votes.first[votes.row_cell], votes.second[votes.row_cell]
    rows: Bools = ((first == new) & (second == old)) | ((first == old) & (second == new))
    if not rows.any():
        raise InputError(
            f"votes: none is between {versions.new!r} and {versions.old!r}; ask judges to compare these two"
        )
    degree = None if votes.details is None else votes.details.degree
    weight = np.ones(votes.rows) if degree is None else 2.0 * degree - 1.0
    sign = np.select([votes.answers == new, votes.answers == old], [1.0, -1.0], 0.0)
    time = None if votes.details is None else votes.details.time
    frame = pd.DataFrame(
        {
            "judge": np.array(votes.judges, dtype=object)[votes.judge[votes.row_cell]],
            "criterion": np.array(votes.criteria, dtype=object)[votes.criterion[votes.row_cell]],
            "value": sign * weight,
            "time": np.zeros(votes.rows) if time is None else time,
            "place": np.arange(votes.rows),
        }
    )
    unit = "vote" if votes.row_context is None else "context"
    notes = []
    if votes.row_context is None:
        frame[unit] = np.arange(votes.rows).astype(str)
        notes.append("no column 'context' says which votes are on one item: each counts as an item of its own")
    else:
        frame[unit] = np.array(votes.contexts, dtype=object)[votes.row_context]
    frame = frame[rows]
    shown_first = float(np.mean(first[rows] == new))
    if not votes.order_unknown and not 0.4 <= shown_first <= 0.6:
        notes.append(
            f"the new version was shown first in {100 * shown_first:.0f}% of the votes, so that a preference for a "
            "position counts as a difference; ask in both orders"
        )
    keys = ["criterion", unit]
    mean = frame.groupby(["judge", *keys], sort=False, as_index=False).agg(AGGREGATION)
    meaning = Meaning((0.0, 1.0), "share of votes won", tuple(notes))
    return differences_by_unit(mean, keys, unit, meaning, versions)


#: Answers of both versions as numbers, and their meaning.
Valued: TypeAlias = tuple[list[Floats], Meaning]


def value_scores(
    sides: Sequence[Scores], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Scores; ``levels`` give their scale, otherwise their range together with the known ends.

    Raises
    ------
    InputError
        All scores are equal, or outside the levels.
    """
    values = [side.score for side in sides]
    all_scores = np.concatenate(values)
    low, high = float(all_scores.min()), float(all_scores.max())
    if levels is None:
        ends = [end for end in known if isinstance(end, float)]
        scale = (min([low, *ends]), max([high, *ends]))
        if scale[0] == scale[1]:
            raise InputError(f"all scores are {low:g}, so that the scale is not known; name its ends: --levels 1,5")
        note = f"the scale is taken to be {low:g} to {high:g}, as far as scores reach; --levels names its ends"
        return values, Meaning(scale, "mean score", () if ends else (note,), scale)
    try:
        level_values = [float(read_number(level)) for level in read_list("levels", levels)]
    except ValueError as error:
        raise InputError(f"levels of scores are numbers: {error}") from None
    scale = (min(level_values), max(level_values))
    if low < scale[0] or high > scale[1] or scale[0] == scale[1]:
        raise InputError(f"scores reach from {low:g} to {high:g}, beyond the levels {scale[0]:g} to {scale[1]:g}")
    return values, Meaning(scale, "mean score", known=scale)


def value_labels(
    sides: Sequence[Labels], positive: object, levels: Sequence[object] | None, known: Sequence[Any] = ()
) -> Valued:
    """Labels: 1 for the good label, or the index among the levels where they are grades.

    Raises
    ------
    InputError
        No label is known to be good, and the levels give no order.
    """
    labels = {*sides[0].labels, *sides[1].labels, *(label for label in known if isinstance(label, str))}
    names = sides[0].labels if levels is not None else sort_labels(tuple(labels))
    if len(names) == 1 and positive is not None:  # the good label is a possible one, even if it does not occur
        names = sort_labels((*{*names, str(positive)},))
    good = success_class(names, positive) if len(names) > 1 or positive is not None else None
    if good is not None:
        note = f"good is taken to be {good!r}; --positive says otherwise"
        notes = (note,) if positive is None and not known else ()
        values = [(side.answers == good).astype(float) for side in sides]
        return values, Meaning((0.0, 1.0), f"share of {good!r}", notes, names)
    if len(names) == 1:
        raise InputError(
            f"all labels are {names[0]!r}; say that it is the good one (--positive {quote(names[0])}), or name all "
            f"that there may be, lowest first: --levels {quote('OTHER,' + names[0])}"
        )
    if levels is None:
        raise InputError(
            f"of the labels {known_names(names)} none is known to be the good one; say which: "
            f"{positive_example(names)}; or that they are grades, lowest first: --levels {quote(','.join(names[:8]))}"
        )
    place = {name: float(index) for index, name in enumerate(names)}
    values = [np.array([place[label] for label in side.answers]) for side in sides]
    return values, Meaning((0.0, len(names) - 1.0), "mean grade", known=names)


VALUES: dict[str, Callable[..., Valued]] = {Scores.data: value_scores, Labels.data: value_labels}
