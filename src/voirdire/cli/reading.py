"""Options for reading tables, shared by all verbs that read tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from voirdire.errors import InputError, raise_problems
from voirdire.notices import give_notice
from voirdire.settings import read_list
from voirdire.tables.columns import ANSWER_COLUMNS
from voirdire.tables.encode import cell_to_name
from voirdire.tables.formats.gather import check_judges
from voirdire.tables.formats.long_table import left_out_notes
from voirdire.tables.formats.row_choice import condition_column, meets_condition
from voirdire.tables.formats.source import leave_out_columns, open_source
from voirdire.tables.people import check_no_judge
from voirdire.tables.problems import nearest_name
from voirdire.tables.ratings import known_names
from voirdire.tables.reading import OPTIONS_SUFFIX, Reading, fitting_options, load_reading, read_as
from voirdire.tables.row_filter import select_rows
from voirdire.tables.run_folders import run_folder

Texts = list[str] | None
T = TypeVar("T")

#: File name endings. They tell ``FILE:NAME`` from a judge's name with a colon, such as ``llama3.1:8b``.
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
        """Collect the options of the command line.

        How tables are read
        -------------------
        tool : TOOL
            The tool that wrote the file.
        map : A=B,...
            Columns of the table: judge=grader,first=model_a,...; or a .toml file with saved reading options.
        winners : A=B,...
            Meaning of the winner column's values: 1=first,0=second,draw=tie.
        wide : WHAT
            Content of the columns of a wide table. One row per item: judge, criterion, counts, lists of answers, or
            pairs of a judge and a criterion. One row per judge: item; of several items in columns of their own: sides.
        columns : A,B,...
            With --wide: columns to use (default: all).
        leave_out : A,B,...
            Columns to ignore, such as one that looks like a criterion but is none.
        settings : KEY=VALUE
            Facts that the file lacks: baseline, judge (for one file: judge=FILE:NAME), system, questions (a,b).
        sheet : NAME
            The sheet of a spreadsheet.
        sep
            Column separator (default: detected).
        kind : KIND
            Kind of the table: votes, scores, labels or rankings.
        where : COLUMN=VALUE
            Use only rows with this value (COLUMN!=VALUE: without it); repeatable.
        positive : LABEL
            The label that counts as success.
        levels : A,B,...
            All possible labels, lowest first, or the levels of the scores' scale.
        label_sets : SEP|lists|rows
            Notation of several labels per item: the separator within a cell, lists, or one row per label.
        no_label : CELL
            Cell that means that no label applies: none, or '' for empty cells (with --label-sets).
        people : A,B,...
            Judges of the table who are people.
        degrees
            Weight votes by the judges' confidence, where a tool's file gives it.

        Raises
        ------
        InputError
            An option has the wrong form, or names something that does not exist.
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
        return TableOptions(replace(load_reading(Path(files[0])) if files else Reading(), **reading.set_options))

    def _check_role(self, path: Path, role: str) -> None:
        """Raise if a file is given both as judges' answers and as people's."""
        if self._given.setdefault(os.path.realpath(path), role) != role:
            raise InputError(
                f"file {str(path)!r} is given as judges' answers and as people's; judges of a table who are people are "
                "named by --people"
            )

    @property
    def levels(self) -> list[str] | None:
        """Possible labels, or levels of scores."""
        return None if self.reading.levels is None else list(self.reading.levels)

    @property
    def scale(self) -> dict[str, Any]:
        """Arguments ``levels`` and ``positive`` of the verbs."""
        return {"levels": self.levels, "positive": self.reading.positive}

    def tables(
        self, paths: Sequence[Path], further: Iterable[Path | None] = (), *, phase: str | None = None
    ) -> list[Any]:
        """Return tables of judges' answers: paths where no reading option applies, else tables that have been read.

        Parameters
        ----------
        paths : sequence of Path
        further : iterable of Path or None
            Further tables of the command. ``--map`` may name their columns, too.
        phase : str, optional
            Phase to select, where the answers have phases.
        """
        for path in paths:
            self._check_role(path, "judges")
        for further_path in further:
            check_no_judge(further_path)
        reading = replace(self.reading, levels=None, positive=None)
        if not reading.set_options and not any(Path(f"{path}{OPTIONS_SUFFIX}").is_file() for path in paths):
            return [path if phase is None else select_rows(path, phase) for path in paths]
        check_judges(self.reading.judges_of_files(), [str(path) for path in paths])
        other_paths = [path for path in (*further, *(paths if len(paths) > 1 else ())) if path is not None]
        other_columns = {name for path in other_paths for name in _file_columns(path)}
        return [self._read_file(path, other_columns, phase) for path in paths]

    def table(self, path: Path, further: Iterable[Path | None] = ()) -> Any:
        """Read one table, as `tables` does."""
        return self.tables([path], further)[0]

    def read_table_or_folder(
        self, path: Path, further: Iterable[Path | None] = (), without: Iterable[Path | None] = ()
    ) -> Any:
        """Read a table, or join all tables of a folder in the order of their names, except ``further``, ``without``.

        Raises
        ------
        InputError
            The folder has no table.
        """
        if not path.is_dir() or run_folder(path) is not None:
            return self.table(path, further)
        left_out = {os.path.realpath(file) for file in (*without, *further) if file is not None}
        files = sorted(file for file in path.iterdir() if file.is_file() and os.path.realpath(file) not in left_out)
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
        """Read a table of questions; it needs no column of answers."""
        reading, answers = self.reading, set(ANSWER_COLUMNS.values())
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
        problems += [f"{position}: it is no row of named cells" for position, row in rows if not isinstance(row, dict)]
        raise_problems(problems)
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
        """Return a table of people's answers, named or not; the path where no reading option applies."""
        if path is None:
            return None
        check_no_judge(path)
        self._check_role(path, "people")
        option_names = ("map", "winners", "sep", "label_sets", "leave_out", "where")
        has_options = any(getattr(self.reading, name) for name in option_names)
        reading = fitting_options(self.reading, _file_columns(path)) if has_options else Reading()
        return read_as(path, reading, unnamed=True).table if reading.set_options else path

    def people_tables(self, paths: Sequence[Path] | None) -> Any:
        """Return the tables of people's answers of a repeatable option: one table, a list, or None without any."""
        tables = [self.people(path) for path in paths or ()]
        return tables[0] if len(tables) == 1 else tables or None

    def _read_file(self, path: Path, other_columns: set[str], phase: str | None) -> Any:
        reading = self.reading.of_file(str(path))
        if run_folder(path) is not None:
            if excess := sorted(replace(reading, where=None, table=None, levels=None, positive=None).set_options):
                option = excess[0].replace("_", "-")
                raise InputError(f"{path}: a run's folder says how it is read; leave --{option} out")
            return select_rows(
                path, phase, reading.where, answer=None if reading.table is None else ANSWER_COLUMNS[reading.table]
            )
        if other_columns and (reading.map or reading.leave_out):
            foreign = other_columns - set(_file_columns(path))
            own_map = reading.map and {role: name for role, name in reading.map.items() if name not in foreign}
            left_out = tuple(name for name in reading.leave_out if name not in foreign)
            reading = replace(reading, map=own_map, leave_out=left_out)
        if fitting_options(self.reading, [*other_columns]).winners:
            reading = replace(reading, winners=fitting_options(self.reading, _file_columns(path)).winners)
        answers = read_as(path, reading)
        return answers if phase is None else select_rows(answers, phase)


