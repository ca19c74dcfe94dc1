"""Audit card of each judge: its measures, what they mean, and the data that further measures need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.agreement.ppi.humans import join_humans, matched_columns
from voirdire.agreement.replace.estimate import read_people
from voirdire.agreement.verb import agreement
from voirdire.decide.answer_rows import CONFIDENCE, rows_of
from voirdire.decide.audit_answers import MIN_PEOPLE_UNITS, Answers, pair_with_reference
from voirdire.decide.audit_effects import MIN_UNITS, known_answers_of_judge
from voirdire.decide.audit_measures import INFORMATION, MeasureRow, judge_measures
from voirdire.decide.judge_independence import PanelIndependence, judge_independence
from voirdire.decide.verdicts import judge_verdict
from voirdire.errors import InputError, raise_problems
from voirdire.settings import PROB, read_list, share_problems
from voirdire.tables.covariates import covariate_names
from voirdire.tables.detect import read_table
from voirdire.tables.families import read_families
from voirdire.tables.people import join_people_answers, split_people

SCHEMA = "audit/1"
RULE = (
    "A bias is reported if it is large enough to matter and its interval excludes zero (for flips: the other judges' "
    "rate), with 3% false alarms over all measures of a judge, half of them for drift. Judges are compared with people "
    "if people answered 20 of their units, otherwise with the other judges (except copies and judges with a clear "
    "bias), and then errors that all judges share are not visible."
)


def audit(
    table: object,
    humans: object = None,
    *,
    people: Sequence[str] | str = (),
    families: object = None,
    item_families: object = None,
    covariates: Sequence[str] | str = (),
    positive: object = None,
    levels: Sequence[object] | None = None,
    prob: float = PROB,
    seed: int = 0,
) -> dict[str, Any]:
    """Make an audit card for each judge.

    Parameters
    ----------
    table : path, dataframe, Votes, Labels or Scores
        Answers of one or more judges; columns ``confidence`` (0 to 1, or per cent), ``run`` and ``time`` are used.
    humans : path or dataframe, or a list of them
        People's answers of the same kind, with or without the names of the people.
    people : sequence of str, optional
        Judges of the table who are people.
    families, item_families : mapping, path or dataframe, optional
        Family of each judge, and of each item (or system), to test whether a judge favours its own family.
    covariates : sequence of str, optional
        Numeric columns that answers may depend on, such as length; for votes ``NAME_first`` and ``NAME_second``. By
        default ``length`` where the table has it.
    positive, levels
        As in :func:`voirdire.fit`.
    prob : float
        Coverage of the intervals of measures that are not biases; a bias has the interval of its test.
    seed : int
        Seed of the resamples.

    Returns
    -------
    dict
        schema, rule, prob, judges: judge, answers, verdict, why, agreement_information (nats of information in an
        answer about people's answers, or about the majority of the other judges), measures: measure,
        value, low, high, n, found (True, False, or None where it is not a bias), note (its meaning). needs: the data
        that further measures require. panel: judges, effective (number of independent judges), without (for each
        judge, the same number without it).

    Raises
    ------
    InputError
        A table or an argument is wrong, or people answered nothing that judges did.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 60)
    >>> right = {"good": 0.9, "coin": 0.5, "fair": 0.8}
    >>> table = pd.concat(
    ...     pd.DataFrame({"judge": j, "item": range(120), "label": np.where(rng.random(120) < p, truth, 1 - truth)})
    ...     for j, p in right.items()
    ... )
    >>> found = audit(table, pd.DataFrame({"item": range(120), "label": truth}))
    >>> [(card["judge"], card["verdict"]) for card in found["judges"]]
    [('coin', 'drop'), ('fair', 'keep'), ('good', 'keep')]
    """
    raise_problems(share_problems(prob=(prob, PROB)))
    table, people_rows, levels = split_people(table, people, levels)
    people_answers = join_people_answers(humans, people_rows)
    covariate_columns = read_list("covariates", covariates)
    if files := [name for name in covariate_columns if not covariate_names(name)]:
        raise InputError(
            f"covariates: an audit takes names of columns of its table, and {files[0]!r} is a file; add its numbers to "
            "the table (of votes NAME_first and NAME_second)"
        )
    column_names = [*(covariate_columns or ("length",)), CONFIDENCE]
    keep = [column for name in column_names for column in (name, f"{name}_first", f"{name}_second")]
    judge_table = read_table(table, levels=levels, keep=keep)
    persons = None if people_answers is None else read_people_table(people_answers, judge_table, levels)
    if persons is not None and (shared_names := sorted(set(persons.judges) & set(judge_table.judges))):
        raise InputError(f"humans: {shared_names[0]!r} is a judge of the table, too; rename one of them")
    if item_families is not None and families is None:
        raise InputError("item_families= needs families=, the family of each judge; pass both")
    judge_family = None if families is None else read_families(families, judge_table.judges)
    items = rows_of(judge_table).item_names
    item_family = None if item_families is None else read_families(item_families, items, unit="item")
    present = set(judge_table.further.columns)
    columns = covariate_columns or tuple(column for column in ("length",) if present & {column, f"{column}_first"})
    columns += (CONFIDENCE,) if CONFIDENCE in present else ()
    answers = pair_with_reference(judge_table, persons, positive, columns, judge_family, item_family)
    needs: dict[str, str] = {}
    independence = None
    try:
        independence = judge_independence(judge_table, answers)
    except InputError as error:
        needs["independence"] = f"answers that a model can be fitted to ({error})"
    if independence is not None:
        answers = answers.without_judges(np.array([original is not None for original in independence.copy_of]))
    measures = judge_measures(judge_table, answers, prob, needs)
    people_agreement = {} if persons is None else _agreement_rows(judge_table, persons, prob, seed)
    if persons is None:
        needs["agreement with people"] = "people's answers to some of the items (--humans FILE)"
    if independence is None:
        needs.setdefault("independence", "three judges who answered the same items")
    cards = [
        _judge_card(place, answers, measures, people_agreement.get(name, []), independence)
        for place, name in enumerate(answers.judges)
    ]
    return {
        "schema": SCHEMA,
        "rule": RULE,
        "prob": prob,
        "judges": cards,
        "needs": [{"measure": name, "needs": requirement} for name, requirement in needs.items()],
        "panel": None if independence is None else independence.panel_sizes(answers.judges),
    }


def read_people_table(people_answers: object, judge_table: Any, levels: Sequence[object] | None) -> Any:
    """Read people's answers as a table of the judges' kind, with the columns that match the two tables.

    Raises
    ------
    InputError
        The table is wrong, or of a different kind.
    """
    persons = read_table(read_people(people_answers)[0], levels=levels, name="humans")
    if persons.answer != judge_table.answer:
        raise InputError(
            f"humans: they have a column {persons.answer!r} and the judges' table has {judge_table.answer!r}; "
            "both must be answers of one kind"
        )
    return matched_columns(persons, judge_table)


def _agreement_rows(judge_table: Any, persons: Any, prob: float, seed: int) -> dict[str, list[MeasureRow]]:
    """Rows of each judge's agreement with people, for the measures that suit the scale."""
    import pandas as pd

    people_as_one = replace(persons, judges=("people",), judge=np.zeros_like(persons.judge))
    rows: pd.DataFrame = agreement(
        join_humans(judge_table, people_as_one),
        measures=rows_of(judge_table).measures(rows_of(persons)),
        against="people",
        pairs=True,
        resamples=1000,
        prob=prob,
        seed=seed,
    )
    rows_by_judge: dict[str, list[MeasureRow]] = {}
    for row in rows.to_dict("records"):
        judge = next(name for name in row["judges"] if name != "people")
        suffix = f" ({row['criterion']})" if row["criterion"] else ""
        value, low, high = (None if pd.isna(row[name]) else float(row[name]) for name in ("value", "low", "high"))
        note = f"agreement with people: {row['measure'].replace('_', ' ')}{suffix}; 1 is perfect agreement"
        note += f" ({row['note']})" if row["note"] else ""
        record = MeasureRow(f"people_{row['measure']}{suffix}", value, low, high, int(row["n"]), None, note)
        rows_by_judge.setdefault(judge, []).append(record)
    return rows_by_judge


