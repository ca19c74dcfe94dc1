"""Options of reading tables: one set, the same for every verb, and a file beside the data that keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, raise_problems
from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables.columns import ANSWERS, find_roles
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.gather import gather_tables
from voirdire.tables.formats.imported import Imported
from voirdire.tables.label_sets import LISTS, ROWS
from voirdire.tables.problems import nearest_name
from voirdire.tables.vote_columns import OUTCOMES

#: What a file may not say, and ``set`` does.
SETTINGS = ("baseline", "judge", "system", "questions")
#: The ending of a file that says how the table beside it is read: ``votes.csv.reading.toml``.
BESIDE = ".reading.toml"
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
_SETS = (LISTS, ROWS)


@dataclass(frozen=True)
class Reading:
    """Options of reading tables; see :func:`read`.

    Attributes
    ----------
    tool, map, winners, wide, columns, set, sheet, sep, table, where, positive, levels, people, degrees,
    label_sets, no_label, leave_out
        As in :func:`read`.
    """

    tool: str | None = None
    map: Mapping[str, str] | None = None
    winners: Mapping[str, str] | None = None
    wide: str | None = None
    columns: Sequence[str] = ()
    set: Mapping[str, str] | None = None
    sheet: str | None = None
    sep: str | None = None
    table: str | None = None
    where: Mapping[str, str] | None = None
    positive: str | None = None
    levels: Sequence[str] | None = None
    people: Sequence[str] = ()
    degrees: bool = False
    label_sets: str | None = None
    no_label: str | None = None
    leave_out: Sequence[str] = ()

    def __post_init__(self) -> None:
        raise_problems(
            [
                f"{name}={given!r} is no text; give one"
                for name in ("tool", "wide", "sep", "table", "label_sets", "no_label")
                if not isinstance(given := getattr(self, name), str | None)
            ]
        )
        wrong = []
        if self.table is not None and self.table not in ANSWERS:
            wrong.append(
                f"table {self.table!r} is none of {', '.join(ANSWERS)}{nearest_name(self.table, list(ANSWERS))}"
            )
        for word, outcome in (self.winners or {}).items():
            if outcome not in OUTCOMES:
                wrong.append(
                    f"winners: {word}={outcome} says neither first, second nor tie{nearest_name(outcome, OUTCOMES)}"
                )
        for name in self.set or {}:
            if name not in SETTINGS:
                wrong.append(f"set: {name!r} is none of {', '.join(SETTINGS)}{nearest_name(name, SETTINGS)}")
        how = self.label_sets
        if how is not None and (
            not how or (how not in (*_SETS, *_SEPARATORS) and any(map(str.isalnum, how)))
        ):
            wrong.append(
                f"label_sets {how!r} is neither {' nor '.join(_SETS)} nor what separates labels, such as ';'"
                f"{nearest_name(how, [*_SETS, *_SEPARATORS])}"
            )
        if self.no_label is not None and how is None:
            wrong.append(
                "no_label says which cell of sets of labels stands for none; say by label_sets how they are written"
            )
        for option, names in (("map", (self.map or {}).values()), ("columns", self.columns)):
            wrong += [
                f"column {name!r} is named by {option} and by leave_out; name it in one of them"
                for name in names
                if name in self.leave_out
            ]
        if wrong:
            raise InputError(wrong)

    @property
    def set_options(self) -> dict[str, Any]:
        """Options that say something."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in found.items() if value or (name == "no_label" and value == "")}

    @property
    def format_options(self) -> FormatOptions:
        """Options for formats."""
        shared = ("map", "winners", "wide", "columns", "table", "degrees", "no_label")
        said: dict[str, Any] = {name: getattr(self, name) for name in shared}
        said |= {name: one for name, one in (self.set or {}).items() if not isinstance(one, Mapping)}
        said["questions"] = _list_of_names("questions", said.get("questions"))
        return FormatOptions(**said, label_sets=_SEPARATORS.get(self.label_sets or "", self.label_sets))

    @property
    def separator(self) -> str | None:
        """The mark between columns."""
        return _SEPARATORS.get(self.sep or "", self.sep)

    def judges_of_files(self) -> dict[str, str]:
        """Who judged in each of several files."""
        judge: Any = (self.set or {}).get("judge")
        return dict(judge) if isinstance(judge, Mapping) else {}

    def of_file(self, path: str) -> Reading:
        """These options without the judges of other files."""
        judges = self.judges_of_files()
        if not judges:
            return self
        own = {file: name for file, name in judges.items() if file in (path, os.path.basename(path))}
        rest: dict[str, Any] = {name: value for name, value in (self.set or {}).items() if name != "judge"}
        return replace(self, set=rest | ({"judge": own} if own else {}))

    def completed_by(self, source: object) -> Reading:
        """These options, completed by those of a file beside the table; what is given here comes first.

        Raises
        ------
        InputError
            The file is damaged, or names an option that there is not.
        """
        path = options_file(source)
        if path is None:
            return self
        kept = load_reading(path)
        if not kept.set_options:
            return self
        give_notice(f"{path} says how the table is read: {', '.join(kept.set_options)}.")
        return replace(kept, **self.set_options)


