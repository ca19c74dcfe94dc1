"""What the prompts of every run show: a recording server in the models' place, and what the papers' prompts hold.

``SHOWN`` says, by template, what a prompt must hold; each run is carried out on its invented items with all its
protocols at their full depth, and every prompt that arrives at the server is looked at.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire.collect import Judge, Question
from voirdire.collect.asking import Asking
from voirdire.collect.client import Request
from voirdire.collect.protocol import Key
from voirdire.collect.rendering import PACKAGE_PROMPTS
from voirdire_repro import load_system, runs
from voirdire_repro.runfile import read_run, toy_file

PROJECT = Path(__file__).resolve().parents[2]
RUNS = sorted((path.parts[-4], path.parent.name) for path in PROJECT.glob("paper_repro/*/runs/*/run.toml"))
#: Runs in which judges compare each text with a target.
TARGET = ("maj_eval/mslr",)
#: Runs in which texts are answers to assignments: the theme of each.
THEMES = {
    "maple/asap2": {
        "Should streets be closed to cars?": "Car-free cities",
        "Should cars drive themselves?": "Driverless cars",
    }
}
#: Runs in which every agent of a debate is shown steps for each aspect.
STEPS = ("debate/summeval", "debate/topical-chat")
#: Options that are made smaller because more of the same shows nothing new.
FEWER = {"samples": 2, "runs": 2}
#: Answers with which a debate goes on for as long as it may.
LONGEST = {"verdict": "ISSUE", "no_more_comments": "no", "change": "yes"}


def answer(schema: Mapping[str, Any], rng: np.random.Generator, name: str = "") -> Any:
    """An answer that fits the schema, with lists of two where they may be; every text is one of its own."""
    if "enum" in schema:
        fixed = LONGEST.get(name)
        return fixed if fixed in schema["enum"] else schema["enum"][int(rng.integers(len(schema["enum"])))]
    if schema["type"] == "object":
        return {key: answer(part, rng, key) for key, part in schema["properties"].items()}
    if schema["type"] == "array":
        length = min(max(2, schema.get("minItems", 0)), schema.get("maxItems", 2))
        return [] if "type" not in schema["items"] else [answer(schema["items"], rng) for _ in range(length)]
    return f"words {int(rng.integers(10**12))}"


def answer_to(model: str, prompt: Sequence[str], schema: Mapping[str, Any]) -> Any:
    """What the server says to a prompt: it depends on the model and the prompt alone."""
    digest = hashlib.sha256(json.dumps([model, *prompt]).encode()).digest()
    return answer(schema, np.random.default_rng(list(digest)))


@dataclass
class Asked:
    """A prompt as it arrived, the question behind it, and all answers of the same collection by key."""

    run: str
    question: Question
    prompt: str
    options: Mapping[str, Any]
    items: Mapping[str, Mapping[str, Any]]
    said: Mapping[Key, Any]
    every: Mapping[str, Mapping[Key, Any]]

    @property
    def key(self) -> tuple[Any, ...]:
        return self.question.key

    def item(self, place: int = -3) -> Mapping[str, Any]:
        return self.items[str(self.key[place])]

    def earlier(self, *keys: tuple[Any, ...]) -> list[Any]:
        return [self.said[key] for key in keys]


Part = Callable[[Asked], Iterable[str]]


def task(one: Asked) -> list[str]:
    """What the texts are for; of essays the theme and its assignment."""
    if one.run in THEMES:
        (assignment,) = {item["assignment"] for item in one.items.values()}
        return [one.options["task"].split("\n")[0], assignment, THEMES[one.run][assignment]]
    return [one.options["task"]]


def text(one: Asked, place: int = -3) -> list[str]:
    """The item, what it is based on, and, where judges compare it with a target, that."""
    item = one.item(place)
    found = [item["text"], item.get("source", "")]
    return [*found, item["reference"]] if one.run in TARGET else found


def group_text(one: Asked) -> list[str]:
    return text(one, -2)


def aspect(one: Asked) -> list[str]:
    name = str(one.key[-2])
    return [name, one.options["criteria"][name], f"from {one.options['low']} (worst) to {one.options['high']}"]


def aspects(one: Asked) -> list[str]:
    return [part for pair in one.options["criteria"].items() for part in pair]


def persona(one: Asked) -> list[str]:
    """All five attributes of the persona that speaks, or its role's one line."""
    name = str(one.question.variables["agent"])
    if "roles" in one.options:
        return [one.options["roles"][one.question.variables["group"]]]
    (own,) = (said for key, said in one.said.items() if key[0] == "persona" and said["name"] == name)
    return list(own.values())


