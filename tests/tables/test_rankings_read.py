"""Rankings as written elsewhere: ranks of systems, best-worst tables, lists of Python, a rank for each item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from voirdire import read
from voirdire.notices import listen_for_notes
from voirdire.tables import read_table


def ranks(path: Path) -> dict[str, dict[str, int]]:
    """By judge the ranks of items."""
    found = read(path)
    assert found.counts.get("refused", 0) == 0
    assert found.faults == ()
    frame = found.rankings
    assert frame is not None
    with listen_for_notes(lambda _: None):
        assert read_table(read(path, table="votes")).data == "votes"
    return {
        str(judge): dict(zip(rows["item"], map(int, rows["rank"]), strict=True))
        for judge, rows in frame.groupby("judge")
    }


@pytest.mark.parametrize(
    "text",
    [
        "annotator,prompt_id,model,rank\na,p,x,1\na,p,y,2\nb,p,x,2\nb,p,y,1\n",
        "judge,context,system,rank\na,p,x,1\na,p,y,2\nb,p,x,2\nb,p,y,1\n",
        "annotator,prompt,response,rank\na,p,x,1\na,p,y,2\nb,p,x,2\nb,p,y,1\n",
        "judge,prompt,rank_x,rank_y\na,p,1,2\nb,p,2,1\n",
        "judge,prompt,x_rank,y_rank\na,p,1,2\nb,p,2.0,1\n",
        "judge,prompt,Rank (x),Rank (y)\na,p,1,2\nb,p,2,1\n",
        "judge,prompt,ranking\na,p,\"['x', 'y']\"\nb,p,\"['y', 'x']\"\n",
        'judge,prompt,ranking\na,p,"{""x"": 1, ""y"": 2}"\nb,p,"{""x"": 2, ""y"": 1}"\n',
        "Annotator,Item1,Item2,BestItem,WorstItem\na,x,y,x,y\nb,x,y,y,x\n",
        "worker,opt_a,opt_b,most,least\na,x,y,x,y\nb,x,y,y,x\n",
    ],
)
def test_rankings_of_two_items(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert ranks(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 2, "y": 1}}


def test_rankings_as_objects_and_tuples(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"judge": "a", "prompt": "p", "ranking": {"x": 1, "y": 2, "z": 2}}]))
    assert ranks(path) == {"a": {"x": 1, "y": 2, "z": 2}}
    path.write_text(json.dumps([{"judge": "a", "tuple": ["x", "y", "z"], "best": "y", "worst": "x"}]))
    assert ranks(path) == {"a": {"y": 1, "z": 2, "x": 3}}


def test_items_of_best_and_worst_may_hold_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('judge,items,best,worst\na,"x|y, z|w",x,w\nb,"x; y, z; w","y, z",w\nc,"x, y, w",x,w\n')
    found = ranks(path)
    assert found["a"] == {"x": 1, "y, z": 2, "w": 3}
    assert found["b"] == {"y, z": 1, "x": 2, "w": 3}
    assert found["c"] == {"x": 1, "y": 2, "w": 3}
    path.write_text("judge,items,best,worst\na,x|y,x,v\nb,x|y,x,y\n")
    (said,) = read(path).refused["reason"]
    assert said == "best 'x' and worst 'v' are not both among those shown, 'x', 'y'"


def test_ranks_that_are_none_are_refused_and_empty_ones_were_not_ranked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("judge,prompt,rank_x,rank_y,rank_z\na,p,1,,2\nb,p,2,1,0\nc,p,2,1,best\n")
    found = read(path)
    assert found.rankings is not None
    assert found.rankings[["judge", "item", "rank"]].values.tolist() == [["a", "x", 1], ["a", "z", 2]]
    assert list(found.refused["reason"]) == [
        "'rank_z' '0' is no rank, a whole number from 1",
        "'rank_z' 'best' is no rank, a whole number from 1",
    ]


def test_ranks_by_judges_are_no_ranks_of_items(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,prompt,judge_rank,human_rank\nx,p,1,2\ny,p,2,1\n")
    with pytest.raises(ValueError, match="judge_rank"):
        read(path)
