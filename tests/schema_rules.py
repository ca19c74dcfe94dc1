"""JSON schema, as much of it as the committed schemas use."""

from __future__ import annotations

from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": float}


def follow(value: Any, schema: dict[str, Any]) -> None:
    """Hold a value against as much of JSON schema as the committed ones use."""
    if "const" in schema:
        assert value == schema["const"]
    if "enum" in schema:
        assert value in schema["enum"]
    if "type" in schema:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        assert isinstance(value, tuple(TYPES.get(one, int) for one in types))
    if isinstance(value, dict):
        assert set(value) == set(schema["properties"]) == set(schema["required"])
        for name, one in value.items():
            follow(one, schema["properties"][name])
    if isinstance(value, list):
        for one in value:
            follow(one, schema["items"])
