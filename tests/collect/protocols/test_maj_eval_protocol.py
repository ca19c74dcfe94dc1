from __future__ import annotations

import asyncio
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.collect import Answer, Item, Judge, Setting
from voirdire.tables import read_scores
from voirdire_protocols.maj_eval import MajEval, MajEvalOptions, SimpleRole, SimpleRoleOptions

ROLES = {"Teachers": "You teach.", "Parents": "You raise children."}


def stakeholder(name, *dimensions, evidence="not in it"):
    pairs = [{"dimension": one, "evidence": evidence} for one in dimensions]
    return {"name": name, "description": f"{name} in one sentence.", "perspectives": pairs}


class Debaters:
    """Agents that rate by a table, end when it says so, and are chosen in a fixed order."""

    def __init__(self, order=(), ends=(), first=3, step=1):
        self.order, self.ends, self.first, self.step = list(order), set(ends), first, step

    def replies(self):
        return {
            "maj-eval/evaluate": self.evaluate,
            "maj-eval/choose": self.choose,
            "maj-eval/speak": self.speak,
            "maj-eval/synthesise": {"synthesis": "they agree"},
        }

    def evaluate(self, question):
        name = question.key[1]
        return {"feedback": f"{name} first", "ratings": self.rate(question, self.first)}

    def rate(self, question, score):
        return dict.fromkeys(question.schema["properties"]["ratings"]["properties"], score)

    def choose(self, question):
        return {"speaker": self.order.pop(0)}

    def speak(self, question):
        number, name = question.key[1:3]
        end = "yes" if (name, number) in self.ends or name in self.ends else "no"
        return {
            "feedback": f"{name} in {number}",
            "no_more_comments": end,
            "ratings": self.rate(question, self.first + self.step),
        }


def debate(settle, carry_out, script, debaters, roles=None, **options):
    setting = settle(SimpleRole(), "j", 1, roles=roles or {"T": "You teach."}, **options)
    ask = script(debaters.replies())
    return ask, carry_out(SimpleRole(), setting, ask)


def test_a_speaker_without_more_comments_is_not_chosen_again(settle, carry_out, script, table) -> None:
    course = Debaters(order=["T 2", "T 2", "T 1"], ends={("T 2", 2), ("T 1", 3), ("T 3", 5)})
    ask, rows = debate(settle, carry_out, script, course)
    assert ask.templates == [
        *["evaluate"] * 3,
        *("choose", "speak", "choose", "speak", "choose", "speak"),
        # T 3 is left: nobody chooses
        *("speak", "speak"),
        "synthesise",
    ]
    offered = [q.variables["active"] for q in ask.questions if q.key[0] == "choose"]
    assert offered == [["T 1", "T 2", "T 3"], ["T 1", "T 2", "T 3"], ["T 1", "T 3"]]
    assert [q.schema["properties"]["speaker"]["enum"] for q in ask.questions if q.key[0] == "choose"] == offered
    assert [q.key[2] for q in ask.questions if q.key[0] == "speak"] == ["T 2", "T 2", "T 1", "T 3", "T 3"]
    final = [r for r in table(rows, "scores") if r["phase"] == "final" and r["level"] == "agent"]
    assert {r["ended"] for r in final} == {"yes"}
    assert {r["score"] for r in final} == {4}
    initial = [r for r in table(rows, "scores") if r["phase"] == "initial"]
    assert {r["score"] for r in initial} == {3}


def test_there_are_at_most_m_speeches(settle, carry_out, script, table) -> None:
    course = Debaters(order=["T 1", "T 1", "T 2", "T 1"])
    ask, rows = debate(settle, carry_out, script, course, rounds=4)
    assert ask.templates.count("speak") == ask.templates.count("choose") == 4
    final = {r["judge"]: r for r in table(rows, "scores") if r["phase"] == "final" and r["level"] == "agent"}
    # who did not speak keeps the rating it gave at first
    assert {name: row["score"] for name, row in final.items()} == {"j/T/T 1": 4, "j/T/T 2": 4, "j/T/T 3": 3}
    assert {row["ended"] for row in final.values()} == {"no"}
    (group,) = [r for r in table(rows, "scores") if r["level"] == "group"]
    assert group["score"] == pytest.approx(11 / 3)


