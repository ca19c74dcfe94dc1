from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    """A helper module of this folder, which is no package; one copy for all tests."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


scripted_server = load("scripted_server")
batch_server = load("batch_server")
toy = load("toy")
growth = load("growth")


@pytest.fixture
def serve() -> Iterator[Callable[..., Any]]:
    """Start scripted servers that end with the test."""
    servers = []

    def start(script: Callable[..., Any], **settings: Any) -> Any:
        servers.append(scripted_server.ScriptedServer(script, **settings).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture
def toy_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol ``toy``, as if a package had registered it."""
    from voirdire.collect import plan

    before = plan._registered_protocols
    monkeypatch.setattr(plan, "_registered_protocols", lambda: before() | {"toy": "toy:Toy"})
