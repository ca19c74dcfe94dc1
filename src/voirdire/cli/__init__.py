"""The command ``voirdire``: one module per verb. This module joins them.

To add a verb, write a module with a function of the verb's name, decorate it with `options.declare_options`, and add
the name to ``VERBS``. The docstring of the function is the help of the verb and of its options. The module is imported
when the verb is called. It imports voirdire's modules at its top, and heavy libraries inside its functions. Raise
:class:`~voirdire.errors.InputError` for an invalid input or request: the group prints its message on stderr and exits
with code 1.

Exit codes: 0 fine, 1 the input or the request is wrong, 2 usage, 3 a check failed under ``--strict``, 4 a gate
failed or a watched judge changed, 5 a gate is inconclusive or a watch has too few answers, 130 stopped by Ctrl-C, 143
by SIGTERM (see `signals.py`, and `voirdire.early_signals` for the first second).
"""

from __future__ import annotations

import ast
import errno
import importlib
import os
import re
import sys
from importlib import resources
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

#: The verbs, in the order of ``--help``. Each module is imported when its verb is called. Users type ``app_`` and
#: ``import_`` without the underscore.
VERBS = (
    "demo", "datasets", "models", "fit", "update", "board", "agree", "metaeval", "simulate", "plan",
    "collect", "prompts", "app_", "doctor", "import_", "export", "predict", "next", "ask", "audit",
    "rate", "escalate", "gate", "watch", "replace", "report", "compare", "repro",
)  # fmt: skip


#: Verb to suggest for a word that is not a verb.
_VERB_SYNONYMS = {
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
    """A verb. Its module is imported when the verb is called, completed, or shows its help."""

    def make_context(self, *args: Any, **how: Any) -> Any:
        (module,) = (name for name in VERBS if name.rstrip("_") == self.name)
        verb_app = typer.Typer(add_completion=False)
        verb_app.command(self.name)(getattr(importlib.import_module(f"{__name__}.{module}"), module))
        return typer.main.get_command(verb_app).make_context(*args, **how)


def _first_sentence(verb: str) -> str:
    """Return the first paragraph of a verb's help. Reads the source, as importing all verbs is slow."""
    source = (resources.files(__name__) / f"{verb}.py").read_text(encoding="utf-8")
    # the builtin next is hidden by the verb's module of that name once it is imported
    (function,) = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == verb)
    return str(ast.get_docstring(function)).split("\n\n")[0]


class _Group(typer.core.TyperGroup):
    """The verbs. Turns an `InputError` into a message and exit code 1."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs, and set the help of each."""
        for verb in VERBS:
            self.commands[verb.rstrip("_")].help = _first_sentence(verb)
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the called verb; for an unknown word, fail with a message that suggests a verb."""
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            verbs = [name.rstrip("_") for name in VERBS]
            synonym, verb_list = _VERB_SYNONYMS.get(word.lower()), ", ".join(verbs)
            hint = f"; did you mean {synonym!r}?" if synonym else nearest_name(word, verbs)
            ctx.fail(f"No such command {word!r}{hint or '; there are ' + verb_list}")
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
            extra_words = re.fullmatch(r"Got unexpected extra argument\S* \((.*)\)", message)
            if extra_words and any(os.path.isfile(word) for word in extra_words[1].split()):
                error.message = f"{message}; {JOIN_FILES}"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name in VERBS:
    app.command(_name.rstrip("_"), cls=_Verb)(lambda: None)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"voirdire {__version__}")
        raise typer.Exit


@app.callback()
def voirdire(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Bayesian aggregation of judge panels: what is better, which judges to trust, which criteria matter, how sure.

    Every verb takes --json: one JSON object on stdout, nothing else.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # escape characters that the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    with signals.handle_signals():
        try:
            try:
                app(prog_name="voirdire")
            finally:
                sys.stdout.flush()
        except OSError as error:
            if error.errno != errno.EPIPE:  # EPIPE: the reader closed the pipe
                print_error(f"the result cannot be written: {error.strerror or error}; make room, or send it elsewhere")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter writes nothing more at its end
            sys.exit(1)
