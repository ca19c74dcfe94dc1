"""Votes are read alike from every format and counted as a plain loop counts them."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from voirdire import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables import Votes, read_votes
from voirdire.tables.counts import count_votes
from voirdire.tables.encode import cell_to_name

FIELDS = [
    *("judges", "criteria", "items", "judge", "criterion", "first", "second", "counts"),
    *("row_cell", "row_outcome", "contexts", "row_context", "has_criteria"),
]
WORDS = ("first", "second", "tie")


def assert_same(one: Votes, other: Votes) -> None:
    for field in FIELDS:
        a, b = getattr(one, field), getattr(other, field)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype == np.int64, field
            np.testing.assert_array_equal(a, b, err_msg=field)
        else:
            assert a == b, field


def cell_counts(votes: Votes) -> dict[tuple[str, str, str, str], tuple[int, ...]]:
    codes = zip(votes.judge, votes.criterion, votes.first, votes.second, votes.counts, strict=True)
    return {
        (votes.judges[j], votes.criteria[c], votes.items[f], votes.items[s]): tuple(n.tolist())
        for j, c, f, s, n in codes
    }


# Names as they come: any letters, inner white space and line breaks, but nothing that stands for a missing
# value or an outcome, and no two that look the same.
letters = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), include_characters="\n,\"'")
names = (
    st.text(letters, min_size=1, max_size=6)
    .map(lambda text: unicodedata.normalize("NFC", text))
    .filter(lambda text: cell_to_name(text) == text and text not in WORDS)
)
ids = st.integers(-(2**40), 2**40)


@st.composite
def tables(draw: st.DrawFn, numbers: bool | None = None) -> dict[str, list[object]]:
    """Random columns of a votes table; judges, items and contexts are all numbers or all text."""
    numeric = draw(st.booleans()) if numbers is None else numbers
    name = ids if numeric else names
    items = draw(st.lists(name, min_size=2, max_size=4, unique=True))
    judges = draw(st.lists(name, min_size=1, max_size=3, unique=True))
    rows = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.permutations(items), min_size=rows, max_size=rows))
    outcomes = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    by_name = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    table: dict[str, list[object]] = {
        "judge": draw(st.lists(st.sampled_from(judges), min_size=rows, max_size=rows)),
        "note": draw(st.lists(st.none() | st.text(letters, max_size=3), min_size=rows, max_size=rows)),
        "first": [pair[0] for pair in pairs],
        "second": [pair[1] for pair in pairs],
        "winner": [
            str(pair[outcome]) if outcome < 2 and named else WORDS[outcome]
            for pair, outcome, named in zip(pairs, outcomes, by_name, strict=True)
        ],
    }
    for column in ("criterion", "context"):
        if draw(st.booleans()):
            levels = draw(st.lists(name, min_size=1, max_size=3, unique=True))
            table[column] = draw(st.lists(st.sampled_from(levels), min_size=rows, max_size=rows))
    return table


def write_csv(path: Path, table: dict[str, list[object]], encoding: str = "utf-8") -> Path:
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


def write_jsonl(path: Path, table: dict[str, list[object]]) -> Path:
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(table=tables())
def test_every_format_gives_the_same_votes(tmp_path: Path, table: dict[str, list[object]]) -> None:
    frame = pd.DataFrame(table)
    arrow = pa.table(table)
    parquet = tmp_path / "votes[1].Parquet"
    frame.to_parquet(parquet)
    votes = read_votes(frame)
    with duckdb.connect() as connection:
        sources = {
            "csv": write_csv(tmp_path / "votes.csv", table),
            "csv with a byte order mark": write_csv(tmp_path / "bom.CSV", table, "utf-8-sig"),
            "csv as str": str(tmp_path / "votes.csv"),
            "parquet": parquet,
            "jsonl": write_jsonl(tmp_path / "votes.jsonl", table),
            "ndjson": write_jsonl(tmp_path / "votes.ndjson", table),
            "pandas objects": frame.astype(object),
            "pandas arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
            "pandas categories": frame.astype("category"),
            "pandas with an index": frame.set_index(np.arange(len(frame))[::-1]),
            "polars": pl.DataFrame(table),
            "polars lazy": pl.DataFrame(table).lazy(),
            "pyarrow": arrow,
            "pyarrow dictionaries": pa.table({c: arrow[c].dictionary_encode() for c in arrow.column_names}),
            "duckdb": connection.from_arrow(arrow),
        }
        for source in sources.values():
            assert_same(read_votes(source), votes)


@given(table=tables())
def test_counts_are_those_of_a_plain_loop(table: dict[str, list[object]]) -> None:
    votes = read_votes(pd.DataFrame(table))
    expected: dict[tuple[str, ...], list[int]] = {}
    for row, winner in enumerate(table["winner"]):
        judge, first, second = (str(table[column][row]) for column in ("judge", "first", "second"))
        criterion = str(table["criterion"][row]) if "criterion" in table else "overall"
        outcome = {"first": 0, "second": 1, "tie": 2, first: 0, second: 1}[winner]
        expected.setdefault((judge, criterion, first, second), [0, 0, 0])[outcome] += 1
        assert votes.row_outcome[row] == outcome
        cell = votes.row_cell[row]
        assert votes.judges[votes.judge[cell]] == judge
        assert votes.criteria[votes.criterion[cell]] == criterion
        assert (votes.items[votes.first[cell]], votes.items[votes.second[cell]]) == (first, second)
        if votes.row_context is not None:
            assert votes.contexts[votes.row_context[row]] == str(table["context"][row])
    assert cell_counts(votes) == {key: tuple(counts) for key, counts in expected.items()}
    assert votes.rows == len(table["winner"])
    assert votes.has_ties == ("tie" in table["winner"])
    assert votes.has_criteria == ("criterion" in table)
    assert (votes.contexts == ()) == (votes.row_context is None) == ("context" not in table)
    for levels in (votes.judges, votes.criteria, votes.items, votes.contexts):
        assert list(levels) == sorted(set(levels))
    codes = list(zip(votes.judge, votes.criterion, votes.first, votes.second, strict=True))
    assert codes == sorted(set(codes))


@given(table=tables(), seed=st.integers(0, 1000))
def test_shuffling_rows_changes_no_count(table: dict[str, list[object]], seed: int) -> None:
    frame = pd.DataFrame(table)
    order = np.random.default_rng(seed).permutation(len(frame))
    votes, shuffled = read_votes(frame), read_votes(frame.iloc[order])
    for field in FIELDS[:8]:
        np.testing.assert_array_equal(getattr(shuffled, field), getattr(votes, field))
    np.testing.assert_array_equal(shuffled.row_cell, votes.row_cell[order])
    np.testing.assert_array_equal(shuffled.row_outcome, votes.row_outcome[order])


@given(table=tables(numbers=True), seed=st.integers(0, 1000))
def test_relabelling_items_relabels_the_counts(table: dict[str, list[object]], seed: int) -> None:
    items = sorted({*table["first"], *table["second"]})
    new = dict(zip(map(str, items), np.random.default_rng(seed).permutation(len(items)), strict=True))
    label = {**{old: f"item {number}" for old, number in new.items()}, **{word: word for word in WORDS}}
    columns = ("first", "second", "winner")
    renamed = {**table, **{column: [label[str(value)] for value in table[column]] for column in columns}}
    before, after = (cell_counts(read_votes(pd.DataFrame(t))) for t in (table, renamed))
    assert after == {(j, c, label[f], label[s]): n for (j, c, f, s), n in before.items()}


@given(table=tables(), cut=st.integers(0, 12))
def test_the_counts_of_two_parts_add_up(table: dict[str, list[object]], cut: int) -> None:
    frame = pd.DataFrame(table)
    whole = read_votes(frame)
    levels = {"judges": whole.judges, "criteria": whole.criteria, "items": whole.items}
    total: Counter[tuple[object, ...]] = Counter()
    for part in (frame.iloc[:cut], frame.iloc[cut:]):
        if len(part):
            votes = read_votes(part, **levels)
            assert (votes.judges, votes.criteria, votes.items) == (whole.judges, whole.criteria, whole.items)
            for key, counts in cell_counts(votes).items():
                total.update({(*key, outcome): n for outcome, n in enumerate(counts)})
    expected = {(*key, outcome): n for key, counts in cell_counts(whole).items() for outcome, n in enumerate(counts)}
    assert dict(total) == expected


@given(table=tables())
def test_swapping_positions_swaps_the_counts(table: dict[str, list[object]]) -> None:
    word = {"first": "second", "second": "first"}
    swapped = {
        **table,
        "first": table["second"],
        "second": table["first"],
        "winner": [word.get(str(winner), winner) for winner in table["winner"]],
    }
    before, after = (cell_counts(read_votes(pd.DataFrame(t))) for t in (table, swapped))
    assert after == {(j, c, s, f): (n[1], n[0], n[2]) for (j, c, f, s), n in before.items()}


@given(table=tables(), data=st.data())
def test_subset_is_the_table_of_those_rows(table: dict[str, list[object]], data: st.DataObject) -> None:
    frame = pd.DataFrame(table)
    votes = read_votes(frame)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=votes.rows, max_size=votes.rows)))
    part = votes.subset(mask)
    assert part.rows == mask.sum() == part.counts.sum()
    assert (part.judges, part.criteria, part.items) == (votes.judges, votes.criteria, votes.items)
    assert (part.contexts, part.has_criteria) == (votes.contexts, votes.has_criteria)
    if mask.any():
        assert cell_counts(part) == cell_counts(read_votes(frame[mask]))


def test_subset_refuses_what_is_not_a_mask() -> None:
    votes = read_votes(pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": "z", "winner": "first"}))
    for rows in ([0, 1], [True], [[True, False]]):
        with pytest.raises(ValueError, match=r"boolean mask of shape \(2,\)"):
            votes.subset(np.array(rows))


def test_votes_are_returned_as_they_are_or_coded_anew() -> None:
    frame = pd.DataFrame({"judge": "b", "first": ["x", "y"], "second": "z", "winner": ["x", "tie"]})
    votes = read_votes(frame)
    assert read_votes(votes) is votes
    wider = read_votes(votes, judges=["c", "b", "a"], items=("z", "y", "x", "w"))
    assert wider.judges == ("a", "b", "c")
    assert wider.items == ("w", "x", "y", "z")
    assert cell_counts(wider) == cell_counts(votes)
    assert_same(wider, read_votes(frame, judges=["a", "b", "c"], items=["w", "x", "y", "z"]))
    assert_same(read_votes(wider, judges=["b"], items=["x", "y", "z"]), votes)
    with pytest.raises(InputError, match="rows 1 and 2: judge 'b' is none of the 1 known ones"):
        read_votes(votes, judges=["a"])


def test_whole_numbers_read_alike_from_text_integers_and_floats() -> None:
    winner = ["first", "tie"]
    frames = [
        pd.DataFrame({"judge": judge, "first": first, "second": second, "winner": winner})
        for judge, first, second in [
            ([1, 2], [7, 8], [9, 9]),
            ([1.0, 2.0], [7.0, 8.0], [9, 9]),
            (["1", "2"], ["7", "8.0"], ["9", "9.00"]),
        ]
    ]
    frames.append(frames[0].convert_dtypes())
    for frame in frames:
        votes = read_votes(frame)
        assert (votes.judges, votes.items) == (("1", "2"), ("7", "8", "9"))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (3, "3"),
        (np.int8(3), "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        ("007", "007"),
        ("007.0", "007.0"),
        ("3.10", "3.10"),
        ("-3.0", "-3"),
        ("1e3", "1e3"),
        (2.0**60, "1.152921504606847e+18"),
        (True, "True"),
        (np.False_, "False"),
        (pd.Timestamp("2026-01-31"), "2026-01-31 00:00:00"),
        ("Na", "Na"),
    ],
)
def test_names_of_values(value: object, name: str) -> None:
    assert cell_to_name(value) == name


def test_the_numbers_one_and_true_stay_apart() -> None:
    frame = pd.DataFrame({"judge": "a", "first": [1, True], "second": ["x", "x"], "winner": "first"}, dtype=object)
    assert read_votes(frame).items == ("1", "True", "x")


def test_only_the_needed_columns_are_collected() -> None:
    def refuse(_: pl.Series) -> pl.Series:
        raise AssertionError("collected a column that is not needed")

    columns = {"judge": ["a"], "first": ["x"], "second": ["y"], "winner": ["x"], "text": ["long"]}
    lazy = pl.LazyFrame(columns).with_columns(pl.col("text").map_batches(refuse, return_dtype=pl.String))
    assert read_votes(lazy).rows == 1
    with duckdb.connect() as connection:
        relation = connection.sql(
            "select 'a' judge, 'x' as first, 'y' as second, 'x' winner, error('collected') as text"
        )
        assert read_votes(relation).rows == 1


def test_long_fields_of_other_columns_do_not_matter(tmp_path: Path) -> None:
    table = {"judge": ["a"], "first": ["x"], "second": ["y"], "winner": ["x"], "answer": ["long, " * 50_000]}
    limit = csv.field_size_limit()
    assert read_votes(write_csv(tmp_path / "votes.csv", table)).rows == 1
    assert csv.field_size_limit() == limit


def test_blank_lines_hold_no_row(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("\njudge,first,second,winner\r\n\na,x,y,x\n\n", encoding="utf-8")
    assert read_votes(path).rows == 1
    path = tmp_path / "votes.jsonl"
    path.write_text('{"judge": "a", "first": "x", "second": "y", "winner": "x"}\r\n\n', encoding="utf-8")
    assert read_votes(path).rows == 1


def test_an_item_may_be_named_like_an_outcome_where_that_is_clear() -> None:
    frame = pd.DataFrame({"judge": "a", "first": ["first", "x"], "second": ["x", "second"], "winner": "tie"})
    frame.loc[0, "winner"] = "first"
    frame.loc[1, "winner"] = "second"
    assert read_votes(frame).row_outcome.tolist() == [0, 1]


def test_codes_do_not_overflow_with_millions_of_judges_and_items() -> None:
    many = range(3_000_000)
    codes = (np.array([many[-1], 0]), np.array([1, 0]), np.array([many[-1], 1]), np.array([many[-2], 0]))
    votes = count_votes((many, ("a", "z"), many), codes, np.array([0, 2]), (), None, True)
    assert votes.judge.tolist() == [0, many[-1]]
    assert votes.criterion.tolist() == [0, 1]
    assert votes.first.tolist() == [1, many[-1]]
    assert votes.second.tolist() == [0, many[-2]]
    assert votes.counts.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert votes.row_cell.tolist() == [1, 0]


def test_reading_csv_imports_no_dataframe_library(tmp_path: Path) -> None:
    table = {"judge": ["a"], "first": ["x"], "second": ["y"], "winner": ["x"]}
    path = write_csv(tmp_path / "votes.csv", table)
    code = (
        "import sys; from voirdire.tables.votes import read_votes; read_votes(sys.argv[1]); "
        "heavy = {'pandas', 'polars', 'pyarrow', 'duckdb', 'narwhals', 'scipy', 'jax', 'pymc'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_nothing_needs_pyarrow(tmp_path: Path) -> None:
    table = {"judge": ["a"], "first": ["x"], "second": ["y"], "winner": ["x"]}
    paths = [write_csv(tmp_path / "votes.csv", table), write_jsonl(tmp_path / "votes.jsonl", table)]
    paths.append(tmp_path / "votes.parquet")
    pd.DataFrame(table).to_parquet(paths[-1])
    code = (
        "import sys; sys.modules['pyarrow'] = None; import duckdb, pandas, polars; "
        "from voirdire.tables.votes import read_votes; frame = pandas.read_csv(sys.argv[1]); "
        "tables = [*sys.argv[1:], frame, polars.read_csv(sys.argv[1]), duckdb.read_csv(sys.argv[1])]; "
        "print([read_votes(table).items for table in tables])"
    )
    run = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([("x", "y")] * 6)


def test_the_published_crowd_votes(shared: Path) -> None:
    path = shared / "data" / "llmfao_votes.csv"
    votes = read_votes(path)
    assert (votes.rows, len(votes.items), len(votes.judges), len(votes.contexts)) == (13_209, 59, 126, 13)
    assert votes.criteria == ("overall",)
    assert votes.has_ties
    assert not votes.has_criteria
    assert_same(read_votes(pd.read_csv(path)), votes)
    # The shares that are known of this table: how often the two GPT judges pick each position.
    for name, first, second in (("gpt-3.5", 0.632, 0.277), ("gpt-4", 0.441, 0.528)):
        judge = next(code for code, judge in enumerate(votes.judges) if judge.lower().startswith(name))
        shares = votes.counts[votes.judge == judge].sum(axis=0)
        np.testing.assert_allclose(shares[:2] / shares.sum(), [first, second], atol=0.0005)


def test_the_published_llm_votes(shared: Path) -> None:
    votes = read_votes(shared / "data" / "llmbar_votes.csv")
    assert (votes.rows, len(votes.judges)) == (27_648, 58)


def test_an_order_that_says_more_than_unknown_is_told() -> None:
    heard: list[str] = []
    rows = {"judge": "a", "first": "x", "second": "y", "winner": "x", "order": ["AB", "BA"]}
    with listen_for_notes(heard.append):
        assert not read_votes(pd.DataFrame(rows)).order_unknown
    (said,) = heard
    assert "column 'order' has 'AB', 'BA'" in said
    heard.clear()
    with listen_for_notes(heard.append):
        assert read_votes(pd.DataFrame(rows | {"order": ["unknown", None]})).order_unknown
    assert heard == []
