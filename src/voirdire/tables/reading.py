"""Options of reading tables, the same for every verb, and the file next to a table that stores them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, raise_problems
from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables.columns import ANSWER_COLUMNS, find_roles
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.gather import gather_tables
from voirdire.tables.formats.imported import Imported
from voirdire.tables.label_sets import LISTS, ROWS
from voirdire.tables.problems import nearest_name
from voirdire.tables.vote_columns import OUTCOMES

#: Keys of ``set``: facts that files may lack.
SETTINGS = ("baseline", "judge", "system", "questions")
#: Ending of the file with reading options next to a table: ``votes.csv.reading.toml``.
OPTIONS_SUFFIX = ".reading.toml"
_SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
_SET_NOTATIONS = (LISTS, ROWS)


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
                f"{name}={value!r} is no text; give one"
                for name in ("tool", "wide", "sep", "table", "label_sets", "no_label")
                if not isinstance(value := getattr(self, name), str | None)
            ]
        )
        messages = []
        if self.table is not None and self.table not in ANSWER_COLUMNS:
            messages.append(
                f"table {self.table!r} is none of {', '.join(ANSWER_COLUMNS)}"
                f"{nearest_name(self.table, list(ANSWER_COLUMNS))}"
            )
        for word, outcome in (self.winners or {}).items():
            if outcome not in OUTCOMES:
                messages.append(
                    f"winners: {word}={outcome} is neither first, second nor tie{nearest_name(outcome, OUTCOMES)}"
                )
        for name in self.set or {}:
            if name not in SETTINGS:
                messages.append(f"set: {name!r} is none of {', '.join(SETTINGS)}{nearest_name(name, SETTINGS)}")
        notation = self.label_sets
        if notation is not None and (
            not notation or (notation not in (*_SET_NOTATIONS, *_SEPARATOR_NAMES) and any(map(str.isalnum, notation)))
        ):
            messages.append(
                f"label_sets {notation!r} is neither {' nor '.join(_SET_NOTATIONS)} nor a separator of labels, such as "
                f"';'{nearest_name(notation, [*_SET_NOTATIONS, *_SEPARATOR_NAMES])}"
            )
        if self.no_label is not None and notation is None:
            messages.append("no_label applies to sets of labels alone; give the notation of sets by label_sets, too")
        for option, names in (("map", (self.map or {}).values()), ("columns", self.columns)):
            messages += [
                f"column {name!r} is named by {option} and by leave_out; name it in one of them"
                for name in names
                if name in self.leave_out
            ]
        if messages:
            raise InputError(messages)

    @property
    def set_options(self) -> dict[str, Any]:
        """Options that are set, by name."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in options.items() if value or (name == "no_label" and value == "")}

    @property
    def format_options(self) -> FormatOptions:
        """Options for formats."""
        shared = ("map", "winners", "wide", "columns", "table", "degrees", "no_label")
        options: dict[str, Any] = {name: getattr(self, name) for name in shared}
        options |= {name: value for name, value in (self.set or {}).items() if not isinstance(value, Mapping)}
        options["questions"] = _list_of_names("questions", options.get("questions"))
        return FormatOptions(**options, label_sets=_SEPARATOR_NAMES.get(self.label_sets or "", self.label_sets))

    @property
    def separator(self) -> str | None:
        """The separator of columns."""
        return _SEPARATOR_NAMES.get(self.sep or "", self.sep)

    def judges_of_files(self) -> dict[str, str]:
        """Judge of each of several files, by the file's name."""
        judge: Any = (self.set or {}).get("judge")
        return dict(judge) if isinstance(judge, Mapping) else {}

    def of_file(self, path: str) -> Reading:
        """Options for one file, without the judges of other files."""
        judges = self.judges_of_files()
        if not judges:
            return self
        file_judges = {file: name for file, name in judges.items() if file in (path, os.path.basename(path))}
        other_settings: dict[str, Any] = {name: value for name, value in (self.set or {}).items() if name != "judge"}
        return replace(self, set=other_settings | ({"judge": file_judges} if file_judges else {}))

    def completed_by(self, source: object) -> Reading:
        """Complete these options by those of the file next to the table; these options take precedence.

        Raises
        ------
        InputError
            The file is damaged, or names an unknown option.
        """
        path = options_file(source)
        if path is None:
            return self
        file_options = load_reading(path)
        if not file_options.set_options:
            return self
        give_notice(f"{path} says how the table is read: {', '.join(file_options.set_options)}.")
        return replace(file_options, **self.set_options)


