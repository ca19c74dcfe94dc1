"""Options of a protocol: a frozen dataclass, filled from ``[protocol]`` of the panel file and from ``key=value``."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from voirdire.settings import field_rules, find_faults, nearest_word

_MAX_FILE_BYTES = 8 * 1024 * 1024


def build_options(
    cls: type[Any], table: Mapping[str, Any], settings: Mapping[str, str] | None = None
) -> tuple[Any, list[str]]:
    """Fill in a protocol's options.

    Parameters
    ----------
    cls : type
        A frozen dataclass whose fields all have defaults and are annotated with ``str``, ``int``, ``float``,
        ``bool``, ``Literal[...]``, ``tuple[X, ...]``, ``Mapping[str, X]`` or one of these ``| None``.
    table : mapping
        Values by name.
    settings : mapping of str to str, optional
        Values as text, which replace those of the table: a text unchanged, a tuple with commas between its entries,
        other types in TOML notation.

    Returns
    -------
    options, problems
        An instance (with defaults, if there are problems), and one sentence per problem.

    Examples
    --------
    >>> import dataclasses
    >>> @dataclasses.dataclass(frozen=True)
    ... class Options:
    ...     rubric: str = ""
    ...     repeats: int = 1
    >>> build_options(Options, {"rubric": "Be clear."}, {"repeats": "3"})[0]
    Options(rubric='Be clear.', repeats=3)
    >>> build_options(Options, {"repeat": 3})[1]
    ["unknown option 'repeat'; did you mean 'repeats'?"]
    """
    rules = field_rules(cls)
    values = dict(table)
    for name, text in (settings or {}).items():
        values[name] = _parse_setting(text, get_type_hints(cls)[name]) if name in rules else text
    faults = find_faults(values, rules, unknown="unknown option {key!r}{near}", near=nearest_or_all)
    problems = [fault if name not in rules else f"option {fault}" for name, fault in faults]
    checked = {} if problems else {name: rules[name].convert_value(value) for name, value in values.items()}
    return cls(**checked), problems


def nearest_or_all(name: str, known: Sequence[str]) -> str:
    """Suggest names for an unknown one: the nearest known name, or all known names.

    Examples
    --------
    >>> nearest_or_all("rubrik", ["rubric"]), nearest_or_all("x", ["rubric"])
    ("; did you mean 'rubric'?", '; there are rubric')
    """
    if suggestion := nearest_word(name, known):
        return f"; {suggestion[2:-1]}"
    return f"; there are {', '.join(known)}" if known else "; it has none"


def read_texts(table: Mapping[str, Any], folder: Path, problems: list[str], *, below: bool = False) -> dict[str, Any]:
    """Replace an option ``@path`` by the text of that file, relative to ``folder``; ``@@`` begins a text with @.

    Parameters
    ----------
    table : mapping
    folder : Path
    problems : list of str
        List to which a sentence is appended for each file that cannot be read.
    below : bool
        True requires that the file is below the folder, after following links. A panel may come from somebody else, and
        names both the files to send and the servers that receive them.

    Examples
    --------
    >>> read_texts({"rubric": "@@home", "repeats": 2}, Path("."), [])
    {'rubric': '@home', 'repeats': 2}
    """

    def read_value(value: Any, place: str) -> Any:
        if isinstance(value, Mapping):
            return {key: read_value(inner, f"{place}.{key}") for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [read_value(inner, place) for inner in value]
        if not isinstance(value, str) or not value.startswith("@"):
            return value
        if value.startswith("@@"):
            return value[1:]
        path = folder / value[1:]
        try:
            if below and not path.resolve().is_relative_to(folder.resolve()):
                fault = f"file {path} does not lie below {folder}, the panel's folder"
                fault += "; copy it there if it may be sent to the judges"
            elif path.exists() and not path.is_file():
                fault = f"{path} is no file; name one"
            elif path.stat().st_size > _MAX_FILE_BYTES:
                fault = f"file {path} is longer than {_MAX_FILE_BYTES // 1024**2} MB; shorten it"
            else:
                return path.read_text(encoding="utf-8").strip()
        except (OSError, RuntimeError) as error:
            fault = f"file {path} cannot be read ({getattr(error, 'strerror', None) or error})"
        except UnicodeDecodeError:
            fault = f"file {path} is not UTF-8; save it as UTF-8"
        except ValueError as error:
            fault = f"{value[1:]!r} is no file's name ({error})"
        problems.append(f"option {place}: {fault}")
        return ""

    return {name: read_value(value, name) for name, value in table.items()}


def _parse_setting(text: str, hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):  # X | None
        inner = [part for part in get_args(hint) if part is not type(None)]
        hint = inner[0] if len(inner) == 1 else hint
    if hint is str or (get_origin(hint) is Literal and text in get_args(hint)):
        return text
    if get_origin(hint) is tuple and not text.strip().startswith("["):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [_parse_setting(part, get_args(hint)[0]) for part in parts]
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
