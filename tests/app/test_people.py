"""Questions to people on the page: which are asked, of which tables none are, and which answers are taken."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.app.choices import asking_page, informative_questions, read_answers
from voirdire.errors import InputError

ASKED = [
    {"first": "x", "second": "y", "criterion": "tone", "context": "q1"},
    {"first": "y", "second": "z", "criterion": "tone", "context": "q2"},
]
HEAD = "person,first,second,winner,criterion,context\n"


def votes(judges: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        (f"j{judge}", f"i{first}", f"i{second}", "first" if rng.random() < 0.7 else "second")
        for judge in range(judges)
        for first in range(5)
        for second in range(first)
    ]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def test_the_questions_are_those_of_next() -> None:
    fit = voirdire.fit(votes(4), model="crowd-bt", method="laplace")
    asked, unasked = informative_questions(fit)
    expected = fit.next_comparisons(10)[["first", "second"]]
    assert asked == expected.to_dict("records")
    assert unasked == ""


def test_a_lone_judge_is_asked_about_by_the_ranking() -> None:
    fit = voirdire.fit(votes(1), model="bradley-terry", method="laplace")
    asked, _ = informative_questions(fit)
    assert asked == fit.next_comparisons(10, about="ranking")[["first", "second"]].to_dict("records")


@pytest.mark.slow
def test_why_labels_are_not_asked_about_is_said() -> None:
    rows = [(judge, f"i{k}", "yn"[(k + (judge == "c")) % 2]) for judge in "abc" for k in range(6)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    asked, unasked = informative_questions(voirdire.fit(table, method="laplace"))
    assert asked == []
    assert "for tables of votes" in unasked


@pytest.mark.parametrize(
    "row",
    [
        "me,x,y,first,tone,q2",  # another context
        "me,x,z,first,tone,q1",  # another pair
        "me,x,y,first,,q1",  # no criterion
        "me,x,y,x,tone,q1",  # an outcome that the page does not send
        "me,x",
    ],
)
def test_a_row_that_is_no_answer_to_a_question_is_refused(row: str) -> None:
    with pytest.raises(InputError, match="answer 2 "):
        read_answers(f"{HEAD}me,y,x,tie,tone,q1\n{row}\n", ASKED)


def test_answers_keep_the_side_on_which_items_were_shown() -> None:
    found = read_answers(f"{HEAD}me,z,y,first,tone,q2\n", ASKED)
    assert found == [{"first": "z", "second": "y", "winner": "first", "criterion": "tone", "context": "q2"}]


def test_texts_are_shown_in_the_place_of_names(tmp_path: Path) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text("id,text\nx,Once.\ny,Twice.\nz,Thrice.\n")

    def shown(made: str) -> list[str]:
        (data,) = re.findall(r'id="data">(.*?)</script>', made)
        found = json.loads(data)
        assert [found["about"][one["about"]] for one in found["questions"]] == ["q1", "q2"]
        return [item["text"] for item in found["items"]]

    assert shown(asking_page(ASKED, None, "/to", "/back")) == ["x", "y", "z"]
    assert shown(asking_page(ASKED, texts, "/to", "/back")) == ["Once.", "Twice.", "Thrice."]
    texts.write_text("id,text\nx,Once.\ny,Twice.\n")
    with pytest.raises(InputError, match="'z' is not among the items"):
        asking_page(ASKED, texts, "/to", "/back")
