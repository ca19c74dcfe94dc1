"""Verbs that a file can be given to: what each lacks, and the command to type."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, Any

from voirdire.tables.columns import KIND_OF_TABLE, TableKind
from voirdire.tables.reading import Reading
from voirdire.tables.scores import MOST_LEVELS

if TYPE_CHECKING:
    import pandas as pd


_PEOPLE = re.compile(
    r"(humans?|people|persons?|annotators?|experts?|raters?|crowd|gold)([-_ ]?\d*)", re.IGNORECASE
)
#: The option that takes scores as numbers of a scale without levels.
_ANY_NUMBER = "--model rating-continuous"


def unusable_command_reasons(
    frames: dict[str, pd.DataFrame], how: Reading, criterion: str | None = "criterion"
) -> dict[str, str]:
    """Reasons why verbs cannot use a file; verbs that are not named can.

    Parameters
    ----------
    frames : dict of str to DataFrame
        Tables by their kind.
    how : Reading
        How they were read.
    criterion : str, optional
        Name of the column of criteria in the file; None where it has none that could be left out.

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
        return alone | {"metaeval": "scores", "replace": lack}
    if len(kinds) > 1:
        found = {
            verb: f"--table {' or --table '.join(kinds)}" for verb in ("fit", "agree", "board", "replace")
        }
    elif lack := _find_fit_refusal(KIND_OF_TABLE[kinds[0]], frames[kinds[0]], how, criterion)[0]:
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
    if labels is not None and len(kinds) == 1:
        found |= _board_lack_of_labels(labels)
    votes = frames.get("votes")
    if votes is not None and len(kinds) == 1 and _pairs_stand_alone(votes):
        found["board"] = "votes between the pairs, each of which stands by itself"
    if not how.people:
        found["replace"] = f"people's answers (--humans FILE, or --people {people})"
    return found


def _board_lack_of_labels(frame: pd.DataFrame) -> dict[str, str]:
    """The lack of a board of labels: it is of several systems over several contexts."""
    if not {"context", "system"} <= set(frame):
        return {"board": "columns context and system, which say whose answers the labels are of"}
    for name in ("system", "context"):
        if len(only := set(frame[name])) < 2:
            return {"board": f"a second {name}: only {only.pop()!r} occurs"}
    return {}


def _pairs_stand_alone(frame: pd.DataFrame) -> bool:
    """True where there are several pairs of items, and no item is in two of them."""
    pairs = {frozenset(pair) for pair in zip(frame["first"], frame["second"], strict=True)}
    return len(pairs) > 1 and len(set().union(*pairs)) == sum(map(len, pairs))


def _find_fit_refusal(
    kind: TableKind, frame: pd.DataFrame, how: Reading, criterion: str | None
) -> tuple[str, str]:
    """Find out why a fit would refuse a table, and the option with which it would not; nothing where it would not.

    It refuses one value alone, criteria that not all items are scored by, and whole scores that leave most levels out.
    """
    if not kind.level:
        return "", ""
    values = list(dict.fromkeys(map(str, frame[kind.answer])))
    if how.levels is None and len(values) == 1:
        return f"a second {kind.level}: only {values[0]!r} occurs; --levels names all there may be", ""
    if not kind.averages:
        return "", ""
    if criterion is not None and _is_category(frame):
        why = (
            f"a column {criterion!r} of criteria, or none: each item has scores under one alone, so that it is a "
            f"category of items; {_without(criterion)} reads the table without it"
        )
        if how.leave_out or "criterion" in (how.map or {}):
            return why, ""
        rest = _find_fit_refusal(kind, frame.drop(columns="criterion"), how, None)[1]
        return why, f"{_without(criterion)} {rest}".strip()
    if (item := _find_missing_score(frame)) is not None:
        why = (
            f"every item under every criterion: {item[0]!r} has no score under {item[1]!r}; "
            f"--where criterion={item[1]} takes one"
        )
        return why, "" if how.where else _choice_of_criterion(kind, frame, how)
    if how.levels is None and (ends := _find_wide_scale(frame[kind.answer])) is not None:
        why = (
            f"the levels of the scale: scores go from {ends[0]:g} to {ends[1]:g}; --levels names them, or "
            f"{_ANY_NUMBER} takes any number"
        )
        return why, _ANY_NUMBER
    return "", ""


def _choice_of_criterion(kind: TableKind, frame: pd.DataFrame, how: Reading) -> str:
    """Options that choose a criterion under which a fit takes the scores; nothing where there is none."""
    for name in dict.fromkeys(frame["criterion"]):
        why, option = _find_fit_refusal(kind, frame[frame["criterion"] == name], how, None)
        if option or not why:
            return f"--where {quote(f'criterion={name}')} {option}".strip()
    return ""


def _find_wide_scale(scores: pd.Series[Any]) -> tuple[float, float] | None:
    """The ends of whole scores that are too far apart to be levels, and too few to be any numbers."""
    numbers = {float(score) for score in scores}
    low, high = min(numbers), max(numbers)
    whole = all(number.is_integer() for number in numbers)
    return (low, high) if whole and len(numbers) <= MOST_LEVELS <= high - low else None


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
    criterion: str | None = "criterion",
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
    for option, value in how.set_options.items():
        flag = {"tool": "from"}.get(option, option).replace("_", "-")
        if isinstance(value, dict):
            joined = ",".join(f"{one}={two}" for one, two in value.items())
            options.append(f"--{flag} {quote(joined)}")
        elif value is True:
            options.append(f"--{flag}")
        else:
            options.append(f"--{flag} {quote(value if isinstance(value, str) else ','.join(value))}")
    refusals = {
        kind: _find_fit_refusal(KIND_OF_TABLE[kind], frame, how, criterion) for kind, frame in frames.items()
    }
    chosen = min(frames, key=lambda kind: (bool(refusals[kind][0]), not refusals[kind][1]))
    if how.table is None and len(frames) > 1:
        options.append(f"--table {chosen}")
        lacks = unusable_command_reasons({chosen: frames[chosen]}, how, criterion)
    if mend := refusals[chosen][1]:
        return " ".join(["voirdire fit", quote(name), *options, mend])
    ready = [verb for verb in ("fit", "agree", "replace") if verb not in lacks]
    return " ".join([f"voirdire {ready[0]}", quote(name), *options]) if ready else ""
