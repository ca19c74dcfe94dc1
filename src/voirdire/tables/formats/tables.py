"""Plain tables, not of a tool: long and wide tables, tables of examples and of rankings, by their column names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from voirdire.errors import InputError
from voirdire.tables.columns import (
    ANSWER_COLUMNS,
    describe_unknown_columns,
    find_roles,
    table_kind,
    unknown_column_messages,
)
from voirdire.tables.formats.column_content import all_numbers, names_contexts
from voirdire.tables.formats.column_samples import first_records
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.listed_answers import answer_columns, list_columns, other_answer_columns, spread_lists
from voirdire.tables.formats.long_counts import count_column, label_rows_from_counts
from voirdire.tables.formats.long_table import is_ambiguous, long_kind, long_rows, roles_of
from voirdire.tables.formats.paired_columns import spread_grid, spread_pairs
from voirdire.tables.formats.ranking_table import ranking_column_names, ranking_columns, ranking_rows
from voirdire.tables.formats.rows import Fault, Note, Refused, Row
from voirdire.tables.formats.sided_columns import sided_table, spread_sides
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.suggestions import judge_columns_option, suggest_options
from voirdire.tables.formats.wide_table import wide_roles, wide_rows
from voirdire.tables.formats.wide_votes import add_baseline, wide_vote_roles, wide_vote_rows
from voirdire.tables.problems import nearest_name


class PlainTable(Format):
    """A plain table that is not in a tool's format."""

    name = "table"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the column names determine the kind of table."""
        if head.shape not in ("records", "table"):
            return False
        return table_kind(find_roles(head.columns or tuple(head.first or ()))) is not None

    def rows(self) -> Iterator[Row]:
        """Read the rows of the table, and give the notes."""
        reader = _choose_reader(self.source, self.asked)
        if reader is None:
            raise InputError(unknown_table_message(self.source))
        return (Fault(*row) if isinstance(row, Refused) else row for row in reader())


#: Converters of wide tables to rows of judges, by the meaning of the columns.
_SPREADERS = {
    "lists": spread_lists, "pairs": spread_pairs, "sides": spread_sides, "item": spread_grid, "criterion": spread_grid,
}  # fmt: skip
ARENA_HARD_BATTLE_KEYS = frozenset(("question_id", "model_a", "model_b", "winner"))
ARENA_HARD_BATTLE_MESSAGE = (
    "these are Arena-Hard's battles, which name no judge and repeat rows by strength; give the files in "
    "model_judgment/ instead"
)


def repeats_rows(source: Source) -> bool:
    """True if a row occurs twice in a file."""
    seen: set[tuple[str, ...]] = set()
    for _, record in source.records():
        row = tuple(map(str, record.values())) if isinstance(record, dict) else ()
        if row in seen:
            return True
        seen.add(row)
    return False


def has_known_table_kind(source: Source, options: FormatOptions) -> bool:
    """True if the columns of a file, or their contents, determine the kind of table."""
    return _choose_reader(source, options) is not None


def column_roles(source: Source, options: FormatOptions) -> dict[str, str]:
    """Map the columns of a table to their roles as columns of voirdire's; columns without a role are left out."""
    used, mapped = roles_of(source, options)
    return _detect_layout(source, options, used, mapped)[1]()


def has_known_layout(source: Source, roles: Mapping[str, str]) -> bool:
    """True if the layout or the content of an answer column, not the column names alone, determines the kind."""
    if count_column(source.columns(), roles) is not None or names_contexts(source, roles):
        return True
    if set(ANSWER_COLUMNS.values()) & roles.keys() and not is_ambiguous(source, roles):
        return False
    return has_known_table_kind(source, FormatOptions())


def unknown_table_message(source: Source) -> str:
    """Sentence about a table of unknown kind: its columns, the missing ones, and suggested options."""
    description = describe_unknown_columns(source.columns())
    # if all columns are known, but of several kinds, no suggestion is needed
    return f"{source.name}: {description}" + (
        "" if description.endswith("which is meant") else f"; {suggest_options(source)}"
    )


def _choose_reader(source: Source, options: FormatOptions) -> Callable[[], Iterator[Row]] | None:
    """Reader of a table; None if its kind is unknown.

    Raises
    ------
    InputError
        A mapped column is missing, or a role is none of voirdire's.
    """
    columns = source.columns()
    used, mapped = roles_of(source, options)
    problems = unknown_column_messages(mapped)
    problems += [
        f"there is no column {name!r} (for {column}){nearest_name(name, columns)}"
        for column, name in mapped.items()
        if name not in columns
    ]
    problems += _contradicting_options(options, mapped)
    if problems:
        raise InputError([f"{source.name}: {problem}" for problem in problems])
    return _detect_layout(source, options, used, mapped)[0]


