"""The verb ``next``, for comparisons and rankings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli import console
from voirdire.cli.options import ModelName, declare_options, without_none
from voirdire.cli.reading import TableOptions
from voirdire.errors import InputError
from voirdire.fit.next.rankings import check_rankings_request
from voirdire.fit.next.suggest import check_comparisons_request
from voirdire.fit.store import load
from voirdire.fit.verb import fit
from voirdire.folders import write_file
from voirdire.kinds.columns import to_records
from voirdire.kinds.rankings.fit import RankingsFit
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.registry import kind_of
from voirdire.kinds.votes.kind import VOTES
from voirdire.model.problem import Problem
from voirdire.report.output import check_new_file
from voirdire.tables.spreadsheet_escape import escape_formula_cell

if TYPE_CHECKING:
    import pandas as pd


QUESTION_COLUMNS = ("judge", "criterion", "context")


def propose_rankings(result: RankingsFit, options: dict[str, Any], out: Path | None, json: bool) -> None:
    """Choose the next rankings to ask for, write them as a form to fill in, and show them."""
    rankings = result.next_rankings(**options)
    respondent = options.get("who", "judge")
    if out is not None:
        form = _ranking_form(rankings, result, respondent)
        write_file(out, form.to_csv(index=False))
        context_note = " and, where it is empty, context" if "context" in form and form["context"].isna().any() else ""
        console.print_note(
            f"written to {out}: fill in rank (the lowest is the best, equal ones are ties){context_note}"
        )
    rows = [row | {"items": list(row["items"])} for row in rankings.to_dict("records")]
    content = _as_dict(rankings, result.model.name, respondent, options["seed"]) | {"rankings": rows}
    console.print_result(content, json, lambda: _show_rankings(rankings, respondent))


def _ranking_form(rankings: pd.DataFrame, result: RankingsFit, respondent: str) -> pd.DataFrame:
    """Return a form with one row per item and a new run per ranking; cells are safe in spreadsheets."""
    columns = ["judge", *(name for name in QUESTION_COLUMNS[1:] if name in rankings)]
    if respondent == "person" or rankings["judge"].isna().all():
        columns.remove("judge")
    if "criterion" in columns and rankings["criterion"].isna().all():
        columns.remove("criterion")
    form = rankings[[*columns, "items"]].assign(run=[f"next-{number}" for number in rankings["place"]])
    form = form.explode("items", ignore_index=True).rename(columns={"items": "item"})
    if respondent == "person":
        form["item"] = [escape_formula_cell(name, {*result.problem.items}) for name in form["item"]]
    return form.assign(rank="")


def _show_rankings(rankings: pd.DataFrame, respondent: str) -> None:
    names = [name for name in QUESTION_COLUMNS if name in rankings and rankings[name].notna().any()]
    if "context" in rankings and "context" not in names:
        names.append("context")
    rows = [
        {name: row[name] or ("a new one" if name == "context" else "") for name in names}
        | {"items": ", ".join(row["items"]), "gain": f"{row['gain']:.2f}", "alone": f"{row['information']:.2f}"}
        for row in rankings.to_dict("records")
    ]
    _show_table(rankings, f"Rankings to ask for, from a {respondent}", rows, [*names, "items"], "rankings")


def _show_table(
    questions: pd.DataFrame, title: str, rows: list[dict[str, str]], words: list[str], answer_words: str
) -> None:
    out = console.stdout_console()
    table = console.empty_table(f"{title}, to learn about {_ABOUT_WORDS[questions.attrs['about']]}")
    out.print(console.fill_table(table, rows, words))
    before, after = questions.attrs["entropy"], questions.attrs["left"]
    out.print(
        f"gain, alone: expected reduction of entropy in bits, summed over {_SUMMED_WORDS[questions.attrs['about']]} "
        f"(one answer may inform several); now {before:.1f} bits, expected after all {answer_words} {after:.1f}"
    )


_ABOUT_WORDS = {"judges": "the judges", "ranking": "the ranking", "best": "what is best"}
_SUMMED_WORDS = {"judges": "all judges", "ranking": "all pairs of items", "best": "all groups of linked items"}

Respondent = Literal["person", "judge"]
About = Literal["ranking", "judges", "best"]


@declare_options()
def next(
    votes: list[Path],
    *,
    count: int | None = None,
    who: Respondent | None = None,
    size: int | None = None,
    for_: Annotated[Respondent | None, typer.Option("--for", hidden=True)] = None,
    about: About | None = None,
    repeats: bool | None = None,
    criteria: Path | None = None,
    model: ModelName = None,
    terms: str | None = None,
    anchors: list[Path] | None = None,
    families: Path | None = None,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Choose the comparisons or rankings to ask for next: those with the largest expected information gain.

    Parameters
    ----------
    votes : VOTES [SCORES]|RANKINGS
        Votes (and scores of the same items) or rankings, as for voirdire fit, or the folder of a saved fit.
    count
        Number of questions, chosen jointly (default: 10 comparisons, 5 rankings).
    who
        Respondent (default: a person; for rankings a judge).
    size
        Rankings: items per ranking (default: the most common number in the table).
    for_
        The old name of --who.
    about
        Target of the information gain: the ranking, the best item, or the judges' reliability. Default: the judges if a
        person answers and the model estimates judges separately, else the ranking.
    repeats
        Allow questions that were answered before (default: only if the model ignores contexts).
    criteria : FILE
        Votes on the criteria.
    model : NAME|FILE
        A model, as for voirdire fit.
    families : FILE
        Judges that share a base model: judge, family.
    out : FILE.csv
        Write the questions to a new file, with an empty column winner (or rank) to fill in.
    """
    if for_ is not None:
        console.print_note("--for is --who now; the old name goes with the next release")
        who = for_
    fit_options = without_none(criteria=criteria, model=model, terms=terms, anchors=anchors, families=families)
    option_names = [f"--{name}" for name in fit_options]
    option_names += [f"--{'from' if name == 'tool' else name}" for name in reading.reading.set_options]
    saved = len(votes) == 1 and votes[0].is_dir()
    if saved and option_names:
        raise typer.BadParameter(
            f"{', '.join(option_names)}: the saved fit has its own; leave it out, or give the votes"
        )
    check_new_file(out)
    request = without_none(count=count, who=who, about=about, seed=seed)
    size_option, repeat_option = without_none(size=size), without_none(repeats=repeats)

    def check(problem: Problem) -> None:
        is_rankings = isinstance(problem, RankingsProblem)
        if is_rankings and repeat_option:
            raise typer.BadParameter("--repeats is for comparisons; leave it out")
        if not is_rankings and size_option:
            raise typer.BadParameter("--size is for rankings; leave it out")
        if is_rankings:
            check_rankings_request(problem, **request, **size_option)
        elif problem.part(VOTES.name) is None:
            raise InputError(
                f"next is for votes and rankings; these are {kind_of(problem).words}, of which voirdire escalate says "
                "what to ask people"
            )
        else:
            check_comparisons_request(problem, **request)

    if saved:
        result = load(votes[0])
        check(result.problem)
    else:
        tables = reading.tables(votes, [criteria, *(anchors or [])])
        with console.progress_bar("Fitting by laplace"):
            result = fit(
                tables[0] if len(tables) == 1 else tables,
                reading.people(criteria),
                model=model,
                terms=terms,
                anchors=reading.people_tables(anchors),
                families=families,
                levels=reading.levels,
                seed=seed,
                check=check,
            )
    if not json and result.decision is not None:
        print(console.printable_text(f"{result.decision.sentence()} {result.decision.settle()}".strip()))
    if isinstance(result, RankingsFit):
        propose_rankings(result, request | size_option, out, json)
        return
    respondent = who or "person"
    comparisons = result.next_comparisons(**request | repeat_option)
    if count is not None and len(comparisons) < count:
        hint = "" if repeats else "; --repeats asks again what was answered"
        console.print_note(f"{len(comparisons):,} of the {count:,} asked for: there are no others{hint}")
    if out is not None:
        problem = result.problem
        write_file(out, _answer_form(comparisons, respondent, {*problem.items, *problem.criteria}).to_csv(index=False))
        console.print_note(f"written to {out}: fill in winner (first, second, tie, or an item)")
    rows = to_records({str(name): comparisons[name].to_numpy() for name in comparisons})
    decision = None if result.decision is None else result.decision.as_dict()
    content = _as_dict(comparisons, result.model.name, respondent, seed) | {"comparisons": rows, "decision": decision}
    console.print_result(content, json, lambda: _show_questions(comparisons, respondent))


