"""The verb ``collect``: runs a protocol on a panel, resumably, and writes its tables."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from voirdire.collect.allowed_hosts import Confirm, key_problems
from voirdire.collect.asking import Asking
from voirdire.collect.budget import Budget, Progress, Stop
from voirdire.collect.client import Client
from voirdire.collect.export import write_json, write_tables
from voirdire.collect.journal import JOURNAL_FILE, ZERO_TOTALS, Journal
from voirdire.collect.local import LocalServers
from voirdire.collect.panel import LOCAL_PREFIX, RULE_PREFIX, panel_key_faults, read_keys
from voirdire.collect.plan import Plan, make_plan
from voirdire.collect.protocol import TABLES, Row
from voirdire.collect.redact import Redactor
from voirdire.collect.rehearsal import run_in_loop
from voirdire.errors import InputError, raise_problems
from voirdire.folders import check_resumed_folder, report_errors
from voirdire.layouts import Layout, recognise_json, recognise_text

_LOCAL_SLOTS = 2
#: Table and plot of the results after each round of a run with a stopping condition.
ROUNDS_FILE, ROUNDS_PLOT = "rounds.csv", "rounds.svg"
#: Expected content of a run's folder; the journal checks its own file.
RUN_LAYOUT = Layout(
    "a run",
    {JOURNAL_FILE: Path.is_file, "run.json": recognise_json("voirdire", "protocol", "judges")}
    | {ROUNDS_FILE: recognise_text("round,"), ROUNDS_PLOT: recognise_text("<svg")}
    | {f"{table}.csv": recognise_text("judge,") for table in TABLES},
)


@dataclass(frozen=True, eq=False)
class Collected:
    """Result of a run.

    Attributes
    ----------
    folder : Path
        Folder of the tables and the journal.
    protocol : str
    tables : dict of str to int
        Number of rows by table; each is written as ``<table>.csv``.
    judges : list of dict
        Per judge: requests sent, questions answered and missing, tokens, cost; totals over all starts of the run.
    stopped : str or None
        Reason why the run ended early; None if it is complete.
    seconds : float
        Duration of this start.
    """

    folder: Path
    protocol: str
    tables: dict[str, int]
    judges: list[dict[str, Any]]
    stopped: str | None
    seconds: float

    def total(self, column: str) -> float:
        """Return the sum of a column of ``judges``."""
        return sum(float(row[column]) for row in self.judges)

    @property
    def nothing_answered(self) -> bool:
        """True if no question is answered and no table has rows."""
        return not self.total("answered") and not any(rows for name, rows in self.tables.items() if name != "missing")

    def as_dict(self) -> dict[str, Any]:
        """Return the result as ``voirdire collect --json`` prints it."""
        tables = [
            {"table": name, "rows": rows, "path": str(self.folder / f"{name}.csv")}
            for name, rows in self.tables.items()
        ]
        totals: dict[str, Any] = {"protocol": self.protocol, "out": str(self.folder)}
        totals |= {column: sum(row[column] for row in self.judges) for column in ZERO_TOTALS}
        end = {"stopped": self.stopped, "seconds": self.seconds}
        return {**totals, **end, "tables": tables, "judges": self.judges}


def collect(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    out: str | Path,
    *,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    prompts: str | Path | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    retry_missing: bool = False,
    allow_keys: Sequence[str] = (),
    confirm: Confirm | None = None,
    progress: Callable[[Progress], None] | None = None,
    tell: Callable[[str], None] | None = None,
    through: Callable[[Plan], Plan] | None = None,
) -> Collected:
    """Ask a panel of language models, and write their answers as tables.

    Parameters
    ----------
    panel : path or mapping
        ``panel.toml``, or its content (see :mod:`voirdire.collect.panel`).
    items : path or dataframe
        Items to judge: columns ``id`` and ``text``, optionally ``context``, ``system``, ``source``, ``reference``.
    protocol : str
        A protocol's name.
    out : path
        A new folder, or the folder of a stopped run with the same setting, which is then resumed.
    options : mapping, optional
        Options of the protocol; they replace those in the panel file.
    settings : mapping of str to str, optional
        Options as text, as on the command line; they replace both.
    prompts : path, optional
        Folder of templates that replace the package's.
    max_cost, max_calls : float, int, optional
        Bounds on the total cost and the total number of requests of all starts of the run. At a bound no further
        request is sent, pending requests are waited for, and the tables are written from the answers so far.
        ``max_calls=0`` only writes the tables.
    retry_missing : bool
        True asks unanswered questions again.
    allow_keys : sequence of str, optional
        ``NAME=HOST``: the key in this environment variable may be sent to this host (see
        :mod:`voirdire.collect.allowed_hosts`).
    confirm : callable, optional
        Called with a variable's name and a host that is not allowed yet; if it returns True, this is remembered.
    progress : callable, optional
        Called with a :class:`voirdire.collect.budget.Progress` after each question.
    tell : callable, optional
        Called with a text about the pending requests when the run is interrupted.
    through : callable, optional
        Converts the plan to the plan that is run. Its protocol may omit questions, but not add any (see
        :mod:`voirdire.adaptive.protocol_filter`).

    Returns
    -------
    Collected

    Raises
    ------
    InputError
        Before the first request: lists all problems of panel, items, options, prompts, keys and folder. During the
        run: a permanent fault (refused key, unknown model).

    Examples
    --------
    >>> collect({"judges": []}, "items.csv", "maple", "out")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    began = time.monotonic()
    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    plan = plan if through is None else through(plan)
    folder, reading = Path(out), max_calls == 0
    keys, key_faults = read_keys(plan.panel.judges)
    problems = [
        f"{name} is {bound!r}; give a {words} of at least 0"
        for name, bound, words in (("max_cost", max_cost, "number"), ("max_calls", max_calls, "whole number"))
        if bound is not None and not bound >= 0
    ]
    problems += panel_key_faults(plan.panel, keys)
    if not reading:
        problems += key_faults or key_problems(plan.panel.judges, allow_keys, confirm if not problems else None)
    problems += _folder_problems(folder, reading)
    raise_problems(problems)
    hide = Redactor(keys.values())
    with ExitStack() as opened:
        opened.enter_context(report_errors(f"output folder {folder}:", (OSError,)))
        servers = opened.enter_context(closing(LocalServers()))
        folder.mkdir(parents=True, exist_ok=True)
        journal = opened.enter_context(closing(Journal(folder, write=not reading, hide=hide)))
        if changed := journal.begin_run(plan.setting_fingerprint()):
            raise InputError(
                f"journal {journal.path}: made with another setting ({', '.join(changed)}); go on with the one it "
                "was made with, or name another output folder"
            )
        if retry_missing and not reading:
            journal.forget_missing()

        async def connect_clients() -> dict[str, Client]:
            return await asyncio.to_thread(_make_clients, plan, keys, servers, hide)

        budget = Budget(plan.panel, max_cost, max_calls, progress)
        asking = Asking(plan, journal, budget, None if reading else connect_clients)
        rows, stopped = run_in_loop(_run_protocol(plan, asking, budget, tell))
        if rows is None:
            rows = run_in_loop(plan.protocol.run(plan.setting, Asking(plan, journal, Budget(plan.panel)).ask))
        counts = write_tables(rows, folder, hide)
        totals = journal.totals_by_judge()
        judges = [{"judge": judge.name, **ZERO_TOTALS, **totals.get(judge.name, {})} for judge in plan.setting.judges]
        seconds = time.monotonic() - began
        collected = Collected(folder, plan.protocol.name, counts, judges, stopped, seconds)
        _write_run(plan, collected, hide)
        return collected


