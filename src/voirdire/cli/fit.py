"""The verb ``fit``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import complete, console, signals
from voirdire.cli import show as shown
from voirdire.cli.options import (
    AboutWhat,
    Anchors,
    Covariates,
    ItemFamilies,
    JudgesAre,
    OrderShown,
    Over,
    OverContexts,
    Quick,
    Seconds,
    Terms,
    WithoutOwnFamily,
    chain_seconds,
)
from voirdire.cli.reading import TableOptions, add_table_options, split_commas
from voirdire.errors import InputError
from voirdire.fit.store import LAYOUT
from voirdire.fit.verb import fit as run
from voirdire.folders import check_new_folder
from voirdire.kinds.columns import to_records
from voirdire.report.doubts import doubt_sentence
from voirdire.report.sections.best import winner_sentence
from voirdire.settings import PROB
from voirdire.tables.numbers import read_number
from voirdire.tables.words import count_in_words

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

FAILED_CHECK = 3


class Method(StrEnum):
    """Method by which the posterior is found."""

    auto = "auto"
    laplace = "laplace"
    nuts = "nuts"
    map = "map"
    adam = "adam"


class AnchorMode(StrEnum):
    """Way in which anchors and votes inform each other."""

    joint = "joint"
    cut = "cut"


class Sampler(StrEnum):
    """Sampler that runs NUTS."""

    numpyro = "numpyro"
    nutpie = "nutpie"
    pymc = "pymc"


class Device(StrEnum):
    """Device that chains run on."""

    auto = "auto"
    cpu = "cpu"
    gpu = "gpu"
    jax = "jax"


@add_table_options()
def fit(
    table: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE [TABLE]",
            readable=False,  # read_votes says why it cannot be read
            help="CSV, Parquet, JSONL, any file that import takes, or a run's folder. Votes: judge, first, second, "
            "winner (and criterion, context). Labels: judge, item, label (and criterion). Scores: judge, item, score "
            "(and criterion, run, group). Rankings: judge, item, rank (and criterion, context, run). A table of votes "
            "and one of scores of the same items are fitted together.",
        ),
    ],
    criteria: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Votes on the criteria: the same columns, the items are criteria.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            autocompletion=complete.matching_models,
            help="A model's name (see voirdire models) or a model file. Default: maple-tastes where the table has "
            "several criteria, else learned-crowd-bt-position, or maple-position and crowd-bt-position "
            "for large tables (maple-contexts, crowd-bt-contexts where items meet in several contexts), with one "
            "coin a judge where the order is unknown (learned-crowd-bt, unordered-maple-tastes, "
            "unordered-...-contexts); "
            "hierarchical-dawid-skene for labels (ordered-labels for grades, family-dawid-skene for families of "
            "judges); rating-learned for scores (rating-contexts of items in several contexts, rating-halo "
            "under several criteria, rating-continuous between levels, rating-continuous-halo for both, "
            "rating-families for families of judges), "
            "plackett-luce-tastes for rankings (plackett-luce-contexts, plackett-luce where tastes cannot be told), "
            "joint-position for votes and scores.",
        ),
    ] = None,
    terms: Terms = None,
    method: Annotated[
        Method,
        typer.Option(
            help="auto: laplace, and where that does not hold its draws moved until they are the posterior's (the "
            "result's method is hmc, which only auto gives), or nuts; "
            "laplace: intervals at once; nuts: sample the posterior; map: the mode, no intervals; "
            "adam: the estimator of MAPLE's paper, no prior, no intervals (votes, --model maple or crowd-bt)."
        ),
    ] = Method.auto,
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = PROB,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    prior: Annotated[
        list[str] | None,
        typer.Option(metavar="SECTION.KEY=VALUE", help="Change a number of the model's prior; repeatable."),
    ] = None,
    anchors: Anchors = None,
    anchor_mode: Annotated[
        AnchorMode | None,
        typer.Option(
            help="joint: anchors beside the votes; cut: judges known by the anchors alone. Default: what predicts "
            "left-out anchors best."
        ),
    ] = None,
    families: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Judges that share a base model: columns judge, family."
        ),
    ] = None,
    item_families: ItemFamilies = None,
    without_own_family: WithoutOwnFamily = False,
    covariates: Covariates = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Groups of contexts, such as category: what items are worth in each."
        ),
    ] = None,
    order: OrderShown = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Labels that an item may truly be of; others are answers only."),
    ] = None,
    about: AboutWhat = None,
    judges: JudgesAre = None,
    over: OverContexts = Over.new,
    contexts: Annotated[
        bool, typer.Option("--contexts", help="With --json: strengths in each context, too.")
    ] = False,
    draws: Annotated[int | None, typer.Option(help="Draws per chain of nuts (1000 if left out).")] = None,
    warmup: Annotated[int | None, typer.Option(help="Warm-up per chain of nuts (500 if left out).")] = None,
    chains: Annotated[int | None, typer.Option(help="Chains of nuts (4 if left out).")] = None,
    sampler: Annotated[
        Sampler | None, typer.Option(help="What runs nuts (numpyro, Laplace-whitened, if left out).")
    ] = None,
    seconds: Seconds = None,
    device: Annotated[
        Device,
        typer.Option(help="Where these run: gpu needs voirdire[cuda]; auto takes one for large tables."),
    ] = Device.auto,
    quick: Quick = False,
    phase: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The phase of a run's or table's answers (default: a run's final one)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Save the fit to this new or empty folder."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a fit saved in --out.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 3 if a check failed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Fit a model of a judge panel to votes, labels, scores or rankings: items, judges, criteria, checks."""
    sizes: dict[str, Any] = {"draws": draws, "warmup": warmup, "chains": chains, "sampler": sampler}
    sizes = {name: value for name, value in sizes.items() if value is not None}
    if sizes and method is not Method.nuts:
        raise typer.BadParameter(f"--{next(iter(sizes))} is for --method nuts")
    sizes |= {"device": device.value} | chain_seconds(seconds, quick, method.value)
    if contexts and not json:
        raise typer.BadParameter("--contexts is for --json")
    if overwrite and out is None:
        raise typer.BadParameter("--overwrite is for --out")
    priors = _read_priors(prior or [])
    if out is not None:
        check_new_folder(out, LAYOUT, overwrite=overwrite)
    given = reading.tables(table, [criteria, *(anchors or [])], phase=phase)
    with signals.keep_draws_at_stop(), console.progress_bar(f"Fitting by {method.value}") as progress:
        result = run(
            given[0] if len(given) == 1 else given,
            reading.people(criteria),
            model=model,
            terms=terms,
            method=method.value,
            prob=prob,
            seed=seed,
            priors=priors,
            anchors=reading.people_tables(anchors),
            anchor_mode=None if anchor_mode is None else anchor_mode.value,
            families=families,
            levels=reading.levels,
            classes=None if classes is None else split_commas([classes]),
            positive=reading.how.positive,
            over=over.value,
            about=None if about is None else about.value,
            judges=None if judges is None else judges.value,
            covariates=covariates,
            item_families=item_families,
            without_own_family=without_own_family,
            by=by,
            order=None if order is None else order.value,
            progress=progress,
            **sizes,
        )
        if out is not None:
            result.save(out, overwrite=overwrite)
    if json:
        console.print_json(result.as_dict() | ({"contexts": context_strengths(result)} if contexts else {}))
    else:
        show_fit(result)
    if out is not None:
        console.print_saved(out, json)
    if strict and result.level == "fail":
        names = ", ".join(row["check"] for row in result.as_dict()["checks"] if row["level"] == "fail")
        console.print_error(f"failed checks: {names}")
        raise typer.Exit(FAILED_CHECK)


