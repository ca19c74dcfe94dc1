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
from voirdire.tables.chosen import select_rows
from voirdire.tables.columns import ANSWERS
from voirdire.tables.encode import cell_to_name
from voirdire.tables.formats.gather import check_judges
from voirdire.tables.formats.long_table import left_out_notes
from voirdire.tables.formats.source import leave_out_columns, open_source
from voirdire.tables.people import check_no_judge
from voirdire.tables.problems import nearest_name
from voirdire.tables.rated import known_names
from voirdire.tables.reading import BESIDE, Reading, fitting_options, load_reading, read_as
from voirdire.tables.run_folders import run_folder

Texts = list[str] | None
T = TypeVar("T")

#: Endings of files; what stands before a colon is else part of the name of a judge, as in ``llama3.1:8b``.
_ENDINGS = {
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".gz", ".zst", ".eval", ".zip",
}  # fmt: skip


@dataclass
class TableOptions:
    """Options of reading the tables of a command.

    Attributes
    ----------
    how : Reading
    """

    how: Reading = field(default_factory=Reading)
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
            Only rows that hold this; repeatable.
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
        files = [one for one in map or [] if one.endswith(".toml") and "=" not in one]
        found = Reading(
            tool=tool,
            map=key_values("--map", split_commas([one for one in map or [] if one not in files])) or None,
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
        return TableOptions(replace(load_reading(Path(files[0])) if files else Reading(), **found.given))

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
        return None if self.how.levels is None else list(self.how.levels)

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
        for one in further:
            check_no_judge(one)
        kept = replace(self.how, levels=None, positive=None)
        if not kept.given and not any(Path(f"{path}{BESIDE}").is_file() for path in paths):
            return [path if phase is None else select_rows(path, phase) for path in paths]
        check_judges(self.how.judges_of_files(), [str(path) for path in paths])
        others = [path for path in (*further, *(paths if len(paths) > 1 else ())) if path is not None]
        elsewhere = {name for path in others for name in _file_columns(path)}
        return [self._read_file(path, elsewhere, phase) for path in paths]

    def table(self, path: Path, further: Iterable[Path | None] = ()) -> Any:
        """As `tables`, of one."""
        return self.tables([path], further)[0]

    def together(
        self, path: Path, further: Iterable[Path | None] = (), without: Iterable[Path | None] = ()
    ) -> Any:
        """As `table`; of a folder all tables in it as one, by name, but those that are left out.

        Raises
        ------
        InputError
            There are none.
        """
        if not path.is_dir() or run_folder(path) is not None:
            return self.table(path, further)
        left_out = {os.path.realpath(one) for one in (*without, *further) if one is not None}
        files = sorted(
            one for one in path.iterdir() if one.is_file() and os.path.realpath(one) not in left_out
        )
        tables = [one for one in files if one.suffix.lower() in _ENDINGS]
        if not tables:
            raise InputError(
                f"folder {str(path)!r} has no table; its files must end in {', '.join(sorted(_ENDINGS))}"
            )
        if others := [one.name for one in files if one not in tables]:
            give_notice(f"{path}: {known_names(others)} ends as no table does, and is left out.")
        for one in tables:
            self._check_role(one, "judges")
        return read_as(tables, self.how)

    def questions(self, path: Path) -> Any:
        """As `table`, of questions, which need no column of answers."""
        how, answers = self.how, set(ANSWERS.values())
        renamed = how.map or {}
        plain = {"map", "sep", "sheet", "where", "leave_out"}
        if not how.given or set(how.given) - plain or answers & renamed.keys():
            return self.table(path)
        import pandas as pd

        with open_source(path, how.separator, how.sheet) as source:
            leave_out_columns([source], how.leave_out)
            names, rows = source.columns(), list(source.records())
        if not how.map and answers & set(names):
            return self.table(path)
        asked = [(name, "--map") for name in renamed.values()]
        asked += [(name, "--where") for name in how.where or {}]
        problems = [
            f"{path}: there is no column {name!r} ({option}){nearest_name(name, names)}"
            for name, option in asked
            if name not in names
        ]
        problems += [
            f"{place}: it is no row of named cells" for place, row in rows if not isinstance(row, dict)
        ]
        if problems:
            raise InputError(problems)
        hidden = [name for name in renamed if name in names and name not in renamed.values()]
        for note in left_out_notes(str(path), hidden, renamed):
            give_notice(note)
        frame = pd.DataFrame([row for _, row in rows], columns=list(names))
        for name, said in (how.where or {}).items():
            frame = frame[
                [cell_to_name(cell, ends=True) == cell_to_name(said, ends=True) for cell in frame[name]]
            ]
        if rows and frame.empty:
            wanted = ", ".join(f"{name}={said}" for name, said in (how.where or {}).items())
            raise InputError(f"{path}: no row has {wanted} (--where)")
        return frame.drop(columns=hidden).rename(columns={name: to for to, name in renamed.items()})

    def people(self, path: Path | None) -> Any:
        """A table of people's answers, who need not be named; a file as it is where nothing is said of its columns."""
        if path is None:
            return None
        check_no_judge(path)
        self._check_role(path, "people")
        said = ("map", "winners", "sep", "label_sets", "leave_out", "where")
        fits = any(getattr(self.how, name) for name in said)
        how = fitting_options(self.how, _file_columns(path)) if fits else Reading()
        return read_as(path, how, unnamed=True).table if how.given else path

    def people_tables(self, paths: Sequence[Path] | None) -> Any:
        """Answers that a repeatable option for people's gave: the one table, or all of them; None without."""
        found = [self.people(path) for path in paths or ()]
        return found[0] if len(found) == 1 else found or None

    def _read_file(self, path: Path, elsewhere: set[str], phase: str | None) -> Any:
        how = self.how.of_file(str(path))
        if run_folder(path) is not None:
            if alien := sorted(replace(how, where=None, table=None, levels=None, positive=None).given):
                option = alien[0].replace("_", "-")
                raise InputError(f"{path}: a run's folder says how it is read; leave --{option} out")
            return select_rows(
                path, phase, how.where, answer=None if how.table is None else ANSWERS[how.table]
            )
        if how.map and elsewhere:
            own = _file_columns(path)
            how = replace(
                how, map={to: name for to, name in how.map.items() if name in own or name not in elsewhere}
            )
        if how.leave_out and elsewhere:
            own = _file_columns(path)
            left = tuple(name for name in how.leave_out if name in own or name not in elsewhere)
            how = replace(how, leave_out=left)
        if fitting_options(self.how, [*elsewhere]).winners:
            how = replace(how, winners=fitting_options(self.how, _file_columns(path)).winners)
        found = read_as(path, how)
        return found if phase is None else select_rows(found, phase)


def _file_columns(path: Path) -> tuple[str, ...]:
    """The columns of a file under its own names; none where it is no table."""
    if path.is_dir():
        return ()
    with open_source(path) as source:
        return source.columns() if source.head.shape in ("records", "table") else ()


def _read_settings(given: list[str]) -> dict[str, Any] | None:
    """Settings that ``--set`` gives; judges of single files are ``judge=FILE:NAME``."""
    judges: dict[str, str] = {}
    plain = []
    for text in given:
        name, _, value = text.partition("=")
        file, colon, judge = value.rpartition(":")
        if name.strip() == "judge" and colon and Path(file).suffix.lower() in _ENDINGS:
            judges[file] = judge
        else:
            plain.append(text)
    found: dict[str, Any] = dict(key_values("--set", plain))
    if judges:
        if "judge" in found:
            raise InputError("--set judge: give one judge for all files, or one for each as judge=FILE:NAME")
        found["judge"] = judges
    return found or None


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
    """Values of an option whose order says something, so that two of them are no longer list."""
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
    """What options of the form KEY=VALUE say, by key.

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
    found: dict[str, T] = {}
    problems = []
    for text in given:
        key, equals, value = text.rpartition("=") if last else text.partition("=")
        key = key.strip()
        try:
            if not equals or not key:
                raise ValueError
            kept = read(key, value)
        except ValueError:
            problems.append(f"{option} {text!r} is not {form}")
            continue
        if key in found:
            problems.append(f"{option} {name(key)} is given twice; give it once")
        found[key] = kept
    if problems:
        raise InputError(problems)
    return found
