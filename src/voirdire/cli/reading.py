"""Options of how tables are read: the same for every verb that reads some."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables.columns import ANSWERS
from voirdire.tables.encode import cell_to_name
from voirdire.tables.formats.gather import check_judges
from voirdire.tables.formats.long_table import left_out_notes
from voirdire.tables.formats.row_choice import condition_column, meets_condition
from voirdire.tables.formats.source import leave_out_columns, open_source
from voirdire.tables.people import check_no_judge
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.tables.reading import BESIDE, Reading, fitting_options, load_reading, read_as
from voirdire.tables.row_filter import select_rows
from voirdire.tables.run_folders import run_folder

Texts = list[str] | None
T = TypeVar("T")

#: Endings of files; what stands before a colon is else part of the name of a judge, as in ``llama3.1:8b``.
_FILE_ENDINGS = {
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".gz", ".zst", ".eval", ".zip",
}  # fmt: skip


@dataclass
class TableOptions:
    """Options of reading the tables of a command.

    Attributes
    ----------
    reading : Reading
    """

    reading: Reading = field(default_factory=Reading)
    _given: dict[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def from_options(
        *,
        tool: Annotated[str | None, typer.Option("--from")] = None,
        map: Texts = None,
        winners: Texts = None,
        wide: str | None = None,
        columns: Texts = None,
        leave_out: Texts = None,
        settings: Annotated[Texts, typer.Option("--set")] = None,
        sheet: str | None = None,
        sep: str | None = None,
        kind: Annotated[str | None, typer.Option("--table")] = None,
        where: Texts = None,
        positive: str | None = None,
        levels: Texts = None,
        label_sets: str | None = None,
        no_label: str | None = None,
        people: Texts = None,
        degrees: bool = False,
    ) -> TableOptions:
        """Options of the command line together.

        How tables are read
        -------------------
        tool : TOOL
            The tool that wrote the file.
        map : A=B,...
            Columns of the table: judge=grader,first=model_a,...; or a file that keeps options (.toml).
        winners : A=B,...
            What winners mean: 1=first,0=second,draw=tie.
        wide : WHAT
            What the columns of a table are: judge, criterion, counts, lists of answers, or pairs of a judge and a
            criterion, of one row an item; item, of one row a judge.
        columns : A,B,...
            Which of them, where not all.
        leave_out : A,B,...
            Columns of the table that are not read, such as a criterion that is none.
        settings : KEY=VALUE
            What a file does not say: baseline, judge (of one file: judge=FILE:NAME), system, questions (a,b).
        sheet : NAME
            The sheet of a spreadsheet.
        sep
            What separates columns; default: found out.
        kind : KIND
            Which table: votes, scores, labels or rankings.
        where : COLUMN=VALUE
            Only rows that hold this (COLUMN!=VALUE: that do not); repeatable.
        positive : LABEL
            The label that is a success.
        levels : A,B,...
            All labels there may be, lowest first, or the levels of the scores' scale.
        label_sets : SEP|lists|rows
            How several labels of an item are written: what separates them in a cell, lists, or a row each.
        no_label : CELL
            The cell that says that no label applies: none, or '' for empty ones (with --label-sets).
        people : A,B,...
            Judges of the table who are people.
        degrees
            How sure judges were counts, where a tool's file says it.

        Raises
        ------
        InputError
            One is not written as it is to be, or says what there is not.
        """
        files = [text for text in map or [] if text.endswith(".toml") and "=" not in text]
        reading = Reading(
            tool=tool,
            map=key_values("--map", split_commas([text for text in map or [] if text not in files])) or None,
            winners=key_values("--winners", split_commas(winners)) or None,
            wide=wide,
            columns=tuple(split_commas(columns)),
            set=_read_settings(settings or []),
            sheet=sheet,
            sep=sep,
            table=kind,
            where=key_values("--where", where or []) or None,
            positive=positive,
            levels=tuple(split_commas(_given_once("--levels", levels))) or None,
            people=tuple(split_commas(people)),
            degrees=degrees,
            label_sets=label_sets,
            no_label=no_label,
            leave_out=tuple(split_commas(leave_out)),
        )
        return TableOptions(
            replace(load_reading(Path(files[0])) if files else Reading(), **reading.set_options)
        )

    def _check_role(self, path: Path, role: str) -> None:
        """Raise where a file is given as judges' answers and as people's."""
        if self._given.setdefault(os.path.realpath(path), role) != role:
            raise InputError(
                f"file {str(path)!r} is given as judges' answers and as people's; judges of a table who are people are "
                "named by --people"
            )

    @property
    def levels(self) -> list[str] | None:
        """Labels there may be, or levels of scores."""
        return None if self.reading.levels is None else list(self.reading.levels)

    def tables(
        self, paths: Sequence[Path], further: Iterable[Path | None] = (), *, phase: str | None = None
    ) -> list[Any]:
        """Tables of judges' answers: files as they are where nothing is said of them, else as they are to be read.

        Parameters
        ----------
        paths : sequence of Path
        further : iterable of Path or None
            Further tables of the command, whose columns a mapping may name, too.
        phase : str, optional
            The phase of answers that is meant, where there are some.
        """
        for path in paths:
            self._check_role(path, "judges")
        for further_path in further:
            check_no_judge(further_path)
        reading = replace(self.reading, levels=None, positive=None)
        if not reading.set_options and not any(Path(f"{path}{BESIDE}").is_file() for path in paths):
            return [path if phase is None else select_rows(path, phase) for path in paths]
        check_judges(self.reading.judges_of_files(), [str(path) for path in paths])
        other_paths = [path for path in (*further, *(paths if len(paths) > 1 else ())) if path is not None]
        other_columns = {name for path in other_paths for name in _file_columns(path)}
        return [self._read_file(path, other_columns, phase) for path in paths]

    def table(self, path: Path, further: Iterable[Path | None] = ()) -> Any:
        """Read one table, as `tables` does."""
        return self.tables([path], further)[0]

    def together(
        self, path: Path, further: Iterable[Path | None] = (), without: Iterable[Path | None] = ()
    ) -> Any:
        """Read a table, or all tables of a folder as one, in the order of their names, but those left out.

        Raises
        ------
        InputError
            There are none.
        """
        if not path.is_dir() or run_folder(path) is not None:
            return self.table(path, further)
        left_out = {os.path.realpath(file) for file in (*without, *further) if file is not None}
        files = sorted(
            file for file in path.iterdir() if file.is_file() and os.path.realpath(file) not in left_out
        )
        tables = [file for file in files if file.suffix.lower() in _FILE_ENDINGS]
        if not tables:
            raise InputError(
                f"folder {str(path)!r} has no table; its files must end in {', '.join(sorted(_FILE_ENDINGS))}"
            )
        if other_names := [file.name for file in files if file not in tables]:
            give_notice(f"{path}: {known_names(other_names)} ends as no table does, and is left out.")
        for file in tables:
            self._check_role(file, "judges")
        return read_as(tables, self.reading)

    def questions(self, path: Path) -> Any:
        """Read a table of questions, which needs no column of answers."""
        reading, answers = self.reading, set(ANSWERS.values())
        renamed = reading.map or {}
        allowed = {"map", "sep", "sheet", "where", "leave_out"}
        if not reading.set_options or set(reading.set_options) - allowed or answers & renamed.keys():
            return self.table(path)
        import pandas as pd

        with open_source(path, reading.separator, reading.sheet) as source:
            leave_out_columns([source], reading.leave_out)
            names, rows = source.columns(), list(source.records())
        if not reading.map and answers & set(names):
            return self.table(path)
        named_columns = [(name, "--map") for name in renamed.values()]
        named_columns += [(condition_column(name), "--where") for name in reading.where or {}]
        problems = [
            f"{path}: there is no column {name!r} ({option}){nearest_name(name, names)}"
            for name, option in named_columns
            if name not in names
        ]
        problems += [
            f"{position}: it is no row of named cells" for position, row in rows if not isinstance(row, dict)
        ]
        if problems:
            raise InputError(problems)
        hidden = [name for name in renamed if name in names and name not in renamed.values()]
        for note in left_out_notes(str(path), hidden, renamed):
            give_notice(note)
        frame = pd.DataFrame([row for _, row in rows], columns=list(names))
        for name, value in (reading.where or {}).items():
            wanted = cell_to_name(value, ends=True)
            cells = [cell_to_name(cell, ends=True) for cell in frame[condition_column(name)]]
            frame = frame[[meets_condition(name, cell, wanted) for cell in cells]]
        if rows and frame.empty:
            conditions = ", ".join(f"{name}={value}" for name, value in (reading.where or {}).items())
            raise InputError(f"{path}: no row has {conditions} (--where)")
        return frame.drop(columns=hidden).rename(columns={name: role for role, name in renamed.items()})

    def people(self, path: Path | None) -> Any:
        """A table of people's answers, who need not be named; a file as it is where nothing is said of its columns."""
        if path is None:
            return None
        check_no_judge(path)
        self._check_role(path, "people")
        option_names = ("map", "winners", "sep", "label_sets", "leave_out", "where")
        has_options = any(getattr(self.reading, name) for name in option_names)
        reading = fitting_options(self.reading, _file_columns(path)) if has_options else Reading()
        return read_as(path, reading, unnamed=True).table if reading.set_options else path

    def people_tables(self, paths: Sequence[Path] | None) -> Any:
        """Answers that a repeatable option for people's gave: the one table, or all of them; None without."""
        tables = [self.people(path) for path in paths or ()]
        return tables[0] if len(tables) == 1 else tables or None

    def _read_file(self, path: Path, elsewhere: set[str], phase: str | None) -> Any:
        reading = self.reading.of_file(str(path))
        if run_folder(path) is not None:
            if excess := sorted(
                replace(reading, where=None, table=None, levels=None, positive=None).set_options
            ):
                option = excess[0].replace("_", "-")
                raise InputError(f"{path}: a run's folder says how it is read; leave --{option} out")
            return select_rows(
                path, phase, reading.where, answer=None if reading.table is None else ANSWERS[reading.table]
            )
        if reading.map and elsewhere:
            own_columns = _file_columns(path)
            reading = replace(
                reading,
                map={
                    role: name
                    for role, name in reading.map.items()
                    if name in own_columns or name not in elsewhere
                },
            )
        if reading.leave_out and elsewhere:
            own_columns = _file_columns(path)
            left_out = tuple(
                name for name in reading.leave_out if name in own_columns or name not in elsewhere
            )
            reading = replace(reading, leave_out=left_out)
        if fitting_options(self.reading, [*elsewhere]).winners:
            reading = replace(reading, winners=fitting_options(self.reading, _file_columns(path)).winners)
        answers = read_as(path, reading)
        return answers if phase is None else select_rows(answers, phase)


