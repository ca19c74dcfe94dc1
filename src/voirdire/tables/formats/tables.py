"""Tables of nobody's format: long and wide ones, tables of examples and of rankings, by the names of their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from voirdire.errors import InputError
from voirdire.tables.columns import (
    ANSWERS,
    describe_unknown_columns,
    find_roles,
    table_kind,
    unknown_column_messages,
)
from voirdire.tables.formats.column_content import all_numbers, names_contexts
from voirdire.tables.formats.column_samples import first_records
from voirdire.tables.formats.example_table import answer_columns, other_answer_columns
from voirdire.tables.formats.format import Format, FormatOptions
from voirdire.tables.formats.listed_answers import list_columns, spread_lists
from voirdire.tables.formats.long_counts import count_column, label_rows_from_counts
from voirdire.tables.formats.long_table import is_ambiguous, long_kind, long_rows, roles_of
from voirdire.tables.formats.paired_columns import spread_pairs
from voirdire.tables.formats.ranking_table import ranking_column_names, ranking_columns, ranking_rows
from voirdire.tables.formats.rows import Fault, Note, Refused, Row
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.formats.suggestions import judge_columns_option, suggest_options
from voirdire.tables.formats.wide_table import wide_roles, wide_rows
from voirdire.tables.formats.wide_votes import wide_vote_roles, wide_vote_rows
from voirdire.tables.problems import nearest_name


class PlainTable(Format):
    """A table of nobody's format."""

    name, title = "table", "a table"
    options = (
        "map", "winners", "wide", "table", "judge", "columns", "unnamed", "label_sets", "no_label",
    )  # fmt: skip

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where the names of the columns say what kind of table it is."""
        if head.shape not in ("records", "table"):
            return False
        return table_kind(find_roles(head.columns or tuple(head.first or ()))) is not None

    def rows(self) -> Iterator[Row]:
        """The rows of the table, and the notes."""
        found = _choose_reader(self.source, self.asked)
        if found is None:
            raise InputError(unknown_table_message(self.source))
        return (Fault(*row) if isinstance(row, Refused) else row for row in found())


#: Wide tables that are read as rows of judges, by what their columns are.
_SPREAD = {"lists": spread_lists, "pairs": spread_pairs}
BATTLES = frozenset(("question_id", "model_a", "model_b", "winner"))
REPEATED = (
    "these are Arena-Hard's battles, which name no judge and repeat rows by strength; give the files in "
    "model_judgment/ instead"
)


def repeats_rows(source: Source) -> bool:
    """True where a row stands twice in a file."""
    seen: set[tuple[str, ...]] = set()
    for _, record in source.records():
        row = tuple(map(str, record.values())) if isinstance(record, dict) else ()
        if row in seen:
            return True
        seen.add(row)
    return False


def has_known_table_kind(source: Source, options: FormatOptions) -> bool:
    """True where the columns of a file, or what they hold, say what kind of table it is."""
    return _choose_reader(source, options) is not None


def column_roles(source: Source, options: FormatOptions) -> dict[str, str]:
    """Column of voirdire's that each column of a table is taken for; those that stay as they are are not named."""
    used, given = roles_of(source, options)
    return _layout(source, options, used, given)[1]()


def has_known_layout(source: Source, roles: Mapping[str, str]) -> bool:
    """True where a table is known by its layout or by what an answer holds, not by the names of its columns alone."""
    if count_column(source.columns(), roles) is not None or names_contexts(source, roles):
        return True
    if set(ANSWERS.values()) & roles.keys() and not is_ambiguous(source, roles):
        return False
    return has_known_table_kind(source, FormatOptions())


def unknown_table_message(source: Source) -> str:
    """Sentence about a table of unknown columns: those that it has, what it lacks, and what to type."""
    said = describe_unknown_columns(source.columns())
    # of columns that are all known, but of several kinds, there is nothing to name
    return f"{source.name}: {said}" + (
        "" if said.endswith("which is meant") else f"; {suggest_options(source)}"
    )


