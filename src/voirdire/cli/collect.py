"""The verb ``collect``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli import console, signals
from voirdire.cli.options import ModelName, declare_options, without_none
from voirdire.cli.reading import read_pairs
from voirdire.collect import collect as run
from voirdire.collect import estimate
from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.adaptive.verb import Until
    from voirdire.collect.budget import Progress
    from voirdire.collect.dry_run import Estimate
    from voirdire.collect.run import Collected

Design = Literal["adaptive", "cyclic", "random"]


@declare_options()
def collect(
    panel: Path,
    items: Path,
    *,
    protocol: str,
    out: Path | None = None,
    dry_run: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    prompts: Path | None = None,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    retry_missing: bool = False,
    allow_key: list[str] | None = None,
    until: str | None = None,
    design: Design | None = None,
    model: ModelName = None,
    count: int | None = None,
    json: bool = False,
) -> None:
    """Ask a panel of language models to judge, and write votes, scores, rankings and labels as tables.

    Parameters
    ----------
    panel : PANEL.toml
        The judges and the protocol's options.
    items : ITEMS
        Items to judge: CSV, JSONL or Parquet with id and text.
    protocol
        Name of the protocol, the procedure that asks the judges.
    out : DIR
        Folder of the journal and the tables; give the same folder to resume a stopped run.
    dry_run
        Count calls, tokens and cost; send no request.
    max_cost
        Stop before the run costs more than this.
    max_calls
        Stop after this many requests; 0 writes the tables and sends none.
    prompts : DIR
        Templates that replace those of the same name.
    settings : KEY=VALUE
        An option of the protocol; repeatable.
    retry_missing
        Ask unanswered questions again.
    allow_key : NAME=HOST
        Allow the key in this environment variable to be sent to this host; repeatable.
    until : CONDITION
        Ask in rounds until this condition holds: "p_best >= 0.95", "width(ranks) <= 2", "loss <= 0.02", "accuracy >=
        0.9"; for pairwise and maple.
    design
        With --until: rule that chooses comparisons (default: adaptive).
    model : NAME|FILE
        With --until: a model, as for voirdire fit.
    count
        With --until: comparisons per round (default: an eighth of those so far, at least 8).
    """

    rounds = without_none(design=design, model=model, count=count)
    if rounds and until is None:
        option_names = ", ".join(f"--{name}" for name in rounds)
        raise typer.BadParameter(f"{option_names}: only with --until, which says when enough is known")

    form = "KEY=VALUE; write for example repeats=3"
    protocol_options = read_pairs("--set", settings or [], form, lambda _, value: value)
    if dry_run:
        expected = estimate(panel, items, protocol, settings=protocol_options, prompts=prompts)
        console.print_result(expected.as_dict(), json, lambda: _show_estimate(expected))
        return
    if out is None:
        raise InputError("--out is missing; name a folder for the journal and the tables, or pass --dry-run")
    try:
        # a stopped run writes the tables of the answers so far
        with signals.leave_signals_alone(), _progress_bar() as progress:
            request: dict[str, Any] = {
                "settings": protocol_options,
                "prompts": prompts,
                "max_cost": max_cost,
                "max_calls": max_calls,
                "retry_missing": retry_missing,
                "allow_keys": allow_key or (),
                "confirm": _confirm_host if sys.stdin.isatty() and sys.stderr.isatty() else None,
                "progress": progress,
                "tell": console.print_note,
            }
            if until is None:
                collected, until_result = run(panel, items, protocol, out, **request), None
            else:
                from voirdire.adaptive import collect_until

                until_result = collect_until(panel, items, protocol, out, until=until, **rounds, **request)
                collected = until_result.collected
    except KeyboardInterrupt:
        console.print_note("stopped; what was answered is kept, the same command goes on from here")
        raise typer.Exit(130) from None
    console.print_result((until_result or collected).as_dict(), json, lambda: _show_collected(collected, until_result))
    if collected.stopped:
        console.print_note(f"{collected.stopped}; the same command goes on from here")
    console.print_saved(out, json)
    if collected.nothing_answered:
        raise InputError(f"no question was answered; {out / 'missing.csv'} says why")


def _confirm_host(name: str, host: str) -> bool:
    """Ask on the terminal whether a key may go to a host."""
    console.print_note(f"The panel wants the key in {name} sent to {host}.")
    print("Do you trust that host with it, now and later? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def _progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Show a bar on stderr, if it is a terminal: questions done, rate, cost, time left."""
    from rich import progress as bars

    columns = (bars.BarColumn(), bars.TextColumn("{task.fields[state]}", markup=False))
    with console.stderr_bar(*columns, state="") as update:

        def update_bar(now: Progress) -> None:
            done = now.done + now.missing
            update(completed=done, total=max(now.least, done) or None, state=progress_line(now))

        yield update_bar


