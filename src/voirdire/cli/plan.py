"""The verb ``plan``."""

from __future__ import annotations

import json as jsonlib
from functools import partial
from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console
from voirdire.cli.options import About, declare_options, without_none
from voirdire.cli.reading import TableOptions, read_pairs
from voirdire.cli.simulate import readable_table
from voirdire.fit.verb import fit
from voirdire.planning.distinguish import POWER, check_apart, plan_to_distinguish
from voirdire.planning.rankings import plan_rankings
from voirdire.planning.votes import plan as run
from voirdire.tables.numbers import read_number


@declare_options()
def plan(
    table: list[Path] | None = None,
    *,
    apart: str | None = None,
    margin: float | None = None,
    about: About | None = None,
    anchors: list[Path] | None = None,
    items: int | None = None,
    judge: list[str] | None = None,
    rankings: int | None = None,
    judges: int | None = None,
    width: float | None = None,
    contexts: int | None = None,
    context_spread: float | None = None,
    taste_spread: float | None = None,
    criteria: int | None = None,
    target: float | None = None,
    price: float = 1.0,
    spread: float = 1.0,
    replicates: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    cluster: str | None = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Plan a collection: the number of answers for a wanted precision, or to distinguish two items of a pilot.

    Parameters
    ----------
    table : [TABLE...]
        With --apart: a pilot table, as fit takes it.
    apart : A,B|top
        Number of further answers until these two items (top: the first two) are distinguishable.
    margin
        With --apart: smallest difference of scores that matters; a proof that it is smaller also suffices.
    items
        Number of items.
    judge : NAME=RELIABILITY[:PRICE]
        Votes: an expected judge, its reliability (above 0.5) and its price per vote; repeatable.
    rankings : SIZE
        Plan rankings of this many items instead of votes.
    judges
        Rankings: number of judges.
    width
        Rankings: wanted width of 90% intervals, in log-odds (default: 1).
    contexts
        Rankings: largest possible number of contexts (prompts).
    context_spread
        Rankings: expected sd of an item between contexts, in log-odds.
    taste_spread
        Rankings: expected sd of an item between judges, in log-odds.
    criteria
        Votes: number of criteria (default: 1).
    target
        Votes: wanted share of item pairs in the right order (default: 0.9).
    price
        Price per ranking, or per vote of judges without a price.
    spread
        Expected sd of the items' strengths, in log-odds.
    replicates
        Simulated panels per candidate (default: 20, rankings 5).
    seed
        Seed.
    jobs
        Votes: processes (default: 1).
    """
    plan_options = without_none(items=items, judge=judge or None, rankings=rankings, judges=judges, target=target)
    if apart is not None or table:
        if not table or apart is None:
            raise typer.BadParameter("--apart and a pilot table go together; give both, or neither")
        if plan_options:
            raise typer.BadParameter(
                f"--{next(iter(plan_options))} is not for --apart, which has all from the pilot; leave it out"
            )
        tables = reading.tables(table, anchors or [])
        people_tables = reading.people_tables(anchors)
        _plan_from_pilot(tables, apart, margin, json, seed=seed, anchors=people_tables, **reading.scale, about=about)
        return
    if pilot_options := without_none(margin=margin, about=about, anchors=anchors or None):
        raise typer.BadParameter(f"--{next(iter(pilot_options))} is for --apart and a pilot; leave it out")
    if items is None:
        raise typer.BadParameter("--items is missing; say how many items there are, or give a pilot and --apart")
    ranking_options = without_none(
        judges=judges, width=width, contexts=contexts, context_spread=context_spread, taste_spread=taste_spread
    )
    vote_options = without_none(criteria=criteria, target=target, jobs=jobs)
    kind, misplaced = ("rankings", ranking_options) if rankings is None else ("votes", vote_options)
    misplaced = (
        (without_none(judge=judge or None) | misplaced | without_none(cluster=cluster)) if rankings else misplaced
    )
    if misplaced:
        option_names = ", ".join(f"--{name.replace('_', '-')}" for name in misplaced)
        raise typer.BadParameter(f"{option_names} is for {kind}; leave it out")
    replicates = (20 if rankings is None else 5) if replicates is None else replicates
    shared_settings: dict[str, Any] = {"items": items, "price": price, "spread": spread, "seed": seed}
    shared_settings["replicates"] = replicates
    with console.progress_bar("Planning") as progress:
        planned: Any
        if rankings is None:
            if not judge:
                raise typer.BadParameter("--judge is missing; describe each expected judge, or plan --rankings")
            expected = _read_judges(judge, price)
            planned = run(expected, **shared_settings, **vote_options, client=cluster, progress=progress)
            goal = {"target": planned.target}
        else:
            if judges is None:
                raise typer.BadParameter("--judges is missing; say how many rank")
            planned = plan_rankings(**shared_settings, **ranking_options, size=rankings, progress=progress)
            goal = {"width": planned.width}
    rows = jsonlib.loads(planned.table.to_json(orient="records", double_precision=15))
    best = next((row for row in rows if row["reached"]), None)
    result = goal | {"seed": seed, "replicates": replicates, "best": best, "rows": rows}

    def show_plan() -> None:
        if rankings is None:
            console.print_sentence(
                "Simulated panels by price. share: part of the pairs of items that each judge compares; concordance: "
                "part of the pairs that the fit orders rightly (sd: of one panel; mcse: Monte Carlo error)"
            )
        print(readable_table(planned.table))
        print(console.printable_text(str(planned)))

    console.print_result(result, json, show_plan)


def _plan_from_pilot(tables: list[Any], apart: str, margin: float | None, json: bool, **fit_options: Any) -> None:
    """Plan from a pilot table."""
    check = partial(check_apart, apart=apart, margin=margin)
    with console.progress_bar("Fitting the pilot"):
        fitted = fit(tables[0] if len(tables) == 1 else tables, **fit_options, board=True, check=check)
        planned = plan_to_distinguish(fitted, apart, margin=margin)
    result = {"apart": apart, "power": POWER, "items": list(planned.items)}
    result |= {"distinguishable": planned.distinguishable, "rows": planned.rows, "margin": planned.margin}
    result |= {"within": planned.within, "decision": fitted.decision.as_dict()}

    def show_plan() -> None:
        console.print_sentence(fitted.decision.sentence())
        console.print_sentence(str(planned))

    console.print_result(result, json, show_plan)


def _read_judges(texts: list[str], price: float) -> dict[str, dict[str, float]]:
    def read_judge(_: str, numbers: str) -> dict[str, float]:
        reliability, colon, price_text = numbers.partition(":")
        return {
            "reliability": float(read_number(reliability.strip())),
            "price": float(read_number(price_text.strip())) if colon else price,
        }

    form = "NAME=RELIABILITY[:PRICE]; write for example gpt=0.8:0.002"
    return read_pairs("--judge", texts, form, read_judge, last=True)
