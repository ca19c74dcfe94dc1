"""docs/protocols.md names every protocol, every option and every table, and none that is not there."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from voirdire.collect.options import build_options
from voirdire.collect.protocol import TABLES


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "protocols.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def protocols(project: Path) -> dict[str, Any]:
    listed = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    places = listed["project"]["entry-points"]["voirdire.protocols"]
    return {name: getattr(import_module(p.split(":")[0]), p.split(":")[1])() for name, p in places.items()}


def rows(page: str) -> dict[str, str]:
    (table,) = re.findall(r"^\| protocol \|.*?(?=^$)", page, flags=re.DOTALL | re.MULTILINE)
    return {re.findall(r"`([^`]+)`", row)[0]: row for row in table.splitlines()[2:]}


def test_the_table_names_the_protocols_and_their_tables(page, protocols) -> None:
    listed = rows(page)
    assert set(listed) == set(protocols)
    for name, row in listed.items():
        tables = set(re.findall(r"`([^`]+)`", row.split("|")[4]))
        assert tables <= set(TABLES)
        assert tables, name


def test_the_page_names_every_option(page, protocols) -> None:
    words = set(re.findall(r"`([a-z_]+)(?: = [^`]*)?`", page))
    for name, protocol in protocols.items():
        for field in dataclasses.fields(protocol.Options):
            assert field.name in words, (name, field.name)


def test_the_panel_on_the_page_can_be_read(page, protocols) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    panel = tomllib.loads(text)
    assert panel["judges"][0]["model"].startswith("local:")
    assert build_options(protocols["maple"].Options, panel["protocol"])[1] == []


def test_values_named_on_the_page_exist(page, protocols) -> None:
    """Every `option = "value"` is accepted by some protocol."""
    for option, value in re.findall(r'`([a-z_]+) = ("[^"`]*"|true|false|\d+)`', page):
        table = tomllib.loads(f"{option} = {value}")
        accepted = [name for name, p in protocols.items() if not build_options(p.Options, table)[1]]
        assert accepted, (option, value)