def _file_columns(path: Path) -> tuple[str, ...]:
    """Return the column names of a file; empty if it is no table."""
    if path.is_dir():
        return ()
    with open_source(path) as source:
        return source.columns() if source.head.shape in ("records", "table") else ()


def _read_settings(texts: list[str]) -> dict[str, Any] | None:
    """Parse the settings of ``--set``; ``judge=FILE:NAME`` sets the judge of one file."""
    judges: dict[str, str] = {}
    pairs = []
    for text in texts:
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


def split_commas(texts: Sequence[str] | None) -> list[str]:
    """Split option values at commas; quotation marks keep a comma within a name.

    Examples
    --------
    >>> split_commas(["a,b", "c"]), split_commas(None)
    (['a', 'b', 'c'], [])
    >>> split_commas(['"Smith, Ann", Bob'])
    ['Smith, Ann', 'Bob']
    """
    return [name for text in texts or () for name in read_list("", text)]


def _given_once(option: str, values: Texts) -> Texts:
    """Return the values of an option; raise if it is repeated, as the order of its values matters."""
    if values is not None and len(values) > 1:
        raise InputError(f"{option} is given {len(values)} times; give it once, with commas between: {option} A,B,...")
    return values


def key_values(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Parse KEY=VALUE settings.

    Raises
    ------
    InputError
        A setting is not a pair, or a key is given twice.

    Examples
    --------
    >>> key_values("--map", ["judge=grader", "first=model_a"])
    {'judge': 'grader', 'first': 'model_a'}
    """

    def keep_text(key: str, value: str) -> str:
        if not value:
            raise ValueError
        return value

    return read_pairs(option, texts, "KEY=VALUE", keep_text)


def read_pairs(
    option: str,
    texts: Sequence[str],
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
    texts : sequence of str
    form : str
        Expected form, for messages.
    read : callable
        Converts a key and its text to a value; raises ValueError if they do not have the form.
    last : bool
        True if keys may contain equals signs, and values none.
    name : callable
        Converts a key to its name in messages.

    Raises
    ------
    InputError
        A text does not have the form, or a key is given twice.
    """
    pairs: dict[str, T] = {}
    problems = []
    for text in texts:
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
    raise_problems(problems)
    return pairs
