"""Checks of settings in files and calls: models, studies, panels, options of protocols, runs, claims.

A fault is one sentence (place, value, remedy); all faults of a table are reported at once. Rules are given by key
(:func:`find_faults`), or in the annotations of a frozen dataclass: ``eta: Share`` is a float from 0 to 1. The
constructor and the table use the same rule, so that a file and a Python call give the same message.

pydantic finds the same faults, but its messages ("Input should be ...") name neither the nearest key nor the remedy.
Writing these messages from its error codes would need most of this module.
"""

from __future__ import annotations

import csv
import dataclasses
import difflib
import math
import numbers
import tomllib
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from voirdire.errors import InputError

#: Default probability of an interval.
PROB = 0.9


def min_draws_for_interval(prob: float, beyond: int = 1) -> int:
    """Compute the least number of draws with ``beyond`` draws expected beyond each end of an interval.

    Examples
    --------
    >>> min_draws_for_interval(0.9), min_draws_for_interval(0.95), min_draws_for_interval(0.9995)
    (20, 40, 4000)
    """
    return math.ceil(round(2 * beyond / (1 - prob), 6))


def share_problems(**shares: tuple[float, float]) -> list[str]:
    """Report the settings that are not between 0 and 1; each is given by name as (value, usual value).

    Examples
    --------
    >>> share_problems(prob=(1.5, 0.9), alpha=(0.05, 0.05))
    ['prob 1.5 is not between 0 and 1; 0.9 is usual']
    """
    return [
        f"{name} {value!r} is not between 0 and 1; {usual} is usual"
        for name, (value, usual) in shares.items()
        if not (is_number(value) and 0 < value < 1)
    ]


def read_list(name: str, setting: object) -> tuple[Any, ...]:
    """Read the parts of a setting that is a list, or a text with commas between the parts.

    Quotation marks protect commas within a part, as on the command line.

    Raises
    ------
    InputError
        The setting is neither.

    Examples
    --------
    >>> read_list("levels", "1, 5"), read_list("levels", [1, 5]), read_list("people", '"Smith, Ann",Bob')
    (('1', '5'), (1, 5), ('Smith, Ann', 'Bob'))
    """
    if isinstance(setting, str):
        rows = csv.reader(setting.splitlines(), skipinitialspace=True)
        return tuple(part.strip() for row in rows for part in row if part.strip())
    if hasattr(setting, "columns"):
        answers = "; people's answers in a table of their own are humans= or anchors=" if name == "people" else ""
        raise InputError(f"{name}= is a table, not a list; give a list, or a text with commas{answers}")
    if isinstance(setting, Iterable):
        return tuple(setting)
    raise InputError(f"{name}={setting!r} is no list; give one, or a text with commas between its parts")


def nearest_word(word: object, known: Iterable[str]) -> str:
    """Return the nearest known word as a question, or "".

    Examples
    --------
    >>> nearest_word("tolerence", ["tolerance", "because"])
    " (did you mean 'tolerance'?)"
    """
    matches = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""


def suggest_words(word: object, known: Iterable[str]) -> str:
    """Suggest words instead of an unknown one: the nearest, then all known ones.

    Examples
    --------
    >>> suggest_words("twocoin", ("one-coin", "two-coin"))
    "did you mean 'two-coin'? Known: one-coin, two-coin"
    """
    return f"{nearest_word(word, known)[2:-1]} Known: {', '.join(known)}".lstrip()


def unknown_name_message(noun: str, word: object, known: Iterable[str]) -> str:
    """Return the message about an unknown name.

    Examples
    --------
    >>> unknown_name_message("model", "mapel", ["maple", "crowd-bt"])
    "unknown model 'mapel' (did you mean 'maple'?); known: maple, crowd-bt"
    """
    return f"unknown {noun} {word!r}{_known_words_hint(word, list(known))}"


def unknown_value_message(noun: str, word: object, known: Iterable[str]) -> str:
    """Return the message about an unknown value in a file.

    Examples
    --------
    >>> unknown_value_message("[ties] kind", "davidsen", ["davidson"])
    "[ties] kind 'davidsen' is unknown (did you mean 'davidson'?); known: davidson"
    """
    return f"{noun} {word!r} is unknown{_known_words_hint(word, list(known))}"


def _known_words_hint(word: object, known: list[str]) -> str:
    return f"{nearest_word(word, known)}; known: {', '.join(known) or 'none'}"


def read_toml(path: Path, file_kind: str = "") -> dict[str, Any]:
    """Read a TOML file; ``file_kind`` is the kind of file, for the messages.

    Raises
    ------
    InputError
        The file cannot be read, or is not TOML.
    """
    prefix = f"{file_kind} {path}".lstrip()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{prefix}: cannot be read ({error.strerror})") from error
    except RecursionError:
        raise InputError(f"{prefix}: is nested too deeply; write it flatter") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number with too many digits
        raise InputError(f"{prefix}: not valid TOML ({error})") from error