@given(
    size=st.integers(1, 5),
    most=st.integers(1, 12),
    moves=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12, min_size=12),
)
def test_every_course_stops_in_time_and_nobody_speaks_after_ending(size, most, moves) -> None:
    spoken, ended = [], []

    async def ask(question):
        step, ratings = question.key[0], {"overall": 3}
        pick, ends = moves[min(len(spoken), 11)]
        if step == "evaluate":
            return Answer({"feedback": "Well.", "ratings": ratings})
        if step == "choose":
            active = question.variables["active"]
            # nobody chooses where one is left, or where the rounds are used up
            assert len(active) > 1
            assert len(spoken) < most
            assert active == [name for name in (f"T {n + 1}" for n in range(size)) if name not in ended]
            return Answer({"speaker": active[pick % len(active)]})
        if step == "speak":
            number, name = question.key[1:3]
            spoken.append(name)
            assert number == len(spoken) <= most
            assert name not in ended
            if ends:
                ended.append(name)
            return Answer({"feedback": "Hm.", "no_more_comments": "yes" if ends else "no", "ratings": ratings})
        return Answer({"synthesis": "They agree."})

    options = SimpleRoleOptions(roles={"T": "You teach."}, agents=size, rounds=most)
    rows = asyncio.run(SimpleRole().run(Setting((Judge("j", "m"),), (Item("a", "x"),), options), ask))
    assert len(spoken) == most or len(ended) == size
    final = {r.values["judge"]: r.values for r in rows if "ended" in r.values}
    assert {name for name, row in final.items() if row["ended"] == "yes"} == {f"j/T/{name}" for name in ended}


def test_unfinished_ratings_can_be_left_missing(settle, carry_out, script, table) -> None:
    course = Debaters(order=["T 1", "T 2"], ends={"T 1"})
    ask, rows = debate(settle, carry_out, script, course, rounds=2, unfinished="missing")
    final = [r for r in table(rows, "scores") if r["phase"] == "final"]
    assert [(r["judge"], r["score"]) for r in final] == [("j/T/T 1", 4), ("j/T", 4.0), ("j", 4.0)]
    assert [r["judge"] for r in table(rows, "missing")] == ["j/T/T 2", "j/T/T 3"]
    assert ask.questions[-1].variables["averages"] == {"overall": 4.0}


def test_everyone_hears_all_that_was_said(settle, carry_out, script) -> None:
    course = Debaters(order=["T 1", "T 2"], ends={"T 1", "T 2"})
    ask, _ = debate(settle, carry_out, script, course, agents=2)
    heard = [[turn["text"] for turn in q.variables["said"]] for q in ask.questions if q.key[0] == "speak"]
    assert heard == [["T 1 first", "T 2 first"], ["T 1 first", "T 2 first", "T 1 in 1"]]
    assert not any("first" in prompt.user.replace("first evaluation", "") for prompt in ask.prompts[:2])


def test_group_means_and_their_mean(settle, carry_out, script, table) -> None:
    """Groups of two; criteria are rated in one answer; the judge's score weighs groups, not agents."""
    scores = {"Teachers 1": 1, "Teachers 2": 2, "Parents 1": 5, "Parents 2": 4}

    class Fixed(Debaters):
        def rate(self, question, score):
            who = question.key[1] if question.key[0] == "evaluate" else question.key[2]
            return {"style": scores[who], "sense": 6 - scores[who]}

        def choose(self, question):
            return {"speaker": question.variables["active"][0]}

    names = set(scores)
    setting = settle(SimpleRole(), "j", 1, roles=ROLES, agents=2, criteria={"style": "", "sense": ""})
    rows = carry_out(SimpleRole(), setting, script(Fixed(ends=names).replies()))
    found = {(r["judge"], r["criterion"]): r["score"] for r in table(rows, "scores") if r["level"] != "agent"}
    assert found == {
        ("j/Teachers", "style"): 1.5,
        ("j/Teachers", "sense"): 4.5,
        ("j/Parents", "style"): 4.5,
        ("j/Parents", "sense"): 1.5,
        ("j", "style"): 3.0,
        ("j", "sense"): 3.0,
    }
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert read.phases == ("final", "initial")
    assert [r["text"] for r in table(rows, "texts") if r["kind"] == "synthesis"] == ["they agree"] * 2


