"""Everything that a run needs, checked before the first request: panel, items, protocol, options, prompts.

Find protocols: everything that an installed package registers as an entry point ``voirdire.protocols``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from voirdire.collect.items import read_items
from voirdire.collect.local import local_problems
from voirdire.collect.options import build_options, read_texts
from voirdire.collect.panel import Panel, read_panel
from voirdire.collect.protocol import Calls, Protocol, Setting
from voirdire.collect.rehearsal import rehearse_run
from voirdire.collect.rendering import Prompts
from voirdire.collect.rule_judges import rule_problems
from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name

GROUP = "voirdire.protocols"
_SOURCE = Path(__file__).resolve().parents[3] / "pyproject.toml"


def protocol_names() -> list[str]:
    """Names of the protocols there are, sorted.

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
    known = _registered_protocols()
    if name not in known:
        there = f"; there are {', '.join(sorted(known))}" if known else "; none is installed"
        raise InputError(f"protocol {name!r} is unknown{nearest_name(name, list(known)) or there}")
    module, _, attribute = known[name].partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        made: Protocol = found()
    except Exception as error:
        raise InputError(
            f"protocol {name!r}: {known[name]} cannot be imported ({error}); reinstall it"
        ) from error
    return made


def _registered_protocols() -> dict[str, str]:
    """Where each protocol is; no other package's comes in the place of one that is shipped.

    Those of a source tree that is not installed stand in its own pyproject.toml.
    """
    points = sorted(
        metadata.entry_points(group=GROUP),
        key=lambda one: one.dist is not None and one.dist.name == "voirdire",
    )
    found = {point.name: point.value for point in points}
    if _SOURCE.is_file():
        project = tomllib.loads(_SOURCE.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "voirdire":
            found |= project.get("entry-points", {}).get(GROUP, {})
    return found


_T = TypeVar("_T")


@dataclass(frozen=True)
class Plan:
    """A checked request: what is asked of whom, by which protocol, with which prompts.

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
        """The protocol's bounds on the number of questions, with a number for each judge."""
        found, nobody = self.protocol.calls(self.setting), {judge.name: 0 for judge in self.setting.judges}
        return Calls({**nobody, **found.least}, {**nobody, **found.most})

    def setting_fingerprint(self) -> dict[str, str]:
        """Fingerprint of what a journal belongs to, by part: the same parts, the same questions.

        Prices, keys, concurrency, timeouts and batches may change between two starts of a run.
        """
        free = ("api_key_env", "price_in", "price_out", "concurrency", "timeout", "batch")
        judges = [
            {key: value for key, value in asdict(judge).items() if key not in free}
            for judge in self.setting.judges
        ]
        items = json.dumps([asdict(item) for item in self.setting.items], sort_keys=True)
        return {
            "protocol": self.protocol.name,
            "options": json.dumps(asdict(self.setting.options), sort_keys=True, default=dict),
            "judges": json.dumps(judges, sort_keys=True, default=dict),
            "items": hashlib.sha256(items.encode()).hexdigest(),
            "seed": str(self.setting.seed),
            "prompts": self.prompts.digest(),
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
    """Read and check what a run is asked to do.

    Parameters
    ----------
    panel : path or mapping
        As :func:`voirdire.collect.panel.read_panel`.
    items : path, dataframe
        As :func:`voirdire.collect.items.read_items`.
    protocol : str
        A protocol's name.
    options : mapping, optional
        Options of the protocol, before those of the panel file.
    settings : mapping of str to str, optional
        Options as text, before both. A text ``@path`` stands for that file's text: beside the panel file where that
        names it (and below its folder), else from the current folder.
    prompts : path, optional
        A folder whose templates come before the package's.

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
    wrong: dict[str, list[str]] = {}

    def keep_problems(part: str, make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except InputError as error:
            wrong[part] = list(error.problems)
            return None

    read = keep_problems("panel", lambda: read_panel(panel))
    found = keep_problems("protocol", lambda: find_protocol(protocol))
    least = int(getattr(found, "fewest_items", 2))  # one, where each is scored by itself
    texts = keep_problems("items", lambda: read_items(items, least=least))
    problems = [problem for part in ("panel", "items", "protocol") for problem in wrong.get(part, [])]
    chosen = None
    if found is not None and read is not None:
        beside, faults = Path(".") if isinstance(panel, Mapping) else Path(panel).parent, list[str]()
        table = read_texts(read.protocol, beside, faults, below=True)
        table |= read_texts(options or {}, Path("."), faults)
        chosen, rest = build_options(found.Options, table, read_texts(settings or {}, Path("."), faults))
        problems += [f"protocol {protocol}: {problem}" for problem in [*faults, *rest]]
    if read is not None:
        problems += [*local_problems(read.judges), *rule_problems(read.judges)]
    templates, unfit = read_prompts(found, prompts)
    problems += unfit
    if problems or read is None or found is None or texts is None:
        raise InputError(problems)
    setting = Setting(read.judges, texts, chosen, read.seed)
    if faults := found.problems(setting):
        raise InputError([f"protocol {protocol}: {problem}" for problem in faults])
    plan = Plan(read, found, setting, templates)
    if prompts is not None:
        _check_prompts(plan)
    return plan


def read_prompts(protocol: Protocol | None, folder: str | Path | None) -> tuple[Prompts, list[str]]:
    """The templates of a protocol, those of a user's folder before them, and what is wrong with that folder."""
    own = getattr(protocol, "prompts", None)  # of a protocol of another package
    templates = Prompts([one for one in (folder, own) if one is not None])
    return templates, [] if folder is None else templates.problems(Path(folder))


def _check_prompts(plan: Plan) -> None:
    """Fill in the prompts of every step once, so that a name which a step does not give is found before a request."""
    problems: list[str] = []
    for step, questions in rehearse_run(plan.protocol, plan.setting).items():
        try:
            plan.prompts.render(step, questions[0].variables)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
