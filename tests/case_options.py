"""The options of a case of ../shared/formats as those of `voirdire.read`."""

from __future__ import annotations

from typing import Any

from voirdire.tables.reading import SETTINGS


def reading_of(case: dict[str, Any]) -> dict[str, Any]:
    options = dict(case["options"])
    if case["tool"] == "wide":
        return {"wide": "judge", "table": options["table"], "map": {"item": options["item"]}}
    if "columns" in options:
        options["map"] = options.pop("columns")
    said = {name: options.pop(name) for name in SETTINGS if name in options}
    return options | ({"set": said} if said else {})
