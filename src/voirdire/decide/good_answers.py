"""Judges' and people's answers about the same items, as good or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.ppi.humans import matched_columns
from voirdire.agreement.replace.estimate import choose_judges, read_people, required_people
from voirdire.decide.answer_rows import rows_of, unit_name
from voirdire.decide.unit_means import mean_by_code
from voirdire.errors import InputError
from voirdire.fit.verb import fit
from voirdire.kinds.labels.success import positive_example, success_class
from voirdire.tables.detect import read_table
from voirdire.tables.encode import encode_column, level_positions
from voirdire.tables.labels import Labels, read_labels
from voirdire.tables.people import PERSON, as_anchors, split_people
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import Rated, known_names
from voirdire.tables.read import columns_among
from voirdire.tables.scores import Scores, read_scores
from voirdire.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

STANDARD_COLUMNS = ("system", "context", "criterion", "phase", "run")


@dataclass(frozen=True, eq=False)
class Judged:
    """Items with the judges' predictions and people's answers.

    Attributes
    ----------
    judges : tuple of str
    predicted : float array, shape (items,)
        Judges' prediction from 0 to 1, higher for better items.
    good : float array, shape (items,)
        1 or 0 by people's answers; NaN where people did not answer.
    clusters : int array, shape (items,)
        Code of the context; without contexts, of the item, which may occur under several criteria.
    groups : dict of str to (tuple of str, int array)
        Groups of items by column: names, and the group code of each item.
    single : bool
        True where predictions are the binary answers of one judge.
    note : str
    """

    judges: tuple[str, ...]
    predicted: Floats
    good: Floats
    clusters: Ints
    groups: dict[str, tuple[tuple[str, ...], Ints]]
    single: bool
    note: str = ""

    def select_items(self, mask: Bools) -> Judged:
        """Select some of the items."""
        return replace(
            self,
            predicted=self.predicted[mask],
            good=self.good[mask],
            clusters=np.unique(self.clusters[mask], return_inverse=True)[1].astype(np.int64),
            groups={name: (levels, code[mask]) for name, (levels, code) in self.groups.items()},
        )


def read_judged(
    table: object,
    humans: object,
    *,
    people: Sequence[str] | str = (),
    by: str | None = None,
    judges: Sequence[str] | None = None,
    positive: object = None,
    levels: Sequence[object] | None = None,
) -> Judged:
    """Read both tables and match them; see :func:`voirdire.decide.rate.rate` for the parameters.

    Raises
    ------
    InputError
        With all problems in the tables.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "item": [1, 2, 3], "label": ["pass", "fail", "pass"]})
    >>> found = read_judged(table, pd.DataFrame({"item": [1, 2], "label": ["pass", "pass"]}))
    >>> found.predicted.tolist(), found.good.tolist()
    ([1.0, 0.0, 1.0], [1.0, 1.0, nan])
    """
    table, answers, levels = split_people(table, people, levels)
    people_answers = required_people(humans, answers)
    keep = [] if by is None or by in STANDARD_COLUMNS else [by]
    judge_table = read_table(table, levels=levels, keep=keep)
    if judge_table.compares_items:
        raise InputError(
            "rate takes labels or scores, and these are votes on pairs; of votes, `agree --humans` gives the win rates "
            "of items"
        )
    people_frame = read_people(people_answers)[0]
    several = len(set(people_frame["judge"])) > 1
    persons = _read_people_answers(_answer_per_item(people_frame) if several else people_frame, levels)
    judge_table = _in_one_phase(judge_table, "table", f" (--where phase={next(iter(judge_table.phases), '')})")
    persons = _in_one_phase(persons, "humans")
    persons = matched_columns(persons, judge_table)
    judges = choose_judges(judges, judge_table.judges)
    if judges is not None:
        judge_table = judge_table.subset(
            np.isin(judge_table.judge, [judge_table.judges.index(name) for name in judges])
        )
    names = tuple(judge_table.judges[index] for index in np.unique(judge_table.judge))
    units, unit = np.unique(_row_names(judge_table), axis=0, return_inverse=True)
    good_answers, note = _good_answer_indicator(persons, positive, judge_table)
    good = _match_people(persons, good_answers, units)
    predicted, single = _judge_predictions(judge_table, names, unit, len(units), positive, persons)
    first = np.unique(unit, return_index=True)[1]
    cluster = (judge_table.item if judge_table.context is None else judge_table.context)[first]
    group_names = dict.fromkeys(filter(None, [by, None if judge_table.system is None else "system"]))
    groups = {name: _group_items(judge_table, name, unit, first) for name in group_names}
    clusters = np.unique(cluster, return_inverse=True)[1].astype(np.int64)
    return Judged(names, predicted, good, clusters, groups, single, note)


def _answer_per_item(people_frame: pd.DataFrame) -> object:
    """Combine several people's answers to each item: the most frequent label, or the mean score."""
    answers: Any = as_anchors(people_frame.rename(columns={"judge": PERSON}), "humans")
    if "score" not in answers:
        return answers
    units = [name for name in ("context", "system", "item", "criterion") if name in answers]
    scores = answers.assign(score=read_scores(answers, name="humans", judge="human").score)
    return scores.groupby(units, as_index=False, sort=False, dropna=False)["score"].mean()