def options_file(source: object) -> Path | None:
    """The file that says how the table beside it is read; None where there is none."""
    path = Path(os.fspath(source) + BESIDE) if isinstance(source, str | os.PathLike) else None
    return path if path is not None and path.is_file() else None


def load_reading(path: Path) -> Reading:
    """Options that a file keeps, as TOML: ``map = {winner = "preferred"}``.

    Raises
    ------
    InputError
        It is no TOML, or names an option that there is not.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "votes.csv.reading.toml")
    ...     _ = path.write_text('wide = "judge"')
    ...     load_reading(path).wide
    'judge'
    """
    import tomllib

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"file {str(path)!r} cannot be read: {error}") from None
    found = {"tool" if name == "from" else name: value for name, value in found.items()}
    known = [one.name for one in fields(Reading)]
    if wrong := [name for name in found if name not in known]:
        raise InputError(f"file {str(path)!r}: {wrong[0]!r} is no option{nearest_name(wrong[0], known)}")
    for name, value in found.items():
        if not _has_right_form(name, value):
            raise InputError(
                f"file {str(path)!r}: {name} is not so; write {name} = {_FORMS.get(name, _FORMS[''])}"
            )
    return Reading(**{name: _as_texts(name, value) for name, value in found.items()})


#: How options are written in such a file; a text unless they are named here.
_FORMS = {
    **dict.fromkeys(("map", "winners", "set", "where"), '{a = "b"}'),
    **dict.fromkeys(("columns", "levels", "people", "leave_out"), '["a", "b"]'),
    "degrees": "true",
    "": '"a"',
}


def _has_right_form(name: str, value: Any) -> bool:
    """True where an option has a value of its kind; numbers are as good as texts."""
    if name == "degrees":
        return isinstance(value, bool)
    if name == "set" and isinstance(value, dict):
        judges = value.get("judge")
        rest = {key: one for key, one in value.items() if key != "judge" or not isinstance(judges, dict)}
        return _are_plain(rest.values()) and (not isinstance(judges, dict) or _are_plain(judges.values()))
    if _FORMS.get(name, "").startswith("{"):
        return isinstance(value, dict) and _are_plain(value.values())
    if _FORMS.get(name, "").startswith("["):
        return _are_plain([value]) or (isinstance(value, list) and _are_plain(value))
    return _are_plain([value])


def _are_plain(values: Iterable[Any]) -> bool:
    return all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values)


def _as_texts(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _as_texts("", one) for key, one in value.items()}
    if _FORMS.get(name, "").startswith("["):
        return tuple(map(str, value)) if isinstance(value, list) else _list_of_names(name, str(value))
    return value if isinstance(value, bool) else str(value)


