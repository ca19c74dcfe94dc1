"""All formats that there are, and which of them a file is of."""

from __future__ import annotations

from voirdire.errors import InputError
from voirdire.tables.formats import (
    alpacaeval,
    arenahard,
    argilla,
    biggen,
    cje,
    crowdkit,
    deepeval,
    inspect_ai,
    judgebench,
    labelstudio,
    langfuse,
    langsmith,
    lmarena,
    lmeval,
    mtbench,
    mtbench_repro,
    pandalm,
    potato,
    promptfoo,
    tables,
)
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.problems import nearest

TOOLS: tuple[Format, ...] = tuple(
    module.FORMAT
    for module in (
        inspect_ai, promptfoo, deepeval, langfuse, potato, biggen, alpacaeval, mtbench, mtbench_repro, arenahard,
        judgebench, pandalm, lmeval, langsmith, argilla, labelstudio, cje, lmarena, crowdkit,
    )
)  # fmt: skip
FORMATS: dict[str, Format] = {one.name: one for one in (*TOOLS, tables.FORMAT)}
_REFUSED = {
    frozenset(
        ("question_id", "model", "score")
    ): "these are single scores without judge and turn (arena-bench); who gave them is not in the file",
    frozenset(
        ("question_id", "model_a", "model_b", "winner")
    ): "these are Arena-Hard's battles, which name no judge "
    "and repeat rows by strength; give the files in model_judgment/ instead",
}


def tool_of(head: Head) -> Format | None:
    """The one tool that writes files which begin so; None where no tool does.

    Raises
    ------
    InputError
        Several do.
    """
    found = [one for one in TOOLS if one.detect(head)]
    if not found and head.lone:
        found = [one for one in TOOLS if one.detect(head.as_record())]
    if len(found) > 1:
        names = " or ".join(one.name for one in found)
        raise InputError(f"the file may be one of {names}; say which with --from (tool=)")
    return found[0] if found else None


def format_of(source: Source, asked: Asked, tool: str | None = None) -> Format:
    """The format to read a file by: the one that is asked for, else what its content says.

    Raises
    ------
    InputError
        It is of no known format, or of one that says too little.
    """
    if tool is not None:
        if tool not in FORMATS:
            raise InputError(f"format {tool!r} is none of {', '.join(FORMATS)}{nearest(tool, list(FORMATS))}")
        found = FORMATS[tool]
        if found is not tables.FORMAT and not found.detect(source.head):
            _as_record(source, found)
            if not found.detect(source.head):
                needs = " or ".join(", ".join(map(repr, sorted(one))) for one in found.needs)
                shape = f", whose records have {needs}" if needs else ""
                raise InputError(
                    f"{source.name}: is no file of {found.title}{shape}; without --from (tool=) its content decides"
                )
        return found
    if asked.columns or asked.wide or asked.table:
        return tables.FORMAT
    known = tool_of(source.head)
    if known is not None:
        if not known.detect(source.head):
            _as_record(source, known)
        return known
    for keys, why in _REFUSED.items():
        if keys <= source.head.keys and "judge" not in source.head.keys:
            raise InputError(f"{source.name}: {why}")
    if tables.FORMAT.detect(source.head):
        return tables.FORMAT
    if source.head.shape in ("object", "zip"):
        raise InputError(f"{source.name}: {_strange(source.head)}")
    close = _closest(source.head)
    names = source.head.columns or tuple(source.head.first or ())
    raise InputError(tables.unknown(source.name, names) + close)


def _as_record(source: Source, found: Format) -> None:
    """Take a single object for a list of one."""
    if source.head.lone and found.detect(source.head.as_record()):
        record = source.head.as_record()
        source.head, source.kind = record, "jsonl" if source.kind == "json" else source.kind


def _strange(head: Head) -> str:
    if head.shape == "zip":
        return "this archive is neither a log of Inspect nor a spreadsheet"
    keys = ", ".join(repr(key) for key in sorted(head.keys)[:8])
    return f"a JSON object with the keys {keys} is of no known format{_closest(head.as_record())}"


def _closest(head: Head) -> str:
    """Which tool's file it nearly is, and what is missing."""
    near = [
        (len(keys - head.keys), len(keys), one.title, sorted(keys - head.keys))
        for one in TOOLS
        for keys in one.needs
        if 2 * len(keys & head.keys) > len(keys)
    ]
    if not near:
        return ""
    _, _, title, missing = min(near, key=lambda one: (one[0], -one[1]))
    return f"; it would be one of {title} with {', '.join(map(repr, missing))}"
