"""The command ``voirdire``: one module per verb, and this one that puts them together.

To add a verb, write a module with a function of its name, whose parameters are annotated for Typer and whose docstring
is its help, and name it in ``VERBS`` with the first sentence of that. The module is imported when the verb is called:
it imports what is ours at its top, and heavy libraries inside its functions. Raise
:class:`~voirdire.errors.InputError` for whatever is wrong with the input or the request: the group turns it into a
message on stderr and exit code 1.

Exit codes: 0 fine, 1 the input or the request is wrong, 2 usage, 3 a check failed under ``--strict``, 4 a gate
failed or a watched judge changed, 5 a gate is inconclusive or a watch has too few answers, 130 stopped by Ctrl-C, 143
by SIGTERM (see `signals.py`, and `voirdire.early_signals` for the first second).
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from voirdire import __version__
from voirdire.cli import signals
from voirdire.cli.console import print_error, print_note
from voirdire.errors import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables.formats.format import JOIN_FILES
from voirdire.tables.problems import nearest_name

#: What each verb is for, as its help begins, in the order of ``--help``; the module of that name is imported when the
#: verb is called (``app_`` and ``import_`` are called without the stroke).
VERBS = {
    "demo": "Fit an embedded panel whose majority is wrong, without and with 20 answers of people.",
    "datasets": (
        "List the published data sets (name, what, size, licence, cached), or fetch one and check it."
    ),
    "models": "List the models, or show one: equation, priors, identifiability, source.",
    "fit": (
        "Fit a model of a judge panel to votes, labels, scores or rankings: items, judges, criteria, checks."
    ),
    "update": (
        "Bring a saved fit up to date with new answers, for what these cost: items, judges, criteria, checks."
    ),
    "board": (
        "A leaderboard: what is best, which items are distinguishable, what a choice may cost, what would "
        "settle it."
    ),
    "agree": (
        "Measure how well judges agree, with each other, with experts or with humans: coefficients with "
        "intervals."
    ),
    "metaeval": "Correlate the scores of metrics and judges with those of people, with bootstrap intervals.",
    "simulate": (
        "Run a simulation study, with Monte Carlo errors; or add bad judges to a panel's votes: how many "
        "does it bear?"
    ),
    "plan": (
        "Plan a collection: the answers that a wanted precision needs, or that make two items of a pilot "
        "differ."
    ),
    "collect": (
        "Ask a panel of language models to judge, and write votes, scores, rankings and labels as tables."
    ),
    "prompts": (
        "Show prompts that a run sent, those of every step of a protocol, its templates; or which prompts tell "
        "most."
    ),
    "app_": (
        "Serve a page on this machine: drop a file, fit it, read the report, answer questions. Until Ctrl-C."
    ),
    "doctor": (
        "Say what files hold, how each column is read, what is missing for which verb, what stands out, what "
        "to type."
    ),
    "import_": "Turn files of other tools into tables of answers; what is refused is listed with its reason.",
    "export": "Write a saved fit as another tool reads it: scores per sample with their uncertainty.",
    "predict": "Predict answers by a saved fit: what its judges would say, or what people would, with intervals.",
    "next": "Choose which comparisons, or rankings, to ask for next: those that are expected to tell most.",
    "ask": (
        "Write a page that asks people: one file, no server; it gives answers-NAME.csv, a table for "
        "--anchors."
    ),
    "audit": (
        "Make a card of each judge: agreement with people, biases, self-consistency, and whether to keep it."
    ),
    "rate": (
        "Estimate the share of items that people would call good, from judges' answers and a sample of "
        "people's."
    ),
    "escalate": (
        "Choose which answers to accept, at a guaranteed agreement with people, and which to send to people."
    ),
    "gate": (
        "Decide whether a new version is worse than the old one: pass, fail or inconclusive (exit codes 0, "
        "4, 5)."
    ),
    "watch": "Watch judges at every look: did one change? (exit codes 0 no, 4 yes, 5 too few answers).",
    "replace": (
        "Say whether a judge or the panel may replace people, or how many more answers of theirs it takes to "
        "know."
    ),
    "report": (
        "Write a report of a saved run: one HTML page that needs no network, Markdown, or LaTeX tables."
    ),
    "compare": (
        "Compare fits: rank correlation, items that move, leave-one-out predictions, judges' reliability."
    ),
    "repro": (
        "Check published numbers: published, ours, tolerance, verdict; or draw, or run, what a paper did."
    ),
}


#: Words that are no verbs, and the verb that does what they ask for.
_MEANT = {
    **dict.fromkeys(("rank", "ranking", "decide", "leaderboard", "best"), "board"),
    **dict.fromkeys(("score", "aggregate", "infer", "train", "run"), "fit"),
    **dict.fromkeys(("agreement", "kappa", "alpha"), "agree"),
    **dict.fromkeys(("correlate", "correlation"), "metaeval"),
    **dict.fromkeys(("power", "design"), "plan"),
    **dict.fromkeys(("check", "validate", "describe"), "doctor"),
    **dict.fromkeys(("show", "plot", "page"), "report"),
    **dict.fromkeys(("judge", "judges", "card"), "audit"),
    "convert": "import",
    "serve": "app",
    "drift": "watch",
    "test": "gate",
}
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # Typer brings a Click of its own


class _Verb(typer.core.TyperCommand):
    """A verb that is imported when it is called, completed, or asked for its help."""

    def make_context(self, *args: Any, **how: Any) -> Any:
        (module,) = (name for name in VERBS if name.rstrip("_") == self.name)
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(getattr(importlib.import_module(f"{__name__}.{module}"), module))
        return typer.main.get_command(alone).make_context(*args, **how)


class _Group(typer.core.TyperGroup):
    """The verbs, with wrong input turned into a message and exit code 1."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is called; a word that is none is told which is meant, where one is."""
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            verbs = [name.rstrip("_") for name in VERBS]
            meant, every = _MEANT.get(word.lower()), ", ".join(verbs)
            hint = f"; did you mean {meant!r}?" if meant else nearest_name(word, verbs)
            ctx.fail(f"No such command {word!r}{hint or '; there are ' + every}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with listen_for_notes(print_note):
                return super().invoke(ctx)
        except InputError as error:
            print_error(str(error))
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
for _name, _help in VERBS.items():
    app.command(_name.rstrip("_"), cls=_Verb, help=_help)(lambda: None)


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
                print_error(
                    f"the result cannot be written: {error.strerror or error}; make room, or send it elsewhere"
                )
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing more is tried when the interpreter ends
            sys.exit(1)