def options_file(source: object) -> Path | None:
    """Find the file with reading options next to a table; None without such a file."""
    path = Path(os.fspath(source) + OPTIONS_SUFFIX) if isinstance(source, str | os.PathLike) else None
    return path if path is not None and path.is_file() else None


def load_reading(path: Path) -> Reading:
    """Load reading options from a TOML file, such as ``map = {winner = "preferred"}``.

    Raises
    ------
    InputError
        The file is not TOML, names an unknown option, or gives an option a value of the wrong form.

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
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"file {str(path)!r} cannot be read: {error}") from None
    options = {"tool" if name == "from" else name: value for name, value in options.items()}
    known_options = [field.name for field in fields(Reading)]
    if unknown := [name for name in options if name not in known_options]:
        raise InputError(f"file {str(path)!r}: {unknown[0]!r} is no option{nearest_name(unknown[0], known_options)}")
    for name, value in options.items():
        try:
            options[name] = _read_option(name, value)
        except TypeError:
            form = _FORMS.get(name, '"a"')
            raise InputError(f"file {str(path)!r}: {name} has the wrong form; write {name} = {form}") from None
    return Reading(**options)


#: Notations of options in such a file; options that are not named are text.
_FORMS = {
    **dict.fromkeys(("map", "winners", "set", "where"), '{a = "b"}'),
    **dict.fromkeys(("columns", "levels", "people", "leave_out"), '["a", "b"]'),
    "degrees": "true",
}


def _read_option(name: str, value: Any) -> Any:
    """Read the value of an option in such a file; numbers may stand for text; TypeError for another form."""
    form = _FORMS.get(name, "text")
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    if form == "true" and isinstance(value, bool):
        return value
    if form == "text" and is_text:
        return str(value)
    if form[0] == "[" and is_text:
        return _list_of_names(name, str(value))
    if form[0] == "[" and isinstance(value, list):
        return tuple(_read_option("", item) for item in value)
    if form[0] == "{" and isinstance(value, dict):
        files = "map" if name == "set" and isinstance(value.get("judge"), dict) else ""
        return {str(key): _read_option(files if key == "judge" else "", item) for key, item in value.items()}
    raise TypeError(name)


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
    """Read files of evaluation tools, or tables, as votes, scores, labels and rankings, with the judge of each answer.

    The tool is recognised by the content of the file (docs: "Get your data in"). A table (CSV, TSV, JSON, JSONL,
    Parquet, XLSX, a dataframe) is read by the names of its columns; name other columns by ``map``. ``.gz`` and
    ``.zst`` are unpacked, ``-`` is the standard input. Every verb accepts the result, and the command line has the
    same options. Options in a file next to a table, ``NAME.reading.toml``, are used unless given here.

    Parameters
    ----------
    source : path, dataframe, or list of them
    tool : str, optional
        The tool (``--from``); by default it is recognised by the content.
    map : mapping of str to str, optional
        Column of the table for each of voirdire's columns: ``{"judge": "grader"}``.
    winners : mapping of str to str, optional
        Outcome of each value of winners: ``{"1": "first", "0": "second", "draw": "tie"}``.
    wide : "judge", "criterion", "item", "counts", "lists", "pairs" or "sides", optional
        Meaning of the further columns of a table with one row per item: ``"lists"`` if cells hold lists of answers,
        ``"pairs"`` if each column is a judge and a criterion. ``"item"`` is for a table with one row per judge,
        ``"sides"`` for rows of several items with columns of their own.
    columns : sequence of str, optional
        Columns of a wide table to read; by default all.
    set : mapping of str to str, optional
        Facts that the files lack: baseline, judge (or a mapping of files to judges), system, questions.
    sheet : str or int, optional
        The sheet of a spreadsheet with several sheets, by name or number from 1.
    sep : str, optional
        Separator of the columns of a text table, unless it is a comma, tab, semicolon or bar.
    table : "votes", "scores", "labels" or "rankings", optional
        The table to read, or the kind of a table; rankings are read as votes if the kind is votes.
    where : mapping of str to str, optional
        Value of columns (voirdire's or further ones) in the rows to read; other rows are left out. A name that ends
        with ``!`` leaves out the rows with this value.
    positive : str, optional
        The label that counts as a success.
    levels : sequence, optional
        All possible labels, or the levels of the scores.
    people : sequence of str, optional
        Judges who are people: the other judges are measured by their answers.
    degrees : bool
        Whether judges' certainty is kept, as a column ``degree``.
    label_sets : str, optional
        Notation of several labels of an item: their separator in a cell (``";"``), ``"lists"`` (cells are lists), or
        ``"rows"`` (each row of a judge and item names one label). By default cells that are lists are sets.
    no_label : str, optional
        The cell of such a table that means that no label applies, such as ``"none"``, or ``""`` for empty cells.
    leave_out : sequence of str, optional
        Columns that are not read, by their names in the table: a column ``criterion`` that is a category of items.

    Returns
    -------
    Imported
        Tables, refused rows with reasons, and notes.

    Raises
    ------
    InputError
        A file is damaged or of no known format, an option has an unknown name, or there is no vote, score or label.

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
        raise InputError("columns chooses columns of a wide table; map={...} assigns columns to voirdire's")
    texts = {"map": map, "winners": winners, "where": where}
    names = {"columns": columns, "people": people, "leave_out": leave_out, "levels": levels}
    options: dict[str, Any] = {name: _list_of_names(name, value) for name, value in names.items() if value is not None}
    for name, mapping in texts.items():
        options[name] = {str(key): str(value) for key, value in _read_mapping(name, mapping).items()} or None
    options |= {"set": _read_mapping("set", set) or None, "sheet": None if sheet is None else str(sheet)}
    options |= {"positive": positive, "degrees": degrees, "label_sets": label_sets, "no_label": no_label}
    return read_as(source, Reading(tool, wide=wide, sep=sep, table=table, **options))


def read_as(source: object, reading: Reading, *, folder: Path | None = None, unnamed: bool = False) -> Imported:
    """Read files or tables as :func:`read`, with all options in one `Reading`.

    Parameters
    ----------
    folder : Path, optional
        Folder to which tables are written while they are read, instead of being held in memory.
    unnamed : bool
        Whether the answers are those of people, who may be unnamed.
    """
    if isinstance(source, Imported):
        raise InputError("this is the result of read() already; give it to a verb, or read the file with these options")
    sources = list(source) if isinstance(source, list | tuple) else [source]
    if len(sources) == 1:
        reading = reading.completed_by(sources[0])
    elif options_files := [path for path in map(options_file, sources) if path is not None]:
        raise InputError(
            f"{options_files[0]} has reading options for one of several files; read that file alone, or give the "
            "options for all files and move it away"
        )
    return gather_tables(sources, reading, folder, unnamed=unnamed)


#: Columns of the answer (judge, time, answer), not of the question.
_NON_QUESTION_COLUMNS = ("judge", "run", "time", "phase", "order", *ANSWER_COLUMNS.values())


def fitting_options(reading: Reading, columns: Sequence[str]) -> Reading:
    """Select the options that apply to a further table, such as one of people's answers.

    Mappings apply to columns that the further table has. Choices of rows apply if they concern the question (a
    criterion, a context), not the judge. Options for wide tables and sheets apply to the main table only.

    Examples
    --------
    >>> how = Reading(map={"judge": "grader", "winner": "chosen"}, wide="judge")
    >>> fitting_options(how, ["first", "second", "chosen"]).set_options
    {'map': {'winner': 'chosen'}}
    """
    renamed = {column: name for column, name in (reading.map or {}).items() if name in columns}
    roles = find_roles(columns)
    votes = "winner" in renamed or "winner" in roles
    question_columns = {*renamed, *roles, *columns} - set(_NON_QUESTION_COLUMNS)
    return Reading(
        where={name: value for name, value in (reading.where or {}).items() if name in question_columns} or None,
        map=renamed or None,
        winners=reading.winners if votes else None,
        sep=reading.sep,
        label_sets=reading.label_sets,
        no_label=reading.no_label,
        leave_out=tuple(name for name in reading.leave_out if name in columns),
    )


def _read_mapping(option: str, value: Any) -> dict[str, Any]:
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    raise InputError(f'{option}={value!r} is no mapping; write {option}={{"a": "b"}}')


def _list_of_names(option: str, value: Any) -> tuple[str, ...]:
    return () if value is None else tuple(map(str, read_list(option, value)))
