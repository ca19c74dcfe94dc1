"""Every kind of bad votes table is refused with the place, the value and the remedy, all problems at once."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from voirdire import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables import read_votes

HEADER = "judge,first,second,winner\n"


def problems_of(table: object, **options: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_votes(table, **options)
    return caught.value.problems


def frame(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": "x", **columns}, index=range(3))


@pytest.fixture
def csv_file(tmp_path: Path):
    def write(content: str | bytes, name: str = "votes.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_the_winner_is_neither_an_outcome_nor_one_of_the_two_items() -> None:
    one = "winner 'A' is neither 'first', 'second', 'tie' nor one of the two items 'x', 'y'"
    assert problems_of(frame(winner=["x", "A", "y"])) == (f"votes: row 2: {one}",)
    assert problems_of(frame(winner=["A", "x", "A"])) == (f"votes: rows 1 and 3: {one}",)
    # An item that was not shown is no winner either, and the pair of the first such row is told.
    found = problems_of(frame(first=["x", "z", "w"], winner=["x", "x", "x"]))
    assert found == (
        "votes: rows 2 and 3: winner 'x' is neither 'first', 'second', 'tie' nor one of the two items "
        "'z', 'y' (in row 2)",
    )


@pytest.mark.parametrize(
    ("winner", "meant"), [("Frist", "first"), ("TIES", "tie"), ("secnd", "second"), ("Xenon 7b", "xenon 7B")]
)
def test_the_right_spelling_of_a_winner_is_suggested(winner: str, meant: str) -> None:
    (found,) = problems_of(frame(first="xenon 7B", winner=[winner, "first", "tie"]))
    assert found.startswith(f"votes: row 1: winner {winner!r} is neither")
    assert found.endswith(f"; did you mean {meant!r}?")


@pytest.mark.parametrize(("winner", "counts"), [("First", [1, 0, 0]), ("TIE", [0, 0, 1]), ("model_b", [0, 1, 0])])
def test_other_words_of_outcomes_are_taken_after_a_note(winner: str, counts: list[int]) -> None:
    said: list[str] = []
    with listen_for_notes(said.append):
        votes = read_votes(frame(winner=winner))
    assert votes.counts.tolist() == [[3 * count for count in counts]]
    assert [note.startswith(f"Winners are taken so: {winner!r} is") for note in said] == [True]


@pytest.mark.parametrize("item", ["model_b", "MODEL_B", " Model_B"])
def test_a_word_that_is_an_item_in_any_case_is_no_outcome(item: str) -> None:
    first = ["x", "x", item.strip()]
    (found,) = problems_of(frame(first=first, winner=["Model_b", "x", "first"]))
    assert found.startswith("votes: row 1: winner 'Model_b' is neither")


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [("x", "first", "first"), ("second", "x", "second"), ("tie", "x", "tie"), ("x", "tie", "tie")],
)
def test_an_item_named_like_an_outcome_is_refused_where_the_winner_is_ambiguous(
    first: str, second: str, winner: str
) -> None:
    found = problems_of(frame(first=first, second=second, winner=[winner] * 3))
    assert found == (
        f"votes: rows 1, 2 and 3: winner {winner!r} may mean the outcome {winner!r} or the item of that "
        "name; rename the item",
    )


def test_the_two_items_are_the_same() -> None:
    found = problems_of(frame(second=["y", "x", "y"]))
    assert found == ("votes: row 2: first and second are both 'x'; a vote is about two different items",)


def test_a_missing_column_and_the_nearest_name() -> None:
    assert problems_of(frame().rename(columns={"winner": "Winer"})) == (
        "votes: column 'winner' is missing; did you mean 'Winer'? The columns are 'judge', 'first', 'second', 'Winer' "
        "(--map winner=Winer)",
    )
    assert problems_of(frame(note="n", more="m").drop(columns="judge")) == (
        "votes: column 'judge' is missing; the columns are 'first', 'second', 'winner', 'note', 'more' "
        "(--map judge=COLUMN; --set judge=NAME where one judge gave all answers)",
    )
    assert problems_of(frame()[["judge", "first"]]) == (
        "votes: columns 'second' and 'winner' are missing; the columns are 'judge', 'first' "
        "(--map second=COLUMN,winner=COLUMN)",
    )
    two = frame().rename(columns={"first": "model", "second": "other"})
    assert problems_of(two)[0].endswith("'judge', 'model', 'other', 'winner' (--map first=model,second=other)")
    odd = frame().rename(columns={"first": "model_a_name", "judge": "which judge"})
    assert problems_of(odd)[0].endswith("(--map judge=which judge,first=model_a_name)")
    assert len(problems_of(pd.DataFrame())) == 1


def test_a_missing_column_does_not_hide_the_other_problems() -> None:
    table = frame(second=["y", "x", "y"], winner=["x", "x", "q"], first=["x", "x", None]).drop(columns="judge")
    assert problems_of(table) == (
        "votes: column 'judge' is missing; the columns are 'first', 'second', 'winner' "
        "(--map judge=COLUMN; --set judge=NAME where one judge gave all answers)",
        "votes: row 2: first and second are both 'x'; a vote is about two different items",
        "votes: row 3: first is empty",
    )


@pytest.mark.parametrize("column", ["judge", "first", "second", "winner", "criterion", "context"])
@pytest.mark.parametrize("value", [None, np.nan, pd.NA, pd.NaT, "", "  \t"])
def test_missing_values_in_any_needed_column(column: str, value: object) -> None:
    values = {"judge": "a", "first": "x", "second": "y", "winner": "x", "criterion": "c", "context": "p"}
    table = frame(**{**values, column: pd.Series([values[column], value, value], dtype=object)})
    assert problems_of(table) == (f"votes: rows 2 and 3: {column} is empty",)
    if isinstance(value, str):
        assert problems_of(pl.DataFrame({c: table[c].tolist() for c in table})) == (
            f"votes: rows 2 and 3: {column} is empty",
        )


def test_missing_values_of_every_kind_of_frame() -> None:
    columns = {"judge": ["a", None, "b"], "first": [1, 2, None], "second": [0.5, float("nan"), 0.25]}
    columns["winner"] = ["first", "second", "tie"]
    expected = ("votes: row 2: judge is empty", "votes: row 2: second is empty", "votes: row 3: first is empty")
    arrow = pa.table(columns)
    with duckdb.connect() as connection:
        for table in (
            pd.DataFrame(columns),
            pd.DataFrame(columns).convert_dtypes(),
            pl.DataFrame(columns),
            pl.LazyFrame(columns),
            arrow,
            connection.from_arrow(arrow),
        ):
            assert set(problems_of(table)) == set(expected)


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "null", "None", "<NA>", "NaT"])
def test_words_that_stand_for_a_missing_value(csv_file, word: str) -> None:
    assert problems_of(csv_file(f"{HEADER}a,x,y,x\n{word},x,y,x\n")) == (
        f"votes: row 2: judge is {word!r}, which stands for a missing value; fill it in, or rename it if it is a name",
    )


def test_repeated_problems_are_told_once() -> None:
    judges = [None if row % 7 == 3 else "a" for row in range(1, 301)]
    table = pd.DataFrame({"judge": judges, "first": "x", "second": "y", "winner": "x"})
    assert problems_of(table) == ("votes: rows 3, 10, 17 and 40 more: judge is empty",)


def test_white_space_does_not_make_two_judges_of_one(csv_file) -> None:
    assert problems_of(csv_file(f"{HEADER}b,x,y,x\na,x,y,x\n'a,x,y,x\na ,x,y,x\na,y,x,x\na ,y,x,x\n")) == (
        "votes: rows 4 and 6: judge 'a ' has white space at an end; remove it (row 2 has it without)",
    )
    assert problems_of(frame(winner=["x", " x", "x"])) == (
        "votes: row 2: winner ' x' has white space at an end; remove it (row 1 has it without)",
    )
    assert problems_of(frame(second="y\u00a0", winner="first")) == (
        "votes: rows 1, 2 and 3: second 'y\\xa0' has white space at an end; remove it",
    )


def test_unicode_forms_do_not_make_two_items_of_one() -> None:
    (found,) = problems_of(frame(first=["caf\u00e9", "x", "x"], second=["y", "y", "cafe\u0301"], winner="first"))
    assert found.startswith("votes: row 3: second 'cafe\u0301' looks like the first 'caf\u00e9' but")


@pytest.mark.parametrize(
    ("value", "kind"), [(["x"], "list"), ({"a": 1}, "dict"), (b"x", "bytes"), ((1, 2), "tuple"), (1j, "complex")]
)
def test_values_that_are_no_names(value: object, kind: str) -> None:
    table = frame(judge=pd.Series(["a", value, "a"], dtype=object))
    assert problems_of(table) == (f"votes: row 2: judge is a {kind}, which is not a name; write it as text",)


def test_infinite_numbers_are_no_names() -> None:
    assert problems_of(frame(judge=[1.0, np.inf, 2.0])) == ("votes: row 2: judge is inf, which is not a name",)


def test_names_outside_the_known_ones() -> None:
    assert problems_of(frame(judge=["gpt-4", "gpt4", "b"]), judges=["gpt-4", "b"], items=["x", "y", "z"]) == (
        "votes: row 2: judge 'gpt4' is none of the 2 known ones; did you mean 'gpt-4'?",
    )
    assert problems_of(frame(), items=["x"]) == ("votes: rows 1, 2 and 3: second 'y' is none of the 1 known ones",)
    assert problems_of(frame(criterion="d"), criteria=["c"]) == (
        "votes: rows 1, 2 and 3: criterion 'd' is none of the 1 known ones",
    )
    assert problems_of(frame(), criteria=["c", "d"]) == (
        "votes: column 'criterion' is missing; the known criteria are c, d",
    )


def test_no_votes(csv_file) -> None:
    assert problems_of(csv_file(HEADER)) == ("votes: there are no votes",)
    assert problems_of(frame().iloc[:0]) == ("votes: there are no votes",)
    assert problems_of(pl.DataFrame(frame().to_dict("list")).clear()) == ("votes: there are no votes",)
    path = csv_file("")
    assert problems_of(path) == (f"votes: file {str(path)!r} is empty",)
    path = csv_file("\n\n")
    assert problems_of(path) == (f"votes: file {str(path)!r} is empty",)
    path = csv_file("", "votes.parquet")
    assert problems_of(path) == (f"votes: file {str(path)!r} is empty",)


def test_paths_that_are_no_files(tmp_path: Path, csv_file) -> None:
    missing = tmp_path / "none.csv"
    assert problems_of(missing) == (f"votes: file {str(missing)!r} does not exist",)
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert problems_of(folder) == (f"votes: {str(folder)!r} is a folder; give a file",)
    for name in ("run.json", "arrays.npz"):
        (folder / name).touch()
    assert "a folder of a saved fit, which voirdire report, predict, update" in problems_of(folder)[0]
    path = csv_file("x", "votes.xlsx")  # what is in it counts, not its name
    assert "the columns are 'x' (" in problems_of(path)[0]
    (found,) = problems_of("x" * 5000 + ".csv")
    assert found.startswith("votes: file 'xxx")
    assert found.endswith("name too long")
    (found,) = problems_of("votes\0.csv")
    assert found == "votes: file 'votes\\x00.csv' does not exist"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(csv_file) -> None:
    path = csv_file(HEADER)
    path.chmod(0)
    assert problems_of(path) == (f"votes: file {str(path)!r} cannot be read: Permission denied",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bytes(range(256)), "is not text: it has zero bytes"),
        (b"\x89PNG\r\n\x1a\n\xff", "is not UTF-8: line 1 has the byte 0x89; save it as UTF-8"),
        (
            f"{HEADER}a,x,y,x\na,caf\xe9,y,tie\n".encode("latin-1"),
            "is not UTF-8: line 3 has the byte 0xe9; save it as UTF-8",
        ),
        (HEADER.encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        (b"PK\x03\x04rest", "is a zip archive or a spreadsheet; export it as CSV"),
        (b"PAR1rest", "is a Parquet file; name it .parquet"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_files_that_are_not_text(csv_file, content: bytes, message: str, ending: str) -> None:
    path = csv_file(content, f"votes.{ending}")
    assert problems_of(path) == (f"votes: file {str(path)!r} {message}",)


def test_ragged_lines_and_bad_cells_of_a_csv_are_told_together(csv_file) -> None:
    path = csv_file(f'{HEADER}a,x,"y\nz",x\na,x,y\na,x,y,q\n\na,x\na,x,y,x,x\n,x,y,x\nb,x,y\n')
    assert problems_of(path, name="my votes") == (
        "my votes: lines 4 and 10: 3 fields, where the header has 4",
        "my votes: line 7: 2 fields, where the header has 4",
        "my votes: line 8: 5 fields, where the header has 4",
        "my votes: row 3 (line 5): winner 'q' is neither 'first', 'second', 'tie' nor one of the two items 'x', 'y'",
        "my votes: row 6 (line 9): judge is empty",
    )


def test_a_quotation_mark_that_is_left_open(csv_file) -> None:
    (found,) = problems_of(csv_file(f'{HEADER}a,x,y,x\na,"x,y,x\na,x,y,x\n'))
    assert found.startswith("votes: line 4 is not CSV: ")
    assert found.endswith("is a quotation mark left open?")


def test_columns_that_are_not_separated_by_commas(csv_file) -> None:
    assert problems_of(csv_file(HEADER.replace("winner", "won").replace(",", ";"))) == (
        "votes: the header 'judge;first;second;won' has no commas; separate the columns by commas",
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_separators_and_compressed_files_are_read(csv_file, pack) -> None:
    rows = f"{HEADER}a,x,y,x\na,y,x,tie\n"
    for text, name in (
        (rows, "votes.csv.gz"),
        (rows.replace(",", ";"), "votes.csv"),
        (rows.replace(",", "\t"), "v.tsv"),
    ):
        votes = read_votes(csv_file(pack(text.encode()), name))
        assert (votes.items, votes.row_outcome.tolist()) == (("x", "y"), [0, 2])
    (found,) = problems_of(csv_file(pack(f"{rows}a,x,y,q\n".replace(",", ";").encode())))
    assert found.startswith("votes: row 3: winner 'q' is neither")


def test_a_column_that_occurs_twice(csv_file) -> None:
    twice = csv_file("judge,first,second,winner,first\na,x,y,x,z\n")
    assert problems_of(twice) == ("votes: column 'first' occurs 2 times; keep one, or rename one",)
    # Columns that are not needed may be called anything, such as the nameless ones of a spreadsheet.
    assert read_votes(csv_file("judge,first,second,winner,,\na,x,y,x,1,2\n")).rows == 1
    table = frame(other="z").rename(columns={"other": "first"})
    (found,) = problems_of(table)
    assert found.startswith("votes: a column name occurs twice: ")
    assert "'first'" in found
    (found,) = problems_of(pa.Table.from_arrays([pa.array(["x"])] * 2, names=["judge", "judge"]))
    assert "'judge'" in found


def test_broken_lines_of_jsonl(csv_file) -> None:
    good = '{"judge": "a", "first": "x", "second": "y", "winner": "x"}\n'
    lines = [
        good,
        good[:20] + "\n",
        "\n",
        "[1, 2]\n",
        '{"judge": "a", "judge": "b"}\n',
        good.replace('"y"', "NaN"),
        '{"judge": "a", "first": "x", "second": "y"}\n',
        good.replace('"a"', '["a"]'),
    ]
    found = problems_of(csv_file("".join(lines), "votes.jsonl"))
    assert found[0].startswith("votes: line 2: not a JSON object: ")
    assert found[1:] == (
        "votes: line 4: not a JSON object: a list instead of an object; write one {...} per line",
        "votes: line 5: not a JSON object: the key 'judge' occurs twice",
        "votes: row 5: second is empty",
        "votes: row 6: winner is empty",
        "votes: row 7: judge is a list, which is not a name; write it as text",
    )
    assert problems_of(csv_file('"only text"\n', "votes.ndjson")) == (
        "votes: line 1: not a JSON object: a str instead of an object; write one {...} per line",
    )
    assert len(problems_of(csv_file("{}\n", "votes.ndjson"))) == 1


def test_a_corrupt_parquet_file(csv_file, tmp_path: Path) -> None:
    path = tmp_path / "good.parquet"
    frame().to_parquet(path)
    content = path.read_bytes()
    ends = content[:4] + b"\xff" * 60 + content[64:]
    for bad in (content[: len(content) // 2], b"judge,first\n", ends, b"PAX1" + content[4:]):
        (found,) = problems_of(csv_file(bad, "votes.parquet"))
        assert found.startswith(f"votes: file {str(tmp_path / 'votes.parquet')!r} cannot be read as Parquet: ")
        assert "\n" not in found


@pytest.mark.parametrize("table", [None, 3, {"judge": ["a"]}, [["a", "x", "y", "x"]], pd.Series(["a"]), np.eye(2)])
def test_objects_that_are_no_tables(table: object) -> None:
    assert problems_of(table) == (
        f"votes: {type(table).__name__} is not a kind of table; give the path of a CSV, Parquet or JSONL "
        "file, or a dataframe (pandas, Polars, PyArrow, DuckDB)",
    )


@pytest.mark.slow
def test_a_table_wrong_throughout_is_refused_in_time() -> None:
    count = 100_000
    table = pd.DataFrame({"judge": [f"j{n} " for n in range(count)], "first": "x", "second": "y"})
    table["winner"] = [f"w{n}" for n in range(count)]
    found = problems_of(table)
    assert len(found) == 2 * count
    assert found[0].startswith("votes: row 1: judge 'j0 ' has white space")
    assert found[-1].startswith(f"votes: row {count}: winner 'w{count - 1}' is neither")
