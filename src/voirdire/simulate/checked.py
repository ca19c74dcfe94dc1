"""Settings as small frozen dataclasses whose fields are checked, built from plain tables (TOML, JSON).

A field's annotation carries its rule: ``eta: Share`` is a float from 0 to 1. The same rule serves the
constructor and the table, so that a study file and a Python call fail with the same sentence.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import numbers
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from voirdire.errors import InputError


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a value must be, in words and as a predicate."""

    words: str
    holds: Callable[[Any], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


Share = Annotated[float, Rule("a number from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1)]
PositiveShare = Annotated[
    float, Rule("a number above 0 and at most 1", lambda v: _is_number(v) and 0 < v <= 1)
]
Number = Annotated[float, Rule("a finite number", _is_number)]
Positive = Annotated[float, Rule("a number above 0", lambda v: _is_number(v) and v > 0)]
Nonnegative = Annotated[float, Rule("a number of at least 0", lambda v: _is_number(v) and v >= 0)]
Count = Annotated[int, Rule("a whole number of at least 1", lambda v: _is_integer(v) and v >= 1)]
Size = Annotated[int, Rule("a whole number of at least 0", lambda v: _is_integer(v) and v >= 0)]
Flag = Annotated[bool, Rule("true or false", lambda v: isinstance(v, bool))]
Name = Annotated[str, Rule("a name", lambda v: isinstance(v, str) and bool(v.strip()))]


def nearest(word: object, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """What to try instead of ``word``: the nearest of ``known``, then all of them.

    Examples
    --------
    >>> nearest("twocoin", ("one-coin", "two-coin"))
    "did you mean 'two-coin'? Known: one-coin, two-coin"
    """
    close = difflib.get_close_matches(str(word), list(known), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(known)}"


@dataclasses.dataclass(frozen=True)
class Checked:
    """Base of the settings: a ``kind``, and fields that are checked when the object is made.

    Raises
    ------
    InputError
        All fields that break their rule, at once.
    """

    kind: ClassVar[str]
    noun: ClassVar[str] = "setting"

    def __post_init__(self) -> None:
        found = [
            f"{self.kind} {self.noun}: {name} is {getattr(self, name)!r}; give {rule.words}"
            for name, rule in _rules(type(self)).items()
            if not rule.holds(getattr(self, name))
        ]
        found = found or [f"{self.kind} {self.noun}: {problem}" for problem in self.conflicts()]
        if found:
            raise InputError(found)

    def conflicts(self) -> Iterator[str]:
        """Problems between fields that are each in order (none, unless a class says otherwise)."""
        return iter(())

    def spec(self) -> dict[str, Any]:
        """The table from which an equal object can be built again (nested settings as tables)."""
        table: dict[str, Any] = {"kind": self.kind}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                table[field.name] = value.spec() if isinstance(value, Checked) else value
        return table


_KNOWN_RULES: dict[type[Checked], dict[str, Rule]] = {}


def _rules(cls: type[Checked]) -> dict[str, Rule]:
    """The rules of a class's fields; kept, since reading annotations costs more than checking them."""
    if cls not in _KNOWN_RULES:
        hints = get_type_hints(cls, include_extras=True)
        found = {field.name: _rule(hints[field.name]) for field in dataclasses.fields(cls)}
        _KNOWN_RULES[cls] = {name: rule for name, rule in found.items() if rule is not None}
    return _KNOWN_RULES[cls]


def _rule(hint: Any) -> Rule | None:
    """The rule an annotation stands for; None for annotations without one."""
    if get_origin(hint) is Annotated:
        return next((extra for extra in hint.__metadata__ if isinstance(extra, Rule)), None)
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        words = "one of " + ", ".join(repr(choice) for choice in choices)
        return Rule(words, lambda v: isinstance(v, str) and v in choices)
    if get_origin(hint) in (Union, types.UnionType):
        inner = [_rule(part) for part in get_args(hint) if part is not type(None)]
        if len(inner) == 1 and inner[0] is not None:
            rule = inner[0]
            return Rule(f"{rule.words}, or leave it out", lambda v: v is None or rule.holds(v))
        return None
    if isinstance(hint, type) and issubclass(hint, Checked):
        return Rule(f"a {hint.noun}", lambda v: isinstance(v, hint))
    return None


CheckedT = TypeVar("CheckedT", bound=Checked)


def build(kinds: Mapping[str, type[CheckedT]], spec: object, place: str) -> CheckedT:
    """Build the setting that a table (or just a kind) describes.

    Parameters
    ----------
    kinds : mapping
        The classes by kind; nested settings are looked up in the same mapping.
    spec : mapping, str or Checked
        ``{"kind": ..., field: value, ...}``, a kind whose fields all have defaults, or a setting that
        is passed through.
    place : str
        Where the table stands, for the messages.

    Raises
    ------
    InputError
        Unknown kind (with the nearest), unknown or missing fields, fields that break their rule.
    """
    if isinstance(spec, Checked):
        if spec.kind in kinds and isinstance(spec, kinds[spec.kind]):
            return spec
        raise InputError(f"{place}: a {spec.noun} stands here; give one of {', '.join(kinds)}")
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise InputError(f"{place}: {spec!r} is neither a kind nor a table; give {{'kind': ...}}")
    if "kind" not in spec:
        raise InputError(f"{place}: 'kind' is missing; {nearest('', kinds)}")
    kind = spec["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"{place}: unknown kind {kind!r}; {nearest(kind, kinds)}")
    cls = kinds[kind]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    problems = [
        f"{place}: unknown key {key!r} for kind {kind!r}; {nearest(key, fields) if fields else 'it has none'}"
        for key in spec
        if key != "kind" and key not in fields
    ]
    problems += [
        f"{place}: {name!r} is missing; kind {kind!r} needs it"
        for name, field in fields.items()
        if name not in spec
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for name, value in spec.items():
        if name not in fields:
            continue
        values[name] = value
        hint = hints[name]
        if isinstance(hint, type) and issubclass(hint, Checked) and not isinstance(value, Checked):
            try:
                values[name] = build(kinds, value, f"{place}, {name}")
            except InputError as error:
                problems += error.problems
    if not problems:
        try:
            return cls(**values)
        except InputError as error:
            problems += [f"{place}: {problem}" for problem in error.problems]
    raise InputError(problems)
