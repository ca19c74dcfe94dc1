"""Names of columns: the roles of a table's columns in voirdire, and the kind of table that they make."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from voirdire.tables.problems import nearest_name

#: Words and patterns by which columns and their cells are recognised.
COLUMN_WORDS: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("column_names.toml").read_text(encoding="utf-8")
)
#: Other names of voirdire's columns; case, blanks, ``_``, ``-`` and ``.`` are ignored.
ALIASES: dict[str, list[str]] = COLUMN_WORDS["aliases"]


def name_pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern of ``column_names.toml``.

    Examples
    --------
    >>> name_pattern("mean").search("Human avg")[0]
    ' avg'
    """
    pattern = COLUMN_WORDS["patterns"][name]
    for words in ("answerers", "answers"):
        pattern = pattern.replace(f"<{words}>", "|".join(COLUMN_WORDS[words]))
    return re.compile(pattern)


class TableKind(NamedTuple):
    """A kind of table by its columns.

    Attributes
    ----------
    name : str
        Name of the kind in model files.
    answer : str
        The column of answers.
    subject_columns : tuple of str
        Columns of the items that an answer is about.
    crosses : bool
        Whether the columns context and system may stand for the column item.
    level : str
        Words for one distinct answer, where a table needs two distinct answers; empty where one is enough.
    averages : bool
        Whether answers are numbers with a mean.
    """

    name: str
    answer: str
    subject_columns: tuple[str, ...] = ("item",)
    crosses: bool = True
    level: str = ""
    averages: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns that a table of this kind must have."""
        return ("judge", *self.subject_columns, self.answer)

    def missing(self, roles: Container[str]) -> list[str]:
        """Columns that a table lacks; the context and the system may name the item."""
        crossed = self.crosses and "context" in roles and "system" in roles
        return [name for name in self.needed if name not in roles and not (crossed and name == "item")]


TABLE_KINDS = (
    TableKind("votes", "winner", subject_columns=("first", "second")),
    TableKind("scores", "score", level="level of scores", averages=True),
    TableKind("labels", "label", level="label"),
    TableKind("rankings", "rank", crosses=False),
)
KIND_OF_TABLE = {kind.name: kind for kind in TABLE_KINDS}
#: The column of answers of each kind of table, and the columns that the kind requires.
ANSWER_COLUMNS = {kind.name: kind.answer for kind in TABLE_KINDS}
NEEDED_COLUMNS = {kind.name: kind.needed for kind in TABLE_KINDS}
#: Columns that have a meaning in voirdire, in any table.
KNOWN_COLUMNS = (*ALIASES, *COLUMN_WORDS["known"])
RANKINGS_AS_VOTES = (
    "these are rankings, which this does not take; --table votes (table='votes') reads each as the votes between its "
    "items"
)


def normalise_column_name(name: str) -> str:
    """Reduce the name of a column to the letters by which names are compared.

    Examples
    --------
    >>> normalise_column_name("Model_A "), normalise_column_name("judge-ID")
    ('modela', 'judgeid')
    """
    return "".join(letter for letter in name.lower() if letter not in " _-.\t")


def find_roles(columns: Sequence[str], mapped: Iterable[str] = ()) -> dict[str, str]:
    """Find the columns of a table that have a role in voirdire, by their names.

    Where all columns of a kind of table are present under voirdire's own names, other names are not considered.

    Parameters
    ----------
    columns : sequence of str
    mapped : iterable of str
        Roles that are known to be taken by columns of other names.

    Examples
    --------
    >>> find_roles(("annotator", "First", "model_b", "winner"))
    {'judge': 'annotator', 'first': 'First', 'second': 'model_b', 'winner': 'winner'}

    Mechanical Turk marks by a prefix the columns of answers and those that were shown:

    >>> find_roles(("HITId", "WorkerId", "Input.text", "Input.item_id", "Answer.rating"))
    {'judge': 'WorkerId', 'item': 'Input.item_id', 'score': 'Answer.rating'}

    A column of answers under voirdire's own name excludes other columns of answers:

    >>> find_roles(("judge", "first", "second", "winner", "category"))
    {'judge': 'judge', 'first': 'first', 'second': 'second', 'winner': 'winner'}
    """
    roles = {name: name for name in KNOWN_COLUMNS if name in columns}
    if table_kind([*roles, *mapped]) is not None:
        return {name: name for name in ALIASES if name in roles}
    return _add_ranked_item_role(_find_aliases(columns, roles), columns)


def _find_aliases(columns: Sequence[str], exact: Mapping[str, str]) -> dict[str, str]:
    free = [
        name for name in reversed(columns) if name not in KNOWN_COLUMNS
    ]  # of equal reduced names the first column is used
    plain_names = {
        prefix: {normalise_column_name(name.lower().removeprefix(prefix)): name for name in free}
        for prefix in ("answer.", "input.")
    }
    roles: dict[str, str] = {}
    for column, aliases in ALIASES.items():
        candidates = plain_names["answer." if column in ANSWER_COLUMNS.values() else "input."]
        likely = [candidates[alias] for alias in (column, *aliases) if alias in candidates]
        if chosen := column if column in exact else next((name for name in likely if name not in roles.values()), None):
            roles[column] = chosen
    for side in ("first", "second"):  # a series of three items or more is no pair
        stem = normalise_column_name(roles.get(side, "")).rstrip("0123456789")
        numbered = [name for name in plain_names["input."] if name.rstrip("0123456789") == stem != name]
        if roles.get(side, side) != side and len(numbered) > 2:
            del roles[side]
    return _keep_one_answer_role(roles)


def _add_ranked_item_role(roles: dict[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Give the role item to the column of systems or responses of rankings, where no column is called item."""
    if "rank" not in roles or "item" in roles or {"first", "second"} & roles.keys():
        return roles
    ranked = roles.pop("system", None)
    ranked = ranked or next(
        (
            name
            for name in columns
            if normalise_column_name(name) in COLUMN_WORDS["ranked_items"] and name not in roles.values()
        ),
        None,
    )
    return roles | ({"item": ranked} if ranked else {})


