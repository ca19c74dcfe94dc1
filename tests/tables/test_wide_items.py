"""Tables of one row a person, whose columns are items, as forms write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from voirdire import InputError, fit, read
from voirdire.tables.doctor import examine_file
from voirdire.tables.reading import Reading

FORM = """\
Timestamp,Email Address,Rate the answers [GPT-4],Rate the answers [Claude],Comments
2024/05/01 10:00,a@x.org,4,3,fine
2024/05/01 10:10,b@x.org,5,,
2024/05/01 10:10,c@x.org,3,5,none
"""
GRID = [f"Rate the answers [{name}]" for name in ("GPT-4", "Claude")]


def written(folder: Path, text: str) -> Path:
    path = folder / "form.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_row_is_a_judge_and_each_column_an_item(tmp_path: Path) -> None:
    found = read(written(tmp_path, FORM), wide="item", map={"judge": "Email Address"})
    assert found.scores is not None
    assert found.scores[["judge", "item", "score"]].values.tolist() == [
        ["a@x.org", GRID[0], 4],
        ["a@x.org", GRID[1], 3],
        ["b@x.org", GRID[0], 5],
        ["c@x.org", GRID[0], 3],
        ["c@x.org", GRID[1], 5],
    ]
    assert set(found.scores) == {"judge", "item", "score", "Timestamp", "Comments"}
    assert f"form.csv: 2 columns are items: {', '.join(GRID)}" in found.notes
    assert "form.csv: 1 empty cells: not asked" in found.notes


def test_people_without_names_are_told_by_their_lines(tmp_path: Path) -> None:
    text = "q1,q2\nyes,no\nno,no\nyes,yes\n"
    found = read(written(tmp_path, text), wide="item", columns=["q1", "q2"])
    assert found.labels is not None
    assert found.labels["judge"].drop_duplicates().tolist() == ["2", "3", "4"]
    assert found.labels["item"].drop_duplicates().tolist() == ["q1", "q2"]
    assert any("each row is a judge, named by its line" in note for note in found.notes)


def test_options_that_contradict_it_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes each item from the name of a column"):
        read(written(tmp_path, FORM), wide="item", map={"item": "Timestamp"})


def test_doctor_proposes_it_where_each_row_is_of_another_person(tmp_path: Path) -> None:
    path = written(tmp_path, FORM)
    found = examine_file(path)
    columns = ",".join(GRID)
    how = f"--wide item --map 'judge=Email Address' --columns '{columns}'"
    assert found.command == f"voirdire fit {path} {how}"
    read_so = Reading(wide="item", map={"judge": "Email Address"}, columns=GRID)
    table = examine_file(path, read_so)
    assert (table.error, table.judges, table.items) == (None, 3, 2)
    assert [column.read_as for column in table.columns] == [None, "judge", "an item", "an item", None]
    fitted = fit(read(path, wide="item", map={"judge": "Email Address"}, columns=GRID), method="map")
    assert len(fitted.ranking()) == 2


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Timestamp,Name,q1,q2\n1,x,4,3\n2,y,2,5\n", True),
        ("Name,Rate [a],Rate [b]\nx,4,3\ny,2,5\n", True),
        ("participant,q1,q2\nx,4,3\ny,2,5\n", True),
        ("participant,q1,q2\nx,4,3\nx,2,5\n", False),
        ("Name,clarity,depth\nx,4,3\ny,2,5\n", False),
        ("model,clarity,depth\nx,4,3\ny,2,5\n", False),
        ("id,Q1[a],Q1[b]\n1,4,3\n2,2,5\n", True),
        ("id,clarity [1-5],depth [1-5]\n1,4,3\n2,2,5\n", False),
    ],
)
def test_rows_are_people_where_their_names_say_so(tmp_path: Path, text: str, people: bool) -> None:
    assert ("--wide item" in examine_file(written(tmp_path, text)).command) == people


def test_an_option_that_says_too_little_is_no_command(tmp_path: Path) -> None:
    text = "Timestamp,Name,q1,q2,Which is better?\n1,x,4,3,A\n2,y,2,5,B\n3,z,1,1,A\n"
    assert "--wide item" in examine_file(written(tmp_path, text)).command
    alone = "id,text,Which is better?\n1,s,A\n2,t,B\n3,u,A\n"
    assert examine_file(written(tmp_path, alone)).command == ""


GRIDS = """\
id,submitdate,lastpage,token,tone[fox],tone[owl],style[fox],style[owl]
1,2024-01-02 10:00:00,3,t9,4,2,5,1
2,2024-01-02 11:00:00,3,t7,3,,4,2
"""


def test_a_grid_of_questions_is_of_items_and_criteria(tmp_path: Path) -> None:
    """LimeSurvey's exports, and those of forms with several grids: question[row]."""
    path = written(tmp_path, GRIDS)
    columns = "'tone[fox],tone[owl],style[fox],style[owl]'"
    assert examine_file(path).command == f"voirdire fit {path} --wide item --map judge=token --columns {columns}"
    found = read(path, wide="item", map={"judge": "token"})
    assert found.scores[["judge", "item", "criterion", "score"]].values.tolist()[:3] == [
        ["t9", "fox", "tone", 4],
        ["t9", "fox", "style", 5],
        ["t9", "owl", "tone", 2],
    ]
    assert len(found.scores) == 7
    reverse = read(path, wide="criterion", map={"judge": "token"}).scores
    assert reverse[["judge", "item", "criterion", "score"]].values.tolist()[:2] == [
        ["t9", "tone", "fox", 4],
        ["t9", "tone", "owl", 2],
    ]


def test_a_grid_of_words_without_persons_is_of_labels_by_line(tmp_path: Path) -> None:
    text = GRIDS.replace("token,", "note,").replace(",4,", ",A4,").replace(",5,", ",A5,").replace(",2,", ",A2,")
    found = read(written(tmp_path, text.replace(",2\n", ",A2\n")), wide="item")
    assert found.labels["judge"].drop_duplicates().tolist() == ["2", "3"]
    assert "form.csv: no column says who answered: each row is a judge, named by its line" in found.notes
    assert found.labels["criterion"].drop_duplicates().tolist() == ["tone", "style"]


def test_questions_with_different_rows_are_no_grid(tmp_path: Path) -> None:
    found = read(written(tmp_path, GRIDS.replace("style[owl]", "style[elk]")), wide="item", map={"judge": "token"})
    assert "criterion" not in found.scores
    assert "style[elk]" in set(found.scores["item"])


def test_criteria_with_brackets_keep_the_item_of_their_row(tmp_path: Path) -> None:
    text = "rater,item,tone[how],tone[why],style[how],style[why]\na,x,1,2,3,4\n"
    scores = read(written(tmp_path, text), wide="criterion").scores
    assert set(scores["item"]) == {"x"}
    assert len(set(scores["criterion"])) == 4


def test_a_column_beside_a_grid_is_an_item_where_it_is_named(tmp_path: Path) -> None:
    columns = "tone[fox],tone[owl],style[fox],style[owl],lastpage"
    found = read(written(tmp_path, GRIDS), wide="item", map={"judge": "token"}, columns=columns)
    assert found.scores["item"].drop_duplicates().tolist() == columns.split(",")
