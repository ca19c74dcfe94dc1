"""Spreadsheets (XLSX): sheets of a workbook, choice of a sheet, and its rows, read in parts.

Names of parts and elements are those of ISO/IEC 29500, in its strict and its transitional namespaces.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats import failures
from voirdire.tables.formats.archive import member_pieces, open_archive
from voirdire.tables.formats.failures import convert_library_errors
from voirdire.tables.formats.sheet_cells import SheetReader, XmlEvent, is_date, unescape_text, xml_events

_DEFAULT_WORKBOOK_PART = "xl/workbook.xml"
_MAX_PART_BYTES = 2**24  # bytes of a part that describes the workbook
_MAX_SHOWN = 12


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook: its name, its part, and its visibility."""

    name: str
    part: str
    visible: bool


class Workbook:
    """A workbook.

    Parameters
    ----------
    path : str
        Path of the file.
    name : str
        Name of the file in messages.

    Raises
    ------
    InputError
        The file is damaged or encrypted.
    """

    def __init__(self, path: str, name: str) -> None:
        self._path, self.name = path, name
        self.sheets: list[Sheet] = []
        self._since_1904 = False
        self._targets: dict[str, str] = {}  # parts by kind
        with open_archive(path) as archive, convert_library_errors(path, "a spreadsheet"):
            self._read_workbook(archive)

    def _read_workbook(self, archive: zipfile.ZipFile) -> None:
        parts = {kind: target for kind, target, _ in _relations_of_part(archive, "")}
        workbook = parts.get("officeDocument", _DEFAULT_WORKBOOK_PART)
        relations = _relations_of_part(archive, workbook)
        self._targets = {kind: target for kind, target, _ in relations}
        by_id = {identity: (kind, target) for kind, target, identity in relations}
        members = set(archive.namelist())

        with _part_events(archive, workbook) as events:
            for tag, attributes, _ in events:
                if tag == "workbookPr" and attributes:
                    self._since_1904 = attributes.get("date1904") in ("1", "true")
                elif tag == "sheet" and attributes:
                    local_names = {name.rpartition(":")[2]: value for name, value in attributes.items()}
                    kind, target = by_id.get(local_names.get("id", ""), ("", ""))
                    if kind == "worksheet" and target in members:
                        visible = local_names.get("state", "visible") == "visible"
                        self.sheets.append(Sheet(unescape_text(local_names["name"]), target, visible))

    @contextmanager
    def _open_part(self, kind: str, *, is_description: bool = True) -> Iterator[Iterator[XmlEvent]]:
        with (
            open_archive(self._path) as archive,
            convert_library_errors(self._path, "a spreadsheet"),
            _part_events(archive, self._targets.get(kind, ""), is_description=is_description) as events,
        ):
            yield events

    @cached_property
    def _shared_texts(self) -> list[str]:
        """The shared texts."""
        texts: list[str] = []
        parts: list[str] = []
        with self._open_part("sharedStrings", is_description=False) as events:
            for tag, attributes, text in events:
                if tag == "t":
                    parts.append(text)
                elif tag == "si" and attributes is None:
                    texts.append(unescape_text("".join(parts)))
                    parts.clear()
        return texts

    @cached_property
    def _date_formats(self) -> list[bool]:
        """For each cell format, true if it is a date format."""
        codes: dict[int, str] = {}
        formats: list[int] = []
        within = False
        with self._open_part("styles") as events:
            for tag, attributes, _ in events:
                if tag == "cellXfs":
                    within = attributes is not None
                elif tag == "numFmt" and attributes:
                    codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
                elif tag == "xf" and within and attributes is not None:
                    formats.append(int(attributes.get("numFmtId", 0)))
        return [is_date(number, codes.get(number)) for number in formats]

    def rows(self, sheet: Sheet) -> Generator[tuple[int, list[Any]], None, None]:
        """The nonempty rows of a sheet with their numbers, filled up to the width of the first.

        Raises
        ------
        InputError
            The sheet is damaged; or, after the last row, for all faulty cells.
        """
        reader = SheetReader(self._shared_texts, self._date_formats, self._since_1904)
        width = 0
        with open_archive(self._path) as archive, _part_events(archive, sheet.part, is_description=False) as events:
            rows = reader.rows(events)
            while True:
                with convert_library_errors(self._path, f"a spreadsheet (sheet {sheet.name!r})"):
                    number, cells = next(rows, (0, None))
                if cells is None:
                    break
                while cells and cells[-1] == "" and len(cells) > width:
                    cells.pop()
                if any(cell != "" for cell in cells):
                    width = width or len(cells)
                    yield number, cells + [""] * (width - len(cells))
        if reader.faults:
            raise InputError([f"{self.name}: sheet {sheet.name!r}: {fault}" for fault in reader.faults])

    def has_cells(self, sheet: Sheet) -> bool:
        """True if a sheet has a nonempty cell."""
        try:
            with closing(self.rows(sheet)) as rows:
                return next(rows, None) is not None
        except InputError:
            return True  # a faulty cell, which is reported when the sheet is read

    def choose_sheet(self, sheet_name: str | None) -> tuple[Sheet, list[str]]:
        """Choose the sheet to read; return it with notes on the others.

        Parameters
        ----------
        sheet_name : str, optional
            Name of the sheet, or its number from 1; default: the only visible sheet with cells.

        Raises
        ------
        InputError
            There is no such sheet; or none or several have cells.
        """
        names = [sheet.name for sheet in self.sheets]
        shown = ", ".join(map(repr, names[:_MAX_SHOWN])) + (", ..." if len(names) > _MAX_SHOWN else "")
        if sheet_name is not None:
            if sheet_name in names:
                return self.sheets[names.index(sheet_name)], []
            if sheet_name.isascii() and sheet_name.isdigit() and 1 <= int(sheet_name) <= len(names):
                return self.sheets[int(sheet_name) - 1], []
            raise InputError(f"{self.name}: there is no sheet {sheet_name!r}; its sheets are {shown}")
        filled = [sheet for sheet in self.sheets if sheet.visible and self.has_cells(sheet)]
        if not filled:
            hidden = [sheet.name for sheet in self.sheets if not sheet.visible]
            remedy = f"; --sheet {hidden[0]!r} reads a hidden one" if hidden else ""
            raise InputError(f"{self.name}: no visible sheet has cells{remedy}")
        if len(filled) > 1:
            sheet_names = ", ".join(repr(sheet.name) for sheet in filled[:_MAX_SHOWN])
            raise InputError(
                f"{self.name}: {len(filled)} sheets have cells ({sheet_names}); say which one is read: --sheet "
                f"{filled[0].name!r} (sheet=)"
            )
        others = [
            f"{sheet.name!r} is {'empty' if sheet.visible else 'hidden'}"
            for sheet in self.sheets
            if sheet is not filled[0]
        ]
        notes = [f"{self.name}: sheet {filled[0].name!r} is read; {', '.join(others)}"] if others else []
        return filled[0], notes


def _relations_of_part(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """Kind, target and identifier of each relation of a part."""
    folder, name = posixpath.split(part)
    relations_part = posixpath.join(folder, "_rels", f"{name}.rels")
    relations: list[tuple[str, str, str]] = []
    with _part_events(archive, relations_part) as events:
        for tag, attributes, _ in events:
            if tag == "Relationship" and attributes and attributes.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))[1:]
                relations.append((attributes.get("Type", "").rpartition("/")[2], target, attributes.get("Id", "")))
    return relations


@contextmanager
def _part_events(archive: zipfile.ZipFile, part: str, *, is_description: bool = True) -> Iterator[Iterator[XmlEvent]]:
    """Begins and ends of the elements of a part, none without such a part; descriptions of the workbook are small."""
    if part not in archive.namelist():
        yield iter(())
        return
    limit = failures.streamed_size_limit(archive.getinfo(part).compress_size)
    limit = (failures.user_bound() or _MAX_PART_BYTES) if is_description else limit
    with closing(member_pieces(archive, part, limit)) as pieces:
        yield xml_events(pieces)