def test_missing_answers_in_a_debate(settle, script, table) -> None:
    course = Debaters(order=["T 1"], ends={"T 1", "T 2"})
    replies = course.replies()
    replies["maj-eval/evaluate"] = lambda q: None if q.key[1] == "T 3" else course.evaluate(q)
    replies["maj-eval/choose"] = None
    replies["maj-eval/speak"] = lambda q: None if q.key[2] == "T 3" else course.speak(q)
    setting = settle(SimpleRole(), "j", 1, roles={"T": "You teach."}, rounds=5)
    ask = script(replies)
    rows = asyncio.run(SimpleRole().run(setting, ask))
    # without a coordinator those speak who have been silent longest; T 3 never answers and never ends
    assert [q.key[2] for q in ask.questions if q.key[0] == "speak"] == ["T 1", "T 2", "T 3", "T 3", "T 3"]
    final = [r["judge"] for r in table(rows, "scores") if r["phase"] == "final" and r["level"] == "agent"]
    assert final == ["j/T/T 1", "j/T/T 2"]
    reasons = {row["key"].split("/")[0]: row["reason"] for row in table(rows, "missing")}
    assert "silent longest, spoke instead" in reasons["choose"]
    assert reasons["final"] == "the agent gave no rating"
    assert {"evaluate", "speak"} <= set(reasons)


def test_without_any_rating_there_is_no_average(settle, script, table) -> None:
    setting = settle(SimpleRole(), "j", 1, roles=ROLES, agents=1, rounds=1)
    replies = {"maj-eval/evaluate": None, "maj-eval/speak": None}
    rows = asyncio.run(SimpleRole().run(setting, script(replies)))
    assert table(rows, "scores") == []
    assert table(rows, "missing")[-1]["reason"] == "no group came to a rating"


DOCUMENTS = ("Teachers say: keep it\nsimple. Parents want fun.", "Mothers and fathers want fun. Nurses are busy.")
FOUND = {
    1: [stakeholder("teachers", "simplicity", evidence="keep it simple"), stakeholder("parents", "fun", "play")],
    2: [stakeholder("mothers", "joy", evidence="want fun."), stakeholder("nurses", "brevity")],
}


def personas(settle, carry_out, script, **options):
    setting = settle(MajEval(), "j", 1, documents=DOCUMENTS, task="Stories.", rounds=1, **options)
    replies = {
        "maj-eval/extract": lambda q: {"stakeholders": FOUND[q.key[1]]},
        "maj-eval/group": {
            "groups": [
                {"name": "Teaching staff", "description": "They teach.", "members": [1]},
                {"name": "Families", "description": "They raise.", "members": [2, 3, 2]},
            ]
        },
        "maj-eval/merge": {"dimensions": [{"dimension": "enjoyment", "members": [1, 3]}]},
        "maj-eval/persona": lambda q: {
            "name": "Kim  Lee",
            **{key: f"{key} of {q.variables['dimension']}" for key in list(q.schema["properties"])[1:]},
        },
    }
    ask = script(replies)
    return ask, carry_out(MajEval(), setting, ask)