def of_group(one: Asked, step: str) -> dict[tuple[Any, ...], Any]:
    """What was answered at a step about the same item in the same group and run."""
    return {key: said for key, said in one.said.items() if key[0] == step and key[-3:] == one.key[-3:]}


def group_said(one: Asked) -> list[str]:
    """First evaluations, and the speeches before this one."""
    number = int(one.key[1])
    first = [said["feedback"] for said in of_group(one, "evaluate").values()]
    return first + [said["feedback"] for key, said in of_group(one, "speak").items() if key[1] < number]


def group_finals(one: Asked) -> list[str]:
    last = {key[1]: said for key, said in of_group(one, "evaluate").items()}
    for key, said in sorted(of_group(one, "speak").items(), key=lambda pair: pair[0][1]):
        last[key[2]] = said
    return [said["feedback"] for said in last.values()]


def debate_said(one: Asked) -> list[str]:
    """The brief, and every message before."""
    case, step = one.key[-3:], one.key[0]
    turns = one.options["iterations"] + 1 if step == "break-tie" else int(one.key[1])
    found = [said["reasoning"] for said in one.earlier(*(("score", n, *case) for n in range(turns)))]
    critics = range(1, turns + (step == "score"))
    return found + [said["feedback"] for said in one.earlier(*(("criticise", n, *case) for n in critics))]


def given_steps(one: Asked) -> list[str]:
    """G-Eval's steps for the aspect, which the paper's template has for every agent."""
    return [one.options["steps"][one.key[-2]]] if one.run in STEPS else []


def brief(one: Asked) -> list[str]:
    return [one.said["command", *one.key[-3:]]["brief"]]


def plan(one: Asked) -> list[str]:
    """The plan's part for this agent, where there is a plan."""
    if not one.options.get("plan", True):
        return []
    found = one.said["plan", *one.key[-3:]]
    if one.key[0] == "arbitrate":
        return [found["arbitrator"]]
    return list(np.ravel(found["evaluator" if one.key[0] == "evaluate" else "moderator"][one.key[1] - 1]))


def evaluations(one: Asked, number: int) -> list[str]:
    places = range(1, one.options["evaluators"] + 1)
    return [
        said["reasoning"] for said in one.earlier(*(("evaluate", number, place, *one.key[-3:]) for place in places))
    ]


def debated(one: Asked) -> list[str]:
    """What a moderator, an arbitrator or a later round is given of the debate."""
    case, moderate = one.key[-3:], one.options.get("moderate", True)
    if one.key[0] == "moderate":
        return evaluations(one, one.key[1])
    if one.key[0] == "evaluate":
        before: Iterable[int] = range(1, one.key[1])
    else:
        before = [one.options["rounds"]] if moderate else range(1, one.options["rounds"] + 1)
    if moderate:
        return [said["summary"] for said in one.earlier(*(("moderate", n, *case) for n in before))]
    return [text for number in before for text in evaluations(one, number)]


def chat_said(one: Asked) -> list[str]:
    number, case = one.key[1], one.key[-3:]
    keys = [key for key in one.said if key[0] == "speak" and key[-3:] == case]
    roles = list(dict.fromkeys(key[2] for key in keys if key[1] == 1))
    ordered = [("speak", n, role, *case) for n in range(1, number + 1) for role in roles]
    return [said["comment"] for said in one.earlier(*ordered[: ordered.index(one.key)])]


def role(one: Asked) -> list[str]:
    return [one.key[2], one.question.variables["duty"]]


def steps(one: Asked) -> list[str]:
    """Given ones, else those that the judge wrote."""
    if one.options["steps"]:
        return [one.options["steps"][one.key[-2]]]
    return list(one.said["steps", one.key[-2]]["steps"])


def own_evaluation(one: Asked) -> list[str]:
    """The evaluation as it stands, and for a revision what was found amiss."""
    case, number = one.key[-3:], int(one.key[1])
    before = ("score", 0) if number == 1 else ("revise", number - 1)
    found = [one.said[(*before, *case)]["reasoning"]]
    return found + ([one.said["feedback", number, *case]["feedback"]] if one.key[0] == "revise" else [])