async def _run_protocol(
    plan: Plan, asking: Asking, budget: Budget, tell: Callable[[str], None] | None
) -> tuple[list[Row] | None, str | None]:
    """Return the rows (None if the run was stopped), and the reason why rows are lacking."""
    calls = plan.calls()
    budget.progress.least, budget.progress.most = sum(calls.least.values()), sum(calls.most.values())
    try:
        try:
            rows = await plan.protocol.run(plan.setting, asking.ask)
            return rows, f"{asking.unasked} questions are not asked yet" if asking.unasked else None
        except Stop as stop:
            return None, str(stop)
        except asyncio.CancelledError:
            notice = asking.stop("interrupted")
            if tell is not None and notice:
                tell(notice)
            raise
    except KeyboardInterrupt:  # a second Ctrl-C
        asking.abandon_all()
        raise
    finally:
        await asking.finish()


def _make_clients(plan: Plan, keys: Mapping[str, str], servers: LocalServers, hide: Redactor) -> dict[str, Client]:
    """Return the client of each judge; judges with the same server and key share one."""
    by_server: dict[tuple[str, str], Client] = {}
    by_judge = {}
    for judge in plan.setting.judges:
        if judge.model.startswith(RULE_PREFIX):
            continue
        local = judge.model.startswith(LOCAL_PREFIX)
        url = servers.url(judge.model, _LOCAL_SLOTS) if local else judge.base_url or ""
        key = keys.get(judge.api_key_env or "", "")
        client = Client(url, key, hide, judge.model if local else None)
        by_judge[judge.name] = by_server.setdefault((url, key), client)
    return by_judge


def _folder_problems(folder: Path, reading: bool) -> tuple[str, ...]:
    try:
        check_resumed_folder(folder, RUN_LAYOUT, JOURNAL_FILE)
    except InputError as error:
        return error.problems
    if reading and not (folder / JOURNAL_FILE).is_file():
        return (f"output folder {folder}: holds no journal of a run, so there is nothing to write tables of",)
    return ()


def _write_run(plan: Plan, collected: Collected, hide: Redactor) -> None:
    """Write ``run.json``: the setting and the totals, without times."""
    setting: dict[str, Any] = plan.setting_fingerprint()
    decoded = {part: json.loads(setting[part]) for part in ("options", "judges", "seed")}
    parts = ("protocol", "options", "judges", "seed", "items", "prompts")
    content = {"voirdire": metadata.version("voirdire")} | {part: (setting | decoded)[part] for part in parts}
    content |= {"stopped": collected.stopped, "totals": collected.judges}
    write_json(content, collected.folder / "run.json", hide)