def _keep_one_answer_role(roles: dict[str, str]) -> dict[str, str]:
    """Keep one column of answers: one under voirdire's own name, else the winner of two items, where there is one."""
    answers = [name for name in ANSWER_COLUMNS.values() if name in roles]
    exact = [name for name in answers if roles[name] == name]
    if not exact and {"first", "second", "winner"} <= roles.keys():
        exact = ["winner"]
    return {name: column for name, column in roles.items() if name not in answers or not exact or name in exact}


def table_kind(roles: Iterable[str] | Mapping[str, str]) -> str | None:
    """Infer the kind of a table from its columns: votes, scores, labels or rankings; None where it is ambiguous.

    Parameters
    ----------
    roles : iterable of str, or mapping of str to str
        Roles that the table has; a mapping gives the column of each, and answers under voirdire's own name take
        precedence.

    Examples
    --------
    >>> table_kind(["judge", "context", "system", "score"]), table_kind(["judge", "item"])
    ('scores', None)
    """
    column_by_role = roles if isinstance(roles, Mapping) else {name: name for name in roles}
    kinds = [kind.name for kind in TABLE_KINDS if not kind.missing(column_by_role)]
    exact = [kind for kind in kinds if column_by_role[ANSWER_COLUMNS[kind]] == ANSWER_COLUMNS[kind]]
    kinds = exact if len(exact) == 1 else kinds
    return kinds[0] if len(kinds) == 1 else None


def list_names(names: Sequence[str], max_names: int = 12) -> str:
    """List names of columns for a message.

    Examples
    --------
    >>> list_names(["a", "b"]), list_names(["a", "b"], max_names=1)
    ("'a', 'b'", "'a', ...")
    """
    return ", ".join(repr(name) for name in names[:max_names]) + (", ..." if len(names) > max_names else "")


def unknown_column_messages(targets: Iterable[str]) -> list[str]:
    """Describe names on the left of a mapping that are not columns of voirdire.

    Examples
    --------
    >>> unknown_column_messages(["judge", "contxt"])
    ["'contxt' is no column of voirdire's; did you mean 'context'?"]
    """
    return [
        f"{name!r} is no column of voirdire's"
        + (nearest_name(name, KNOWN_COLUMNS) or f"; its columns are {', '.join(KNOWN_COLUMNS)}")
        for name in targets
        if name not in KNOWN_COLUMNS
    ]


def table_option_remedy(kinds: Sequence[str]) -> str:
    """Tell how to choose the kind of a table that may be of several kinds.

    Examples
    --------
    >>> table_option_remedy(["scores", "labels"])
    "--table scores or --table labels (in Python read(..., table='scores')) says which is meant"
    """
    return f"--table {' or --table '.join(kinds)} (in Python read(..., table={kinds[0]!r})) says which is meant"