def _describe_reference(answers: Answers, judge: int) -> str:
    """Describe in words the reference that a judge's answers are compared with."""
    truth = known_answers_of_judge(answers, judge)
    by_people = answers.reference_differences(judge)[2] if truth is None else truth[2]
    return f"what {'people' if by_people else 'the other judges'} say"


def _judge_card(
    judge: int,
    answers: Answers,
    measure_rows: Sequence[Sequence[MeasureRow]],
    people: list[MeasureRow],
    independence: PanelIndependence | None,
) -> dict[str, Any]:
    judge_rows = measure_rows[judge]
    information = next((row for row in judge_rows if row.measure == INFORMATION), None)
    biases = [row.note for row in judge_rows if row.found]
    copy = None if independence is None else independence.copy_of[judge]
    value, high = (None, None) if information is None else (information.value, information.high)
    unknown, reference = "", _describe_reference(answers, judge)
    if information is None and known_answers_of_judge(answers, judge) is None:
        unknown = f"people answered fewer than {MIN_PEOPLE_UNITS} of its units, and other judges fewer than {MIN_UNITS}"
    elif information is None:
        unknown = f"{reference} is almost always the same, so that the information in an answer cannot be measured"
    verdict = judge_verdict(value, high, biases, copy, unknown, reference)
    measures = [*people, *judge_rows, *([] if independence is None else [independence.result_row(judge)])]
    return {
        "judge": answers.judges[judge],
        "answers": int((answers.judge == judge).sum()),
        "verdict": verdict.verdict,
        "why": verdict.why,
        INFORMATION: value,
        "measures": [row._asdict() for row in measures],
    }
