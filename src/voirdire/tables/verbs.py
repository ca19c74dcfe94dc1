"""Verbs that a file can be given to: what each lacks, and the command to type."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from voirdire.tables.columns import KIND_OF_TABLE, TableKind
from voirdire.tables.reading import Reading

if TYPE_CHECKING:
    import pandas as pd


_PEOPLE = re.compile(
    r"(humans?|people|persons?|annotators?|experts?|raters?|crowd|gold)([-_ ]?\d*)", re.IGNORECASE
)


def unusable_command_reasons(
    frames: dict[str, pd.DataFrame], how: Reading, criterion: str = "criterion"
) -> dict[str, str]:
    """Reasons why verbs cannot use a file; verbs that are not named can.

    Parameters
    ----------
    frames : dict of str to DataFrame
        Tables by their kind.
    how : Reading
        How they were read.
    criterion : str
        Name of the column of criteria in the file.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": "yes"})
    >>> unusable_command_reasons({"labels": labels}, Reading(people=("a",)))["fit"]
    "a second label: only 'yes' occurs; --levels names all there may be"
    """
    found: dict[str, str] = {}
    kinds = list(frames)
    if kinds == ["rankings"]:
        lack = "another table: --table votes reads rankings as votes"
        alone = {"agree": "a second judge"} if len(set(frames["rankings"]["judge"])) < 2 else {}
        return alone | dict.fromkeys(("metaeval", "replace"), lack)
    if len(kinds) > 1:
        found = {
            verb: f"--table {' or --table '.join(kinds)}" for verb in ("fit", "agree", "board", "replace")
        }
    elif lack := _fit_refusal_reason(KIND_OF_TABLE[kinds[0]], frames[kinds[0]], how, criterion):
        found = dict.fromkeys(("fit", "board"), lack)
    names = sorted({str(name) for frame in frames.values() for name in frame["judge"]})
    people = quote(",".join(one for one in names if _PEOPLE.fullmatch(one))) if len(names) > 1 else ""
    people = people if people not in ("", "''") else "NAMES"
    judges = max(len(set(frame["judge"])) for frame in frames.values())
    if judges < 2:
        found["agree"] = "a second judge"
    elif len(how.people) == 1:
        found["agree"] = "two people or more as experts (--people), or none"
    if not any(KIND_OF_TABLE[kind].averages for kind in kinds):
        found["metaeval"] = "scores"
    elif not how.people:
        found["metaeval"] = f"people's scores (--humans FILE, or --people {people})"
    labels = frames.get("labels")
    if labels is not None and len(kinds) == 1 and not {"context", "system"} <= set(labels):
        found["board"] = "columns context and system, which say whose answers the labels are of"
    if not how.people:
        found["replace"] = f"people's answers (--humans FILE, or --people {people})"
    return found


def _fit_refusal_reason(kind: TableKind, frame: pd.DataFrame, how: Reading, criterion: str) -> str:
    """Reason for which a fit would refuse a table: one value alone, or criteria that not all items are scored by."""
    if not kind.level:
        return ""
    values = list(dict.fromkeys(map(str, frame[kind.answer])))
    if how.levels is None and len(values) == 1:
        return f"a second {kind.level}: only {values[0]!r} occurs; --levels names all there may be"
    if kind.averages and _is_category(frame):
        return (
            f"a column {criterion!r} of criteria, or none: each item has scores under one alone, so that it is a "
            f"category of items; {_without(criterion)} reads the table without it"
        )
    if kind.averages and (item := _find_missing_score(frame)) is not None:
        return (
            f"every item under every criterion: {item[0]!r} has no score under {item[1]!r}; "
            f"--where criterion={item[1]} takes one"
        )
    return ""


def _is_category(frame: pd.DataFrame) -> bool:
    """True where the column of criteria says of what kind each item is: no item has scores under two of them."""
    if "criterion" not in frame or frame["criterion"].isna().any() or frame["criterion"].nunique() < 2:
        return False
    return bool((frame[["item", "criterion"]].drop_duplicates().groupby("item").size() == 1).all())


def _find_missing_score(frame: pd.DataFrame) -> tuple[str, str] | None:
    """An item and a criterion under which it has no score; None where there is none."""
    if "criterion" not in frame or frame["criterion"].isna().any():
        return None
    pairs = frame[["item", "criterion"]].drop_duplicates()
    per_item = pairs.groupby("item", sort=False)["criterion"].agg(list)
    criteria = list(dict.fromkeys(pairs["criterion"]))
    for item, own in per_item.items():
        if len(own) < len(criteria):
            return str(item), str(next(one for one in criteria if one not in set(own)))
    return None


def _without(criterion: str) -> str:
    """The option that reads a table without its column of criteria."""
    return f"--leave-out {quote(criterion)}"


def command_for(
    name: str,
    how: Reading,
    frames: dict[str, pd.DataFrame],
    lacks: dict[str, str],
    criterion: str = "criterion",
) -> str:
    """Write the command to type, with the options that the file was read by: to fit it, or what it is ready for.

    Parameters are those of :func:`unusable_command_reasons`, and what that gave.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = {"scores": pd.DataFrame({"judge": ["a"], "item": "x", "score": 1})}
    >>> command_for("a b.csv", Reading(wide="judge"), frames, {})
    "voirdire fit 'a b.csv' --wide judge"
    """
    options = []
    for option, value in how.given.items():
        flag = {"tool": "from"}.get(option, option).replace("_", "-")
        if isinstance(value, dict):
            joined = ",".join(f"{one}={two}" for one, two in value.items())
            options.append(f"--{flag} {quote(joined)}")
        elif value is True:
            options.append(f"--{flag}")
        else:
            options.append(f"--{flag} {quote(value if isinstance(value, str) else ','.join(value))}")
    kinds = list(frames)
    if how.table is None and len(kinds) > 1:
        options.append(f"--table {kinds[0]}")
        return " ".join(["voirdire fit", quote(name), *options])
    if "--where criterion=" in lacks.get("fit", "") and how.where is None:
        criterion = str(frames["scores"]["criterion"].iloc[0])
        return " ".join(["voirdire fit", quote(name), *options, f"--where {quote(f'criterion={criterion}')}"])
    if (
        _without(criterion) in lacks.get("fit", "")
        and not how.leave_out
        and "criterion" not in (how.map or {})
    ):
        return " ".join(["voirdire fit", quote(name), *options, _without(criterion)])
    ready = [verb for verb in ("fit", "agree", "replace") if verb not in lacks]
    return " ".join([f"voirdire {ready[0]}", quote(name), *options]) if ready else ""
