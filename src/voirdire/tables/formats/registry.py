"""Registry of all formats, and recognition of a file's format."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

from voirdire.errors import InputError
from voirdire.tables.formats import tables
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.tables import PlainTable
from voirdire.tables.formats.unfolded import holds_objects, members_of_object, unfold_objects
from voirdire.tables.label_sets import LISTS
from voirdire.tables.problems import nearest_name

_READERS = [
    "annotation_tools",
    "argilla",
    "crowd_platforms",
    "every_eval_ever",
    "inspect_ai",
    "judgebench_people",
    "labelled_texts",
    "mlflow",
    "mqm",
    "openai_evals",
    "preferences",
    "promptfoo",
    "scored_samples",
    "traced_feedback",
    "two_games",
]  # modules with the formats of tools
_MAX_CHECKED_RECORDS = 100  # records that are checked against the tool of --from
_SINGLE_SCORE_KEYS = {"question_id", "model", "score"}


@cache
def list_tools() -> tuple[type[Format], ...]:
    """List the formats of all tools; their modules are imported at the first call."""
    modules = [import_module(f"voirdire.tables.formats.{name}") for name in _READERS]
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Format) and "title" in vars(value)
    )


@cache
def formats_by_name() -> dict[str, type[Format]]:
    """All formats by their names for ``--from``.

    Examples
    --------
    >>> formats_by_name()["inspect"].title
    'Inspect'
    """
    return {tool.name: tool for tool in list_tools()} | {PlainTable.name: PlainTable}


def tool_of_file(source: Source) -> type[Format] | None:
    """The tool that wrote a file, by its first record, else by the columns of the whole file; None if unknown.

    Raises
    ------
    InputError
        Several do.
    """
    tool = tool_from_first_record(source.head)
    if tool is None and source.head.shape == "records" and not source.head.lone:
        full_head = replace(source.head, keys=frozenset(source.columns()))
        tool = tool_from_first_record(full_head)
        source.head = source.head if tool is None else full_head
    return tool


def tool_from_first_record(head: Head) -> type[Format] | None:
    """The tool of a file by its head; None if no tool matches.

    Raises
    ------
    InputError
        Several do.
    """
    matching = [tool for tool in list_tools() if tool.detect(head)]
    if not matching and head.lone:
        matching = [tool for tool in list_tools() if tool.detect(head.as_single_record_list())]
    if len(matching) > 1:
        names = " or ".join(tool.name for tool in matching)
        raise InputError(f"the file may be one of {names}; say which with --from (tool=)")
    return matching[0] if matching else None


def format_of(source: Source, options: FormatOptions, tool: str | None = None) -> type[Format]:
    """The format of a file: that of ``tool``, else by its content.

    Raises
    ------
    InputError
        The format is unknown, or the file lacks necessary information.
    """
    if tool is not None:
        known = formats_by_name()
        if tool not in known:
            raise InputError(f"format {tool!r} is none of {', '.join(known)}{nearest_name(tool, list(known))}")
        chosen = known[tool]
        if chosen is not PlainTable and not chosen.detect(source.head):
            _wrap_single_object(source, chosen)
            _check_tool_matches(source, chosen)
        return chosen
    recognised = None if options.map or options.wide or options.columns else tool_of_file(source)
    if recognised is None:
        unfold_table(source, options)
    if options.map or options.wide or options.columns or (options.baseline and recognised is None):
        return PlainTable
    if recognised is not None:
        if not recognised.detect(source.head):
            _wrap_single_object(source, recognised)
        return recognised
    if source.head.keys >= _SINGLE_SCORE_KEYS and "judge" not in source.head.keys and options.judge is None:
        raise InputError(
            f"{source.name}: these are single scores without judge and turn (arena-bench); who gave them is not in the "
            "file"
        )
    _wrap_single_object(source, PlainTable)
    if source.head.keys == tables.ARENA_HARD_BATTLE_KEYS and tables.repeats_rows(source):
        raise InputError(f"{source.name}: {tables.ARENA_HARD_BATTLE_MESSAGE}")
    if source.head.shape in ("object", "zip"):
        raise InputError(f"{source.name}: {_describe_unknown_file(source.head)}")
    if not tables.has_known_table_kind(source, options):
        raise InputError(tables.unknown_table_message(source) + _closest_tool(source.head))
    return PlainTable


def unfold_table(source: Source, options: FormatOptions) -> None:
    """Convert a file of no tool to a table: members of an object become records, their keys columns.

    Records with objects stay as they are if they have the columns that the options name and that answers need.
    """
    if source.head.shape == "object" and (members := members_of_object(source)):
        source.replace_records(members)
    if source.head.shape not in ("records", "table") or source.head.lone or not holds_objects(source):
        return
    absent = {*(options.map or {}).values(), *options.columns} - {*source.columns()}
    try:
        known = (
            options.wide not in ("lists", "sides")
            if options.wide
            else tables.has_known_table_kind(source, replace(options, baseline=None))
        )
    except InputError:
        known = True
    if options.label_sets != LISTS and (absent or not known):
        unfold_objects(source, options)


def _wrap_single_object(source: Source, tool: type[Format]) -> None:
    """Treat a single object as a list of one."""
    if source.head.lone and tool.detect(source.head.as_single_record_list()):
        record = source.head.as_single_record_list()
        source.head, source.kind = record, "jsonl" if source.kind == "json" else source.kind


def _check_tool_matches(source: Source, tool: type[Format]) -> None:
    """Raise if a file is not one of a tool; one matching record among the first is enough."""
    if tool.detect(source.head):
        return
    if source.head.shape == "records":
        for _, (_, record) in zip(range(_MAX_CHECKED_RECORDS), source.records(), strict=False):
            if isinstance(record, dict) and tool.detect(Head("records", frozenset(record), record)):
                return
    other = tool_from_first_record(source.head)
    hint = "" if other is None else f"; it looks like one of {other.title} (--from {other.name})"
    keys = ", ".join(repr(key) for key in sorted(map(str, source.head.keys))[:8])
    raise InputError(
        f"{source.name} is no file of {tool.title}: it has {keys}{_missing_keys(source.head, tool)}{hint}; leave "
        "--from (tool=) out to have the content decide"
    )


def _missing_keys(head: Head, tool: type[Format]) -> str:
    """Missing keys of a tool, for the key set with the fewest missing."""
    missing = min((sorted(keys - head.keys) for keys in tool.needs), key=len, default=[])
    return f" and lacks {', '.join(map(repr, missing))}" if missing else ""


def _describe_unknown_file(head: Head) -> str:
    if head.shape == "zip":
        return "this archive is neither a log of Inspect nor a spreadsheet"
    keys = ", ".join(repr(key) for key in sorted(head.keys)[:8])
    lists = [key for key, value in head.first.items() if isinstance(value, list) and value]
    inside = f"; if the list under {lists[0]!r} is the table, write it into a file of its own" if lists else ""
    closest = _closest_tool(head.as_single_record_list())
    return f"a JSON object with the keys {keys} is of no known format{closest or inside}"


def _closest_tool(head: Head) -> str:
    """Sentence about the most similar tool and the missing keys; empty if none is similar."""
    candidates = [
        (len(keys - head.keys), len(keys), tool.title, sorted(keys - head.keys))
        for tool in list_tools()
        if head.shape in tool.shapes.split()
        for keys in tool.needs
        if 2 * len(keys & head.keys) > len(keys)
    ]
    if not candidates:
        return ""
    _, _, title, missing = min(candidates, key=lambda tool: (tool[0], -tool[1]))
    return f"; it would be one of {title} with {', '.join(map(repr, missing))}"