@dataclasses.dataclass(frozen=True)
class Rule:
    """Rule for a value.

    Attributes
    ----------
    words : str
        Description of valid values, for ``says``.
    holds : callable
        Function that returns True for a valid value.
    says : str
        Message about an invalid value, with the fields ``{key}``, ``{value}`` and ``{words}``.
    base : Rule, optional
        Rule that is checked first.
    convert : callable, optional
        Function that converts a valid value (for example a list to a tuple).

    Examples
    --------
    >>> Rule("a name", lambda v: isinstance(v, str)).find_fault("judge", 3)
    'judge is 3; give a name'
    """

    words: str
    holds: Callable[[Any], bool]
    says: str = "{key} is {value!r}; give {words}"
    base: Rule | None = None
    convert: Callable[[Any], Any] | None = None

    def find_fault(self, key: str, value: object) -> str:
        """Return the message about an invalid value, "" for a valid one."""
        base_fault = self.base.find_fault(key, value) if self.base is not None else ""
        if base_fault or self.holds(value):
            return base_fault
        return self.says.format(key=key, value=value, words=self.words)

    def convert_value(self, value: Any) -> Any:
        """Return the converted value (for example a list as a tuple)."""
        return value if self.convert is None else self.convert(value)


def is_number(value: object) -> bool:
    """Return True if a value is a finite real number; truth values are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and _is_finite(value)


def is_whole(value: object) -> bool:
    """Return True if a value is a whole number."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # TOML has integers that are too large for a float
        return False


TEXT = Rule("text", lambda v: isinstance(v, str))
WORD = Rule("text", lambda v: isinstance(v, str) and bool(v.strip()))
NUMBER = Rule("a number", is_number, convert=float)
WHOLE = Rule("a whole number", is_whole)
FLAG = Rule("true or false", lambda v: isinstance(v, bool))
TABLE = Rule("a table", lambda v: isinstance(v, Mapping))
LIST = Rule("a list", lambda v: isinstance(v, Sequence) and not isinstance(v, str))
TABLES = Rule("a list of tables", lambda v: LIST.holds(v) and all(isinstance(entry, Mapping) for entry in v))
ANY = Rule("anything", lambda v: True)
COUNT = Rule("a whole number of at least 1", lambda v: is_whole(v) and v >= 1)
SIZE = Rule("a whole number of at least 0", lambda v: is_whole(v) and v >= 0)
POSITIVE = Rule("a number above 0", lambda v: is_number(v) and v > 0)
AMOUNT = Rule("a number of at least 0", lambda v: is_number(v) and v >= 0)