def pair(one: Asked) -> list[str]:
    step = one.key[0] if one.key[0] in one.items else None
    names = [key for key in one.key if str(key) in one.items]
    assert len(names) == 2, (step, one.key)
    return [one.items[str(name)]["text"] for name in names]


def rubric(one: Asked) -> list[str]:
    return [one.options["rubric"]]


def audience(one: Asked) -> list[str]:
    return [one.options["audience"]]


def generated(one: Asked) -> dict[str, Mapping[str, Any]]:
    """Criteria that the run's generator wrote."""
    if one.options["criteria"]:
        # written for an earlier sample of the theme
        return {name: {"text": text} for name, text in one.options["criteria"].items()}
    (found,) = (said for said in one.every[one.options["generator"]].values() if "criteria" in said)
    return {criterion["name"]: criterion for criterion in found["criteria"]}


def leaves(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list) else [str(value)]


def criterion(one: Asked) -> list[str]:
    """Name, definition, checklist, levels, pitfalls and borderline notes."""
    return leaves(generated(one)[one.question.variables["criterion"]])


def criteria(one: Asked) -> list[str]:
    every = generated(one)
    return [leaf for name in one.key[1:3] for leaf in leaves(every[name])]


def document(one: Asked) -> list[str]:
    return [one.options["documents"][int(one.key[1]) - 1]]


def source(one: Asked) -> list[str]:
    return [one.items[str(one.key[1])]["text"]]


def summaries(one: Asked) -> list[str]:
    """The summaries that models have written of the text."""
    context = one.key[1]
    return [
        one.every[system]["summarise", context]["summary"]
        for system in one.key[2 : len(one.key) - (one.key[0] == "compare")]
    ]


def stakeholders(one: Asked) -> list[str]:
    """Name and description of everybody whom the judge has found in the documents."""
    found = [who for key, said in one.said.items() if key[0] == "extract" for who in said["stakeholders"]]
    return [part for who in found for part in (who["name"], who["description"])]


def perspectives(one: Asked) -> list[str]:
    """The group, and of what was found in the documents all that is the group's, with its evidence."""
    own = one.question.variables["perspectives"]
    found = [who for key, said in one.said.items() if key[0] == "extract" for who in said["stakeholders"]]
    known = {(each["dimension"], each["evidence"]) for who in found for each in who["perspectives"]}
    pairs = [(each["dimension"], each["evidence"]) for each in own]
    assert len(pairs) >= 2
    assert set(pairs) <= known
    return [one.question.variables["group"], *(part for pair in pairs for part in pair)]


def basis(one: Asked) -> list[str]:
    """What a persona is made of: its group, what matters to it, and where that is said."""
    shown = one.question.variables
    assert shown["evidence"]
    return [shown["group"], shown["description"], shown["dimension"], *shown["evidence"]]


#: What the prompt of a template must hold, in every run.
SHOWN: dict[str, tuple[Part, ...]] = {
    "maple/criteria": (rubric, task, audience),
    "maple/compare": (task, pair, criterion),
    "maple/weigh": (task, criteria, audience),
    "pairwise/compare": (task, pair, rubric),
    "masa/summarise": (task, source),
    "masa/enhanced": (task, source, summaries),
    "masa/baseline": (task, source, summaries),
    "masa/error": (task, source, summaries),
    "maj-eval/extract": (task, document),
    "maj-eval/group": (task, stakeholders),
    "maj-eval/merge": (task, perspectives),
    "maj-eval/persona": (task, basis),
    "maj-eval/evaluate": (task, group_text, aspects, persona),
    "maj-eval/speak": (task, group_text, aspects, persona, group_said),
    "maj-eval/choose": (group_said,),
    "maj-eval/synthesise": (task, group_text, group_finals),
    "debate/command": (task, text, aspect, given_steps),
    "debate/score": (task, text, aspect, given_steps, brief, debate_said),
    "debate/criticise": (task, text, aspect, given_steps, brief, debate_said),
    "debate/break-tie": (task, text, aspect, given_steps, debate_said),
    "g-eval/steps": (task,),
    "g-eval/score": (task, text, aspect, steps),
    "chat-eval/speak": (task, text, aspect, role, chat_said),
    "vanilla/score": (task, text, aspect),
    "cot/score": (task, text, aspect),
    "self-refine/score": (task, text, aspect),
    "self-refine/feedback": (task, text, aspect, own_evaluation),
    "self-refine/revise": (task, text, aspect, own_evaluation),
    "mareval/plan": (task, text, aspect),
    "mareval/evaluate": (task, text, aspect, plan, debated),
    "mareval/moderate": (task, text, aspect, plan, debated),
    "mareval/arbitrate": (task, text, aspect, plan, debated),
}  # fmt: skip


