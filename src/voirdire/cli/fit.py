"""The verb ``fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from voirdire.cli import console, signals
from voirdire.cli import show as shown
from voirdire.cli.options import FitOptions, declare_options, without_none
from voirdire.cli.outputs import exit_at_failed_checks
from voirdire.cli.reading import TableOptions, read_pairs, split_commas
from voirdire.fit.store import LAYOUT
from voirdire.fit.verb import fit as run
from voirdire.folders import check_new_folder
from voirdire.kinds.columns import to_records
from voirdire.kinds.registry import kind_of
from voirdire.report.provenance import caveat_sentence, winner_sentence
from voirdire.tables.numbers import count_in_words, read_number

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

AnchorMode = Literal["joint", "cut"]
Sampler = Literal["numpyro", "nutpie", "pymc"]
Device = Literal["auto", "cpu", "gpu", "jax"]


@declare_options()
def fit(
    table: list[Path],
    *,
    criteria: Path | None = None,
    asked: FitOptions,
    prior: list[str] | None = None,
    anchors: list[Path] | None = None,
    anchor_mode: AnchorMode | None = None,
    classes: str | None = None,
    contexts: bool = False,
    draws: int | None = None,
    warmup: int | None = None,
    chains: int | None = None,
    sampler: Sampler | None = None,
    device: Device = "auto",
    phase: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    strict: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Fit a model of a judge panel to votes, labels, scores or rankings: items, judges, criteria, checks.

    Parameters
    ----------
    table : TABLE [TABLE]
        CSV, Parquet, JSONL, any file that import takes, or a run's folder. Votes: judge, first, second, winner (and
        criterion, context). Labels: judge, item, label (and criterion). Scores: judge, item, score (and criterion, run,
        group). Rankings: judge, item, rank (and criterion, context, run). A table of votes and one of scores of the
        same items are fitted together.
    criteria : FILE
        Votes on the criteria (the same columns, the items are criteria), or, if there are scores or rankings, the
        criteria's weights.
    model : NAME|FILE
        A model's name (see voirdire models) or a model file. By default the columns of the table determine the model;
        the output names it with the reason.
    method
        auto: laplace; if its checks fail, Hamiltonian Monte Carlo from there (method hmc in the result), or nuts.
        laplace: approximate intervals, fast. nuts: sample the posterior. map: posterior mode, no intervals. adam: the
        estimator of the MAPLE paper, no prior, no intervals (votes, --model maple or crowd-bt).
    prior : SECTION.KEY=VALUE
        Change a number of the model's prior; repeatable.
    anchor_mode
        joint: votes and anchors inform all parameters; cut: only anchors inform the judges' parameters. Default: the
        mode that predicts held-out anchors best.
    families : FILE
        Judges that share a base model: columns judge, family.
    by : COLUMN
        Break results down by this column, which groups contexts (such as category).
    classes : A,B,...
        Labels that can be the true class of an item; others are answers only.
    contexts
        With --json: add the items' scores in each context.
    draws
        With nuts: draws per chain (1000 if left out).
    warmup
        With nuts: warm-up draws per chain (500 if left out).
    chains
        With nuts: number of chains (4 if left out).
    sampler
        With nuts: the sampler (numpyro, Laplace-whitened, if left out).
    device
        Device of the computation: gpu needs voirdire[cuda]; auto uses a GPU for large tables.
    phase : NAME
        Phase of the answers to use (default: a run's final phase).
    overwrite
        Replace a fit saved in --out.
    """
    sampler_options = without_none(draws=draws, warmup=warmup, chains=chains, sampler=sampler)
    if sampler_options and asked.method != "nuts":
        raise typer.BadParameter(f"--{next(iter(sampler_options))} is for --method nuts")
    settings = asked.settings | sampler_options
    if contexts and not json:
        raise typer.BadParameter("--contexts is for --json")
    if overwrite and out is None:
        raise typer.BadParameter("--overwrite is for --out")
    form = "section.key=number; voirdire models MODEL lists those of a model"
    priors = read_pairs("--prior", prior or [], form, _read_prior, name=str)
    if out is not None:
        check_new_folder(out, LAYOUT, overwrite=overwrite)
    tables = reading.tables(table, [criteria, *(anchors or [])], phase=phase)
    with signals.keep_draws_at_stop(), console.progress_bar(f"Fitting by {asked.method}") as progress:
        result = run(
            tables[0] if len(tables) == 1 else tables,
            reading.people(criteria),
            priors=priors,
            anchors=reading.people_tables(anchors),
            anchor_mode=anchor_mode,
            classes=None if classes is None else split_commas([classes]),
            **reading.scale,
            device=device,
            progress=progress,
            check=(lambda problem: kind_of(problem).check_contexts(problem)) if contexts else None,
            **settings,
        )
        if out is not None:
            result.save(out, overwrite=overwrite)
    content = result.as_dict() | ({"contexts": context_strengths(result)} if contexts else {})
    console.print_result(content, json, lambda: show_fit(result), out)
    if strict:
        exit_at_failed_checks(result)