def _detect_layout(
    source: Source, options: FormatOptions, used: dict[str, str], mapped: Mapping[str, str]
) -> tuple[Callable[[], Iterator[Row]] | None, Callable[[], dict[str, str]]]:
    """Reader of a table by its layout, None if unknown; and a function that gives the roles of the columns."""
    if options.baseline:
        options = add_baseline(source, options)
        used, mapped = roles_of(source, options)
    if options.wide in _SPREADERS:
        options = _SPREADERS[options.wide](source, options)
        used, mapped = roles_of(source, options)
    columns = source.columns()
    roles = {namer: column for column, namer in used.items()}
    if options.wide:
        by_table = {"votes": (wide_vote_rows, wide_vote_roles)}
        reader, namer = by_table.get(options.table or "", (wide_rows, wide_roles))
        return partial(reader, source, options, mapped), partial(namer, source, options, mapped)
    if options.columns:
        raise InputError(
            f"{source.name}: --columns chooses columns of a wide table; say --wide judge or --wide criterion"
        )
    may_be_rankings = table_kind(used) in (None, "rankings")
    if may_be_rankings and (layout := ranking_columns(columns, _first_record(source), mapped.get("rank"))):
        if (
            "items" in layout
            and (sided := sided_table(source, options))
            and sided.naming
            and sided.item_role == "system"
        ):
            return None, lambda: roles  # the ranks are of the systems that other columns name
        ranking_roles = {
            namer: column for namer, column in roles.items() if column not in ("first", "second", "winner")
        }
        ranking_roles |= dict.fromkeys(ranking_column_names(layout), "rankings")
        return partial(ranking_rows, source, options, layout, mapped), lambda: ranking_roles
    if counts := count_column(columns, used):
        count_roles = roles | {counts: "counts"}
        return partial(label_rows_from_counts, source, options, used, counts), lambda: count_roles
    if kind := long_kind(source, options, used):
        long_roles = {namer: column for column, namer in used.items()}
        return partial(long_rows, source, options, kind, used, mapped), lambda: long_roles
    answers = answer_columns(columns)
    if answers and not {*answers} & {*list_columns(first_records(source), words=False)}:
        wide = replace(options, wide="judge", columns=answers)
        return partial(_read_examples, source, wide, mapped), partial(wide_roles, source, wide, mapped)
    return None, lambda: roles


def _contradicting_options(options: FormatOptions, mapped: Mapping[str, str]) -> list[str]:
    """Sentences about options that contradict each other on a column or on the judge."""
    problems = [
        f"column {name!r} is given for {' and '.join(to for to in mapped if mapped[to] == name)}; it can be one of them"
        for name, count in Counter(mapped.values()).items()
        if count > 1
    ]
    problems += [
        f"column {name!r} is named {count} times (--columns); name it once"
        for name, count in Counter(options.columns).items()
        if count > 1
    ]
    problems += [
        f"column {name!r} is given for {to} (--map) and is one of --columns; name it in one of them"
        for to, name in mapped.items()
        if options.wide and name in options.columns
    ]
    if options.wide in mapped:
        problems.append(
            f"--wide {options.wide} takes each {options.wide} from the name of a column; leave {options.wide} out of "
            "--map"
        )
    if options.wide == "judge" and options.judge is not None:
        problems.append("--wide judge takes each judge from the name of a column; leave --set judge out")
    return problems


def _read_examples(source: Source, options: FormatOptions, mapped: Mapping[str, str]) -> Iterator[Row]:
    answers = list(options.columns)
    used_columns = {*mapped.values(), *find_roles(source.columns()).values()}
    if similar := [
        name
        for name in other_answer_columns(source.columns(), answers)
        if name not in used_columns and all_numbers(source, name) == all_numbers(source, answers[0])
    ]:
        all_answers = [name for name in source.columns() if name in answers or name in similar]
        raise InputError(
            f"{source.name}: one row an example: columns {', '.join(map(repr, answers))} are answers; is "
            f"{' and '.join(map(repr, similar))}, too? {judge_columns_option(all_answers)}; if not, "
            f"{judge_columns_option(answers)}"
        )
    yield Note(
        f"{source.name}: one row an example: columns {', '.join(map(repr, answers))} are taken as judges "
        f"({judge_columns_option(answers)}); --people names those of people"
    )
    yield from wide_rows(source, options, mapped)


def _first_record(source: Source) -> dict[str, object]:
    return next((record for _, record in source.records() if isinstance(record, dict)), {})