#: Parts that no prompt of a run has: debates of MAREval have one round.
NEVER = {("mareval/evaluate", "debated")}
#: Prompts that no run of a paper asks with.
NOT_ASKED = {"ranking/rank"}


@dataclass
class Recorded:
    """Every prompt of a run: what was asked with which options, and what the server received."""

    run: str
    asked: list[tuple[Asked, str]] = field(default_factory=list)
    received: set[str] = field(default_factory=set)
    settings: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


def scripted() -> Any:
    """The module of the scripted server, which stands in another folder of tests."""
    path = PROJECT / "tests" / "collect" / "scripted_server.py"
    spec = importlib.util.spec_from_file_location("scripted_server_of_runs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def options_of(protocol: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their defaults."""
    from dataclasses import asdict
    from importlib import import_module

    entries = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    module, cls = entries["voirdire.protocols"][protocol].split(":")
    return asdict(getattr(import_module(module), cls).Options(**given))


def smaller(spec: dict[str, Any]) -> dict[str, Any]:
    """The run with fewer repetitions of the same."""
    parts = [
        {**part, "options": {k: min(v, FEWER[k]) if k in FEWER else v for k, v in part.get("options", {}).items()}}
        for part in spec["parts"]
        if "column" not in part and part["protocol"] not in ("rouge-l", "bert-score")
    ]
    statistic = {**spec["statistic"], **({"samples": 2} if "samples" in spec["statistic"] else {})}
    kept = {key: value for key, value in spec.items() if key not in ("spread", "texts", "example")}
    return {**kept, "parts": parts, "statistic": statistic}


_SUMMARISES = {"temperature": 0.7, "top_p": 1.0, "max_tokens": 512}
_EVALUATES = {"temperature": 0.0, "top_p": 0.1, "max_tokens": 612}
#: What the papers say of how their models are asked, by run and model.
ASKED_WITH: dict[str, dict[str, dict[str, Any]]] = {
    "maple/asap2": {
        "gpt-5.1": {"temperature": 0.2, "reasoning_effort": "none"},
        "gpt-4o-mini": {"temperature": 0.2},
        "mistralai/ministral-8b": {"temperature": 0.2},
    },
    "masa/masa": {
        "meta-llama/Llama-2-70b-chat-hf": _SUMMARISES,
        "mistralai/Mistral-7B-Instruct-v0.1": _SUMMARISES,
        "gpt-3.5-turbo": _SUMMARISES,
        "gpt-4-turbo": _EVALUATES,
        "meta-llama/Llama-3.3-70B-Instruct": _EVALUATES,
        "mistral-large-latest": _EVALUATES,
        "aaditya/Llama3-OpenBioLLM-70B": _EVALUATES,
    },
}
#: Runs that take a second or so a piece; the others are many prompts.
FAST = ("masa/masa",)
LONG = ("debate/summeval", "maple/asap2", "mareval/topical-chat")


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * (name not in FAST) + [pytest.mark.long] * (name in LONG)


_PARAMS = [pytest.param(one, marks=_marks("/".join(one)), id="/".join(one)) for one in RUNS]


@pytest.fixture(scope="module", params=_PARAMS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Recorded]:
    """A run on its invented items, at full depth, answered by the recording server."""
    import voirdire.collect.run as collecting

    name, run = request.param
    folder = tmp_path_factory.mktemp(run)
    found = Recorded(f"{name}/{run}")
    current: dict[str, Any] = {}
    collect, asked_for = collecting.collect, Asking._request

    def collected(panel: Any, items: pd.DataFrame, protocol: str, out: Path, *, options: dict[str, Any]) -> Any:
        rows = {str(row["id"]): row for row in items.fillna("").to_dict("records")}
        current.update(options=options_of(protocol, options), items=rows, every={})
        return collect(panel, items, protocol, out, options=options)

    def note(self: Asking, question: Question, judge: Judge) -> Request:
        sent = asked_for(self, question, judge)
        said = current["every"].setdefault(judge.name, {})
        prompt = f"{sent.system}\n{sent.user}"
        one = Asked(f"{name}/{run}", question, prompt, current["options"], current["items"], said, current["every"])
        assert question.schema is not None
        said[question.key] = answer_to(sent.model, [sent.system, sent.user], question.schema)
        found.asked.append((one, json.dumps([sent.system, sent.user])))
        return sent

    server = scripted()

    def script(body: Mapping[str, Any]) -> Any:
        prompt = [message["content"] for message in body["messages"]]
        found.received.add(json.dumps(prompt))
        found.settings.append((body["model"], body))
        return answer_to(body["model"], prompt, body["response_format"]["json_schema"]["schema"])

    with pytest.MonkeyPatch.context() as patch, server.ScriptedServer(script) as serving:
        patch.setattr(collecting, "collect", collected)
        patch.setattr(Asking, "_request", note)
        patch.setattr(runs, "read_run", lambda *which: smaller(read_run(*which)))
        panel = PROJECT / "paper_repro" / name / "runs" / run / "panel.toml"
        own = re.sub(r'base_url = ".*"', f'base_url = "{serving.url}"', panel.read_text(encoding="utf-8"))
        own = re.sub(r'api_key_env = ".*"\n', "", own)
        (folder / "panel.toml").write_text(own, encoding="utf-8")
        system = load_system(name)
        runs.run(system, run, data=toy_file(system, run), panel=folder / "panel.toml", out=folder / "out")
    return f"{name}/{run}", found


def test_models_are_asked_as_the_papers_say(recorded: tuple[str, Recorded]) -> None:
    run, found = recorded
    if run not in ASKED_WITH:
        pytest.skip("nothing is said beside the prompts")
    for model, said in ASKED_WITH[run].items():
        sent = [body for name, body in found.settings if name == model]
        assert sent, model
        assert all({key: body.get(key) for key in said} == said for body in sent), model


def test_criteria_are_written_once_a_theme(recorded: tuple[str, Recorded]) -> None:
    run, found = recorded
    if run not in THEMES:
        pytest.skip("no themes")
    asked = [one for one, _ in found.asked if one.question.template == "maple/criteria"]
    assert len(asked) == len(THEMES[run])
    assert sum(bool(one.options.get("criteria")) for one, _ in found.asked) > 0


def lacking(asked: Sequence[Asked]) -> dict[tuple[str, str], int]:
    """How many prompts lack a part that they must hold, by template and part."""
    found: dict[tuple[str, str], int] = {}
    for one in asked:
        for part in SHOWN[one.question.template]:
            if not all(text in one.prompt for text in part(one)):
                place = (one.question.template, part.__name__)
                found[place] = found.get(place, 0) + 1
    return found


def test_every_prompt_of_every_run_shows_what_the_papers_prompts_show(recorded: tuple[str, Recorded]) -> None:
    run, found = recorded
    assert {prompt for _, prompt in found.asked} == found.received
    assert len(found.asked) >= 50
    less = lacking([one for one, _ in found.asked])
    assert not less, f"{run}: of {len(found.asked)} prompts so many lack what the paper's hold: {less}"


def test_a_prompt_that_lacks_a_part_is_found_out(recorded: tuple[str, Recorded]) -> None:
    """Every part of every template is asked for by some prompt, and is missed where it is taken out."""
    _, found = recorded
    asked = [one for one, _ in found.asked]
    for template in {one.question.template for one in asked}:
        for part in SHOWN[template]:
            wanted = (
                (one, texts)
                for one in asked
                if one.question.template == template
                if (texts := [text for text in part(one) if text])
            )
            one, texts = next(wanted, (None, []))
            if one is None:
                place = (template, part.__name__)
                assert place in NEVER or (part is given_steps and found.run not in STEPS), place
                continue
            without = replace(one, prompt=one.prompt.replace(texts[-1], ""))
            assert (template, part.__name__) in lacking([without])


def test_every_prompt_that_protocols_have_is_spoken_of() -> None:
    whole = {
        path.relative_to(PACKAGE_PROMPTS).with_suffix("").as_posix()
        for path in PACKAGE_PROMPTS.rglob("*.j2")
        if "{% block user %}" in path.read_text(encoding="utf-8")
    }
    assert whole == SHOWN.keys() | NOT_ASKED