def _answer_form(comparisons: pd.DataFrame, respondent: Respondent, known_names: set[str]) -> pd.DataFrame:
    """Return a form of comparisons to fill in; for a person, cells are safe in spreadsheets."""
    columns = [name for name in QUESTION_COLUMNS if name in comparisons and comparisons[name].notna().any()]
    form = comparisons[["first", "second", *columns]].copy()
    if respondent == "person":
        form = form.map(lambda name: escape_formula_cell(name, known_names) if isinstance(name, str) else name)
    form.insert(2, "winner", "")
    return form.assign(information=comparisons["information"], gain=comparisons["gain"])


def _as_dict(questions: pd.DataFrame, model: str, respondent: str, seed: int) -> dict[str, Any]:
    about, entropy, entropy_left = (questions.attrs[name] for name in ("about", "entropy", "left"))
    request = {"model": model, "who": respondent, "about": about, "seed": seed}
    return request | {"entropy": entropy, "entropy_after": entropy_left}


def _show_questions(comparisons: pd.DataFrame, respondent: str) -> None:
    names = [name for name in QUESTION_COLUMNS if name in comparisons and comparisons[name].notna().any()]
    rows = []
    for row in comparisons.to_dict("records"):
        votes = f"{row['votes_first']}:{row['votes_second']}"
        votes += f" ({row['votes_tie']} tie{'s' if row['votes_tie'] > 1 else ''})" if row["votes_tie"] else ""
        line = {name: row[name] or "" for name in (*names, "first", "second")}
        line |= {"gain": f"{row['gain']:.2f}", "alone": f"{row['information']:.2f}"}
        rows.append(line | {"p(first)": f"{row['p_first']:.2f}", "votes": votes})
    _show_table(comparisons, f"Comparisons to send to a {respondent}", rows, [*names, "first", "second"], "answers")
