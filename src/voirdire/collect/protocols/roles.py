"""Who of the panel does what: judges named in a protocol's options.

JSON schemas of answers, in the few forms that every server with structured output knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from voirdire.collect.options import nearest_or_all
from voirdire.collect.protocol import Calls, Item, Setting

Schema: TypeAlias = Mapping[str, Any]


def record_schema(**fields: Schema) -> Schema:
    """An object with exactly these fields, answered in this order.

    Examples
    --------
    >>> record_schema(score=choice_schema([1, 2]))["required"]
    ['score']
    """
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def text_schema(longest: int = 0) -> Schema:
    """A text, of at most ``longest`` characters if that is not 0.

    Examples
    --------
    >>> text_schema(80)
    {'type': 'string', 'maxLength': 80}
    """
    return {"type": "string", "maxLength": longest} if longest else {"type": "string"}


def choice_schema(values: Iterable[str] | Iterable[int]) -> Schema:
    """One of the values, all words or all whole numbers.

    Examples
    --------
    >>> choice_schema(["yes", "no"])
    {'type': 'string', 'enum': ['yes', 'no']}
    """
    listed = list(values)
    return {"type": "string" if isinstance(listed[0], str) else "integer", "enum": listed}


def list_schema(of: Schema, least: int, most: int) -> Schema:
    """A list of ``least`` to ``most`` of the same kind.

    Examples
    --------
    >>> list_schema(text_schema(), 1, 3)["maxItems"]
    3
    """
    return {"type": "array", "items": of, "minItems": least, "maxItems": most}


def judges_for_role(setting: Setting, named: Sequence[str], without: Sequence[str] = ()) -> tuple[str, ...]:
    """The named judges, or all of the panel but those that have another part.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> judges_for_role(Setting((Judge("a", "m"), Judge("b", "m")), ()), (), without=["a"])
    ('b',)
    """
    return tuple(named) or tuple(judge.name for judge in setting.judges if judge.name not in without)


def count_calls(judges: Iterable[str], least: int, most: int | None = None) -> Calls:
    """The same bounds on the number of questions for each of the judges; one number where both are the same.

    Examples
    --------
    >>> count_calls(["ann"], 2, 5).most
    {'ann': 5}
    """
    names = tuple(judges)
    return Calls(dict.fromkeys(names, least), dict.fromkeys(names, least if most is None else most))


def unknown_judges(setting: Setting, options: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences on judges that options name and the panel does not have, or that an option names twice.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> unknown_judges(Setting((Judge("gemma", "m"),), ()), {"generator": ["gema"]})
    ["option generator: 'gema' is no judge of the panel; did you mean 'gemma'?"]
    """
    panel = [judge.name for judge in setting.judges]
    found = []
    for option, names in options.items():
        for name in dict.fromkeys(names):
            if name not in panel:
                found.append(
                    f"option {option}: {name!r} is no judge of the panel{nearest_or_all(name, panel)}"
                )
            if list(names).count(name) > 1:
                found.append(f"option {option}: {name!r} is named twice; name it once")
    return found


def partial_column_problems(
    items: Sequence[Item], columns: Sequence[str] = ("context", "system")
) -> list[str]:
    """Sentences on columns that some items have and others lack: tables made of them could not be read.

    Examples
    --------
    >>> partial_column_problems([Item("a", "x", context="q"), Item("b", "y")])
    ["items: context is given for 'a' and not for 'b'; give it for all items or for none"]
    """
    found = []
    for column in columns:
        given = [item.id for item in items if getattr(item, column) is not None]
        lacking = [item.id for item in items if getattr(item, column) is None]
        if given and lacking:
            found.append(
                f"items: {column} is given for {given[0]!r} and not for {lacking[0]!r};"
                " give it for all items or for none"
            )
    return found


def context_and_system(item: Item) -> dict[str, str]:
    """The columns context and system of an item's rows, as far as it has them.

    Examples
    --------
    >>> context_and_system(Item("a", "x", system="s1"))
    {'system': 's1'}
    """
    columns = {"context": item.context, "system": item.system}
    return {name: value for name, value in columns.items() if value is not None}
