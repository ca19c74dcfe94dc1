"""Spreadsheets: which sheet is read, what stands in its cells, and what is no data."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from voirdire import InputError, read
from voirdire.tables import read_scores
from voirdire.tables.formats.source import open_source

HEADER = ["judge", "item", "score"]
ROWS = [["a", "x", 1], ["b", "x", 2.5]]


def book(path: Path, **sheets: list[list[Any]]) -> openpyxl.Workbook:
    """A workbook with sheets of rows, which is saved."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return made


def records(path: Path, **how: Any) -> list[dict[str, Any]]:
    with open_source(path, **how) as source:
        return [record if isinstance(record, dict) else {"refused": record} for _, record in source.records()]


def refusal(path: Path, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        records(path, **how)
    return str(caught.value)


def test_the_only_sheet_with_cells_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    made = book(path, Empty=[], Old=[HEADER, ["z", "z", 9]], Scores=[HEADER, *ROWS])
    made["Old"].sheet_state = "hidden"
    made.save(path)
    with open_source(path) as source:
        assert source.notes == ["scores.xlsx: sheet 'Scores' is read; 'Empty' is empty, 'Old' is hidden"]
    found = read(path)
    assert found.table["judge"].tolist() == ["a", "b"]
    assert "scores.xlsx: sheet 'Scores' is read; 'Empty' is empty, 'Old' is hidden" in found.notes
    made["Scores"].sheet_state = "veryHidden"
    made.save(path)
    assert "no visible sheet has cells; --sheet 'Old' reads a hidden one" in refusal(path)
    assert records(path, sheet="Old") == [{"judge": "z", "item": "z", "score": 9}]


def test_several_sheets_are_refused_by_name_until_one_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    book(path, March=[HEADER, *ROWS], April=[HEADER, ["c", "y", 3]])
    assert "2 sheets have cells ('March', 'April'); say which one is read: --sheet 'March'" in refusal(path)
    for name in ("April", "2"):
        assert records(path, sheet=name) == [{"judge": "c", "item": "y", "score": 3}]
    assert "there is no sheet 'May'; its sheets are 'March', 'April'" in refusal(path, sheet="May")
    assert "no sheet '3'" in refusal(path, sheet="3")
    renamed = tmp_path / "scores.csv"
    renamed.write_bytes(path.read_bytes())
    for door in (read, read_scores):
        with pytest.raises(InputError, match=r"--sheet 'March' \(sheet=\)"):
            door(renamed)
    assert read(renamed, sheet="April").table["score"].tolist() == [3]
    text = tmp_path / "scores.csv"
    text.write_text("judge,item,score\na,x,1\n")
    assert "is no spreadsheet" in refusal(text, sheet="March")


def test_cells_are_what_stands_in_them(tmp_path: Path) -> None:
    path = tmp_path / "cells.xlsx"
    values: list[Any] = [
        "a b\nc", 7, 2.0, 0.1, True, dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12, 30), dt.time(6, 15), "007",
        "1.0", -3, 1e-7, "é\u2028", "=x", " spaced ", 12345678901, "_x0041_", None,
    ]  # fmt: skip
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.append([f"c{at}" for at in range(len(values))])
    for at, value in enumerate(values, start=1):
        cell = sheet.cell(2, at, value)
        if value == "=x":
            cell.data_type = "s"  # a text that is no formula
    made.save(path)
    (record,) = records(path)
    got = list(record.values())
    assert got == [
        "a b\nc", 7, 2, 0.1, True, "2026-01-31", "2026-01-31T12:30:00", "06:15:00", "007", "1.0", -3, 1e-7, "é\u2028",
        "=x", " spaced ", 12345678901, "A", "",
    ]  # fmt: skip
    assert [type(value) for value in got[1:5]] == [int, int, float, bool]


@pytest.mark.parametrize(
    "epoch", [openpyxl.utils.datetime.CALENDAR_WINDOWS_1900, openpyxl.utils.datetime.CALENDAR_MAC_1904]
)
def test_dates_are_those_of_another_reader(tmp_path: Path, epoch: Any) -> None:
    path = tmp_path / "dates.xlsx"
    days = [
        dt.datetime(1904, 1, 2),
        dt.datetime(1970, 1, 1),
        dt.datetime(2026, 2, 28, 23, 59, 59),
        dt.datetime(9999, 12, 31),
    ]
    made = openpyxl.Workbook()
    made.epoch = epoch
    made.active.append(["day"])
    for day in days:
        made.active.append([day])
    made.save(path)
    want = [day.isoformat() if day.time() != dt.time() else day.date().isoformat() for day in days]
    assert [record["day"] for record in records(path)] == want


def formula(sheet: Worksheet) -> None:
    sheet["C3"] = "=1+1"


def merged(sheet: Worksheet) -> None:
    sheet.merge_cells("A2:A3")


