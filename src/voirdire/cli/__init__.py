"""The command ``voirdire``: one module per verb, and this one that puts them together.

To add a verb, write a function whose parameters are annotated for Typer and whose docstring is its help, and name
it in ``VERBS``. Raise :class:`~voirdire.errors.InputError` for whatever is wrong with the input or the request: the
group turns it into a message on stderr and exit code 1. Import heavy libraries inside the functions.

Exit codes: 0 fine, 1 the input or the request is wrong, 2 usage, 3 a check failed under ``--strict``, 4 a gate
failed or a watched judge changed, 5 a gate is inconclusive or a watch has too few answers, 130 stopped by Ctrl-C, 143
by SIGTERM (see `signals.py`, and `voirdire.early_signals` for the first second).
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
import typer.core

from voirdire import __version__
from voirdire.cli import signals
from voirdire.cli.agree import agree
from voirdire.cli.app_ import app_
from voirdire.cli.ask import ask
from voirdire.cli.audit import audit
from voirdire.cli.board import board
from voirdire.cli.collect import collect
from voirdire.cli.compare import compare
from voirdire.cli.console import fail, tell
from voirdire.cli.datasets import datasets
from voirdire.cli.demo import demo
from voirdire.cli.doctor import doctor
from voirdire.cli.escalate import escalate
from voirdire.cli.export import export
from voirdire.cli.fit import fit
from voirdire.cli.gate import gate
from voirdire.cli.import_ import import_
from voirdire.cli.metaeval import metaeval
from voirdire.cli.models import models
from voirdire.cli.next import next
from voirdire.cli.plan import plan
from voirdire.cli.prompts import prompts
from voirdire.cli.rate import rate
from voirdire.cli.replace import replace
from voirdire.cli.report import report
from voirdire.cli.repro import repro
from voirdire.cli.simulate import simulate
from voirdire.cli.watch import watch
from voirdire.errors import InputError
from voirdire.notices import listening
from voirdire.tables.formats.file_judge import JOIN_FILES

VERBS: tuple[Callable[..., None], ...] = (
    demo,
    datasets,
    models,
    fit,
    board,
    agree,
    metaeval,
    simulate,
    plan,
    collect,
    prompts,
    app_,
    doctor,
    import_,
    export,
    next,
    ask,
    audit,
    rate,
    escalate,
    gate,
    watch,
    replace,
    report,
    compare,
    repro,
)


_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # Typer brings a Click of its own


class _Group(typer.core.TyperGroup):
    """The verbs, with wrong input turned into a message and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with listening(tell):
                return super().invoke(ctx)
        except InputError as error:
            fail(str(error))
            raise typer.Exit(1) from None
        except _USAGE_ERROR as error:
            message = getattr(error, "message", "")
            further = re.fullmatch(r"Got unexpected extra argument\S* \((.*)\)", message)
            if further and any(os.path.isfile(word) for word in further[1].split()):
                error.message = f"{message}; {JOIN_FILES}"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in VERBS:
    app.command(verb.__name__.rstrip("_"))(verb)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"voirdire {__version__}")
        raise typer.Exit


@app.callback()
def voirdire(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Bayesian aggregation of judge panels: what is better, which judges to trust, which criteria matter, how sure.

    Every verb takes --json: one JSON object on stdout, nothing else.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a name that the terminal's encoding lacks is shown escaped
            stream.reconfigure(errors="backslashreplace")
    with signals.handle_signals():
        try:
            try:
                app(prog_name="voirdire")
            finally:
                sys.stdout.flush()
        except OSError as error:
            if error.errno != errno.EPIPE:  # else who read it has read enough
                fail(
                    f"the result cannot be written: {error.strerror or error}; make room, or send it elsewhere"
                )
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing more is tried when the interpreter ends
            sys.exit(1)
