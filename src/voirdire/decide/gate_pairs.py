"""Differences, new minus old: answers to two versions paired by judge and question, one difference for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.typing import Floats

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