def read(
    source: object,
    tool: str | None = None,
    *,
    map: Mapping[str, str] | None = None,
    winners: Mapping[str, str] | None = None,
    wide: str | None = None,
    columns: Sequence[str] | str = (),
    set: Mapping[str, Any] | None = None,
    sheet: str | int | None = None,
    sep: str | None = None,
    table: str | None = None,
    where: Mapping[str, str] | None = None,
    positive: str | None = None,
    levels: Sequence[object] | None = None,
    people: Sequence[str] | str = (),
    degrees: bool = False,
    label_sets: str | None = None,
    no_label: str | None = None,
    leave_out: Sequence[str] | str = (),
) -> Imported:
    """Read files of the tools that people use, or tables, as votes, scores, labels and rankings; judges stay apart.

    The content of a file says which tool wrote it (docs: "Get your data in"), or it is a table (CSV, TSV, JSON, JSONL,
    Parquet, XLSX, a dataframe) whose columns are named, as far as their names do not say what they are. ``.gz`` and
    ``.zst`` are unpacked, ``-`` is the standard input. Every verb takes what this gives, and the command line has the
    same options. Options kept in a file beside a table, ``NAME.reading.toml``, are used unless given here.

    Parameters
    ----------
    source : path, dataframe, or list of them
    tool : str, optional
        The tool (``--from``), where the content shall not decide.
    map : mapping of str to str, optional
        voirdire's columns to those of the table: ``{"judge": "grader"}``.
    winners : mapping of str to str, optional
        What values of winners mean: ``{"1": "first", "0": "second", "draw": "tie"}``.
    wide : "judge", "criterion", "item", "counts", "lists" or "pairs", optional
        What the further columns of a table with one row an item are, ``"lists"`` where cells hold lists of answers,
        ``"pairs"`` where columns are a judge and a criterion each; ``"item"`` of one with one row a judge.
    columns : sequence of str, optional
        Which columns of a wide table are meant, where not all.
    set : mapping of str to str, optional
        What files do not say: baseline, judge (or a mapping of files to judges), system, questions.
    sheet : str or int, optional
        The sheet of a spreadsheet that has several, by name or number from 1.
    sep : str, optional
        What separates the columns of a text table, where it is neither comma, tab, semicolon nor bar.
    table : "votes", "scores", "labels" or "rankings", optional
        Which table is meant, or what kind a table is of; rankings are read as votes where votes are asked for.
    where : mapping of str to str, optional
        Only rows that hold this, by voirdire's columns or the table's further ones.
    positive : str, optional
        The label that is a success.
    levels : sequence, optional
        The labels there may be, or the levels of the scores.
    people : sequence of str, optional
        Judges who are people: their answers are those that judges are measured by.
    degrees : bool
        Whether how sure judges were is kept, as a column ``degree``.
    label_sets : str, optional
        How several labels of an item are written: what separates them in a cell (``";"``), ``"lists"`` (cells are
        lists), or ``"rows"`` (each row of a judge and item names one). Without it, cells that are lists are sets.
    no_label : str, optional
        The cell of such a table that says that no label applies, such as ``"none"``, or ``""`` for empty cells.
    leave_out : sequence of str, optional
        Columns that are not read, by their names in the table: a column ``criterion`` that is a category of items.

    Returns
    -------
    Imported
        Tables, what was refused and why, and notes.

    Raises
    ------
    InputError
        A file is damaged or of no known format, an option names what is not there, or nothing is a vote, a score or
        a label.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "human.csv")
    ...     _ = path.write_text("worker,left,right,label\\nw1,sofa,chair,chair\\nw2,sofa,chair,\\n")
    ...     found = read(path)
    >>> found.votes.to_dict("records"), found.refused["reason"].tolist()
    ([{'judge': 'w1', 'first': 'sofa', 'second': 'chair', 'winner': 'second'}], ['no label'])
    """
    if isinstance(columns, Mapping):
        raise InputError("columns chooses columns of a wide table; map={...} says which stand for voirdire's")
    how = Reading(
        tool,
        _mapping("map", map) or None,
        {str(word): str(outcome) for word, outcome in _mapping("winners", winners).items()} or None,
        wide,
        _list_of_names("columns", columns),
        _mapping("set", set) or None,
        None if sheet is None else str(sheet),
        sep,
        table,
        {name: str(value) for name, value in _mapping("where", where).items()} or None,
        positive,
        None if levels is None else _list_of_names("levels", levels),
        _list_of_names("people", people),
        degrees,
        label_sets,
        no_label,
        _list_of_names("leave_out", leave_out),
    )
    return read_as(source, how)


def read_as(source: object, how: Reading, *, folder: Path | None = None, unnamed: bool = False) -> Imported:
    """As :func:`read`, with the options together.

    Parameters
    ----------
    folder : Path, optional
        Where tables are written while they are read, instead of being kept.
    unnamed : bool
        Whether the answers are people's, who need not be named.
    """
    if isinstance(source, Imported):
        raise InputError(
            "what read() gave has been read; give it to a verb, or read the file with these options"
        )
    some = list(source) if isinstance(source, list | tuple) else [source]
    if len(some) == 1:
        how = how.completed_by(some[0])
    elif beside := [path for path in map(options_file, some) if path is not None]:
        raise InputError(
            f"{beside[0]} says how one of several files is read; read that file alone, or give the options for all "
            "files and move it away"
        )
    return gather_tables(some, how, folder, unnamed=unnamed)


#: Columns that say who answered, when, or what, not what was asked.
_OF_ANSWERS = ("judge", "run", "time", "phase", "order", *ANSWERS.values())


def fitting_options(how: Reading, columns: Sequence[str]) -> Reading:
    """As much of some options as says something to a further table, such as one of people's answers.

    A mapping speaks of the columns that are there, and so does a choice of rows by what was asked (a criterion, a
    context), not by whom; a wide table, one of its columns or its sheet, is the main one.

    Examples
    --------
    >>> how = Reading(map={"judge": "grader", "winner": "chosen"}, wide="judge")
    >>> fitting_options(how, ["first", "second", "chosen"]).set_options
    {'map': {'winner': 'chosen'}}
    """
    renamed = {column: name for column, name in (how.map or {}).items() if name in columns}
    roles = find_roles(columns)
    votes = "winner" in renamed or "winner" in roles
    asked = {*renamed, *roles, *columns} - set(_OF_ANSWERS)
    return Reading(
        where={name: said for name, said in (how.where or {}).items() if name in asked} or None,
        map=renamed or None,
        winners=how.winners if votes else None,
        sep=how.sep,
        label_sets=how.label_sets,
        no_label=how.no_label,
        leave_out=tuple(name for name in how.leave_out if name in columns),
    )


def _mapping(option: str, given: Any) -> dict[str, Any]:
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    raise InputError(f'{option}={given!r} is no mapping; write {option}={{"a": "b"}}')


def _list_of_names(option: str, given: Any) -> tuple[str, ...]:
    return () if given is None else tuple(map(str, read_list(option, given)))
