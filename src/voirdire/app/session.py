"""Work of one window: its file, how that is read, its fits, the answers of its person; windows stand apart."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from voirdire.app.choices import Choices, read_choices
from voirdire.app.fitting import Fitting
from voirdire.app.people import asking_page, read_answers, write_answers
from voirdire.app.uploads import TABLE_NAME
from voirdire.errors import InputError
from voirdire.tables.doctor import Findings, examine_file

MAX_WINDOWS = 100  # windows at a time
BUSY_MESSAGE = "a fit is under way; stop it first"


@dataclass(frozen=True)
class FinishedFit:
    """A fit that has ended: its folder, what the page says of it, and how many answers of the person are in it."""

    folder: Path
    outcome: dict[str, Any]
    answers: int


class Session:
    """The work of one window.

    Parameters
    ----------
    folder : Path
        An empty folder of its own.

    Attributes
    ----------
    name : str
        What the file is called by its sender.
    findings : Findings or None
        How the file is read.
    given : dict of str to str
        The fields of the form as they were last sent.
    choices : Choices
    texts : Path or None
        A table of the items' texts.
    fitted : FinishedFit or None
        The last fit that ended with a result.
    answers : list of dict
        Answers of the person.
    problems : tuple of str
        What was wrong with the last request.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.name = ""
        self.findings: Findings | None = None
        self.given: dict[str, str] = {}
        self.choices = Choices()
        self.texts: Path | None = None
        self.fitted: FinishedFit | None = None
        self.answers: list[dict[str, str]] = []
        self.problems: tuple[str, ...] = ()
        self._table: Path | None = None
        self._fitting: Fitting | None = None
        self._count = 0

    @property
    def fitting(self) -> Fitting | None:
        """The fit under way; the result of one that has ended is stored first."""
        with self.lock:
            ended = self._fitting
            if ended is None or ended.running:
                return ended
            self._fitting = None
            if ended.outcome is None:
                self.problems = tuple(map(self.restore_file_name, ended.problems))
            else:
                self.fitted, self.problems = FinishedFit(ended.out, ended.outcome, len(self.answers)), ()
            return None

    def take_file(self, table: Path, name: str) -> None:
        """Take a file for the table, in the place of all that was there.

        Raises
        ------
        InputError
            A fit is under way, or the file is damaged.
        """
        with self.lock:
            self._check_idle()
            if self._table is not None:
                shutil.rmtree(self._table.parent, ignore_errors=True)
            self._table, self.name, self.findings, self.fitted, self.answers = table, name, None, None, []
            self.given, self.choices, self.problems, self.texts = {}, Choices(), (), None
            try:
                self._examine_table(self.choices)
            except InputError as error:
                problems = tuple(map(self.restore_file_name, error.problems))
                self._table, self.name = None, ""
                raise InputError(problems) from None

    def take_texts(self, texts: Path) -> None:
        """Take a file for the texts of items.

        Raises
        ------
        InputError
            It has no columns id and text, or not for all that is asked about.
        """
        with self.lock:
            questions = [] if self.fitted is None else self.fitted.outcome["questions"]
            if questions:
                asking_page(questions, texts, "", "")
            if self.texts is not None:
                shutil.rmtree(self.texts.parent, ignore_errors=True)
            self.texts = texts

    def choose(self, given: Mapping[str, str]) -> None:
        """Take the fields of the form, and read the file anew where they say how.

        Raises
        ------
        InputError
            A fit is under way, there is no file, or a field is not as it is to be.
        """
        with self.lock:
            self._check_idle()
            self.given = dict(given)
            chosen = read_choices(given, self.columns)
            self.problems = ()
            if chosen.reading == self.choices.reading:
                self.choices = chosen
            else:
                self._examine_table(chosen)

    def begin_fit(self) -> None:
        """Begin a fit by the choices, with the answers so far.

        Raises
        ------
        InputError
            A fit is under way, or the file cannot be fitted.
        """
        with self.lock:
            self._check_idle()
            if self.findings is None or self.reason_not_fittable:
                raise InputError(self.reason_not_fittable or "choose a file first")
            self._count += 1
            out = self.folder / f"fit-{self._count}"
            out.mkdir(mode=0o700)
            if self.answers:
                write_answers(self.answers, out / "answers.csv")
            order = {
                "table": str(self._table),
                "reading": self.choices.reading.set_options,
                "settings": self.choices.settings,
                "anchors": str(out / "answers.csv") if self.answers else None,
                "out": str(out),
            }
            self.problems = ()
            self._fitting = Fitting(order, out / "log.txt")

    def take_answers(self, text: str) -> None:
        """Add answers of the person to those so far, and fit again.

        Raises
        ------
        InputError
            They are none to what was asked, or a fit is under way.
        """
        with self.lock:
            self._check_idle()
            questions = () if self.fitted is None else self.fitted.outcome["questions"]
            self.answers = [*self.answers, *read_answers(text, questions)]
            self.begin_fit()

    def forget_answers(self) -> None:
        """Forget the answers of the person, and fit again.

        Raises
        ------
        InputError
            A fit is under way.
        """
        with self.lock:
            self._check_idle()
            self.answers = []
            self.begin_fit()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file."""
        return () if self.findings is None else tuple(column.name for column in self.findings.columns)

    @property
    def roles(self) -> dict[str, str]:
        """Columns of the file by what they are read as."""
        columns = () if self.findings is None else self.findings.columns
        return {column.read_as: column.name for column in columns if column.read_as}

    @property
    def reason_not_fittable(self) -> str:
        """Reason why the file cannot be fitted as it is read; empty where it can."""
        if self.findings is None:
            return ""
        if self.findings.error is not None:
            return "the file cannot be read as it is"
        lack = self.findings.lacks.get("fit")
        return f"a fit needs {self.restore_file_name(lack)}" if lack else ""

    @property
    def command(self) -> str:
        """The command lines that do the same; empty before there is a file that can be fitted."""
        if self.findings is None or self.reason_not_fittable:
            return ""
        return self.choices.command(self.findings.command, bool(self.answers))

    def restore_file_name(self, text: str) -> str:
        """Replace our name of the file in a sentence by its sender's."""
        if self._table is None:
            return text
        return text.replace(os.fspath(self._table), self.name).replace(self._table.name, self.name)

    def end(self) -> None:
        """End what is under way, and remove all."""
        with self.lock:
            if self._fitting is not None:
                self._fitting.end()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _check_idle(self) -> None:
        if self.fitting is not None:
            raise InputError(BUSY_MESSAGE)

    def _examine_table(self, chosen: Choices) -> None:
        assert self._table is not None
        findings = examine_file(self._table, chosen.reading)
        if any(repr(TABLE_NAME) in sentence for sentence in findings.stands_out):
            # the file names no judge, who is then called as the file: by its sender, not by us
            judge = self.name.removeprefix("./").split(".")[0] or self.name
            self.given = {**self.given, "judge": judge}
            chosen = replace(chosen, reading=replace(chosen.reading, set={"judge": judge}))
            findings = examine_file(self._table, chosen.reading)
        self.choices = chosen
        quoted_path = quote(os.fspath(self._table))
        self.findings = replace(
            findings,
            file=self.name,
            stands_out=tuple(map(self.restore_file_name, findings.stands_out)),
            error=None if findings.error is None else self.restore_file_name(findings.error),
            command=findings.command.replace(quoted_path, quote(self.name), 1),
        )


