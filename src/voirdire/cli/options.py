"""Options of the verbs. Their help texts are parameter entries of docstrings.

A verb is a function decorated with :func:`declare_options`. Its parameters before ``*`` are arguments, the others are
options. Its docstring describes each of them as ``name : METAVAR`` with the help below. A section with another title
than Parameters becomes a panel of the help. Options that the verb's docstring leaves out are described here:

Shared
------
about
    target: results about the quantity that the panel is a proxy for (truth, experts, people; default for labels);
    panel: about the panel itself.
anchors : FILE
    People's answers to some comparisons: first, second, winner; or to some items: item, label; item, score; item, rank.
    Several people: a column person, or one file each.
cluster : ADDRESS
    Address of a Dask scheduler, instead of --jobs: its workers share the work (tcp://HOST:8786).
covariates : FILE|NAME,...
    Covariates to adjust for (length, style): a table with columns item, optionally context, and numbers; or columns of
    the answers: NAME_first and NAME_second of votes, NAME of scores and rankings.
families : FILE
    Families of judges: columns judge, family.
format
    Format of --out: html, md or latex (default: by the file's ending).
humans : FILE
    People's answers of the same kind; repeatable. Or name people in the table by --people.
item_families : FILE
    Families of items: columns item, family. With --families: estimates how much judges favour their own family.
jobs
    Number of threads.
json
    One JSON object on stdout, nothing else.
judges
    Votes, scores and rankings: models (judges are language models, a proxy for people: --about target), or people
    (--about panel).
model : NAME|FILE
    As for voirdire fit.
order
    shown: first was shown first; unknown: the model has no position effects.
out : DIR
    Save the fit to this new or empty folder.
over
    With several contexts: scores averaged over new contexts like these, or over these contexts only.
overwrite
    Replace the file if it exists.
prob
    Probability of the intervals.
resamples
    Number of resamples.
seconds : S
    Approximate time limit for the chains of --method auto (30 if left out).
seed
    Seed of the draws.
strict
    Exit with code 3 if a check failed.
table : TABLE
    The judges' answers: votes, labels or scores.
terms : SUM
    Instead of a model, for votes, scores and rankings: a linear predictor such as 'item + item:context + judge:item +
    judge:length', of item, judge, context, criterion, run, time, group, family, covariates, columns of the table.
without_own_family
    Leave out a judge's answers about items of its own family.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from voirdire.errors import InputError
from voirdire.infer.method import FIRST_ANSWER_SECONDS
from voirdire.model.specs import model_names
from voirdire.settings import PROB

Over = Literal["new", "these"]
About = Literal["target", "panel"]
Judges = Literal["models", "people"]
Order = Literal["shown", "unknown"]
Method = Literal["auto", "laplace", "nuts", "map", "adam"]


def matching_models(typed: str) -> list[str]:
    """Return model names that begin with the typed text, for completion."""
    return [name for name in model_names() if name.startswith(typed)]


ModelName = Annotated[str | None, typer.Option(autocompletion=matching_models)]
OutFile = Annotated[Path | None, typer.Option("-o", "--out")]
Quick = Annotated[bool, typer.Option("--quick", help=f"Stop at the first answer: --seconds {FIRST_ANSWER_SECONDS:g}.")]


class _ParameterText(NamedTuple):
    """Docstring entry of a parameter: the metavar, the help, the panel of the help."""

    metavar: str | None = None
    help: str | None = None
    rich_help_panel: str | None = None


def _read_texts(docstring: str) -> dict[str, _ParameterText]:
    _, *sections = re.split(r"^(\S.*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    texts = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        panel = None if title in ("Parameters", "Shared") else title
        for name, metavar, text in re.findall(r"^(\w+)(?: : (.+))?\n((?:    .*\n?)+)", body, re.MULTILINE):
            texts[name] = _ParameterText(metavar or None, " ".join(text.split()), panel)
    return texts


_SHARED_TEXTS = _read_texts(__doc__ or "")  # none under python -OO


def described_parameters(
    function: Callable[..., Any], further: dict[str, _ParameterText] | None = None
) -> Iterator[inspect.Parameter]:
    """Yield a function's parameters for Typer, each with its help from the docstring or from ``further``."""
    hints = get_type_hints(function, include_extras=True)
    texts = _SHARED_TEXTS | _read_texts(inspect.getdoc(function) or "") | (further or {})
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *metadata = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else (hints[name],)
        option = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        info: ParameterInfo = copy(metadata[0]) if metadata else typer.Option() if option else typer.Argument()
        for key, value in texts.get(name, _ParameterText())._asdict().items():
            setattr(info, key, value or getattr(info, key))
        info.readable = False  # the reader of the file reports unreadable files
        if parameter.default is False and not metadata:
            info.param_decls = (f"--{name.replace('_', '-')}",)  # without --no-...
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info])


