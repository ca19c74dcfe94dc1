"""Common base of protocols, roles of judges in a protocol's options, and JSON schemas of answers.

The schemas use only the few forms that every server with structured output supports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from voirdire.collect.options import nearest_or_all
from voirdire.collect.protocol import Ask, Calls, Item, Row, Setting, gather_rows

Schema: TypeAlias = Mapping[str, Any]
YES_NO = ("yes", "no")


class Name:
    """Marker of a field with a short name."""


class ListOf(NamedTuple):
    """A list of ``least`` to ``most`` entries of the kind ``of``."""

    of: Any
    least: int
    most: int


def answer_schema(longest: int = 0, /, **fields: Any) -> Schema:
    """Return the schema of an object with exactly these fields, in this order.

    Parameters
    ----------
    longest : int
        Most characters of a text (of a name 60); 0: no bound.
    fields : type, iterable, ListOf or mapping
        ``str`` or `Name` for a text; words or whole numbers for a choice; a list; a mapping for a nested object.

    Examples
    --------
    >>> shape = answer_schema(80, why=str, score=range(1, 3), steps=ListOf(str, 1, 3))
    >>> shape["required"]
    ['why', 'score', 'steps']
    >>> shape["properties"]["why"], shape["properties"]["score"]
    ({'type': 'string', 'maxLength': 80}, {'type': 'integer', 'enum': [1, 2]})
    """
    parts = {name: _field_schema(field, longest) for name, field in fields.items()}
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def _field_schema(field: Any, longest: int) -> Schema:
    if isinstance(field, ListOf):
        bounds = {"minItems": field.least, "maxItems": field.most}
        return {"type": "array", "items": _field_schema(field.of, longest), **bounds}
    if isinstance(field, Mapping):
        return answer_schema(longest, **field)
    if isinstance(field, type):
        bound = {"maxLength": 60 if field is Name else longest}
        return {"type": "string", **(bound if longest else {})}
    values = list(field)
    return {"type": "string" if isinstance(values[0], str) else "integer", "enum": values}


class PanelProtocol(ABC):
    """Base of protocols in which all judges do the same task independently."""

    Options: ClassVar[type[Any]]
    #: Options that name judges; the first option names those that judge.
    named: ClassVar[tuple[str, ...]] = ("judges",)
    #: Columns that either all items have or none.
    columns: ClassVar[tuple[str, ...]] = ("context",)

    def judges_with_other_roles(self, options: Any) -> Sequence[str]:
        """Return the judges with another role."""
        return ()

    def judges(self, setting: Setting) -> tuple[str, ...]:
        """Return the judges named by the options, or all judges of the panel without another role."""
        others = self.judges_with_other_roles(setting.options)
        chosen = tuple(getattr(setting.options, self.named[0]))
        return chosen or tuple(judge.name for judge in setting.judges if judge.name not in others)

    def problems(self, setting: Setting) -> list[str]:
        """Return the faults: unknown judges, columns of only some items, and the protocol's `setting_faults`."""
        named_judges = {option: getattr(setting.options, option) for option in self.named}
        columns = partial_column_problems(setting.items, self.columns)
        return [*unknown_judges(setting, named_judges), *columns, *self.setting_faults(setting)]

    @abstractmethod
    def setting_faults(self, setting: Setting) -> list[str]:
        """Return further faults of the setting."""

    def calls(self, setting: Setting) -> Calls:
        """Return the same bounds for each judge that takes part."""
        least, most = self.question_bounds(setting)
        judges = self.judges(setting)
        return Calls(dict.fromkeys(judges, least), dict.fromkeys(judges, most))

    @abstractmethod
    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the least and the largest number of questions to a judge."""

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Ask all judges at once."""
        return await gather_rows(self.judge_rows(setting, ask, judge) for judge in self.judges(setting))

    @abstractmethod
    async def judge_rows(self, setting: Setting, ask: Ask, judge: str) -> list[Row]:
        """Ask one judge; return the rows."""


def unknown_judges(setting: Setting, options: Mapping[str, Sequence[str] | str]) -> list[str]:
    """Return a sentence for each judge in an option that is not on the panel, or is named twice.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> unknown_judges(Setting((Judge("gemma", "m"),), ()), {"generator": ["gema"]})
    ["option generator: 'gema' is no judge of the panel; did you mean 'gemma'?"]
    """
    panel = [judge.name for judge in setting.judges]
    problems = []
    for option, value in options.items():
        names = [value] if isinstance(value, str) and value else list(value)
        for name in dict.fromkeys(names):
            if name not in panel:
                hint = nearest_or_all(name, panel)
                problems.append(f"option {option}: {name!r} is no judge of the panel{hint}")
            if names.count(name) > 1:
                problems.append(f"option {option}: {name!r} is named twice; name it once")
    return problems


def partial_column_problems(items: Sequence[Item], columns: Sequence[str] = ("context", "system")) -> list[str]:
    """Return a sentence for each column that only some items have; voirdire could not read the resulting tables.

    Examples
    --------
    >>> partial_column_problems([Item("a", "x", context="q"), Item("b", "y")])
    ["items: context is given for 'a' and not for 'b'; give it for all items or for none"]
    """
    problems = []
    for column in columns:
        present = [item.id for item in items if getattr(item, column) is not None]
        lacking = [item.id for item in items if getattr(item, column) is None]
        if present and lacking:
            places = f"is given for {present[0]!r} and not for {lacking[0]!r}"
            problems.append(f"items: {column} {places}; give it for all items or for none")
    return problems


def context_and_system(item: Item) -> dict[str, str]:
    """Return the columns context and system of an item's rows, if it has them.

    Examples
    --------
    >>> context_and_system(Item("a", "x", system="s1"))
    {'system': 's1'}
    """
    columns = {"context": item.context, "system": item.system}
    return {name: value for name, value in columns.items() if value is not None}
