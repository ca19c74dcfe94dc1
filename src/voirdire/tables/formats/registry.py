"""All formats that there are, and which of them a file is of."""

from __future__ import annotations

from dataclasses import replace

from voirdire.errors import InputError
from voirdire.tables.formats import tables
from voirdire.tables.formats.annotation_tools import LabelStudio, Potato
from voirdire.tables.formats.argilla import Argilla
from voirdire.tables.formats.crowd_platforms import MechanicalTurk, Toloka
from voirdire.tables.formats.every_eval_ever import EveryEvalEver
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.inspect_ai import Inspect
from voirdire.tables.formats.judgebench_people import JudgeBenchPeople
from voirdire.tables.formats.labelled_texts import Doccano, Prodigy
from voirdire.tables.formats.mlflow import MLflow
from voirdire.tables.formats.mqm import MQM
from voirdire.tables.formats.openai_evals import OpenAIEvals, OpenAIPlatform
from voirdire.tables.formats.preferences import AlpacaEval, CrowdKit, LMArena, PandaLM
from voirdire.tables.formats.promptfoo import Promptfoo
from voirdire.tables.formats.scored_samples import CJE, BiGGenBench, DeepEval, LMEval, UltraFeedback
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.tables import PlainTable
from voirdire.tables.formats.traced_feedback import Langfuse, LangSmith
from voirdire.tables.formats.two_games import ArenaHard, JudgeBench, MTBench, MTBenchRepro
from voirdire.tables.formats.unfolded import holds_objects, members_of_object, unfold_objects
from voirdire.tables.label_sets import LISTS
from voirdire.tables.problems import nearest_name

TOOLS: tuple[type[Format], ...] = (
    Inspect, Promptfoo, DeepEval, Langfuse, Potato, BiGGenBench, AlpacaEval, MTBench, MTBenchRepro, ArenaHard,
    JudgeBench, PandaLM, LMEval, LangSmith, Argilla, LabelStudio, CJE, LMArena, CrowdKit, JudgeBenchPeople,
    UltraFeedback, Prodigy, Doccano, MechanicalTurk, Toloka, MLflow, EveryEvalEver, OpenAIEvals, OpenAIPlatform, MQM,
)  # fmt: skip
FORMATS = {one.name: one for one in TOOLS} | {PlainTable.name: PlainTable}
_LOOKED_AT = 100  # records of a file that --from takes for one of a tool
_SINGLE_SCORES = {"question_id", "model", "score"}


def tool_of_file(source: Source) -> type[Format] | None:
    """The one tool that wrote a file: its first record says it, else the columns of the whole file.

    Raises
    ------
    InputError
        Several do.
    """
    found = tool_from_first_record(source.head)
    if found is None and source.head.shape == "records" and not source.head.lone:
        whole = replace(source.head, keys=frozenset(source.columns()))
        found = tool_from_first_record(whole)
        source.head = source.head if found is None else whole
    return found


def tool_from_first_record(head: Head) -> type[Format] | None:
    """The one tool that writes files which begin so; None where no tool does.

    Raises
    ------
    InputError
        Several do.
    """
    found = [one for one in TOOLS if one.detect(head)]
    if not found and head.lone:
        found = [one for one in TOOLS if one.detect(head.as_single_record_list())]
    if len(found) > 1:
        names = " or ".join(one.name for one in found)
        raise InputError(f"the file may be one of {names}; say which with --from (tool=)")
    return found[0] if found else None


