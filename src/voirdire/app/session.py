"""State of one window: its file, reading options, fits, and the user's answers; windows are independent."""

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

from voirdire.app.choices import Choices, asking_page, read_answers, read_choices, write_answers
from voirdire.app.fitting import Fitting
from voirdire.app.uploads import TABLE_NAME
from voirdire.errors import InputError
from voirdire.tables.doctor import Findings, examine_file

MAX_WINDOWS = 100  # windows at a time
BUSY_MESSAGE = "a fit is under way; stop it first"


@dataclass(frozen=True)
class FinishedFit:
    """A fit that has ended: its folder, its result for the page, and the number of the user's answers in it."""

    folder: Path
    outcome: dict[str, Any]
    answers: int


class Session:
    """State of one window.

    Parameters
    ----------
    folder : Path
        An empty folder for this window only.

    Attributes
    ----------
    name : str
        The user's name of the file.
    findings : Findings or None
        Content and reading of the file.
    given : dict of str to str
        The fields of the form as last sent.
    choices : Choices
    texts : Path or None
        A table of the items' texts.
    fitted : FinishedFit or None
        The last fit with a result.
    answers : list of dict
        The user's answers.
    problems : tuple of str
        Problems of the last request.
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
        """The running fit, or None; stores the result of a fit that has ended."""
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
        """Take a file as the table, and reset the window.

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
        """Take a file as the texts of items.

        Raises
        ------
        InputError
            The file lacks the columns id and text, or a text of an item in the questions.
        """
        with self.lock:
            questions = [] if self.fitted is None else self.fitted.outcome["questions"]
            if questions:
                asking_page(questions, texts, "", "")
            if self.texts is not None:
                shutil.rmtree(self.texts.parent, ignore_errors=True)
            self.texts = texts

    def apply_choices(self, fields: Mapping[str, str]) -> None:
        """Apply the fields of the form; read the file again if its reading options change.

        Raises
        ------
        InputError
            A fit is running, there is no file, or a field is invalid.
        """
        with self.lock:
            self._check_idle()
            self.given = dict(fields)
            chosen = read_choices(fields, self.columns)
            self.problems = ()
            if chosen.reading == self.choices.reading:
                self.choices = chosen
            else:
                self._examine_table(chosen)

    def begin_fit(self) -> None:
        """Start a fit with the current choices and answers.

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
        """Add the user's answers, and fit again.

        Raises
        ------
        InputError
            An answer belongs to no question, or a fit is running.
        """
        with self.lock:
            self._check_idle()
            questions = () if self.fitted is None else self.fitted.outcome["questions"]
            self.answers = [*self.answers, *read_answers(text, questions)]
            self.begin_fit()

    def forget_answers(self) -> None:
        """Delete the user's answers, and fit again.

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
        """Columns of the file by their role."""
        columns = () if self.findings is None else self.findings.columns
        return {column.read_as: column.name for column in columns if column.read_as}

    @property
    def reason_not_fittable(self) -> str:
        """Reason why the file cannot be fitted with its current reading; empty if it can."""
        if self.findings is None:
            return ""
        if self.findings.error is not None:
            return "the file cannot be read as it is"
        lack = self.findings.lacks.get("fit")
        return f"a fit needs {self.restore_file_name(lack)}" if lack else ""

    @property
    def command(self) -> str:
        """The equivalent command lines; empty without a file that can be fitted."""
        if self.findings is None or self.reason_not_fittable:
            return ""
        return self.choices.command(self.findings.command, bool(self.answers))

    def restore_file_name(self, text: str) -> str:
        """Replace the stored name of the file in a sentence by the user's name."""
        if self._table is None:
            return text
        return text.replace(os.fspath(self._table), self.name).replace(self._table.name, self.name)

    def end(self) -> None:
        """End the running fit, and remove the folder."""
        with self.lock:
            if self._fitting is not None:
                self._fitting.end_at_once()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _check_idle(self) -> None:
        if self.fitting is not None:
            raise InputError(BUSY_MESSAGE)

    def _examine_table(self, chosen: Choices) -> None:
        assert self._table is not None
        findings = examine_file(self._table, chosen.reading)
        if any(repr(TABLE_NAME) in sentence for sentence in findings.stands_out):
            # the file names no judge, whose name is then that of the file: the user's, not the stored one
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
    """States of all windows.

    Parameters
    ----------
    folder : Path
        The private folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._found: dict[str, Session] = {}

    def open_window(self) -> str:
        """Open a new window; at the limit, close the oldest window without a file.

        Raises
        ------
        InputError
            There are too many windows.
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

    def find_window(self, key: str) -> Session | None:
        """Return the state of a window; None if there is no such window."""
        return self._found.get(key)

    def close_all(self) -> None:
        """Close all windows."""
        with self._lock:
            for session in self._found.values():
                session.end()
            self._found.clear()


def shorten_problems(problems: Sequence[str], limit: int = 20) -> list[str]:
    """Return the first problems, and the number of further ones."""
    hidden = len(problems) - limit
    return [*problems[:limit], *([f"and {hidden:,} more"] if hidden > 0 else [])]
