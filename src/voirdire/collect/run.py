"""The verb ``collect``: run a protocol on a panel, resumable, and write its tables."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from voirdire.collect.asking import Asking, Limits, Progress, Stop, price, tokens_read, tokens_written
from voirdire.collect.client import Client, Form
from voirdire.collect.export import write_json, write_tables
from voirdire.collect.journal import FILE, Journal
from voirdire.collect.local import LocalServers
from voirdire.collect.panel import LOCAL, RULE, read_keys
from voirdire.collect.plan import Plan, make_plan
from voirdire.collect.protocol import Row
from voirdire.errors import InputError

_T = TypeVar("_T")
_SLOTS = 2


@dataclass(frozen=True, eq=False)
class Collected:
    """What a run has brought.

    Attributes
    ----------
    folder : Path
        Where the tables and the journal are.
    protocol : str
    tables : dict of str to int
        Rows by table; ``voirdire.collect.collect`` writes each as ``<table>.csv``.
    judges : list of dict
        Per judge: requests sent, questions answered and missing, tokens, cost; of all starts of the run.
    stopped : str or None
        Why the run ended before it was done.
    seconds : float
        Of this start.
    """

    folder: Path
    protocol: str
    tables: dict[str, int]
    judges: list[dict[str, Any]]
    stopped: str | None
    seconds: float

    def total(self, column: str) -> float:
        """Sum of a column of ``judges``."""
        return sum(float(row[column]) for row in self.judges)

    def as_dict(self) -> dict[str, Any]:
        """Return it in the shape of ``voirdire collect --json``."""
        columns = ("requests", "answered", "missing", "tokens_in", "tokens_out", "cost")
        tables = [
            {"table": name, "rows": rows, "path": str(self.folder / f"{name}.csv")}
            for name, rows in self.tables.items()
        ]
        return {
            "protocol": self.protocol,
            "out": str(self.folder),
            **{column: sum(row[column] for row in self.judges) for column in columns},
            "stopped": self.stopped,
            "seconds": self.seconds,
            "tables": tables,
            "judges": self.judges,
        }


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a run will ask, before anything is asked.

    Attributes
    ----------
    protocol : str
    judges : list of dict
        Per judge: ``calls_least`` and ``calls_most``, tokens read and written and cost for the most.
    """

    protocol: str
    judges: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return it in the shape of ``voirdire collect --dry-run --json``."""
        columns = ("calls_least", "calls_most", "tokens_in", "tokens_out", "cost")
        totals = {column: sum(row[column] for row in self.judges) for column in columns}
        return {"protocol": self.protocol, **totals, "judges": self.judges}


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
    progress: Callable[[Progress], None] | None = None,
) -> Collected:
    """Ask a panel of language models, and write what they answer as tables.

    Parameters
    ----------
    panel : path or mapping
        ``panel.toml``, or what it would hold (see :mod:`voirdire.collect.panel`).
    items : path or dataframe
        What to judge: columns ``id`` and ``text``, optionally ``context``, ``system``, ``source``, ``reference``.
    protocol : str
        A protocol's name.
    out : path
        A new folder, or that of a run with the same setting, which then goes on where it was stopped.
    options : mapping, optional
        Options of the protocol, before those in the panel file.
    settings : mapping of str to str, optional
        The same as text, as the command line has it.
    prompts : path, optional
        A folder whose templates come before the package's.
    max_cost, max_calls : float, int, optional
        Bounds on the cost and the number of requests of all starts of the run together. At a bound nothing more is
        asked, what is under way is waited for, and the tables are written of what there is. ``max_calls=0`` only
        writes the tables.
    retry_missing : bool
        Ask questions again that have no answer so far.
    progress : callable, optional
        Called with a :class:`voirdire.collect.asking.Progress` after each question.

    Returns
    -------
    Collected

    Raises
    ------
    InputError
        Everything that is wrong with panel, items, options, prompts, keys and folder, before the first request;
        during the run what no later answer can mend (a key refused, a model unknown).

    Examples
    --------
    >>> collect({"judges": []}, "items.csv", "maple", "out")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    began = time.monotonic()
    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    problems = _bounds(max_cost, max_calls)
    folder = Path(out)
    reading = max_calls == 0
    keys: dict[str, str] = {}
    if not reading:
        keys, wrong = read_keys(plan.panel.judges)
        problems += wrong
    problems += _folder_problems(folder, reading)
    if problems:
        raise InputError(problems)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"output folder {folder}: cannot be written ({error.strerror}); name another"
        ) from error
    journal = Journal(folder, write=not reading)
    servers = LocalServers()
    try:
        _check_setting(journal, plan)
        if retry_missing and not reading:
            journal.forget_missing()
        limits = Limits(
            plan.panel.answer_tries, plan.panel.request_tries, plan.panel.backoff, max_cost, max_calls
        )

        async def connect() -> dict[str, tuple[Client, Form]]:
            return await asyncio.to_thread(_clients, plan, keys, servers)

        rows, stopped = _in_loop(_run(plan, journal, limits, None if reading else connect, progress))
        counts = write_tables(rows, folder)
        found = _summary(plan, journal, folder, counts, stopped, time.monotonic() - began)
        _write_run(plan, found)
        return found
    finally:
        servers.close()
        journal.close()