def _file_columns(path: Path) -> tuple[str, ...]:
    """The columns of a file under its own names; none where it is no table."""
    if path.is_dir():
        return ()
    with open_source(path) as source:
        return source.columns() if source.head.shape in ("records", "table") else ()


def _read_settings(given: list[str]) -> dict[str, Any] | None:
    """Settings that ``--set`` gives; judges of single files are ``judge=FILE:NAME``."""
    judges: dict[str, str] = {}
    pairs = []
    for text in given:
        name, _, value = text.partition("=")
        file, colon, judge = value.rpartition(":")
        if name.strip() == "judge" and colon and Path(file).suffix.lower() in _FILE_ENDINGS:
            judges[file] = judge
        else:
            pairs.append(text)
    settings: dict[str, Any] = dict(key_values("--set", pairs))
    if judges:
        if "judge" in settings:
            raise InputError("--set judge: give one judge for all files, or one for each as judge=FILE:NAME")
        settings["judge"] = judges
    return settings or None


def split_commas(given: Sequence[str] | None) -> list[str]:
    """Names that are given in several options or with commas between them; quotation marks keep a comma in a name.

    Examples
    --------
    >>> split_commas(["a,b", "c"]), split_commas(None)
    (['a', 'b', 'c'], [])
    >>> split_commas(['"Smith, Ann", Bob'])
    ['Smith, Ann', 'Bob']
    """
    return [name for text in given or () for name in read_list("", text)]