class Sessions:
    """The work of all windows.

    Parameters
    ----------
    folder : Path
        The private folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._found: dict[str, Session] = {}

    def new(self) -> str:
        """Begin the work of a new window; the oldest that has no file makes room.

        Raises
        ------
        InputError
            There are too many.
        """
        with self._lock:
            if len(self._found) >= MAX_WINDOWS:
                idle = [key for key, session in self._found.items() if session.findings is None]
                if not idle:
                    raise InputError(f"{MAX_WINDOWS} windows hold a file; end voirdire app and start it anew")
                self._found.pop(idle[0]).end()
            key = secrets.token_urlsafe(12)
            folder = self._folder / key
            folder.mkdir(mode=0o700)
            self._found[key] = Session(folder)
            return key

    def get(self, key: str) -> Session | None:
        """The work of a window; None where there is none of that name."""
        return self._found.get(key)

    def end(self) -> None:
        """End the work of all windows."""
        with self._lock:
            for session in self._found.values():
                session.end()
            self._found.clear()


def shorten_problems(problems: Sequence[str], most: int = 20) -> list[str]:
    """Problems to be shown: the first of them, and how many more there are."""
    hidden = len(problems) - most
    return [*problems[:most], *([f"and {hidden:,} more"] if hidden > 0 else [])]
