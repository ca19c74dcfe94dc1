"""Import of files of tools into a folder of tables: votes.csv, scores.csv, labels.csv, anchors.csv, refused.csv."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from voirdire.folders import write_folder_atomically
from voirdire.layouts import Layout, recognise_text
from voirdire.tables.formats.imported import Imported
from voirdire.tables.reading import Reading, read_as

_ANCHOR_TABLES = {
    "anchors_votes.csv": recognise_text("first,second,winner"),
    "anchors_scores.csv": recognise_text("item,score"),
    "anchors_labels.csv": recognise_text("item,label"),
}


def _is_anchors(path: Path) -> bool:
    return any(recognises(path) for recognises in _ANCHOR_TABLES.values())


LAYOUT = Layout(
    "imported tables",
    {
        "votes.csv": recognise_text("judge,first,second,winner"),
        "scores.csv": recognise_text("judge,item,score"),
        "labels.csv": recognise_text("judge,item,label"),
        "rankings.csv": recognise_text("judge,item,rank"),
        "anchors.csv": _is_anchors,
        **_ANCHOR_TABLES,
        "refused.csv": recognise_text("place,reason"),
    },
)


def import_files(
    files: Sequence[str | os.PathLike[str]], out: str | Path, reading: Reading | None = None, *, overwrite: bool = False
) -> Imported:
    """Convert files of tools to tables, which are written while the files are read.

    Parameters
    ----------
    files : sequence of paths
    out : path
        A new or empty folder; only tables that have rows are written.
    reading : Reading, optional
        Options for reading the files; see :func:`voirdire.read`.
    overwrite : bool
        If true, tables of an earlier import may be replaced.

    Returns
    -------
    Imported
        Counts and notes; the rows are in the folder.

    Raises
    ------
    InputError
        As :func:`voirdire.read`, or the folder cannot be written; nothing is left behind then.
    """
    with write_folder_atomically(out, LAYOUT, overwrite=overwrite) as place:
        return read_as(list(files), reading or Reading(), folder=place)