def format_of(source: Source, options: FormatOptions, tool: str | None = None) -> type[Format]:
    """The format to read a file by: the one that is asked for, else what its content says.

    Raises
    ------
    InputError
        It is of no known format, or of one that says too little.
    """
    if tool is not None:
        if tool not in FORMATS:
            raise InputError(
                f"format {tool!r} is none of {', '.join(FORMATS)}{nearest_name(tool, list(FORMATS))}"
            )
        found = FORMATS[tool]
        if found is not PlainTable and not found.detect(source.head):
            _wrap_single_object(source, found)
            _check_tool_matches(source, found)
        return found
    known = None if options.map or options.wide or options.columns else tool_of_file(source)
    if known is None:
        unfold_table(source, options)
    if options.map or options.wide or options.columns:
        return PlainTable
    if known is not None:
        if not known.detect(source.head):
            _wrap_single_object(source, known)
        return known
    if source.head.keys >= _SINGLE_SCORES and "judge" not in source.head.keys and options.judge is None:
        raise InputError(
            f"{source.name}: these are single scores without judge and turn (arena-bench); who gave them is not in the "
            "file"
        )
    _wrap_single_object(source, PlainTable)
    if source.head.keys == tables.BATTLES and tables.repeats_rows(source):
        raise InputError(f"{source.name}: {tables.REPEATED}")
    if source.head.shape in ("object", "zip"):
        raise InputError(f"{source.name}: {_describe_unknown_file(source.head)}")
    if not tables.has_known_table_kind(source, options):
        raise InputError(tables.unknown_table_message(source) + _closest_tool(source.head))
    return PlainTable


def unfold_table(source: Source, options: FormatOptions) -> None:
    """Take a file of no tool for a table: an object of objects for its members, what they hold for columns and rows.

    Records with objects stay as they are where the columns that are asked for, or those that answers need, are there.
    """
    if source.head.shape == "object" and (members := members_of_object(source)):
        source.hold(members)
    if source.head.shape not in ("records", "table") or source.head.lone or not holds_objects(source):
        return
    absent = {*(options.map or {}).values(), *options.columns} - {*source.columns()}
    try:
        known = options.wide != "lists" if options.wide else tables.has_known_table_kind(source, options)
    except InputError:
        known = True
    if options.label_sets != LISTS and (absent or not known):
        unfold_objects(source, options)


def _wrap_single_object(source: Source, found: type[Format]) -> None:
    """Take a single object for a list of one."""
    if source.head.lone and found.detect(source.head.as_single_record_list()):
        record = source.head.as_single_record_list()
        source.head, source.kind = record, "jsonl" if source.kind == "json" else source.kind


def _check_tool_matches(source: Source, found: type[Format]) -> None:
    """Refuse to read a file as one of a tool that did not write it; a first record that is odd does not matter."""
    if found.detect(source.head):
        return
    if source.head.shape == "records":
        for _, (_, record) in zip(range(_LOOKED_AT), source.records(), strict=False):
            if isinstance(record, dict) and found.detect(Head("records", frozenset(record), record)):
                return
    other = tool_from_first_record(source.head)
    looks = "" if other is None else f"; it looks like one of {other.title} (--from {other.name})"
    keys = ", ".join(repr(key) for key in sorted(map(str, source.head.keys))[:8])
    raise InputError(
        f"{source.name} is no file of {found.title}: it has {keys}{_missing_keys(source.head, found)}{looks}; leave "
        "--from (tool=) out to have the content decide"
    )


def _missing_keys(head: Head, found: type[Format]) -> str:
    """Keys of a tool that a file lacks, by the set of which it lacks least."""
    missing = min((sorted(keys - head.keys) for keys in found.needs), key=len, default=[])
    return f" and lacks {', '.join(map(repr, missing))}" if missing else ""


def _describe_unknown_file(head: Head) -> str:
    if head.shape == "zip":
        return "this archive is neither a log of Inspect nor a spreadsheet"
    keys = ", ".join(repr(key) for key in sorted(head.keys)[:8])
    lists = [key for key, value in head.first.items() if isinstance(value, list) and value]
    inside = (
        f"; if the list under {lists[0]!r} is the table, write it into a file of its own" if lists else ""
    )
    near = _closest_tool(head.as_single_record_list())
    return f"a JSON object with the keys {keys} is of no known format{near or inside}"


def _closest_tool(head: Head) -> str:
    """Tool whose file it nearly is, and what is missing."""
    near = [
        (len(keys - head.keys), len(keys), one.title, sorted(keys - head.keys))
        for one in TOOLS
        if head.shape in one.shapes.split()
        for keys in one.needs
        if 2 * len(keys & head.keys) > len(keys)
    ]
    if not near:
        return ""
    _, _, title, missing = min(near, key=lambda one: (one[0], -one[1]))
    return f"; it would be one of {title} with {', '.join(map(repr, missing))}"
