"""Settings of files and calls, checked by one set of rules: models, studies, panels, protocols' options, runs, claims.

A fault is one sentence (the place, the value, the remedy), and all of a table are told at once. Rules stand beside
keys (:func:`find_faults`), or in the annotations of a frozen dataclass: ``eta: Share`` is a float from 0 to 1. The same
rule serves the constructor and the table, so that a file and a Python call fail with the same sentence.

pydantic finds the same faults, but names neither the nearest key nor what to give, and says "Input should be ...":
every sentence would be written again from its codes, and that is most of this module.
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

#: Probability of an interval where none is given.
PROB = 0.9


def least_draws(prob: float, beyond: int = 1) -> int:
    """Least number of draws with so many expected beyond each end of an interval.

    Examples
    --------
    >>> least_draws(0.9), least_draws(0.95), least_draws(0.9995)
    (20, 40, 4000)
    """
    return math.ceil(round(2 * beyond / (1 - prob), 6))


def share_problems(**shares: tuple[float, float]) -> list[str]:
    """Say which settings are not between 0 and 1: the value of each, and what is usual, by name.

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


def read_list(name: str, given: object) -> tuple[Any, ...]:
    """The parts of a setting that is a list, or a text with commas between them.

    Quotation marks keep a comma in a part, as on the command line.

    Raises
    ------
    InputError
        It is neither.

    Examples
    --------
    >>> read_list("levels", "1, 5"), read_list("levels", [1, 5]), read_list("people", '"Smith, Ann",Bob')
    (('1', '5'), (1, 5), ('Smith, Ann', 'Bob'))
    """
    if isinstance(given, str):
        rows = csv.reader(given.splitlines(), skipinitialspace=True)
        return tuple(part.strip() for row in rows for part in row if part.strip())
    if hasattr(given, "columns"):
        answers = (
            "; people's answers in a table of their own are humans= or anchors=" if name == "people" else ""
        )
        raise InputError(f"{name}= is a table, not a list; give a list, or a text with commas{answers}")
    if isinstance(given, Iterable):
        return tuple(given)
    raise InputError(f"{name}={given!r} is no list; give one, or a text with commas between its parts")


def nearest_word(word: object, known: Iterable[str]) -> str:
    """The known word that is meant, as a question, or "".

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


def unknown_name_message(what: str, word: object, known: Iterable[str]) -> str:
    """The sentence about a name that is none of the known ones.

    Examples
    --------
    >>> unknown_name_message("model", "mapel", ["maple", "crowd-bt"])
    "unknown model 'mapel' (did you mean 'maple'?); known: maple, crowd-bt"
    """
    return f"unknown {what} {word!r}{_known_words_hint(word, list(known))}"


def unknown_value_message(what: str, word: object, known: Iterable[str]) -> str:
    """The sentence about a value in a file that is none of the known ones.

    Examples
    --------
    >>> unknown_value_message("[ties] kind", "davidsen", ["davidson"])
    "[ties] kind 'davidsen' is unknown (did you mean 'davidson'?); known: davidson"
    """
    return f"{what} {word!r} is unknown{_known_words_hint(word, list(known))}"


def _known_words_hint(word: object, known: list[str]) -> str:
    return f"{nearest_word(word, known)}; known: {', '.join(known) or 'none'}"


def read_toml(path: Path, what: str = "") -> dict[str, Any]:
    """The content of a TOML file; ``what`` says in the messages which kind of file it is.

    Raises
    ------
    InputError
        It cannot be read, or is no TOML.
    """
    prefix = f"{what} {path}".lstrip()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{prefix}: cannot be read ({error.strerror})") from error
    except RecursionError:
        raise InputError(f"{prefix}: is nested too deeply; write it flatter") from None
    except ValueError as error:  # no TOML, no UTF-8, a number of too many digits
        raise InputError(f"{prefix}: not valid TOML ({error})") from error


@dataclasses.dataclass(frozen=True)
class Rule:
    """Rule that a value must keep.

    Attributes
    ----------
    words : str
        In words, as they stand in ``says``.
    holds : callable
        From the value to whether it is so.
    says : str
        The sentence about a value that is not: ``{key}``, ``{value}`` and ``{words}`` are put in.
    base : Rule, optional
        What must hold first.
    convert : callable, optional
        From a value that is so to what is kept of it (a list as a tuple).

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
        """The sentence about a value that breaks the rule, "" about one that keeps it."""
        base_fault = self.base.find_fault(key, value) if self.base is not None else ""
        if base_fault or self.holds(value):
            return base_fault
        return self.says.format(key=key, value=value, words=self.words)

    def keep(self, value: Any) -> Any:
        """Value as it is kept (a list as a tuple)."""
        return value if self.convert is None else self.convert(value)