def declare_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a verb: see the top of this module.

    A parameter of class `FitOptions`, or of a class with a function ``from_options``, is expanded into the options of
    that class, described in its docstring or in the verb's. The verb receives the object built from these options.

    Parameters
    ----------
    without : str
        Expanded options to omit, as the verb does not have them or uses their names otherwise.
    """

    def declare(verb: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(verb)
        makers = {name: kind.from_options for name, kind in hints.items() if hasattr(kind, "from_options")}
        makers |= {name: FitOptions for name, kind in hints.items() if kind is FitOptions}
        texts = _read_texts(inspect.getdoc(verb) or "")
        groups = {
            name: [parameter for parameter in described_parameters(maker, texts) if parameter.name not in without]
            for name, maker in makers.items()
        }
        parameters = [
            option for parameter in described_parameters(verb) for option in groups.get(parameter.name, [parameter])
        ]

        def run_verb(**given: Any) -> None:
            for name, options in groups.items():
                given[name] = makers[name](**{parameter.name: given.pop(parameter.name) for parameter in options})
            verb(**given)

        run_verb.__name__, run_verb.__module__ = verb.__name__, verb.__module__
        run_verb.__doc__ = re.split(r"\n\n\S.*\n---", inspect.getdoc(verb) or "")[0]
        run_verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run_verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run_verb

    return declare


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of a fit, shared by `fit` and `board`."""

    model: ModelName = None
    terms: str | None = None
    method: Method = "auto"
    prob: float = PROB
    seed: int = 0
    families: Path | None = None
    item_families: Path | None = None
    without_own_family: bool = False
    covariates: str | None = None
    by: str | None = None
    order: Order | None = None
    about: About | None = None
    judges: Judges | None = None
    over: Over = "new"
    seconds: float | None = None
    quick: Quick = False

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of :func:`voirdire.fit`.

        Raises
        ------
        typer.BadParameter
            ``--seconds`` and ``--quick`` are both given, or one with another method than auto.

        Examples
        --------
        >>> FitOptions(quick=True).settings["seconds"] == FIRST_ANSWER_SECONDS, "seconds" in FitOptions().settings
        (True, False)
        """
        if self.quick and (self.seconds is not None or self.method != "auto"):
            raise typer.BadParameter(
                f"--quick is --method auto --seconds {FIRST_ANSWER_SECONDS:g}; leave it or these out"
            )
        if self.seconds is not None and self.method != "auto":
            raise typer.BadParameter("--seconds is for --method auto")
        seconds = FIRST_ANSWER_SECONDS if self.quick else self.seconds
        arguments = {name: value for name, value in asdict(self).items() if name not in ("seconds", "quick")}
        return arguments | without_none(seconds=seconds)


def load_companion(module: str) -> Any:
    """Import a module of ``voirdire_studies`` or ``voirdire_repro``; only a few verbs need them.

    Raises
    ------
    InputError
        The package is not installed.

    Examples
    --------
    >>> load_companion("voirdire_studies").load_study("rq1").kind
    'recovery'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise InputError(
            f"the package {package} is not installed; pip install voirdire brings it, as does make setup in a source "
            "tree"
        ) from None


def without_none(**options: Any) -> dict[str, Any]:
    """Return the options that are not None.

    Examples
    --------
    >>> without_none(draws=100, chains=None)
    {'draws': 100}
    """
    return {name: value for name, value in options.items() if value is not None}