def describe_unknown_columns(columns: Sequence[str]) -> str:
    """Describe a table of unknown columns in a sentence: its columns, those that are missing, and what to type.

    Examples
    --------
    >>> describe_unknown_columns(["item", "rater", "note"])
    "the columns 'item', 'rater', 'note' lack one of answers (winner, score, label or rank)"
    """
    roles = find_roles(columns)
    seen = f"the columns {list_names(columns)}" if columns else "columns without names"
    answered = [kind for kind, answer in ANSWER_COLUMNS.items() if answer in roles]
    if answered or {"first", "second"} <= roles.keys():
        kind = "votes" if {"first", "second"} <= roles.keys() else answered[-1]
        missing = KIND_OF_TABLE[kind].missing(roles)
        if not missing:
            return f"{seen} are those of {' and '.join(answered)}; {table_option_remedy(answered)}"
        people = " (answers of people need none: --anchors, --humans)" if missing == ["judge"] else ""
        return f"{seen} are those of {kind}, but lack {' and '.join(missing)}{people}"
    if "judge" in roles or "item" in roles:
        return f"{seen} lack one of answers (winner, score, label or rank)"
    return f"{seen} are those of no known format"


def describe_missing(missing: Sequence[str], present: Sequence[str], spare: Sequence[str], *, may_map: bool) -> str:
    """Name the columns that a table lacks, those that it has, and those among them that are probably meant.

    Parameters
    ----------
    missing, present, spare : sequence of str
        Required columns that are absent, columns that are present, and present columns without another role.
    may_map : bool
        Whether the user can assign columns by ``--map``.

    Examples
    --------
    >>> describe_missing(["winner"], ["judge", "Winer"], ["Winer"], may_map=True)
    "column 'winner' is missing; did you mean 'Winer'? The columns are 'judge', 'Winer' (--map winner=Winer)"
    >>> describe_missing(["first", "second"], ["judge", "gpt", "llama"], ["gpt", "llama"], may_map=True)
    "columns 'first' and 'second' are missing; the columns are 'judge', 'gpt', 'llama' (--map first=gpt,second=llama)"
    >>> describe_missing(["family"], ["judge"], [], may_map=False)
    "column 'family' is missing; the columns are 'judge'"
    """
    missing_names = " and ".join(part for part in (", ".join(map(repr, missing[:-1])), repr(missing[-1])) if part)
    sentence = f"column{'s' if len(missing) > 1 else ''} {missing_names} {'are' if len(missing) > 1 else 'is'} missing"
    if not present:
        return f"{sentence}; there is no column"
    suggestion = nearest_name(missing[0], spare) if len(missing) == 1 else ""
    seen = f"{' The' if suggestion else '; the'} columns are {list_names(present)}"
    if not may_map:
        return sentence + suggestion + seen
    kind = table_kind(present)
    if kind is not None and {*missing} & {*ANSWER_COLUMNS.values()}:
        return f"{sentence}; {RANKINGS_AS_VOTES if kind == 'rankings' and 'first' in missing else f'these are {kind}'}"
    likely = _likely_meant(missing, spare)
    pairs = ",".join(f"{name}={likely.get(name, 'COLUMN')}" for name in missing)
    alone = "; --set judge=NAME where one judge gave all answers" if [*missing] == ["judge"] else ""
    return f"{sentence}{suggestion}{seen} (--map {pairs}{alone})"


def _likely_meant(missing: Sequence[str], spare: Sequence[str]) -> dict[str, str]:
    """Match missing columns to spare ones: by a similar name, by a name that contains a known one, or as the rest."""
    free = list(spare)
    meant = {}
    for matches in (_is_near, _holds_name):
        for name in missing:
            matching = [] if name in meant else [column for column in free if matches(name, column)]
            if matching:
                meant[name] = matching[0]
                free.remove(matching[0])
    unmatched = [name for name in missing if name not in meant]
    free = [name for name in free if normalise_column_name(name) not in COLUMN_WORDS["counts"]]
    return meant | (dict(zip(unmatched, free, strict=True)) if len(unmatched) == len(free) else {})


def _is_near(name: str, column: str) -> bool:
    return bool(nearest_name(name, [column]))


def _holds_name(name: str, column: str) -> bool:
    """True where a column's name contains voirdire's name or one of its aliases."""
    return any(other in normalise_column_name(column) for other in (name, *ALIASES.get(name, ())) if len(other) > 3)
