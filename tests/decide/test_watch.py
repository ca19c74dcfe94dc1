"""Watches: planted changes are found at the right judge, and nothing where nothing changes, however answers come."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from schema_rules import follow
from typer.testing import CliRunner, Result

import voirdire
from voirdire import InputError
from voirdire.cli import app
from voirdire.decide.watch import watch

JUDGES = ("ann", "bob", "cem", "dee")
SIZE, BEGIN = 500, 300


def frame(said: Any, column: str, judges: tuple[str, ...] = JUDGES) -> pd.DataFrame:
    size = len(said)
    names = {"judge": list(judges) * size, "item": np.repeat(np.arange(size), len(judges))}
    return pd.DataFrame({**names, column: np.asarray(said).ravel()})


def labels(seed: int = 0, *, changed: int = SIZE, size: int = SIZE, judges: tuple[str, ...] = JUDGES) -> pd.DataFrame:
    """Judges who are right nine times in ten; the last one tosses a coin after a number of questions."""
    rng = np.random.default_rng(seed)
    right = rng.random((size, len(judges))) < 0.9
    right[changed:, -1] = rng.random(max(size - changed, 0)) < 0.5
    return frame(np.where(right == (rng.random((size, 1)) < 0.6), "pass", "fail"), "label", judges)


def scores(seed: int = 0, *, shift: float = 0.0, spread: float = 0.6) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    said = 3.2 + rng.normal(0, 0.8, (SIZE, 1)) + rng.normal(0, 0.6, (SIZE, 4))
    said[BEGIN:, -1] += shift + rng.normal(0, 1, SIZE - BEGIN) * np.sqrt(spread**2 - 0.36)
    return frame(np.clip(np.round(said), 1, 5), "score")


def votes(seed: int = 0, *, bias: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    swapped, strength = rng.random((SIZE, 4)) < 0.5, rng.normal(0, 0.8, (SIZE, 1))
    ahead = np.where(swapped, -strength, strength) + rng.logistic(0, 1, (SIZE, 4))
    ahead[BEGIN:, -1] += bias
    table = frame(np.where(ahead > 0, "first", "second"), "winner").rename(columns={"item": "context"})
    first = np.where(swapped.ravel(), "y", "x")
    return table.assign(first=first, second=np.where(first == "x", "y", "x"))


def changes(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["judge"], row["measure"]) for row in found["measures"] if row["found"]]


def row_of(found: dict[str, Any], judge: str, measure: str) -> dict[str, Any]:
    return next(row for row in found["measures"] if (row["judge"], row["measure"]) == (judge, measure))


@pytest.mark.parametrize(
    ("table", "measure", "sign"),
    [
        (labels(changed=BEGIN), "agreement", -1),
        (scores(shift=0.6), "severity", 1),
        (scores(spread=1.2), "distance", 1),
        (votes(bias=2.0), "position_bias", 1),
    ],
)
def test_a_planted_change_is_found_at_its_judge_alone(table: pd.DataFrame, measure: str, sign: int) -> None:
    found = watch(table)
    assert found["verdict"] == "changed"
    assert ("dee", measure) in changes(found)
    assert {judge for judge, _ in changes(found)} == {"dee"}
    row = row_of(found, "dee", measure)
    low, high = (int(row[end].removeprefix("row ").replace(",", "")) for end in ("since_low", "since_high"))
    assert low <= 4 * BEGIN + 4 <= high + 4
    assert sign * row["change"] > 0
    assert row["change_low"] <= row["change"] <= row["change_high"]
    assert row["change"] == pytest.approx(row["after"] - row["before"])


@pytest.mark.parametrize("table", [labels(1), scores(1), votes(1)])
def test_nothing_is_found_where_nothing_changes(table: pd.DataFrame) -> None:
    found = watch(table)
    assert (found["verdict"], changes(found)) == ("no change", [])


def test_agreement_with_people_falls() -> None:
    table, rng = labels(2), np.random.default_rng(0)
    mine = table[table["judge"] == "dee"]
    same = rng.random(SIZE) < np.where(np.arange(SIZE) < BEGIN, 0.92, 0.5)
    said = np.where(same, mine["label"], np.where(mine["label"] == "pass", "fail", "pass"))
    people = pd.DataFrame({"item": mine["item"], "label": said})
    found = watch(table, people)
    assert ("dee", "people_agreement") in changes(found)
    assert row_of(found, "dee", "people_agreement")["against"] == ["people"]
    among = pd.concat([table, people.assign(judge="eva")])
    assert row_of(watch(among, people="eva"), "dee", "people_agreement") == row_of(found, "dee", "people_agreement")


def test_of_two_judges_either_may_have_changed() -> None:
    found = watch(labels(3, changed=250, judges=("ann", "dee")))
    assert changes(found) == [("ann", "agreement"), ("dee", "agreement")]
    assert all("either of them" in row["note"] for row in found["measures"] if row["found"])


def test_the_order_is_that_of_times_and_not_of_rows() -> None:
    table = labels(4, changed=BEGIN)
    timed = table.assign(time=table["item"])
    mixed = timed.sample(frac=1, random_state=0)
    found = watch(mixed)
    assert found["order"] == "time"
    assert found["measures"] == watch(timed)["measures"]
    row = row_of(found, "dee", "agreement")
    assert float(row["since_low"]) <= BEGIN <= float(row["since_high"])
    by_judge = table.sort_values(["judge", "item"], kind="stable")
    assert [row["evidence"] for row in watch(by_judge)["measures"]] == pytest.approx(
        [row["evidence"] for row in watch(table)["measures"]]
    )


def test_the_order_of_rows_is_taken_for_time_with_a_note_that_names_the_remedy(tmp_path: Path) -> None:
    table = labels(size=60)
    file = tmp_path / "answers.csv"
    table.assign(when=np.arange(len(table))).to_csv(file, index=False)
    said = "the order of the rows is taken instead"
    screen, dated = (
        " ".join(CliRunner().invoke(app, ["watch", str(file), *more]).stdout.split())
        for more in ((), ("--map", "time=when"))
    )
    assert said in screen
    assert "--map time=COLUMN" in screen
    assert said not in dated
    (note,) = watch(table)["notes"]
    assert said in note
    assert watch(table.assign(time=np.arange(len(table))))["notes"] == []
    page = CliRunner().invoke(app, ["watch", str(file), "--markdown", "-"]).stdout
    assert said in " ".join(page.split())


def test_the_same_questions_asked_every_night_are_no_change() -> None:
    rng, nights = np.random.default_rng(5), []
    right = np.sort(rng.uniform(0.5, 1, 40))[:, None]  # hard questions stand first
    truth = rng.random((40, 1)) < 0.5
    for night in range(12):
        said = np.where((rng.random((40, 4)) < right) == truth, "pass", "fail")
        nights.append(frame(said, "label").assign(time=f"2026-01-{night + 1:02d}"))
    found = watch(pd.concat(nights))
    assert found["verdict"] == "no change"
    assert row_of(found, "ann", "severity")["n"] == 480


def test_answers_about_one_context_are_one_value() -> None:
    table = labels(6, size=200)
    several = pd.concat([table, table]).sort_values("item", kind="stable")
    several = several.assign(context=several["item"], item=np.repeat(["x", "y"], 4).tolist() * 200)
    assert row_of(watch(several), "ann", "severity")["n"] == 200
    assert row_of(watch(several), "ann", "severity")["evidence"] == row_of(watch(table), "ann", "severity")["evidence"]


def test_judges_who_join_later_take_little_from_the_others() -> None:
    table = labels(7)
    late = table[table["judge"] == "ann"].assign(judge="eva").query("item >= 200")
    found = watch(pd.concat([table[table["item"] < 200], table[table["item"] >= 200], late]))
    alone = watch(table)
    assert row_of(found, "bob", "agreement")["needed"] == row_of(alone, "bob", "agreement")["needed"]
    parts = [10 ** -row["needed"] for row in found["measures"]]
    assert sum(parts) <= 0.05
    assert row_of(found, "eva", "agreement")["needed"] > row_of(alone, "bob", "agreement")["needed"]


def test_few_answers_are_not_enough_and_since_begins_anew() -> None:
    few = watch(labels(8, size=40))
    assert (few["verdict"], {row["found"] for row in few["measures"]}) == ("not enough", {None})
    table = labels(9, changed=BEGIN)
    timed = table.assign(time=table["item"])
    assert watch(timed)["verdict"] == "changed"
    again = watch(timed, since=BEGIN + 20)
    assert (again["verdict"], again["answers"]) == ("no change", 4 * (SIZE - BEGIN - 20))


def test_what_a_measure_would_take_is_said() -> None:
    alone = watch(labels(judges=("ann",)))
    assert alone["verdict"] == "not enough"
    table = labels()
    words = table.assign(label=table["label"].map({"pass": "cat", "fail": "dog"}))
    assert "(--positive)" in row_of(watch(words), "ann", "severity")["note"]
    assert row_of(watch(words, positive="cat"), "ann", "severity")["found"] is False
    shown = votes().drop_duplicates(["judge", "context"]).assign(order="unknown")
    row = row_of(watch(shown), "ann", "position_bias")
    assert (row["found"], row["n"]) == (None, 0)
    assert "what was shown first" in row["note"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alpha": 0.0}, "alpha 0.0 is not between 0 and 1"),
        ({"prob": 1.0}, "prob 1.0 is not between 0 and 1"),
        ({"since": "2026-01-01"}, "since: the answers have no times"),
        ({"since": "yesterday"}, "since: .*'yesterday' is neither a number nor a date"),
    ],
)
def test_wrong_requests_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        watch(labels(size=60), **options)


def test_answers_that_are_gone_changed_or_moved_are_named(tmp_path: Path) -> None:
    table, state = labels(size=80), tmp_path / "state.json"
    watch(table[:200], state=state)
    watch(table[:240], state=state)
    assert json.loads(state.read_text())["schema"] == "watch-state/1"
    kept = state.read_text()
    for wrong, says in (
        (
            table.drop(index=[17]),
            r"answers: row 18 of the last look, after 'ann overall 4 \w+', is gone or was changed",
        ),
        (table.assign(label=table["label"].where(table.index != 17, "maybe")), "row 18 of the last look"),
        (pd.concat([table[1:2], table[:1], table[2:]]), "row 1 is another than at the last look"),
        (table[:100], "and so are 135 more"),
    ):
        with pytest.raises(InputError, match=says):
            watch(wrong, state=state)
        assert state.read_text() == kept
    timed = table.assign(time=table["item"])
    other = tmp_path / "timed.json"
    watch(timed[:200], state=other)
    watch(timed.sample(frac=1, random_state=0), state=other)
    (tmp_path / "none.json").write_text("{}")
    with pytest.raises(InputError, match="it is no state of a watch"):
        watch(table, state=tmp_path / "none.json")


def test_people_who_vanish_are_named(tmp_path: Path) -> None:
    table, people = labels(size=60), pd.DataFrame({"item": range(60), "label": "pass"})
    watch(table, people, state=tmp_path / "state.json")
    with pytest.raises(InputError, match="people: at the last look there were some"):
        watch(table, state=tmp_path / "state.json")
    with pytest.raises(InputError, match="people: row 60 of the last look"):
        watch(table, people[:59], state=tmp_path / "state.json")


# the command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["watch", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table a month, and the whole of them beside it; <b>dee</b> changes."""
    monkeypatch.chdir(tmp_path)
    table = labels(changed=BEGIN, judges=("ann", "bob", "cem", "<b>dee</b>"))
    table.to_csv("whole.csv", index=False)
    Path("answers").mkdir()
    for at in range(5):
        table[400 * at : 400 * (at + 1)].to_csv(f"answers/2026-0{at + 1}.csv", index=False)
    return tmp_path