def context_strengths(result: Fit) -> list[dict[str, Any]]:
    """Strengths in each context, for JSON."""
    if not hasattr(result, "contexts"):
        raise InputError("--contexts is for fits of votes, scores or rankings in several contexts")
    found = result.contexts()
    return to_records({name: found[name].to_numpy() for name in found.columns})


def fit_headline(result: Fit) -> str:
    """Describe a fit in one line: the model, the method, the table."""

    problem = result.problem
    criteria = f", {len(problem.criteria)} criteria" if len(problem.criteria) > 1 else ""
    by = result.method if result.method != "nuts" else f"nuts ({result.sampler})"
    answers = result.kind.answers(problem)
    return (
        f"{result.model.name} by {by}: {answers}, {count_in_words(len(problem.items), 'items')}, "
        f"{count_in_words(len(problem.judges), 'judges')}{criteria}; {result.seconds:.1f} s"
    )


def show_fit(result: Fit) -> None:
    """Print a fit as tables."""
    from rich.text import Text

    found, out = result.as_dict(leave_out=["confusion"]), console.stdout_console()
    if result.decision is not None:
        out.print(
            Text(console.printable_text(result.decision.sentence() + doubt_sentence(result)), style="bold")
        )
    elif result.kind.has_unlinked_pairs(result.problem) and not found.get("pairs"):
        out.print(Text(winner_sentence(result, found["items"]), style="bold"))
    out.print(console.printable_text(fit_headline(result)))
    for note in result.notes:
        out.print(console.printable_text(note))
    if result.decision is not None:
        out.print(console.printable_text(result.decision.rule))
    problem = result.problem
    unit, heads = result.kind.unit(problem), dict(result.kind.heading)
    if unit != "log-odds":
        heads["severity"] = f"severity ({unit})"
    untold = () if result.kind.fixed_order(problem) is None else ("position_bias",)
    judges = shown.judge_table(found["judges"], result.prob, heads=heads, drop=untold)
    if result.anchored is not None:
        for part in (
            shown.unconnected_pairs_table(found.get("pairs", [])),
            shown.anchor_method_table(found["anchors"]["methods"]),
            shown.people_table(found.get("people", [])),
        ):
            if part is not None:
                out.print()
                out.print(part)
    decision, about_systems = result.decision, bool(found.get("systems"))
    systems = None
    if about_systems and decision is not None:
        rows = [{"item": row["system"], **row} for row in found["systems"]]
        systems = shown.ranking_table(
            rows, result.prob, unit, "Systems, best first", decision.ranks, "system"
        )
    if "shares" in found:
        parts = [
            shown.class_share_table(found["shares"], result.prob),
            shown.class_table(found["items"]),
            judges,
        ]
    else:
        # of pairs that nothing links there is no ranking worth reading
        ranks = {} if decision is None or about_systems else decision.ranks
        ranked = shown.ranking_table(found["items"], result.prob, unit=unit, ranks=ranks)
        parts = [
            None if found.get("pairs") else ranked,
            judges,
            shown.criterion_table(found["criteria"], result.prob),
        ]
    parts += [shown.covariate_table(found.get("covariates"), found.get("own_family"), result.prob)]
    parts += [shown.term_table(found.get("terms"), result.prob)]
    for part in [systems, *parts, shown.model_checks_table(found["checks"])]:
        if part is not None:
            out.print()
            out.print(part)
    if judges is None:
        out.print(f"\n{result.model.name} takes all judges alike: it says nothing about them.")


def _read_priors(changes: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    problems = []
    for change in changes:
        place, equals, text = change.partition("=")
        name = place.strip()
        try:
            value = float(read_number(text.strip()))
        except ValueError:
            equals = ""
        if not (equals and all(name.partition("."))):
            problems.append(
                f"--prior {change!r} is not section.key=number; voirdire models MODEL lists those of a model"
            )
        elif name in found:
            problems.append(f"--prior {name} is given twice; give it once")
        else:
            found[name] = value
    if problems:
        raise InputError(problems)
    return found