def context_strengths(result: Fit) -> list[dict[str, Any]]:
    """Return the items' scores in each context, for JSON."""
    strengths = result.contexts()
    return to_records({name: strengths[name].to_numpy() for name in strengths.columns})


def fit_headline(result: Fit) -> str:
    """Describe a fit in one line: model, method, table."""

    problem = result.problem
    criteria = f", {len(problem.criteria)} criteria" if len(problem.criteria) > 1 else ""
    method_text = result.method if result.method != "nuts" else f"nuts ({result.sampler})"
    answers = result.kind.answers(problem)
    return (
        f"{result.model.name} by {method_text}: {answers}, {count_in_words(len(problem.items), 'items')}, "
        f"{count_in_words(len(problem.judges), 'judges')}{criteria}; {result.seconds:.1f} s"
    )


def show_fit(result: Fit) -> None:
    """Print a fit as tables."""
    from rich.text import Text

    content, out = result.as_dict(leave_out=["confusion"]), console.stdout_console()
    if result.decision is not None:
        out.print(Text(console.printable_text(result.decision.sentence() + caveat_sentence(result)), style="bold"))
    elif result.kind.has_unlinked_pairs(result.problem) and not content.get("pairs"):
        out.print(Text(winner_sentence(result, content["items"]), style="bold"))
    out.print(console.printable_text(fit_headline(result)))
    for note in result.notes:
        out.print(console.printable_text(note))
    if result.decision is not None:
        out.print(console.printable_text(result.decision.rule))
    problem = result.problem
    unit, heads = result.kind.unit(problem), dict(result.kind.heading)
    if unit != "log-odds":
        heads["severity"] = f"severity ({unit})"
    hidden = () if result.kind.fixed_order(problem) is None else ("position_bias",)
    judges = shown.judge_table(content["judges"], result.prob, heads=heads, drop=hidden)
    parts: list[Any] = []
    if result.anchored is not None:
        parts += [
            shown.unconnected_pairs_table(content.get("pairs", [])),
            shown.anchor_method_table(content["anchors"]["methods"]),
            shown.people_table(content.get("people", [])),
        ]
    decision, about_systems = result.decision, bool(content.get("systems"))
    if about_systems and decision is not None:
        rows = [{"item": row["system"], **row} for row in content["systems"]]
        title, ranks = "Systems, best first", decision.ranks
        parts.append(shown.ranking_table(rows, result.prob, unit, title, ranks, "system"))
    if "shares" in content:
        shares = shown.class_share_table(content["shares"], result.prob)
        parts += [shares, shown.class_table(content["items"]), judges]
    else:
        if not content.get("pairs"):  # unconnected items have no meaningful ranking
            ranks = {} if decision is None or about_systems else decision.ranks
            parts.append(shown.ranking_table(content["items"], result.prob, unit=unit, ranks=ranks))
        parts += [judges, shown.criterion_table(content["criteria"], result.prob)]
    parts.append(shown.covariate_table(content.get("covariates"), content.get("own_family"), result.prob, unit))
    parts.append(shown.term_table(content.get("terms"), result.prob, unit))
    console.print_parts([*parts, shown.model_checks_table(content["checks"])])
    if judges is None:
        out.print(f"\n{result.model.name} takes all judges alike: it says nothing about them.")


def _read_prior(name: str, text: str) -> float:
    if not all(name.partition(".")):
        raise ValueError
    return float(read_number(text))