def _read_people_answers(answers: object, levels: Sequence[object] | None) -> Labels | Scores:
    """Read people's table of labels or scores, one answer for each item."""
    problems = Problems("humans")
    columns = columns_among(answers, ["score", "label"], problems)
    problems.raise_any()
    if len(columns) != 1:
        problems.stop(
            f"people's answers are in one column, label or score; these have {' and '.join(columns) or 'neither'}"
        )
    if columns == ["label"]:
        return read_labels(answers, name="humans", judge="human", levels=levels)
    return read_scores(answers, name="humans", judge="human")


def _in_one_phase(table: Any, name: str, remedy: str = "") -> Any:
    """Answers of the only phase in a table; raises for several phases, because items would count more than once."""
    if len(table.phases) > 1:
        raise InputError(
            f"{name}: there are answers of the phases {known_names(table.phases)}, and an item counts once; keep the "
            f"rows of one phase{remedy}"
        )
    return replace(table, phase=None, phases=())


def _row_names(table: Rated) -> Any:
    """Names of the criterion, context and item of each row, shape (rows, columns)."""
    return np.column_stack(list(rows_of(table).subject_columns().values()))


def _good_answer_indicator(persons: Rated, positive: object, judge_table: Rated) -> tuple[Floats, str]:
    """Indicator of good answers by people, one for each row, and a note on the definition of good."""
    classes = rows_of(persons).classes
    if classes:
        all_classes = tuple(dict.fromkeys([*classes, *rows_of(judge_table).classes]))
        good_class = success_class(all_classes, positive)
        if good_class is None:
            raise InputError(
                f"of the classes {known_names(all_classes)} none is known to be the good one; say which: "
                f"{positive_example(all_classes)}"
            )
        note = "" if positive is not None else f"good is taken to be {good_class!r}; --positive says otherwise"
        return (np.array(classes)[persons.label] == good_class).astype(float), note  # type: ignore[attr-defined]
    try:
        threshold = float(str(positive))
    except ValueError:
        scores = np.unique(persons.score)  # type: ignore[attr-defined]
        upper = scores[min(len(scores) // 2 + 1, len(scores) - 1)]
        raise InputError(
            f"people's answers are scores, from {scores[0]:g} to {scores[-1]:g}: say from which score on an item is "
            f"good; --positive {upper:g}, for example, calls {upper:g} and more good"
        ) from None
    return (persons.score >= threshold).astype(float), f"good is a score of people of at least {threshold:g}"  # type: ignore[attr-defined]


def _match_people(persons: Rated, good_answers: Floats, units: Any) -> Floats:
    """People's answers in the order of the judges' items; raises for answers to items that judges did not answer."""
    place = {tuple(row): index for index, row in enumerate(units)}
    good = np.full(len(units), np.nan)
    problems = Problems("humans")
    about = [tuple(row) for row in _row_names(persons)]
    unknown = [row for row, key in enumerate(about) if key not in place]
    if len(unknown) == len(about):
        people_unit, judge_unit = unit_name(about[0]), unit_name(units[0])
        problems.stop(
            f"people and judges have no item in common: people answered {people_unit!r}, judges {judge_unit!r}; name "
            "items as in the judges' table"
        )
    if unknown:
        problems.rows(
            [row + 1 for row in unknown], "no judge answered this item; leave it out, or have judges answer it"
        )
    for row, key in enumerate(about):
        if key in place:
            index = place[key]
            if not np.isnan(good[index]) and good[index] != good_answers[row]:
                problems.rows([row + 1], "contradicts another answer to the same item; keep one, or name who answered")
            good[index] = good_answers[row]
    problems.raise_any()
    if np.sum(~np.isnan(good)) < 2:
        problems.stop("there is only one item with an answer, which tells nothing of its error; give two or more")
    return good


def _judge_predictions(
    judge_table: Any, names: tuple[str, ...], unit: Ints, size: int, positive: object, persons: Rated
) -> tuple[Floats, bool]:
    """The judges' prediction for each item, from 0 to 1, and True where it is a single judge's answer."""
    classes, people_classes = rows_of(judge_table).classes, rows_of(persons).classes
    if not classes:
        score = judge_table.score
        low, reach = float(score.min()), float(np.ptp(score))
        return mean_by_code(unit, (score - low) / (reach or 1.0), size), False
    positive_named = bool(people_classes) or str(positive) in classes
    good_class = success_class(tuple(dict.fromkeys([*classes, *people_classes])), positive if positive_named else None)
    if good_class is None:
        raise InputError(
            f"of the judges' classes {known_names(classes)} none is known to be the good one; name it as people do"
        )
    is_good = (np.array(classes)[judge_table.label] == good_class).astype(np.int64)
    if len(names) == 1 or len(np.unique(is_good)) == 1:
        mean = mean_by_code(unit, is_good.astype(float), size)
        return mean, len(names) == 1 and bool(np.isin(mean, (0.0, 1.0)).all())
    codes = np.array([f"{index:09d}" for index in range(size)])
    binary_table = replace(
        judge_table, labels=("bad", "good"), label=is_good, declared=False, members=None, vocabulary=(),
        items=tuple(codes), item=unit.astype(np.int64), criterion=np.zeros(judge_table.rows, np.int64),
        criteria=judge_table.criteria[:1],
        has_criteria=False, context=None, contexts=(), system=None, systems=(), phase=None, phases=(), run=None,
        runs=(),
    )  # fmt: skip
    fitted: Any = fit(binary_table, model="hierarchical-dawid-skene", method="map", about="panel", families={})
    items = fitted.in_pandas.classes()
    return items.set_index("item")["p_good"].reindex(codes).to_numpy(dtype=float), False


def _group_items(table: Rated, name: str, unit: Ints, first: Ints) -> tuple[tuple[str, ...], Ints]:
    """Names of groups and the group of each item."""
    plural = {"criterion": "criteria"}.get(name, f"{name}s")
    if name in STANDARD_COLUMNS:
        code, levels = getattr(table, name), getattr(table, plural)
        if code is None:
            raise InputError(f"by: the table has no column {name!r}, or a single {name}")
    else:
        cells = table.further.columns.get(name)
        if cells is None:
            present = table.further.present
            raise InputError(
                f"by: the table has no column "
                f"{name!r}{nearest_name(name, present) or f'; it has {known_names(present)}'}"
            )
        problems = Problems("table")
        column = encode_column(cells, name, problems)
        problems.raise_any()
        levels = tuple(sorted(column.levels))
        code = level_positions(column.levels, levels)[column.codes]
    item_group = code[first]
    conflicts = np.flatnonzero(code != item_group[unit])
    if len(conflicts):
        raise InputError(
            f"by: an item has several values of {name!r} (row {conflicts[0] + 1}: {levels[code[conflicts[0]]]!r}, "
            f"before {levels[item_group[unit[conflicts[0]]]]!r}); group by a column that is about items"
        )
    return levels, item_group