def _given_once(option: str, given: Texts) -> Texts:
    """Values of an option that may be given once only, as their order matters."""
    if given is not None and len(given) > 1:
        raise InputError(
            f"{option} is given {len(given)} times; give it once, with commas between: {option} A,B,..."
        )
    return given


def key_values(option: str, given: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE settings.

    Raises
    ------
    InputError
        One is no pair, or a key is given twice.

    Examples
    --------
    >>> key_values("--map", ["judge=grader", "first=model_a"])
    {'judge': 'grader', 'first': 'model_a'}
    """

    def keep_text(key: str, value: str) -> str:
        if not value:
            raise ValueError
        return value

    return read_pairs(option, given, "KEY=VALUE", keep_text)


def read_pairs(
    option: str,
    given: Sequence[str],
    form: str,
    read: Callable[[str, str], T],
    *,
    last: bool = False,
    name: Callable[[str], str] = repr,
) -> dict[str, T]:
    """Read options of the form KEY=VALUE; values by key.

    Parameters
    ----------
    option : str
    given : sequence of str
    form : str
        How one is to be written, for messages.
    read : callable
        From a key and its value to what is kept; raises ValueError where they are not of the form.
    last : bool
        Whether keys may hold equals signs, and values none.
    name : callable
        From a key to how messages name it.

    Raises
    ------
    InputError
        One is not of the form, or a key is given twice.
    """
    pairs: dict[str, T] = {}
    problems = []
    for text in given:
        key, equals, value = text.rpartition("=") if last else text.partition("=")
        key = key.strip()
        try:
            if not equals or not key:
                raise ValueError
            entry = read(key, value)
        except ValueError:
            problems.append(f"{option} {text!r} is not {form}")
            continue
        if key in pairs:
            problems.append(f"{option} {name(key)} is given twice; give it once")
        pairs[key] = entry
    if problems:
        raise InputError(problems)
    return pairs