def error(sheet: Worksheet) -> None:
    sheet["C2"] = "#N/A"


def date(sheet: Worksheet) -> None:
    sheet["C2"] = -5
    sheet["C2"].number_format = "yyyy-mm-dd"


FAULTS: dict[str, tuple[Callable[[Worksheet], None], str]] = {
    "a formula that was never computed": (formula, "cell C3 holds a formula without a stored value"),
    "merged cells": (merged, "cells A2:A3 are merged"),
    "an error": (error, "cell C2 holds #N/A"),
    "a date before all dates": (date, "cell C2: -5 is beyond all dates"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_no_data_is_said_with_its_cell(tmp_path: Path, name: str) -> None:
    make, said = FAULTS[name]
    path = tmp_path / "scores.xlsx"
    made = book(path, Scores=[HEADER, *ROWS])
    make(made["Scores"])
    made.save(path)
    for door in (read, read_scores):
        with pytest.raises(InputError, match="sheet 'Scores'") as caught:
            door(path)
        assert said in str(caught.value)


def test_all_cells_that_are_no_data_are_said_together(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    made = book(path, Scores=[HEADER, *ROWS])
    for make, _ in FAULTS.values():
        make(made["Scores"])
    made.save(path)
    with pytest.raises(InputError) as caught:
        read(path)
    assert len(caught.value.problems) == 3  # the date takes the place of the error


def test_a_stored_value_of_a_formula_is_read(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    made = book(path, Scores=[HEADER, *ROWS])
    formula(made["Scores"])
    made.save(path)
    change(path, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>", b"<f>1+1</f><v />")
    assert [record["score"] for record in records(path)] == [1, 2]


def change(path: Path, member: str, new_at: bytes, new: bytes, *others: bytes) -> None:
    """Replace what stands in a member of an archive."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    whole = parts[member]
    for old in (new_at, *others):
        whole = whole.replace(old, new)
    assert whole != parts[member]
    parts[member] = whole
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def test_more_rows_than_the_sheet_says_are_read(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    book(path, Scores=[HEADER, *ROWS])
    change(path, "xl/worksheets/sheet1.xml", b'<dimension ref="A1:C3"', b'<dimension ref="A1:B2"')
    assert len(records(path)) == 2
    assert [record["score"] for record in records(path)] == [1, 2.5]


HOSTILE = {
    "rows twice": (b'<row r="3"', b'<row r="2"'),
    "a row beyond the last": (b'<row r="3"', b'<row r="99999999999"'),
    "a cell beyond the last": (b'r="C3"', b'r="XFE3"'),
    "a cell of another row": (b'r="C3"', b'r="C9"'),
    "a cell twice": (b'r="C3"', b'r="B3"'),
    "no XML": (b"</row>", b"</rov>"),
    "entities": (b"<worksheet", b'<!DOCTYPE x [<!ENTITY y "z">]><worksheet'),
    "a shared text that is missing": (b't="inlineStr"><is><t>a</t></is>', b't="s"><v>99</v>'),
    "a number that is none": (b"<v>2.5</v>", b"<v>2_5</v>"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_sheets_that_are_damaged_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "scores.xlsx"
    book(path, Scores=[HEADER, *ROWS])
    change(path, "xl/worksheets/sheet1.xml", *HOSTILE[name])
    assert "scores.xlsx" in refusal(path)


STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
SHARED = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="xl/wb.xml"/></Relationships>',
    "xl/wb.xml": (
        f'<x:workbook xmlns:x="{STRICT}" xmlns:q="q"><x:sheets><x:sheet name="One" q:id="r1"/></x:sheets></x:workbook>'
    ),
    "xl/_rels/wb.xml.rels": (
        '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="/xl/s.xml"/>'
        '<Relationship Id="r2" Type="x/sharedStrings" Target="t.xml"/></Relationships>'
    ),
    "xl/t.xml": (
        f'<x:sst xmlns:x="{STRICT}"><x:si><x:t>judge</x:t></x:si><x:si><x:r><x:t xml:space="preserve">lab</x:t></x:r>'
        "<x:r><x:t>el</x:t></x:r></x:si><x:si><x:t>東京</x:t><x:rPh sb='0' eb='2'><x:t>トウキョウ</x:t></x:rPh></x:si>"
        "<x:si/></x:sst>"
    ),
    "xl/s.xml": (
        f'<x:worksheet xmlns:x="{STRICT}"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c>'
        '<x:c t="s"><x:v>1</x:v></x:c></x:row>'
        '<x:row><x:c t="s"><x:v>2</x:v></x:c><x:c t="str"><x:f>A1</x:f><x:v>a&amp;b</x:v></x:c></x:row>'
        '<x:row><x:c t="s"><x:v>3</x:v></x:c><x:c t="b"><x:v>0</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    ),
}


@pytest.mark.parametrize("parts", [1, 300])
def test_a_text_beyond_the_limit_is_refused_with_its_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    monkeypatch.setattr("voirdire.tables.formats.failures.record_bound", lambda: 4000)
    book(tmp_path / "long.xlsx", votes=[["judge", "first", "second", "winner"], ["a", "x", "y", "x"]])
    run = b"<r><t>" + b"x" * (6000 // parts) + b"</t></r>"
    text = b't="inlineStr"><is>' + run * parts + b"</is></c>"
    change(tmp_path / "long.xlsx", "xl/worksheets/sheet1.xml", b't="inlineStr"><is><t>a</t></is></c>', text)
    assert "cell A2 has a text of more than 4,000 bytes" in refusal(tmp_path / "long.xlsx")


def test_shared_texts_prefixes_and_cells_without_places(tmp_path: Path) -> None:
    path = tmp_path / "shared.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in SHARED.items():
            archive.writestr(name, text)
    assert records(path) == [{"judge": "東京", "label": "a&b"}, {"judge": "", "label": False}]


def test_rows_that_are_longer_than_the_header_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    book(path, Scores=[[None, None], HEADER, [], ["a", "x", 1], ["b", "x", 2, "more"], ["c", "x"]])
    assert records(path) == [
        {"judge": "a", "item": "x", "score": 1},
        {"refused": "4 fields, where the header has 3"},
        {"judge": "c", "item": "x", "score": ""},
    ]


@pytest.mark.parametrize("wide", [False, True])
def test_columns_that_stand_twice_are_refused(tmp_path: Path, wide: bool) -> None:
    path = tmp_path / "scores.xlsx"
    for twice in ("ann", "ann "):
        book(path, Scores=[["item", "ann", twice], ["x", 1, 2]])
        with pytest.raises(InputError, match="column 'ann' occurs 2 times; keep one"):
            read(path, wide="judge" if wide else None)


def test_spreadsheets_under_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "scores.xlsx"
    book(real, Scores=[HEADER, *ROWS])
    for name, data in (
        ("data.csv", real.read_bytes()),
        ("data", real.read_bytes()),
        ("d.xlsx.gz", gzip.compress(real.read_bytes())),
    ):
        (tmp_path / name).write_bytes(data)
        assert read_scores(tmp_path / name).score.tolist() == [1, 2.5]
        assert read(tmp_path / name).table["score"].tolist() == [1, 2.5]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(real.read_bytes())))
    assert read_scores("-").score.tolist() == [1, 2.5]
    text = tmp_path / "text.xlsx"
    text.write_text("judge,item,score\na,x,4\n")
    assert read_scores(text).score.tolist() == [4]


OTHERS = {
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, r"before 2007 \(.xls\) or one with a password"),
    "binary.xlsb": ({"xl/workbook.bin": b"x"}, r"binary spreadsheet \(.xlsb\); save it as .xlsx"),
    "open.ods": ({"mimetype": b"x", "content.xml": b"<x/>"}, r"OpenDocument file \(.ods\)"),
    "cut.xlsx": (b"PK\x03\x04" + b"x" * 50, "cannot be read as an archive"),
    "empty.xlsx": ({"xl/workbook.xml": b"<workbook/>"}, "no visible sheet has cells"),
    "odd.xlsx": ({"xl/workbook.xml": b"<workbook"}, "cannot be read as a spreadsheet"),
    "twice.gz": (gzip.compress(gzip.compress(b"judge,item\n")), "compressed twice"),
    "table.bz2": (b"BZh91AY&SY" + b"x" * 50, "bzip2"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_named(tmp_path: Path, name: str) -> None:
    content, said = OTHERS[name]
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in content.items():
                archive.writestr(member, data)
    for door in (read, read_scores):
        with pytest.raises(InputError, match=said):
            door(path)


def test_a_sheet_of_random_cells_is_that_of_another_reader(tmp_path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    pool: list[Any] = [
        "a",
        "b\n",
        "é",
        "0",
        "1.5",
        "",
        None,
        1,
        2.5,
        1e20,
        -0.25,
        True,
        dt.date(2024, 2, 29),
        "x" * 300,
    ]
    for seed in range(20):
        width, height = rng.integers(1, 6), rng.integers(1, 20)
        rows = [[pool[rng.integers(len(pool))] for _ in range(width)] for _ in range(height)]
        path = tmp_path / f"{seed}.xlsx"
        book(path, Scores=[[f"c{at}" for at in range(width)], *rows])
        want = [row for row in rows if any(cell not in (None, "") for cell in row)]
        got = [list(record.values()) for record in records(path)]
        frame = pd.read_excel(path, dtype=object, keep_default_na=False, na_values=[])
        assert len(got) == len(want) <= len(frame)
        for have, row in zip(got, want, strict=True):
            plain = ["" if cell is None else cell.isoformat() if isinstance(cell, dt.date) else cell for cell in row]
            assert have == plain
