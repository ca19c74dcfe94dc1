"""Prompts of the user's own: what they must show is checked, every step can be looked at before it is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire import InputError
from voirdire.cli import app
from voirdire.collect import Prompts
from voirdire.collect.dry_run import prompts_planned, protocol_templates
from voirdire.collect.plan import make_plan
from voirdire.collect.rehearsal import rehearse_run
from voirdire.collect.rendering import PACKAGE_PROMPTS, required_variables

PANEL = {
    "judges": [{"name": name, "model": "m", "base_url": "http://localhost:1/v1"} for name in ("ann", "bob", "cem")]
}
ITEMS = pd.DataFrame(
    {"id": ["a", "b", "c"], "text": ["one", "two", "three"], "source": ["about"] * 3, "reference": ["one"] * 3}
)
#: Options with which a protocol asks every step that it has, and steps that other options ask.
STEPS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "maple": ({"rubric": "Good is good."}, set()),
    "pairwise": ({}, set()),
    "ranking": ({}, set()),
    "masa": ({"summarizers": ("ann",), "reference": "bob"}, {"masa/baseline"}),
    "maj-eval": ({"documents": ("Parents want fun.", "Teachers want sense.")}, set()),
    "debate": ({"tie_breaker": True}, set()),
    "mareval": ({}, set()),
    "vanilla": ({}, set()),
    "cot": ({}, set()),
    "self-refine": ({}, set()),
    "g-eval": ({"weighting": "samples"}, set()),
    "chat-eval": ({}, set()),
}


@pytest.mark.parametrize("name", STEPS)
def test_every_step_of_a_protocol_is_rehearsed(name: str) -> None:
    options, others = STEPS[name]
    plan = make_plan(PANEL, ITEMS, name, options=options)
    asked = set(rehearse_run(plan.protocol, plan.setting))
    files = {f"{name}/{path.stem}" for path in (PACKAGE_PROMPTS / name).glob("*.j2") if "{% block" in path.read_text()}
    assert asked == files - others


def test_the_steps_are_shown_in_their_order() -> None:
    steps = [one.step for one in prompts_planned(PANEL, ITEMS, "self-refine")]
    assert steps == ["self-refine/score", "self-refine/feedback", "self-refine/revise"]
    assert len(list(prompts_planned(PANEL, ITEMS, "vanilla", each=4))) == 4


def test_the_command_shows_every_step(tmp_path: Path) -> None:
    panel, url = tmp_path / "panel.toml", "http://localhost:1/v1"
    panel.write_text("".join(f'[[judges]]\nname = "{n}"\nmodel = "m"\nbase_url = "{url}"\n' for n in ("ann", "bob")))
    ITEMS.to_csv(tmp_path / "items.csv", index=False)
    given = ["prompts", "mareval", "--panel", str(panel), "--items", str(tmp_path / "items.csv")]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    for step in ("plan", "evaluate", "moderate", "arbitrate"):
        assert done.stdout.count(f"== mareval/{step} ") == 1
    done = CliRunner().invoke(app, [*given, "--json", "--limit", "2"])
    assert [one["step"] for one in json.loads(done.stdout)["prompts"]].count("mareval/evaluate") == 2


@pytest.mark.parametrize(
    ("template", "slots"),
    [
        ("vanilla/score", {"text", "criterion"}),
        ("maple/compare", {"first", "second", "criterion"}),
        ("maj-eval/speak", {"text", "criteria", "profile", "said"}),
        ("maj-eval/persona", {"group", "description", "dimension", "evidence"}),
        ("mareval/moderate", {"text", "criterion", "evaluations"}),
        ("shared/item", {"text"}),
    ],
)
def test_a_template_needs_the_material_that_it_always_quotes(template: str, slots: set[str]) -> None:
    assert required_variables(f"{template}.j2", Prompts()._text) >= slots


def own(folder: Path, name: str, user: str) -> Path:
    path = folder / f"{name}.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{% block system %}You judge.{% endblock %}{% block user %}" + user + "{% endblock %}")
    return folder


def test_a_template_without_what_it_is_about_is_refused(tmp_path: Path) -> None:
    own(tmp_path, "vanilla/score", "Score it by {{ criterion }}.")
    with pytest.raises(InputError, match=r"vanilla/score\.j2 does not show 'text'; write"):
        make_plan(PANEL, ITEMS, "vanilla", prompts=tmp_path)
    with pytest.raises(InputError, match="does not show 'text'"):
        protocol_templates("vanilla", tmp_path)
    own(tmp_path, "vanilla/score", "Score {{ text | quoted }} by {{ criterion }}.")
    (shown,) = prompts_planned(PANEL, ITEMS, "vanilla", tmp_path)
    assert shown.user.startswith("Score [text, begin")
    assert "Score {{ text" in protocol_templates("vanilla", tmp_path)["vanilla/score"]


def test_what_is_included_counts(tmp_path: Path) -> None:
    own(tmp_path, "vanilla/score", '{% include "shared/item.j2" %}{% include "shared/aspect.j2" %}')
    assert list(prompts_planned(PANEL, ITEMS, "vanilla", tmp_path))


def test_a_template_without_a_block_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vanilla").mkdir()
    (tmp_path / "vanilla" / "score.j2").write_text("{% block user %}{{ text }}{{ criterion }}{% endblock %}")
    with pytest.raises(InputError, match="lacks the block 'system'"):
        make_plan(PANEL, ITEMS, "vanilla", prompts=tmp_path)


def test_a_name_that_a_step_does_not_give_is_found_before_a_request(tmp_path: Path) -> None:
    own(tmp_path, "self-refine/revise", "{{ text }} {{ criterion }} {{ feedback }} {{ evaluation }} {{ txet }}")
    with pytest.raises(InputError, match="prompt self-refine/revise: 'txet' is undefined"):
        make_plan(PANEL, ITEMS, "self-refine", prompts=tmp_path)
