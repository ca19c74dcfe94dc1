"""Templates by strangers end soon, stay small, read nothing but templates, and fail with a message."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from voirdire.collect import Prompts, sandbox
from voirdire.errors import InputError

GIVEN = {"first": "a text", "items": [{"name": "x", "score": 1.5}, {"name": "y", "score": 2}], "round": 3}
BOMBS = [
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) if b < 0 %}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}" + "x" * 1000 + "{% endfor %}",
    "{% set x %}{% for a in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
    "{{ 'a' * 10 ** 10 }}",
    "{{ 10 ** (10 ** 10) }}",
    "{{ [1] * 10 ** 10 }}",
    "{{ range(10 ** 10) }}",
    "{{ 2 ** 99999999 }}",
    "{{ 'a'.center(10 ** 10) }}",
    "{{ 'a' | center(10 ** 10) }}",
    "{{ 'a'.ljust(10 ** 10) }}",
    "{{ 'a'.zfill(10 ** 10) }}",
    "{{ '%9999999999d' | format(1) }}",
    "{{ '%*d' | format(9999999999, 1) }}",
    "{{ '%9999999999d' % 1 }}",
    "{{ '{:>9999999999}'.format(1) }}",
    "{{ '{0:>9999999999}'.format_map({}) }}",
    "{{ first | indent(10 ** 10, true) }}",
    "{{ lipsum(n=10 ** 6) }}",
    "{{ 'a' | batch(10 ** 10, 'b') | list }}",
    "{{ 1 | round(10 ** 9, 'ceil') }}",
    "{{ range(99999) | join('x' * 99999) }}",
    "{{ range(99999) | map('string') | join('x' * 99999) }}",
    "{{ dict.fromkeys(range(99999)).keys() | join('x' * 99999) }}",
    "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}",
    "{{ (1).to_bytes(10 ** 10, 'big') }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = {1: ns.x, 2: ns.x} %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x | replace('', ns.x) %}{% endfor %}",
    "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{{ loop([[1]]) }}{% endfor %}",
    "{% include 'toy/compare.j2' %}{% include 'toy/compare.j2' %}",
    "{{ self.user() }}{{ self.user() }}",
    "{% import 'toy/compare.j2' as a %}",
    "{% from 'toy/compare.j2' import a %}",
    "{{ 1 / 0 }}",
    "{{ round() }}",
    "{{ nothing }}",
    "{{ first.x }}",
    "{{ first | nothing }}",
    "{{ first | random }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ first.__init__.__globals__ }}",
    "{{ namespace() }}",
    "{{ items.append(items) }}",
    "{% for x in 3 %}{% endfor %}",
    "{{ 'a' | int + 'b' }}",
    "{% for i in range(9999) %}{% if 'a' * 99999 == 'b' * 99999 %}{% endif %}{% endfor %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ 1" + "+1" * 50_000 + " }}",
    "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "".join(f"{{% for a{n} in [1] %}}" for n in range(40)) + "{% endfor %}" * 40,
    "{% include 'secret.txt' %}",
    "{% include '../secret.j2' %}",
    "{% include 'link.j2' %}",
    "{% include '/etc/passwd' %}",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own" / "toy").mkdir(parents=True)
    (tmp_path / "secret.j2").write_text("PRIVATE")
    (tmp_path / "own" / "secret.txt").write_text("PRIVATE")
    (tmp_path / "own" / "link.j2").symlink_to(tmp_path / "secret.j2")
    return tmp_path / "own"


def render(folder: Path, text: str) -> str:
    both = "{% block system %}S{% endblock %}{% block user %}"
    (folder / "toy" / "compare.j2").write_text(f"{both}{text}{{% endblock %}}")
    return Prompts([folder]).render("toy/compare", GIVEN).user


@pytest.mark.slow
def test_templates_that_would_not_end_are_refused_with_a_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in BOMBS:
        monkeypatch.setattr(sandbox, "MAX_STEPS", 20_000 if BOMBS.index(text) else sandbox.MAX_STEPS)
        began = time.process_time()
        with pytest.raises(InputError) as caught:
            render(folder, text)
        said = str(caught.value)
        assert said.startswith("prompt "), said
        assert "PRIVATE" not in said
        assert len(said) < 1000
        assert time.process_time() - began < 60, text[:100]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
    problems = Prompts([folder]).problems(folder)
    assert any("link.j2 is no template: leads out of its folder" in one for one in problems)


def test_what_prompts_need_is_there(folder: Path) -> None:
    for text, shown in {
        "{% for one in items %}{{ loop.index }} of {{ loop.length }}: {{ one.name | upper }}"
        "{{ ', ' if not loop.last }}{% endfor %}": "1 of 2: X, 2 of 2: Y",
        "{{ '%.2f' | format(items[0].score) }} {{ round + 1 }} {{ 7 % 4 }} {{ 2 ** 3 }} {{ 'a' ~ round }}": (
            "1.50 4 3 8 a3"
        ),
        "{{ items | map(attribute='name') | join('; ') }} {{ items | sum(attribute='score') | round(1) }}": "x; y 3.5",
        "{% macro shown(x) %}<{{ x }}>{% endmacro %}{{ shown(first) }} {{ first.split(' ')[1].title() }}": (
            "<a text> Text"
        ),
        "{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}": "3",
        "{{ [1, 2] }} {{ {'a': 1}.items() | list }} {{ none }} {{ 1 < 2 and first in ['a text'] }}": (
            "[1, 2] [('a', 1)] None True"
        ),
        "{% include 'shared/marks.j2' %}": render(folder, "{% include 'shared/marks.j2' ignore missing %}"),
        "{% for a, b in [(1, 2)] %}{{ a }}{{ b }}{% else %}none{% endfor %}": "12",
        "{{ first | quoted('text') | wordcount }}{{ first | default('x') | replace('a', 'b') | indent(2, true) }}": (
            "8  b text"
        ),
    }.items():
        assert render(folder, text) == shown, text
    long = "word " * 200_000
    (folder / "toy" / "compare.j2").write_text(
        "{% block system %}{% endblock %}{% block user %}{{ first | quoted('a') }}{{ first | length }}{% endblock %}"
    )
    assert len(Prompts([folder]).render("toy/compare", {"first": long}).user) > 1_000_000