def _choose_reader(source: Source, options: FormatOptions) -> Callable[[], Iterator[Row]] | None:
    """Reader of a table; None where its columns do not say what they are.

    Raises
    ------
    InputError
        A column that is named is not there, or none of voirdire's.
    """
    columns = source.columns()
    used, given = roles_of(source, options)
    wrong = unknown_column_messages(given)
    wrong += [
        f"there is no column {name!r} (for {column}){nearest_name(name, columns)}"
        for column, name in given.items()
        if name not in columns
    ]
    wrong += _contradicting_options(options, given)
    if wrong:
        raise InputError([f"{source.name}: {one}" for one in wrong])
    return _layout(source, options, used, given)[0]


def _layout(
    source: Source, options: FormatOptions, used: dict[str, str], given: Mapping[str, str]
) -> tuple[Callable[[], Iterator[Row]] | None, Callable[[], dict[str, str]]]:
    """Reader of a table by its layout, or None where that is not known; and what gives the roles of its columns."""
    if options.wide in _SPREAD:
        options = _SPREAD[options.wide](source, options)
        used, given = roles_of(source, options)
    columns = source.columns()
    roles = {name: column for column, name in used.items()}
    if options.wide:
        by_table = {"votes": (wide_vote_rows, wide_vote_roles)}
        read, name = by_table.get(options.table or "", (wide_rows, wide_roles))
        return partial(read, source, options, given), partial(name, source, options, given)
    if options.columns:
        raise InputError(
            f"{source.name}: --columns chooses columns of a wide table; say --wide judge or --wide criterion"
        )
    unnamed = table_kind(used) in (None, "rankings")
    if unnamed and (how := ranking_columns(columns, _first_record(source), given.get("rank"))):
        rest = {name: column for name, column in roles.items() if column not in ("first", "second", "winner")}
        rest |= dict.fromkeys(ranking_column_names(how), "rankings")
        return partial(ranking_rows, source, options, how, given), lambda: rest
    if counts := count_column(columns, used):
        counted = roles | {counts: "counts"}
        return partial(label_rows_from_counts, source, options, used, counts), lambda: counted
    if kind := long_kind(source, options, used):
        completed = {name: column for column, name in used.items()}
        return partial(long_rows, source, options, kind, used, given), lambda: completed
    answers = answer_columns(columns)
    if answers and not {*answers} & {*list_columns(first_records(source), words=False)}:
        wide = replace(options, wide="judge", columns=answers)
        return partial(_read_examples, source, wide, given), partial(wide_roles, source, wide, given)
    return None, lambda: roles


def _contradicting_options(options: FormatOptions, given: Mapping[str, str]) -> list[str]:
    """Sentences about options that say two things of one column, or of who judged."""
    found = [
        f"column {name!r} is given for {' and '.join(to for to in given if given[to] == name)}; it can be one of them"
        for name, count in Counter(given.values()).items()
        if count > 1
    ]
    found += [
        f"column {name!r} is named {count} times (--columns); name it once"
        for name, count in Counter(options.columns).items()
        if count > 1
    ]
    found += [
        f"column {name!r} is given for {to} (--map) and is one of --columns; name it in one of them"
        for to, name in given.items()
        if options.wide and name in options.columns
    ]
    if options.wide in given:
        found.append(
            f"--wide {options.wide} takes each {options.wide} from the name of a column; leave {options.wide} out of --map"
        )
    if options.wide == "judge" and options.judge is not None:
        found.append("--wide judge takes each judge from the name of a column; leave --set judge out")
    return found


def _read_examples(source: Source, options: FormatOptions, given: Mapping[str, str]) -> Iterator[Row]:
    answers = list(options.columns)
    known = {*given.values(), *find_roles(source.columns()).values()}
    if alike := [
        name
        for name in other_answer_columns(source.columns(), answers)
        if name not in known and all_numbers(source, name) == all_numbers(source, answers[0])
    ]:
        every = [name for name in source.columns() if name in answers or name in alike]
        raise InputError(
            f"{source.name}: one row an example: columns {', '.join(map(repr, answers))} are answers; is "
            f"{' and '.join(map(repr, alike))}, too? {judge_columns_option(every)}; if not, "
            f"{judge_columns_option(answers)}"
        )
    yield Note(
        f"{source.name}: one row an example: columns {', '.join(map(repr, answers))} are taken as judges "
        f"({judge_columns_option(answers)}); --people names those of people"
    )
    yield from wide_rows(source, options, given)


def _first_record(source: Source) -> dict[str, object]:
    return next((record for _, record in source.records() if isinstance(record, dict)), {})