def estimate(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    *,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    prompts: str | Path | None = None,
) -> Estimate:
    """How many questions, tokens and what cost :func:`collect` will come to; nothing is asked.

    Questions are counted by the protocol, least and most. Tokens read are one per four characters of the prompts
    that are known before any answer (others are taken to be as long on average); tokens written are guessed from the
    schemas. Repetitions are not counted.

    Examples
    --------
    >>> estimate({"judges": []}, "items.csv", "maple")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    import tempfile

    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    calls = plan.calls()
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder))
        try:
            asked = _in_loop(_questions(plan, journal))
        finally:
            journal.close()
    rows = []
    for judge in plan.setting.judges:
        own = [one for one in asked if one[0] == judge.name] or asked
        read = sum(tokens_read(size) for _, size, _ in own) / len(own) if own else 0.0
        wrote = sum(tokens_written(schema, judge.max_tokens) for *_, schema in own) / len(own) if own else 0.0
        most = calls.most[judge.name]
        rows.append(
            {
                "judge": judge.name,
                "calls_least": calls.least[judge.name],
                "calls_most": most,
                "tokens_in": round(read * most),
                "tokens_out": round(wrote * most),
                "cost": price(judge, read * most, wrote * most),
            }
        )
    return Estimate(plan.protocol.name, rows)


async def _questions(plan: Plan, journal: Journal) -> list[tuple[str, int, Mapping[str, Any] | None]]:
    asking = Asking(plan.setting.judges, plan.prompts, journal, Limits())
    await plan.protocol.run(plan.setting, asking.ask)
    return asking.unasked


async def _run(
    plan: Plan,
    journal: Journal,
    limits: Limits,
    connect: Callable[[], Coroutine[Any, Any, dict[str, tuple[Client, Form]]]] | None,
    progress: Callable[[Progress], None] | None,
) -> tuple[list[Row], str | None]:
    """The rows, and why there are not all of them."""
    asking = Asking(plan.setting.judges, plan.prompts, journal, limits, connect, progress)
    calls = plan.calls()
    asking.progress.least, asking.progress.most = sum(calls.least.values()), sum(calls.most.values())
    try:
        rows = await plan.protocol.run(plan.setting, asking.ask)
        unasked = len(asking.unasked)
        return rows, f"{unasked} questions are not asked yet" if unasked else None
    except Stop as stop:
        stopped = str(stop)
    finally:
        await asking.finish()
    asking = Asking(plan.setting.judges, plan.prompts, journal, limits)
    return await plan.protocol.run(plan.setting, asking.ask), stopped


def _clients(plan: Plan, keys: Mapping[str, str], servers: LocalServers) -> dict[str, tuple[Client, Form]]:
    """Each judge's client and how its server is asked; judges of one server and key share a client."""
    made: dict[tuple[str, str], Client] = {}
    found = {}
    for judge in plan.setting.judges:
        if judge.model.startswith(RULE):
            continue
        local = judge.model.startswith(LOCAL)
        url = servers.url(judge.model, _SLOTS) if local else judge.base_url or ""
        key = keys.get(judge.api_key_env or "", "")
        client = made.setdefault((url, key), Client(url, key))
        found[judge.name] = (client, Form("grammar") if local else Form())
    return found


def _bounds(max_cost: float | None, max_calls: int | None) -> list[str]:
    problems = []
    if max_cost is not None and not max_cost >= 0:
        problems.append(f"max_cost is {max_cost!r}; give a number of at least 0")
    if max_calls is not None and max_calls < 0:
        problems.append(f"max_calls is {max_calls!r}; give a whole number of at least 0")
    return problems


def _folder_problems(folder: Path, reading: bool) -> list[str]:
    place = f"output folder {folder}:"
    if folder.exists() and not folder.is_dir():
        return [f"{place} is a file; name a folder"]
    if folder.is_dir():
        held = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if held and FILE not in held:
            return [f"{place} holds {held[0]!r} and no journal of a run; name a new folder"]
    if reading and not (folder / FILE).is_file():
        return [f"{place} holds no journal of a run, so there is nothing to write tables of"]
    parent = next(above for above in (folder.absolute(), *folder.absolute().parents) if above.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        return [f"{place} cannot be written, {parent} is not yours to write; name another"]
    return []


def _check_setting(journal: Journal, plan: Plan) -> None:
    differing = journal.begin(plan.fingerprint())
    if differing:
        raise InputError(
            f"journal {journal.path}: made with another setting ({', '.join(differing)}); go on with the one it was "
            "made with, or name another output folder"
        )


def _summary(
    plan: Plan, journal: Journal, folder: Path, counts: dict[str, int], stopped: str | None, seconds: float
) -> Collected:
    totals = journal.totals()
    nothing = {"requests": 0, "answered": 0, "missing": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
    judges = [{"judge": judge.name, **nothing, **totals.get(judge.name, {})} for judge in plan.setting.judges]
    return Collected(folder, plan.protocol.name, counts, judges, stopped, seconds)


def _write_run(plan: Plan, found: Collected) -> None:
    """``run.json``: what was asked for and what came of it, without times."""
    import json

    from voirdire import __version__

    setting = plan.fingerprint()
    content = {
        "voirdire": __version__,
        "protocol": plan.protocol.name,
        "options": json.loads(setting["options"]),
        "judges": json.loads(setting["judges"]),
        "seed": plan.setting.seed,
        "items": setting["items"],
        "prompts": setting["prompts"],
        "stopped": found.stopped,
        "totals": found.judges,
    }
    write_json(content, found.folder / "run.json")


def _in_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, also where a loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[_T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            result.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]