def test_from_documents_to_personas(settle, carry_out, script, table) -> None:
    ask, rows = personas(settle, carry_out, script)
    assert ask.templates[:4] == ["extract", "extract", "group", "merge"]
    assert ask.templates.count("persona") == 4
    texts = table(rows, "texts")
    assert [r["kind"] for r in texts].count("stakeholder") == 4
    # who is in no group of the answer forms one
    assert [(r["group"], json.loads(r["text"])["members"]) for r in texts if r["kind"] == "group"] == [
        ("Teaching staff", ["teachers"]),
        ("Families", ["parents", "mothers"]),
        ("nurses", ["nurses"]),
    ]
    dimensions = {
        (r["group"], json.loads(r["text"])["dimension"]): json.loads(r["text"])["sources"]
        for r in texts
        if r["kind"] == "dimension"
    }
    assert list(dimensions) == [
        ("Teaching staff", "simplicity"),
        ("Families", "enjoyment"),
        ("Families", "play"),
        ("nurses", "brevity"),
    ]
    merged = dimensions["Families", "enjoyment"]
    assert [(s["dimension"], s["document"], s["verbatim"]) for s in merged] == [("fun", 1, False), ("joy", 2, True)]
    assert dimensions["Teaching staff", "simplicity"][0]["verbatim"] is True
    # two personas of one name in a group stay two
    names = [(r["group"], json.loads(r["text"])["name"]) for r in texts if r["kind"] == "persona"]
    assert ("Families", "Kim Lee") in names
    assert ("Families", "Kim Lee (2)") in names
    schema = next(q.schema for q in ask.questions if q.template == "maj-eval/persona")
    assert list(schema["properties"]) == [
        "name", "demographics", "dimension", "specialty", "psychology", "relationships",
    ]  # fmt: skip
    told = next(
        p.user for q, p in zip(ask.questions, ask.prompts, strict=True) if q.key[:2] == ("evaluate", "Kim Lee (2)")
    )
    assert all(f"{word} of play" in told for word in ("demographics", "specialty", "psychology", "relationships"))
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert "j/Families/Kim Lee (2)" in read.judges
    assert "j" in read.judges


def test_bounds_on_groups_and_personas_are_told(settle, carry_out, script, table) -> None:
    ask, rows = personas(settle, carry_out, script, groups=2, personas=1)
    texts = table(rows, "texts")
    assert [(r["group"], r["used"]) for r in texts if r["kind"] == "group"] == [
        ("Teaching staff", "yes"),
        ("Families", "yes"),
        ("nurses", "no"),
    ]
    assert [r["used"] for r in texts if r["kind"] == "dimension"] == ["yes", "yes", "no"]
    assert ask.templates.count("persona") == 2
    # a debate of one needs no coordinator
    assert "choose" not in ask.templates


def test_documents_without_stakeholders(settle, script, table) -> None:
    setting = settle(MajEval(), "j", 1, documents=DOCUMENTS)
    ask = script({"maj-eval/extract": lambda q: None if q.key[1] == 1 else {"stakeholders": []}})
    rows = asyncio.run(MajEval().run(setting, ask))
    assert ask.templates == ["extract", "extract"]
    assert [r["reason"] for r in table(rows, "missing")] == [
        "scripted to be missing",
        "the document names no stakeholder",
        "no group came to a rating",
    ]


def test_problems() -> None:
    panel, items = (Judge("j", "m"),), ()
    assert MajEval().problems(Setting(panel, items, MajEvalOptions(documents=(" ",)))) == [
        "option documents: document 1 is empty; give its text"
    ]
    assert "option roles is empty" in SimpleRole().problems(Setting(panel, items, SimpleRoleOptions()))[0]


GIVEN = {"teachers/Ann": "You teach.", "teachers/Bob": "You teach, too.", "parents/Cem": "You have a child."}


def test_personas_that_are_given_debate_and_no_document_is_read(settle, carry_out, script) -> None:
    ask = script()
    protocol = MajEval()
    rows = carry_out(protocol, settle(protocol, "j", [Item("a", "one")], persona_texts=GIVEN), ask)
    assert {question.template for question in ask.questions} <= {
        f"maj-eval/{step}" for step in ("evaluate", "choose", "speak", "synthesise")
    }
    agents = {row.values["judge"] for row in rows if row.values.get("level") == "agent"}
    assert agents == {f"j/{name}" for name in GIVEN}
    shown = [prompt.user for prompt in ask.prompts if "You have a child." in prompt.user]
    assert all("You are Cem, of the group parents." in one for one in shown)
    assert shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"persona_texts": {"Ann": "You teach."}}, "'Ann' is no group/name"),
        ({"persona_texts": {"teachers/Ann": " "}}, "'teachers/Ann' has no text"),
        ({"persona_texts": GIVEN, "documents": ("One.",)}, "both given; leave out one"),
        ({}, "or personas as persona_texts"),
    ],
)
def test_personas_are_checked(options, message) -> None:
    protocol = MajEval()
    setting = Setting((Judge("j", "scripted"),), (Item("a", "one"),), MajEvalOptions(**options))
    problems = protocol.problems(setting)
    assert any(message in problem for problem in problems)