Share = Annotated[float, Rule("a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1)]
PositiveShare = Annotated[float, Rule("a number above 0 and at most 1", lambda v: is_number(v) and 0 < v <= 1)]
Number = Annotated[float, Rule("a finite number", is_number)]
Positive = Annotated[float, POSITIVE]
Nonnegative = Annotated[float, AMOUNT]
Count = Annotated[int, COUNT]
Size = Annotated[int, SIZE]
Flag = Annotated[bool, FLAG]
Name = Annotated[str, Rule("a name", WORD.holds)]

_TYPE_RULES = {str: TEXT, int: WHOLE, float: NUMBER, bool: FLAG}


def find_faults(
    table: Mapping[str, Any],
    rules: Mapping[str, Rule],
    needed: Collection[str] = (),
    *,
    unknown: str = "unknown key {key!r}{near}",
    missing: str = "{key!r} is missing",
    near: Callable[[str, list[str]], str] = nearest_word,
) -> Iterator[tuple[str, str]]:
    """Find the faults of a table: unknown keys, then missing keys, then invalid values.

    Parameters
    ----------
    table : mapping
    rules : mapping of str to Rule
        Rules of all allowed keys.
    needed : collection of str
        Keys that are required.
    unknown, missing : str
        Messages about a key, with the fields ``{key}``, ``{near}`` and the ``{words}`` of its rule.
    near : callable
        Function of an unknown key and the known keys that returns the hint.

    Yields
    ------
    key, sentence

    Examples
    --------
    >>> dict(find_faults({"itmes": 3}, {"items": COUNT}, ["items"]))
    {'itmes': "unknown key 'itmes' (did you mean 'items'?)", 'items': "'items' is missing"}
    """
    for key in table:
        if key not in rules:
            yield key, unknown.format(key=key, near=near(key, list(rules)))
    for key in needed:
        if key not in table:
            yield key, missing.format(key=key, words=rules[key].words)
    for key, value in table.items():
        if key in rules and (fault := rules[key].find_fault(key, value)):
            yield key, fault


def choice_rule(known: Collection[str], says: str = "{key} = {value!r} is none of {words}") -> Rule:
    """Make the rule that a value is one of the known words."""
    return Rule(", ".join(known), lambda v: isinstance(v, str) and v in known, says)


_CLASS_RULES: dict[type[Any], dict[str, Rule]] = {}


def field_rules(cls: type[Any]) -> dict[str, Rule]:
    """Return the rules of the fields of a dataclass; cached, since reading annotations is slow."""
    if cls not in _CLASS_RULES:
        hints = get_type_hints(cls, include_extras=True)
        _CLASS_RULES[cls] = {
            field.name: rule_from_annotation(hints[field.name]) for field in dataclasses.fields(cls) if field.init
        }
    return _CLASS_RULES[cls]


def rule_from_annotation(hint: Any) -> Rule:
    """Make the rule of an annotation.

    Examples
    --------
    >>> rule_from_annotation(tuple[int, ...]).words, rule_from_annotation(float | None).words
    ('a list, each a whole number', 'a number, or leave it out')
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next((extra for extra in hint.__metadata__ if isinstance(extra, Rule)), rule_from_annotation(parts[0]))
    if origin is Literal:
        return Rule(
            "one of " + ", ".join(map(repr, parts)),
            lambda v: any(type(v) is type(part) and v == part for part in parts),
        )
    if origin in (Union, types.UnionType):
        inner_rules = [rule_from_annotation(part) for part in parts if part is not type(None)]
        if len(inner_rules) != 1:
            return ANY
        rule = inner_rules[0]
        return dataclasses.replace(
            rule, words=f"{rule.words}, or leave it out", holds=lambda v: v is None or rule.holds(v), convert=None
        )
    if origin is tuple:
        entry_rule = rule_from_annotation(parts[0])
        return Rule(
            f"a list, each {entry_rule.words}",
            lambda v: LIST.holds(v) and all(entry_rule.holds(part) for part in v),
            convert=lambda v: tuple(entry_rule.convert_value(part) for part in v),
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        entry_rule = rule_from_annotation(parts[1])
        return Rule(
            f"a table, each value {entry_rule.words}",
            lambda v: TABLE.holds(v) and all(entry_rule.holds(part) for part in v.values()),
            convert=lambda v: {key: entry_rule.convert_value(part) for key, part in v.items()},
        )
    if isinstance(hint, type) and issubclass(hint, Checked):
        return Rule(f"a {hint.noun}", lambda v: isinstance(v, hint))
    return _TYPE_RULES.get(hint, ANY)


@dataclasses.dataclass(frozen=True)
class Checked:
    """Base class of settings: a ``kind``, and fields that are checked by the constructor.

    Raises
    ------
    InputError
        Error with all invalid fields at once.
    """

    kind: ClassVar[str]
    noun: ClassVar[str] = "setting"

    def __post_init__(self) -> None:
        fields = {name: getattr(self, name) for name in field_rules(type(self))}
        faults = [fault for _, fault in find_faults(fields, field_rules(type(self)))] or list(self.find_conflicts())
        if faults:
            raise InputError([f"{self.kind} {self.noun}: {fault}" for fault in faults])

    def find_conflicts(self) -> Iterator[str]:
        """Yield conflicts between fields that are valid by themselves; none by default."""
        return iter(())

    def spec(self) -> dict[str, Any]:
        """Return the table from which an equal object can be built (nested settings as tables)."""
        table: dict[str, Any] = {"kind": self.kind}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                table[field.name] = value.spec() if isinstance(value, Checked) else value
        return table


CheckedT = TypeVar("CheckedT", bound=Checked)


def build_setting(kinds: Mapping[str, type[CheckedT]], spec: object, place: str) -> CheckedT:
    """Build the setting from a table or a kind.

    Parameters
    ----------
    kinds : mapping
        Classes by kind, also for nested settings.
    spec : mapping, str or Checked
        ``{"kind": ..., field: value, ...}``, a kind with defaults for all fields, or a setting, which is returned.
    place : str
        Position of the table, for the messages.

    Raises
    ------
    InputError
        Unknown kind (the message names the nearest), unknown or missing fields, invalid fields.
    """
    if isinstance(spec, Checked):
        if spec.kind in kinds and isinstance(spec, kinds[spec.kind]):
            return spec
        raise InputError(f"{place}: a {spec.noun} stands here; give one of {', '.join(kinds)}")
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise InputError(f"{place}: {spec!r} is neither a kind nor a table; give {{'kind': ...}}")
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        kind_fault = f"unknown kind {kind!r}" if "kind" in spec else "'kind' is missing"
        raise InputError(f"{place}: {kind_fault}; {suggest_words(kind or '', kinds)}")
    cls = kinds[kind]
    fields = dict.fromkeys(field_rules(cls), ANY)  # the constructor checks the values
    needed = [
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    faults = find_faults(
        {key: value for key, value in spec.items() if key != "kind"},
        fields,
        needed,
        unknown=f"unknown key {{key!r}} for kind {kind!r}; {{near}}",
        missing=f"{{key!r}} is missing; kind {kind!r} needs it",
        near=lambda key, known: suggest_words(key, known) if known else "it has none",
    )
    problems = [f"{place}: {fault}" for _, fault in faults]
    hints = get_type_hints(cls)
    values = {name: value for name, value in spec.items() if name in fields}
    for name, value in values.items():
        nested = isinstance(hints[name], type) and issubclass(hints[name], Checked)
        if nested and not isinstance(value, Checked):
            try:
                values[name] = build_setting(kinds, value, f"{place}, {name}")
            except InputError as error:
                problems += error.problems
    if not problems:
        try:
            return cls(**values)
        except InputError as error:
            problems += [f"{place}: {problem}" for problem in error.problems]
    raise InputError(problems)
