"""Plan of a run, checked before the first request: panel, items, protocol, options, prompts.

Protocols are found as entry points ``voirdire.protocols`` of installed packages.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from voirdire.collect.items import read_items
from voirdire.collect.local import local_problems
from voirdire.collect.options import build_options, read_texts
from voirdire.collect.panel import Panel, read_panel, rule_problems
from voirdire.collect.protocol import Calls, Protocol, Setting
from voirdire.collect.rehearsal import rehearse_run
from voirdire.collect.rendering import Prompts
from voirdire.errors import InputError, build_or_report, gathered_problems, raise_problems
from voirdire.tables.problems import nearest_name

ENTRY_POINT_GROUP = "voirdire.protocols"
_PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def protocol_names() -> list[str]:
    """Return the names of all protocols, sorted.

    Examples
    --------
    >>> all(isinstance(name, str) for name in protocol_names())
    True
    """
    return sorted(_registered_protocols())


def find_protocol(name: str) -> Protocol:
    """Load a protocol by its name.

    Raises
    ------
    InputError
        No package registers it, or it cannot be imported.
    """
    locations = _registered_protocols()
    if name not in locations:
        choices = f"; there are {', '.join(sorted(locations))}" if locations else "; none is installed"
        raise InputError(f"protocol {name!r} is unknown{nearest_name(name, list(locations)) or choices}")
    module, _, attribute = locations[name].partition(":")
    try:
        protocol_class: Any = getattr(importlib.import_module(module), attribute)
        protocol: Protocol = protocol_class()
    except Exception as error:
        raise InputError(f"protocol {name!r}: {locations[name]} cannot be imported ({error}); reinstall it") from error
    return protocol


def _registered_protocols() -> dict[str, str]:
    """Return the location of each protocol; another package cannot replace a protocol of voirdire.

    A source tree that is not installed lists its protocols in pyproject.toml.
    """
    points = sorted(
        metadata.entry_points(group=ENTRY_POINT_GROUP),
        key=lambda entry: entry.dist is not None and entry.dist.name == "voirdire",
    )
    locations = {point.name: point.value for point in points}
    if _PYPROJECT.is_file():
        project = tomllib.loads(_PYPROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "voirdire":
            locations |= project.get("entry-points", {}).get(ENTRY_POINT_GROUP, {})
    return locations


@dataclass(frozen=True)
class Plan:
    """A checked plan: panel, protocol, setting (judges, items, options, seed) and prompts.

    Examples
    --------
    >>> from voirdire.collect.plan import protocol_names
    >>> sorted(Plan.__dataclass_fields__)
    ['panel', 'prompts', 'protocol', 'setting']
    """

    panel: Panel
    protocol: Protocol
    setting: Setting
    prompts: Prompts

    def calls(self) -> Calls:
        """Return the protocol's bounds on the number of questions, for every judge."""
        bounds, no_calls = self.protocol.calls(self.setting), {judge.name: 0 for judge in self.setting.judges}
        return Calls({**no_calls, **bounds.least}, {**no_calls, **bounds.most})

    def setting_fingerprint(self) -> dict[str, str]:
        """Return the setting as text by part, to compare with a journal: equal parts ask the same questions.

        Prices, keys, concurrency, timeouts and batches may change when a run is resumed.
        """
        changeable = ("api_key_env", "price_in", "price_out", "concurrency", "timeout", "batch")
        judges = [
            {key: value for key, value in asdict(judge).items() if key not in changeable}
            for judge in self.setting.judges
        ]
        items = json.dumps([asdict(item) for item in self.setting.items], sort_keys=True)
        return {
            "protocol": self.protocol.name,
            "options": json.dumps(asdict(self.setting.options), sort_keys=True, default=dict),
            "judges": json.dumps(judges, sort_keys=True, default=dict),
            "items": hashlib.sha256(items.encode()).hexdigest(),
            "seed": str(self.setting.seed),
            "prompts": self.prompts.templates_digest(),
        }


def make_plan(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    *,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    prompts: str | Path | None = None,
) -> Plan:
    """Read and check the inputs of a run.

    Parameters
    ----------
    panel : path or mapping
        See :func:`voirdire.collect.panel.read_panel`.
    items : path, dataframe
        See :func:`voirdire.collect.items.read_items`.
    protocol : str
        A protocol's name.
    options : mapping, optional
        Options of the protocol; they replace those of the panel file.
    settings : mapping of str to str, optional
        Options as text; they replace both. ``@path`` means the text of that file. In a panel file the path is relative
        to the panel's folder and must stay below it; elsewhere it is relative to the current folder.
    prompts : path, optional
        Folder of templates that replace the package's.

    Raises
    ------
    InputError
        All problems of panel, items, protocol and options at once; then those of the prompts.

    Examples
    --------
    >>> make_plan({"judges": []}, "missing.csv", "maple")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ... problems:
      panel: there are no judges; write a table [[judges]] with name and model for each
      items: file 'missing.csv' does not exist...
    """
    part_problems: dict[str, list[str]] = {part: [] for part in ("panel", "items", "protocol")}
    panel_content = build_or_report(read_panel, panel, part_problems["panel"])
    chosen_protocol = build_or_report(find_protocol, protocol, part_problems["protocol"])
    least = int(getattr(chosen_protocol, "fewest_items", 2))  # 1 if the protocol scores each item separately
    item_list = build_or_report(partial(read_items, min_count=least), items, part_problems["items"])
    problems = [problem for part in part_problems.values() for problem in part]
    option_values = None
    if chosen_protocol is not None and panel_content is not None:
        panel_folder, faults = Path(".") if isinstance(panel, Mapping) else Path(panel).parent, list[str]()
        table = read_texts(panel_content.protocol, panel_folder, faults, below=True)
        table |= read_texts(options or {}, Path("."), faults)
        option_values, option_faults = build_options(
            chosen_protocol.Options, table, read_texts(settings or {}, Path("."), faults)
        )
        problems += [f"protocol {protocol}: {problem}" for problem in [*faults, *option_faults]]
    if panel_content is not None:
        problems += [*local_problems(panel_content.judges), *rule_problems(panel_content.judges)]
    templates, prompt_faults = read_prompts(chosen_protocol, prompts)
    problems += prompt_faults
    if problems or panel_content is None or chosen_protocol is None or item_list is None:
        raise InputError(problems)
    setting = Setting(panel_content.judges, item_list, option_values, panel_content.seed)
    if faults := chosen_protocol.problems(setting):
        raise InputError([f"protocol {protocol}: {problem}" for problem in faults])
    plan = Plan(panel_content, chosen_protocol, setting, templates)
    if prompts is not None:
        _check_prompts(plan)
    return plan


def read_prompts(protocol: Protocol | None, folder: str | Path | None) -> tuple[Prompts, list[str]]:
    """Return the templates of a protocol, with a user's folder first, and the faults of that folder."""
    own_folder = getattr(protocol, "prompts", None)  # set by protocols of other packages
    templates = Prompts([path for path in (folder, own_folder) if path is not None])
    return templates, [] if folder is None else templates.problems(Path(folder))


def _check_prompts(plan: Plan) -> None:
    """Fill in the prompts of every step once, to find undefined variables before the first request."""
    problems: list[str] = []
    for step, questions in rehearse_run(plan.protocol, plan.setting).items():
        with gathered_problems(problems):
            plan.prompts.render(step, questions[0].variables)
    raise_problems(problems)
