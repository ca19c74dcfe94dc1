"""Suggested options for a table with unknown columns, from the content of its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from voirdire.tables.columns import find_roles, list_names, normalise_column_name
from voirdire.tables.formats.column_guesses import UnknownTable, columns_with_shared_words, is_chains, quoted_names
from voirdire.tables.formats.column_samples import MAX_CLASSES, ColumnSample, first_records, summarise_columns
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import answer_columns, judge_columns, list_columns, other_answer_columns
from voirdire.tables.formats.paired_columns import grid_columns, paired_columns
from voirdire.tables.formats.sided_columns import sided_table
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.vote_suggestions import COUNT_NAME, Suggestion, suggest_baseline, suggest_votes

_ITEM_SUFFIXES = ("response", "completion", "output")  # endings of columns that may name an item
_RATER_NAME = re.compile("annotator|rater|judge|expert|human|evaluator|coder|reviewer|grader", re.IGNORECASE)


def suggest_options(source: Source) -> str:
    """Suggest options for a table of unknown kind, as the end of a sentence."""
    sentences = [f"{suggestion.sentence} {suggestion.options}".strip() for suggestion in likely_tables(source)]
    remedy = "name them (--map judge=...,first=...,second=...,winner=... or judge=...,item=...,score=... or label=...)"
    if not any("--wide judge" in suggestion for suggestion in sentences):
        remedy += ", or, where each other column is a judge, --wide judge reads it so"
    return "; ".join([*sentences, remedy])


def likely_tables(source: Source) -> list[Suggestion]:
    """Possible kinds of a table, by column names and cell contents, in order of decreasing likelihood."""
    records = first_records(source)
    columns = summarise_columns(source.columns(), records)
    table = UnknownTable(source, records, columns, find_roles([column.name for column in columns]))
    suggestions = _suggest_role("rank", [column for column in table.free if is_chains(column)], "rankings")
    header = [Suggestion(question, "") for question in [table.header_below()] if question]
    if len(columns) == 1 and not header:
        return [*suggestions, Suggestion("what separates the columns? (--sep)", "")]
    if table.is_headerless:
        sentence = "line 1 holds cells as those below it do: write the names of the columns into a line above it"
        return [Suggestion(sentence, "")]
    if sides := _suggest_sides(table):
        return sides
    if pairs := table.names_of_rows_and_columns():
        return [Suggestion(f"{pairs!r} has the names of the other columns, a table of pairs: write one row a vote", "")]
    lists = [] if {"winner", "score"} & table.roles.keys() else list_columns(records)
    if lists:
        sentence = f"{', '.join(map(repr, lists))} hold lists: are these answers of several judges?"
        suggestions.append(Suggestion(sentence, f"--wide lists --columns {quote(','.join(lists))}"))
    counts = "" if table.names_pairs else table.evidence_of_counts()
    if counts:
        options = "--wide counts" + _columns_option(table.numeric, table.free)
        suggestions.append(Suggestion(f"{counts}: are these counts of labels?", options))
    elif not suggestions:
        suggestions += suggest_votes(columns, table.roles, records)
    judges = _suggest_judges(table)
    suggestions += judges
    if not counts:
        suggestions += _suggest_scores(table, any("--wide judge" in suggestion.options for suggestion in judges))
        suggestions += _suggest_words(table, bool(suggestions))
    if table.names_items and table.answers == {"winner"} and not {"first", "second"} & table.roles.keys():
        suggestions += suggest_baseline(columns, table.roles)
        suggestions += _suggest_role("label", [column for column in columns if column.name == table.roles["winner"]])
    objects = table.objects
    if {"score", "label"} & table.roles.keys() and not table.names_items and table.roles.get("score") not in objects:
        suggestions += _suggest_item(table)
    return [*suggestions, *_remarks(table, [name for name in objects if name not in lists]), *header]


def _suggest_judges(table: UnknownTable) -> list[Suggestion]:
    """Suggest columns called by a judge and a criterion, or by judges alone."""
    if "judge" in table.roles or table.answers:
        return []
    names = paired_columns([column.name for column in table.free])
    paired = [column for column in table.free if column.name in names]
    if paired:
        sentence = f"{quoted_names(paired)} are called by a judge and a criterion: are they that?"
        options = "--wide pairs" + ("" if paired[0].numeric else " --table labels")
        return [Suggestion(sentence, options)] if len({column.numeric for column in paired}) == 1 else []
    judges = _judge_like_columns(table.free)
    sentence = f"{quoted_names(judges)} are called by who answers: are they judges?"
    return [Suggestion(sentence, judge_columns_option([column.name for column in judges]))] if judges else []


def _suggest_scores(table: UnknownTable, has_judges: bool) -> list[Suggestion]:
    """Suggest a column of numbers as scores, or several as items of a person, criteria or judges."""
    scored, roles, source = table.scored, table.roles, table.source
    likely = table.likely_scores
    if table.names_items and not (table.answers or has_judges or table.names_pairs) and len(likely) == 1:
        criterion = table.criterion_of_repeats()
        options = (f",criterion={quote(criterion)}" if criterion else "") + table.judge_option
        return _suggest_role("score", likely, "numbers", options)
    if len(scored) < 2 or table.names_pairs or "score" in roles:
        return []
    suggestions = [] if table.names_items or has_judges else _suggest_person(table, scored)
    others = table.columns if source.changes else table.numeric  # some of these are not in the file
    sentence = f"{quoted_names(scored)} hold numbers: are they criteria?"
    options = "--wide criterion" + _columns_option(scored, others)
    has_data_keys = source.unfolded and len({column.name.rpartition(".")[2] for column in scored}) < len(scored)
    if has_data_keys:  # by names that are data, of systems or of judges
        sentence = f"{quoted_names(scored)} stand under names that are no columns: write a row for each of those"
        options = ""
    suggestions.append(Suggestion(sentence, options))
    if "judge" not in roles and not has_judges:
        suggestions.append(Suggestion("or judges?", "--wide judge", not has_data_keys))
    return suggestions


def _suggest_person(table: UnknownTable, answers: Sequence[ColumnSample]) -> list[Suggestion]:
    """Suggest some columns as items, or as cells of a grid of items and criteria, if each row is of another person."""
    person = table.person_of_rows(answers)
    answers = [column for column in answers if column.name != person]
    if person is None or len(answers) < 2:
        return []
    grid = grid_columns([column.name for column in answers])
    is_grid = len(grid) == len(answers)
    what = "the rows of these questions, in brackets," if is_grid else quoted_names(answers)
    option = f"--map {quote(f'judge={person}')}{_columns_option(answers, table.columns)}"
    suggestions = [Suggestion(f"each row is of another {person!r}: are {what} items?", f"--wide item {option}")]
    reverse = Suggestion("or are the questions items, and their rows criteria?", f"--wide criterion {option}")
    return [*suggestions, reverse] if is_grid else suggestions


def _suggest_words(table: UnknownTable, is_suggested: bool) -> list[Suggestion]:
    """Suggest columns of words as labels, or as items of a person; also scores, if a key names the items."""
    words, roles = table.words, table.roles
    if table.answers or "judge" not in roles:
        return [] if is_suggested else _suggest_person(table, columns_with_shared_words(words))
    suggestions, task, item_option = [], "", ""
    if not table.names_items and (task := table.repeated_key() or ""):
        item_option = f",{'context' if 'system' in roles else 'item'}={quote(task)}"
        likely = [column for column in table.likely_scores if column.name != task]
        suggestions = _suggest_role("score", likely, "numbers", item_option)
    if not table.names_items and not task:
        return suggestions
    words = [column for column in words if column.name != task]
    answered = [column for column in words if not table.is_determined(column, task)]
    return suggestions + _suggest_labels(answered or words, task, item_option)


def _suggest_item(table: UnknownTable) -> list[Suggestion]:
    """Suggest a column as the item, or as the context of systems, by its name or as the only one of texts."""
    free = [column for column in table.columns if column.name not in table.roles.values()]
    items = [c for c in free if normalise_column_name(c.name).endswith(("id", *_ITEM_SUFFIXES))]
    texts = [column for column in table.free if column.filled and not column.numeric]
    suggestions = []
    for column in (items or (texts if len(texts) == 1 else []))[:1]:
        is_context = {"system"} == {"system", "context"} & table.roles.keys() and 1 < column.different < column.filled
        role = "context" if is_context else "item"
        options = f"--map {role}={quote(column.name)}{table.judge_option}"
        suggestions.append(Suggestion(f"is {column.name!r} {role}?", options))
    return suggestions


def _remarks(table: UnknownTable, objects: Sequence[str]) -> list[Suggestion]:
    """Remarks on what must be written otherwise, or said."""
    remarks = []
    if objects:
        sentence = f"{', '.join(map(repr, objects))} hold objects or lists: write what is in them as columns or rows"
        remarks.append(Suggestion(sentence, ""))
    if "judge" not in table.roles and "item" in table.roles and {"score", "label", "rank"} & table.roles.keys():
        remarks.append(Suggestion("who judged is not in it: say it with", "--set judge=NAME"))
    return remarks


def _suggest_sides(table: UnknownTable) -> list[Suggestion]:
    """Suggest to read the items of a row, if names of items and answers, none of them of judges, belong together."""
    sided = sided_table(table.source, FormatOptions())
    if sided is None or not sided.naming or any(_RATER_NAME.search(kind) for kind in sided.answers):
        return []
    if not sided.answers:
        return [
            Suggestion(f"are {list_names(sided.columns, 6)} the better and the worse of two items?", "--wide sides")
        ]
    if {"winner", "label"} & table.answers or any(COUNT_NAME.search(column) for column in sided.columns):
        return []
    others = [column for column in table.columns if column.name not in sided.answer_columns]
    answers = list_names(sided.answer_columns, 6)
    return [
        *suggest_votes(others, table.roles, table.records),
        Suggestion(f"are {answers} of {len(sided.marks)} items of a row?", "--wide sides"),
        Suggestion("or are they to be votes for the better?", "--wide sides --table votes"),
    ]


def _suggest_labels(words: Sequence[ColumnSample], task: str, options: str) -> list[Suggestion]:
    """Suggest the first column of words as labels, or several with shared words as labels under criteria."""
    similar = columns_with_shared_words(words)
    if len(similar) < 2:
        return _suggest_role("label", words, options=options)
    item = f" --map {quote(options[1:])}" if task else ""
    return [
        Suggestion(
            f"{quoted_names(similar)} hold words of one kind: are they labels under several criteria?",
            f"--wide criterion --table labels{item} --columns {quote(','.join(column.name for column in similar))}",
        )
    ]


def _suggest_role(role: str, columns: Sequence[ColumnSample], content: str = "", options: str = "") -> list[Suggestion]:
    """Suggest the first of some columns for a role of voirdire's."""
    return [
        Suggestion(
            f"{column.name!r} holds {content or column.describe_values}: is it {role}?",
            f"--map {role}={quote(column.name)}{options}",
        )
        for column in columns[:1]
    ]


def judge_columns_option(columns: Sequence[str]) -> str:
    """Options that read columns as judges."""
    return f"--wide judge --columns {quote(','.join(columns))}"


def _columns_option(columns: Sequence[ColumnSample], free: Sequence[ColumnSample]) -> str:
    """The option that chooses columns, if there are other candidates."""
    others = [column for column in free if column not in columns]
    return f" --columns {quote(','.join(column.name for column in columns))}" if others else ""


def _judge_like_columns(free: Sequence[ColumnSample]) -> list[ColumnSample]:
    """Columns with names of judges and answers of one kind."""
    columns = [column.name for column in free]
    names = answer_columns(columns)
    names = [*names, *other_answer_columns(columns, names)] if names else judge_columns(columns)
    answers = [
        column
        for column in free
        if column.name in names and column.filled and (column.scored or len(column.values) <= MAX_CLASSES)
    ]
    return answers if len(answers) > 1 and len({column.scored for column in answers}) == 1 else []
