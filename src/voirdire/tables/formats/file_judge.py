"""The judge of a file that names none: who is asked for, else the file's own name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked
from voirdire.tables.formats.rows import Note
from voirdire.tables.formats.source import Source

#: How a table is made of several files.
JOIN_FILES = "several files become one table by voirdire import FILE FILE --out FOLDER"
_PACKED = (".gz", ".zst")


def judge_of_file(source: Source, asked: Asked) -> tuple[str, list[Note]]:
    """The judge of a file with one judge's answers, and what is to be said of that.

    Parameters
    ----------
    source : Source
        The file; where another one that is read with it has the same name, the folder is part of the judge's.
    asked : Asked
        Who says ``judge`` names it.

    Raises
    ------
    InputError
        It comes from the standard input and nobody names the judge.
    """
    if asked.judge:
        return asked.judge, []
    if source.path == "-":
        raise InputError("standard input: it names no judge; say --set judge=NAME (judge=)")
    judge = _name_without_endings(source.path)
    same = [
        other
        for other in source.siblings
        if _name_without_endings(other.path) == judge and other.path != source.path
    ]
    if same:
        judge = f"{os.path.basename(os.path.dirname(os.path.abspath(source.path)))}/{judge}"
    more = "" if _several_files(source.siblings) else f"; {JOIN_FILES}"
    said = f"the file names no judge: its answers are those of {judge!r}, by the file's name"
    return judge, [Note(f"{source.name}: {said} (--set judge=NAME is another name){more}")]


def _name_without_endings(path: str) -> str:
    """A file's name without its endings."""
    name = os.path.basename(path)
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[0]


def _several_files(siblings: Sequence[Source]) -> bool:
    return len({os.path.abspath(other.path) for other in siblings}) > 1