def progress_line(now: Progress) -> str:
    """Describe the progress of a run in one line.

    Examples
    --------
    >>> from voirdire.collect.budget import Progress
    >>> progress_line(Progress(done=50, least=200, most=200, asked=50, seconds=25.0, cost=0.125))
    '50 of 200 calls, 2.0/s, cost 0.1250, 1 min 15 s left'
    """
    done = now.done + now.missing
    total = f"{now.least}" if now.most <= now.least else f"{max(now.least, done)} to {now.most}"
    parts = [f"{done} of {total} calls"]
    if now.missing:
        parts.append(f"{now.missing} missing")
    if now.batched:
        parts.append(f"{now.batched} in batches")
    rate = now.asked / now.seconds if now.seconds > 0 else 0.0
    if rate > 0:
        parts.append(f"{rate:.1f}/s" if rate >= 0.1 else f"{rate * 60:.1f}/min")
    if now.cost:
        parts.append(f"cost {now.cost:.4f}")
    if rate > 0 and done < max(now.least, done + 1):
        parts.append(f"{_duration_text((max(now.least, done) - done) / rate)} left")
    return ", ".join(parts)


def _duration_text(seconds: float) -> str:
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds_left} s" if minutes else f"{seconds_left} s"


def _build_table(title: str, rows: list[dict[str, Any]], columns: dict[str, str]) -> Any:
    shown = [{heading: _cell_text(row[name]) for name, heading in columns.items()} for row in rows]
    return console.fill_table(console.empty_table(title), shown, ["judge", "table", "best"])


def _cell_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def _show_estimate(estimated: Estimate) -> None:
    total = estimated.as_dict()
    least, most = total["calls_least"], total["calls_most"]
    calls = f"{least}" if least == most else f"{least} to {most}"
    out = console.stdout_console()
    out.print(f"{estimated.protocol}: {calls} calls, nothing asked yet")
    columns = {
        "judge": "judge", "calls_least": "least", "calls_most": "most", "tokens_in": "tokens read",
        "tokens_out": "written", "cost": "cost",
    }  # fmt: skip
    out.print(_build_table("Judges", [*estimated.judges, {"judge": "all", **total}], columns))
    out.print("Tokens and cost are rough, for the most calls, and without repetitions.")
    if batched := [row["judge"] for row in estimated.judges if row["batch"]]:
        out.print(f"In batches, at half the price: {', '.join(batched)}.", markup=False)


def _show_collected(collected: Collected, until_result: Until | None) -> None:
    out = console.stdout_console()
    total = collected.as_dict()
    out.print(
        f"{collected.protocol}: {total['answered']} questions answered, {total['missing']} missing, "
        f"{total['requests']} requests, cost {total['cost']:.4f}"
    )
    columns = {
        "judge": "judge", "answered": "answered", "missing": "missing", "requests": "requests",
        "tokens_in": "tokens read", "tokens_out": "written", "cost": "cost",
    }  # fmt: skip
    tables = [_build_table("Judges", collected.judges, columns)]
    rows = [{"table": f"{name}.csv", "rows": count} for name, count in collected.tables.items()]
    console.print_parts([*tables, _build_table("Tables", rows, {"table": "table", "rows": "rows"})])
    if until_result is not None:
        _show_known(until_result)


def _show_known(until_result: Until) -> None:
    """Print the final estimates per context, and why the run ended."""
    columns = {
        "best": "best", "p_best": "p(best)", "loss": "loss", "width": "widest ranks", "accuracy": "pairs right",
    }  # fmt: skip
    rows = [vars(context) for context in until_result.course.known]
    if rows:
        console.print_parts([_build_table("Known", rows, columns)])
    print(console.printable_text(until_result.verdict))