def is_number(value: object) -> bool:
    """True where a value is a finite real number (True and False are none)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and _is_finite(value)


def is_whole(value: object) -> bool:
    """True where a value is a whole number."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # TOML knows integers beyond any float
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
PositiveShare = Annotated[
    float, Rule("a number above 0 and at most 1", lambda v: is_number(v) and 0 < v <= 1)
]
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
    """Find the faults of a table: unknown keys, then missing keys, then values that break their rule.

    Parameters
    ----------
    table : mapping
    rules : mapping of str to Rule
        Of every key that there may be.
    needed : collection of str
        Keys that there must be.
    unknown, missing : str
        The sentences about a key; ``{key}``, ``{near}`` and the ``{words}`` of its rule are put in.
    near : callable
        From a key that is unknown and the known ones to the hint.

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
    """The rule that a value is one of the known words."""
    return Rule(", ".join(known), lambda v: isinstance(v, str) and v in known, says)


_CLASS_RULES: dict[type[Any], dict[str, Rule]] = {}


def field_rules(cls: type[Any]) -> dict[str, Rule]:
    """The rules of a dataclass's fields; kept, since reading annotations costs more than checking them."""
    if cls not in _CLASS_RULES:
        hints = get_type_hints(cls, include_extras=True)
        _CLASS_RULES[cls] = {
            field.name: rule_from_annotation(hints[field.name])
            for field in dataclasses.fields(cls)
            if field.init
        }
    return _CLASS_RULES[cls]


def rule_from_annotation(hint: Any) -> Rule:
    """The rule that an annotation stands for.

    Examples
    --------
    >>> rule_from_annotation(tuple[int, ...]).words, rule_from_annotation(float | None).words
    ('a list, each a whole number', 'a number, or leave it out')
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next(
            (extra for extra in hint.__metadata__ if isinstance(extra, Rule)), rule_from_annotation(parts[0])
        )
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
            rule,
            words=f"{rule.words}, or leave it out",
            holds=lambda v: v is None or rule.holds(v),
            convert=None,
        )
    if origin is tuple:
        entry_rule = rule_from_annotation(parts[0])
        return Rule(
            f"a list, each {entry_rule.words}",
            lambda v: LIST.holds(v) and all(entry_rule.holds(part) for part in v),
            convert=lambda v: tuple(entry_rule.keep(part) for part in v),
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        entry_rule = rule_from_annotation(parts[1])
        return Rule(
            f"a table, each value {entry_rule.words}",
            lambda v: TABLE.holds(v) and all(entry_rule.holds(part) for part in v.values()),
            convert=lambda v: {key: entry_rule.keep(part) for key, part in v.items()},
        )
    if isinstance(hint, type) and issubclass(hint, Checked):
        return Rule(f"a {hint.noun}", lambda v: isinstance(v, hint))
    return _TYPE_RULES.get(hint, ANY)


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
        fields = {name: getattr(self, name) for name in field_rules(type(self))}
        faults = [fault for _, fault in find_faults(fields, field_rules(type(self)))] or list(
            self.find_conflicts()
        )
        if faults:
            raise InputError([f"{self.kind} {self.noun}: {fault}" for fault in faults])

    def find_conflicts(self) -> Iterator[str]:
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


CheckedT = TypeVar("CheckedT", bound=Checked)


def build_setting(kinds: Mapping[str, type[CheckedT]], spec: object, place: str) -> CheckedT:
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
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        kind_fault = f"unknown kind {kind!r}" if "kind" in spec else "'kind' is missing"
        raise InputError(f"{place}: {kind_fault}; {suggest_words(kind or '', kinds)}")
    cls = kinds[kind]
    fields = dict.fromkeys(field_rules(cls), ANY)  # values are checked where the object is made
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
