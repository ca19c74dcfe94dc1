"""Tables of scores: what is read, and every problem said at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from voirdire.errors import InputError
from voirdire.tables import read_scores, read_table
from voirdire.tables.scores import Scores

TABLE = pd.DataFrame(
    {
        "judge": ["b", "a", "b", "a"],
        "item": [2, 2, 10, 10],
        "criterion": ["true", "true", "fluent", "true"],
        "score": [1, 2.5, 3, 4],
        "remark": ["left", "alone", None, ""],
    }
)


def test_names_are_sorted_and_rows_keep_their_order() -> None:
    scores = read_scores(TABLE)
    assert (scores.judges, scores.criteria, scores.items) == (("a", "b"), ("fluent", "true"), ("10", "2"))
    assert scores.judge.tolist() == [1, 0, 1, 0]
    assert scores.item.tolist() == [1, 1, 0, 0]
    assert scores.score.tolist() == [1.0, 2.5, 3.0, 4.0]
    assert (scores.context, scores.system, scores.run, scores.phase) == (None, None, None, None)
    assert scores.has_criteria
    assert read_scores(scores) is scores
    assert read_scores(TABLE.drop(columns="criterion")).criteria == ("overall",)


def test_any_source_reads_alike(tmp_path) -> None:
    expected = read_scores(TABLE)
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    TABLE.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    pl.from_pandas(TABLE).write_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.jsonl", tmp_path / "t.parquet", pl.from_pandas(TABLE).lazy()):
        found = read_scores(source)
        assert found.items == expected.items
        assert np.array_equal(found.score, expected.score)
        assert np.array_equal(found.judge, expected.judge)


def test_an_item_may_be_given_as_context_and_system() -> None:
    table = TABLE.assign(context=["c", "c", "d", "d"], system="s", run=[1, 1, 2, 2], phase="final").drop(columns="item")
    scores = read_scores(table)
    assert scores.items == ("c / s", "d / s")
    assert not scores.has_items
    assert (scores.contexts, scores.systems, scores.runs, scores.phases) == (("c", "d"), ("s",), ("1", "2"), ("final",))
    assert scores.context.tolist() == [0, 0, 1, 1]
    assert read_scores(table.assign(item="i")).items == ("i",)


def test_subset_keeps_names() -> None:
    scores = read_scores(TABLE)
    some = scores.subset(scores.score > 2)
    assert some.score.tolist() == [2.5, 3.0, 4.0]
    assert some.judges == scores.judges
    assert isinstance(some, Scores)
    with pytest.raises(ValueError, match="boolean mask of shape"):
        scores.subset(np.array([0, 1]))


def test_anchors_have_no_judge() -> None:
    scores = read_scores(TABLE.drop(columns="judge"), judge="gold")
    assert scores.judges == ("gold",)
    assert scores.rows == 4


def test_numbers_may_be_written_as_text_and_answers_repeated() -> None:
    table = pd.DataFrame({"judge": "a", "item": "x", "score": ["3", "3.5", " 1e2"[1:], -2]})
    assert read_scores(table).score.tolist() == [3.0, 3.5, 100.0, -2.0]


def test_every_problem_at_once() -> None:
    table = pd.DataFrame(
        {
            "judge": ["a", "a", None, "a", "a", "a"],
            "item": ["x", "x", "y", "z", "z", "z"],
            "run": [1, 1, 1, 1, 2, 3],
            "score": ["1", "inf", "bad", True, None, "nan"],
        }
    )
    with pytest.raises(InputError) as caught:
        read_scores(table)
    assert list(caught.value.problems) == [
        "scores: row 2: judge 'a' has answered for item 'x' in run '1' already; keep one",
        "scores: row 2: score is inf, which is not a finite number",
        "scores: row 3: judge is empty",
        "scores: row 3: score 'bad' is not a number; words go into a column 'label'",
        "scores: row 4: score True is not a number; write 1 or 0, or use a column 'label'",
        "scores: row 5: score is empty",
        "scores: row 6: score is 'nan', which stands for a missing value; fill it in, or rename it if it is a name",
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.rename(columns={"score": "Scores"}), "column 'score' is missing; did you mean 'Scores'"),
        (TABLE.drop(columns="item"), "column 'item' is missing; .*; or give both 'context' and 'system'"),
        (TABLE.drop(columns="item").assign(context=1), "column 'item' is missing"),
        (TABLE.drop(columns="judge"), "column 'judge' is missing"),
        (TABLE.iloc[:0], "there are no scores"),
        (TABLE.assign(judge=" a"), "has white space at an end"),
        ("nowhere.csv", "does not exist"),
    ],
)
def test_tables_that_are_none(table, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_scores(table)


def test_the_kind_of_a_table_is_told_by_its_columns() -> None:
    assert isinstance(read_table(TABLE), Scores)
    assert read_table(read_scores(TABLE)).rows == 4
    with pytest.raises(InputError, match="lack one of answers \\(winner, score, label or rank\\)"):
        read_table(TABLE.drop(columns="score"))
    with pytest.warns(UserWarning, match="those of scores: winner is not used"):
        assert isinstance(read_table(TABLE.assign(winner="x")), Scores)
    with pytest.raises(InputError, match=r"^table: the columns are those of scores and labels; --table scores or "):
        read_table(TABLE.assign(label="x"))


def test_published_tables(shared) -> None:
    newsroom = read_scores(shared / "data" / "newsroom_scores.csv")
    assert (newsroom.rows, len(newsroom.items), newsroom.judges) == (5040, 420, ("rater-1", "rater-2", "rater-3"))
    topical = read_scores(shared / "data" / "topicalchat_scores.csv")
    assert (topical.rows, len(topical.items), len(topical.contexts), len(topical.systems)) == (4320, 360, 60, 6)