def test_exit_codes_and_json_are_for_cron(folder: Path) -> None:
    done = run("answers", "--json")
    assert done.exit_code == 4
    found = json.loads(done.stdout)
    follow(found, json.loads((Path(voirdire.__file__).parent / "decide" / "watch.schema.json").read_text()))
    assert found == json.loads(run("whole.csv", "--json").stdout) == watch("whole.csv")
    pd.read_csv("whole.csv")[:1000].to_csv("same.csv", index=False)
    assert run("same.csv").exit_code == 0
    pd.read_csv("whole.csv")[:100].to_csv("few.csv", index=False)
    assert run("few.csv").exit_code == 5
    assert run("none.csv").exit_code == 1
    assert run("whole.csv", "--json", "--markdown", "-").exit_code == 2
    assert run("whole.csv", "--overwrite").exit_code == 2


def test_a_folder_grows_and_its_state_may_lie_in_it(folder: Path) -> None:
    assert run("answers", "--state", "answers/state.json").exit_code == 4
    assert run("answers", "--state", "answers/state.json").exit_code == 4
    Path("answers/2026-03.csv").unlink()
    gone = run("answers", "--state", "answers/state.json")
    assert (gone.exit_code, "row 801 of the last look" in gone.stderr) == (1, True)
    Path("answers/notes.doc").write_text("x")
    assert "'notes.doc' ends as no table does" in run("answers").stderr
    Path("empty").mkdir()
    none = run("empty")
    assert (none.exit_code, "has no table" in none.stderr) == (1, True)


def test_the_screen_says_who_since_when_how_much_and_what_to_do(folder: Path) -> None:
    text = run("whole.csv").stdout
    assert text.startswith("Changed: 1 of 4 judges (<b>dee</b>) in 2,000 answers.")
    assert re.search(r"<b>dee</b>: agreement with most other judges went from 0\.\d\d to", text)
    flat = " ".join(text.split())
    assert "run voirdire audit on the answers since then" in flat
    assert "It differs in: " in flat
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_page_and_markdown_show_names_as_text(folder: Path) -> None:
    done = run("whole.csv", "--out", "page.html", "--markdown", "page.md")
    assert done.exit_code == 4
    page = Path("page.html").read_text()
    assert "<b>dee</b>" not in page
    assert page.count("<svg") == len([1 for row in watch("whole.csv")["measures"] if row["found"]])
    text = Path("page.md").read_text()
    assert text.startswith("# Judges watched: ")
    assert run("whole.csv", "--markdown", "-").stdout == text
    assert run("whole.csv", "--out", "page.html").exit_code == 1
