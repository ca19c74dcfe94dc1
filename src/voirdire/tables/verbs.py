"""Verbs that can use a file: the reasons against each, and the command to type."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING, Any

from voirdire.tables.columns import KIND_OF_TABLE, TableKind
from voirdire.tables.reading import Reading
from voirdire.tables.scores import MAX_LEVELS

if TYPE_CHECKING:
    import pandas as pd


_PEOPLE = re.compile(r"(humans?|people|persons?|annotators?|experts?|raters?|crowd|gold)([-_ ]?\d*)", re.IGNORECASE)
#: Option for scores on a continuous scale, without levels.
_ANY_NUMBER = "--model rating-continuous"


def unusable_command_reasons(
    frames: dict[str, pd.DataFrame], reading: Reading, criterion: str | None = "criterion"
) -> dict[str, str]:
    """Find the reasons why verbs cannot use a file; verbs without an entry can use it.

    Parameters
    ----------
    frames : dict of str to DataFrame
        Tables by their kind.
    reading : Reading
        Options by which they were read.
    criterion : str, optional
        Name of the column of criteria in the file; None if the file has no such column that could be left out.

    Examples
    --------
    >>> import pandas as pd
    >>> labels = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": "yes"})
    >>> unusable_command_reasons({"labels": labels}, Reading(people=("a",)))["fit"]
    "a second label: only 'yes' occurs; --levels names all there may be"
    """
    reasons: dict[str, str] = {}
    kinds = list(frames)
    if kinds == ["rankings"]:
        lack = "another table: --table votes reads rankings as votes"
        single_judge = {"agree": "a second judge"} if len(set(frames["rankings"]["judge"])) < 2 else {}
        return single_judge | {"metaeval": "scores", "replace": lack}
    if len(kinds) > 1:
        reasons = {verb: f"--table {' or --table '.join(kinds)}" for verb in ("fit", "agree", "board", "replace")}
    elif lack := _find_fit_refusal(KIND_OF_TABLE[kinds[0]], frames[kinds[0]], reading, criterion)[0]:
        reasons = dict.fromkeys(("fit", "board"), lack)
    names = sorted({str(name) for frame in frames.values() for name in frame["judge"]})
    people = quote(",".join(judge for judge in names if _PEOPLE.fullmatch(judge))) if len(names) > 1 else ""
    people = people if people not in ("", "''") else "NAMES"
    judges = max(len(set(frame["judge"])) for frame in frames.values())
    if judges < 2:
        reasons["agree"] = "a second judge"
    elif len(reading.people) == 1:
        reasons["agree"] = "two people or more as experts (--people), or none"
    if not any(KIND_OF_TABLE[kind].averages for kind in kinds):
        reasons["metaeval"] = "scores"
    elif not reading.people:
        reasons["metaeval"] = f"people's scores (--humans FILE, or --people {people})"
    labels = frames.get("labels")
    if labels is not None and len(kinds) == 1:
        reasons |= _board_lack_of_labels(labels)
    votes = frames.get("votes")
    if votes is not None and len(kinds) == 1 and _pairs_stand_alone(votes):
        reasons["board"] = "votes between the pairs, each of which stands by itself"
    if not reading.people:
        reasons["replace"] = f"people's answers (--humans FILE, or --people {people})"
    return reasons


def _board_lack_of_labels(frame: pd.DataFrame) -> dict[str, str]:
    """Find the reason why labels give no board: a board needs several systems and several contexts."""
    if not {"context", "system"} <= set(frame):
        return {"board": "columns context and system, which say whose answers the labels are of"}
    for name in ("system", "context"):
        if len(values := set(frame[name])) < 2:
            return {"board": f"a second {name}: only {values.pop()!r} occurs"}
    return {}


def _pairs_stand_alone(frame: pd.DataFrame) -> bool:
    """True where there are several pairs of items, and no item is in two pairs."""
    pairs = {frozenset(pair) for pair in zip(frame["first"], frame["second"], strict=True)}
    return len(pairs) > 1 and len(set().union(*pairs)) == sum(map(len, pairs))


def _find_fit_refusal(kind: TableKind, frame: pd.DataFrame, reading: Reading, criterion: str | None) -> tuple[str, str]:
    """Find the reason why a fit refuses a table, and the option that makes it accept it; both empty if it accepts it.

    A fit refuses a single distinct value, criteria without scores of some items, and whole scores that leave out most
    levels.
    """
    if not kind.level:
        return "", ""
    values = list(dict.fromkeys(map(str, frame[kind.answer])))
    if reading.levels is None and len(values) == 1:
        return f"a second {kind.level}: only {values[0]!r} occurs; --levels names all there may be", ""
    if not kind.averages:
        return "", ""
    if criterion is not None and _is_category(frame):
        reason = (
            f"a column {criterion!r} of criteria, or none: each item has scores under one alone, so that it is a "
            f"category of items; {_option_without_criteria(criterion)} reads the table without it"
        )
        if reading.leave_out or "criterion" in (reading.map or {}):
            return reason, ""
        options = _find_fit_refusal(kind, frame.drop(columns="criterion"), reading, None)[1]
        return reason, f"{_option_without_criteria(criterion)} {options}".strip()
    if (item := _find_missing_score(frame)) is not None:
        reason = (
            f"every item under every criterion: {item[0]!r} has no score under {item[1]!r}; "
            f"--where criterion={item[1]} takes one"
        )
        return reason, "" if reading.where else _choice_of_criterion(kind, frame, reading)
    if reading.levels is None and (extremes := _find_wide_scale(frame[kind.answer])) is not None:
        reason = (
            f"the levels of the scale: scores go from {extremes[0]:g} to {extremes[1]:g}; --levels names them, or "
            f"{_ANY_NUMBER} takes any number"
        )
        return reason, _ANY_NUMBER
    return "", ""


def _choice_of_criterion(kind: TableKind, frame: pd.DataFrame, reading: Reading) -> str:
    """Find options that choose a criterion under which a fit accepts the scores; empty without such a criterion."""
    for name in dict.fromkeys(frame["criterion"]):
        reason, option = _find_fit_refusal(kind, frame[frame["criterion"] == name], reading, None)
        if option or not reason:
            return f"--where {quote(f'criterion={name}')} {option}".strip()
    return ""


def _find_wide_scale(scores: pd.Series[Any]) -> tuple[float, float] | None:
    """Find the range of whole scores with a wide range but few distinct values, where levels are unclear; else None."""
    numbers = {float(score) for score in scores}
    low, high = min(numbers), max(numbers)
    all_whole = all(number.is_integer() for number in numbers)
    return (low, high) if all_whole and len(numbers) <= MAX_LEVELS <= high - low else None


def _is_category(frame: pd.DataFrame) -> bool:
    """True where the column of criteria is a category of items: no item has scores under two criteria."""
    if "criterion" not in frame or frame["criterion"].isna().any() or frame["criterion"].nunique() < 2:
        return False
    return bool((frame[["item", "criterion"]].drop_duplicates().groupby("item").size() == 1).all())


def _find_missing_score(frame: pd.DataFrame) -> tuple[str, str] | None:
    """Find an item and a criterion under which it has no score; None if every item has all scores."""
    if "criterion" not in frame or frame["criterion"].isna().any():
        return None
    pairs = frame[["item", "criterion"]].drop_duplicates()
    per_item = pairs.groupby("item", sort=False)["criterion"].agg(list)
    criteria = list(dict.fromkeys(pairs["criterion"]))
    for item, scored in per_item.items():
        if len(scored) < len(criteria):
            return str(item), str(next(criterion for criterion in criteria if criterion not in set(scored)))
    return None


def _option_without_criteria(criterion: str) -> str:
    """Write the option that reads a table without its column of criteria."""
    return f"--leave-out {quote(criterion)}"


def command_for(
    name: str,
    reading: Reading,
    frames: dict[str, pd.DataFrame],
    lacks: dict[str, str],
    criterion: str | None = "criterion",
) -> str:
    """Write the command to type, with the reading options: a fit, or the first verb that can use the file.

    Parameters are those of :func:`unusable_command_reasons`, and its result.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = {"scores": pd.DataFrame({"judge": ["a"], "item": "x", "score": 1})}
    >>> command_for("a b.csv", Reading(wide="judge"), frames, {})
    "voirdire fit 'a b.csv' --wide judge"
    """
    options = []
    for option, value in reading.set_options.items():
        flag = {"tool": "from"}.get(option, option).replace("_", "-")
        if isinstance(value, dict):
            joined = ",".join(f"{key}={cell}" for key, cell in value.items())
            options.append(f"--{flag} {quote(joined)}")
        elif value is True:
            options.append(f"--{flag}")
        else:
            options.append(f"--{flag} {quote(value if isinstance(value, str) else ','.join(value))}")
    refusals = {
        kind: _find_fit_refusal(KIND_OF_TABLE[kind], frame, reading, criterion) for kind, frame in frames.items()
    }
    chosen = min(frames, key=lambda kind: (bool(refusals[kind][0]), not refusals[kind][1]))
    if reading.table is None and len(frames) > 1:
        options.append(f"--table {chosen}")
        lacks = unusable_command_reasons({chosen: frames[chosen]}, reading, criterion)
    if fit_option := refusals[chosen][1]:
        return " ".join(["voirdire fit", quote(name), *options, fit_option])
    ready = [verb for verb in ("fit", "agree", "replace") if verb not in lacks]
    return " ".join([f"voirdire {ready[0]}", quote(name), *options]) if ready else ""
