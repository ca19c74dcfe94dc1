"""Encoding of a table of labels for a density: distinct items with counts of labels per judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.checks import label_switching_check
from voirdire.kinds.labels.density import LabelsDensity
from voirdire.kinds.labels.layout import compress_counts, is_compressed, labels_data, should_compress
from voirdire.kinds.labels.success import success_class
from voirdire.model.problem import TARGET, Check, Problem
from voirdire.model.specs import Model
from voirdire.model.terms import CONFUSION, SHARED_ERRORS
from voirdire.settings import read_list
from voirdire.tables.counts import distinct_keys
from voirdire.tables.labels import MAX_CLASSES, Labels
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import known_names
from voirdire.typing import Floats, Ints

MAX_TABLE_NUMBERS = 150_000_000  # largest number of distinct items x judges x labels in a dense table
_SPARSE_CONFUSIONS = ("confusion", "confusion-separate")  # terms with sums over the given labels only
LOG_IMPOSSIBLE = -1e9  # log probability of a class that an anchor excludes: exponential zero, derivative finite


@dataclass(frozen=True, eq=False)
class LabelsProblem(Problem):
    """One model and one table of labels, ready for inference.

    ``data["labels"]`` holds, per distinct item, ``counts`` (distinct, judges x labels; one judge if the model assumes
    that all are alike; compressed for large tables, see :mod:`.labels.layout`), ``known`` (distinct, classes; 0 for a
    possible class), ``criterion`` and ``weight``. Items that neither the model nor the anchors distinguish are counted
    together, except in large tables.

    Attributes
    ----------
    labels : tuple of str
        Names of the labels, the classes first.
    classes : int
        Number of classes.
    unit_item, unit_criterion : int array, shape (units,)
        Item and criterion of each unit.
    unit_row : int array, shape (units,)
        Index of each unit among the distinct items.
    known : int array, shape (units,)
        The class of an anchored unit, -1 for others.
    families : dict
        Family of each judge if the model has errors that families share; else empty.
    answered : array, shape (units, classes), optional
        P(class) about the target if some classes are known; see :mod:`.labels.target`.
    about : "target" or "panel"
        Subject of class probabilities.
    over : "new" or "these"
        For tables about systems: results are over contexts like those of the table, or over these alone.
    positive : str or None
        The class that counts as a success, if it was named or is a known word; see :mod:`.labels.success`.
    """

    density: LabelsDensity
    table: Labels
    labels: tuple[str, ...]
    classes: int
    unit_item: Ints
    unit_criterion: Ints
    unit_row: Ints
    known: Ints
    families: dict[str, str] = field(default_factory=dict)
    answered: Floats | None = None
    about: str | None = field(default=TARGET, kw_only=True)
    over: str = "new"
    positive: str | None = None

    ordered: ClassVar[bool] = False  # answers have no order

    @property
    def possible(self) -> tuple[str, ...]:
        """Names of the answers, in the order of their probabilities."""
        return self.labels

    def answer_codes(self, table: Labels) -> Ints:
        """Index of each label of a table among :attr:`possible`, shape (rows,)."""
        return np.array([self.labels.index(label) for label in table.labels])[table.label]

    def orientation_check(self, mass: float, at_mode: bool = False) -> Check:
        """See :func:`voirdire.kinds.checks.label_switching_check`."""
        return label_switching_check(mass, at_mode)

    @property
    def is_sparse(self) -> bool:
        """True if counts are compressed: for large tables in which judges labelled few of the items."""
        return is_compressed(self.data["labels"]["counts"])

    @property
    def fewer_parameters(self) -> str:
        """Remedy for too many parameters: usually the labels are not classes."""
        if len(self.labels) <= MAX_CLASSES:
            return super().fewer_parameters
        return (
            f"{len(self.labels):,} labels are rather names or texts than classes: name another column (--map "
            "label=COLUMN, map={'label': ...}), or merge them into fewer"
        )

    def check_can_compile(self) -> None:
        """Refuse to compile a table with a dense form that is too large.

        Raises
        ------
        InputError
        """
        items, columns = self.data["labels"]["counts"].shape
        if items * columns > MAX_TABLE_NUMBERS:
            raise InputError(
                f"labels: {items:,} items x {columns:,} labels of judges would take {8 * items * columns / 2**30:.3g} "
                "GiB to sample by method 'nuts'; leave the method out"
            )

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        units = [
            self.items[item] if len(self.criteria) == 1 else f"{self.items[item]} / {self.criteria[criterion]}"
            for item, criterion in zip(self.unit_item, self.unit_criterion, strict=True)
        ]
        names = {"unit": units, "class": list(self.labels[: self.classes]), "label": list(self.labels)}
        names["gap"] = list(self.labels[1:-1])  # levels between two cutpoints
        first_judges = [self.judges[block[0]] for block in self.density.blocks]
        names["family"] = [self.families.get(judge, judge) for judge in first_judges]
        return super().coords | names


def encode_labels(
    model: Model,
    table: Labels,
    *,
    classes: Sequence[object] | None = None,
    anchors: Labels | None = None,
    known: Ints | None = None,
    families: Mapping[str, str] | None = None,
    keep_apart: bool = False,
    positive: object = None,
) -> LabelsProblem:
    """Encode a table of labels for a model.

    Parameters
    ----------
    classes : sequence, optional
        The labels that are possible classes of items; by default all. Other labels ("unsure") are answers only.
    anchors : Labels, optional
        Items of known class, with any coding.
    known : int array, shape (units,), optional
        Codes of known classes instead of anchors, -1 for unknown.
    families : mapping, optional
        Family of each judge, for models with errors that families share; by default every judge is alone.
    keep_apart : bool
        Do not count items with the same labels together, so that tables of the same sizes have arrays of one shape.
    positive : str, optional
        The class that counts as a success; by default the one that is a known word.

    Raises
    ------
    InputError
        Fewer than two labels, unknown classes (including ``positive``), anchors that name unknown items or contradict
        each other, a table that is too large.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "no")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> encode_labels(load_model("hierarchical-dawid-skene"), table).data["labels"]["counts"].tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    problems, of_anchors = Problems("labels"), Problems("anchors")
    chosen = _choose_classes(table, classes, problems)
    names = (*chosen, *(label for label in table.labels if label not in chosen))
    if model.classes is not None and model.classes.kind == "latent-value" and names != table.labels:
        problems.table(
            f"classes {known_names(chosen)} are not the lowest of the levels {known_names(table.labels)}; leave "
            f"classes= out, as model {model.name} takes all labels as levels"
        )
    label_code = np.array([names.index(label) for label in table.labels], dtype=np.int64)
    item_count = max(len(table.items), 1)
    unit, unit_of = distinct_keys(table.criterion * item_count + table.item, item_count * len(table.criteria))
    unit_item, unit_criterion = unit % item_count, unit // item_count
    if known is None:
        known = _known_classes(table, anchors, unit, item_count, chosen, of_anchors)
    problems.raise_any()
    of_anchors.raise_any()
    judging = CONFUSION[model.reliability.kind]
    judges = len(table.judges) if judging.by_judge else 1
    size = judges * len(names)
    matrices, known_units = judging.kind in _SPARSE_CONFUSIONS, np.flatnonzero(known >= 0)
    wide_table = matrices and not (keep_apart or len(known_units)) and should_compress(len(unit), size, table.rows)
    if len(unit) * size > MAX_TABLE_NUMBERS and not wide_table:
        shape = f"{len(unit):,} items x {judges:,} judges x {len(names)} labels"
        reason = f"{shape} is more than model {model.name} can count" + " with known items" * bool(len(known_units))
        raise InputError(
            f"labels: {reason}, {8 * len(unit) * size / 2**30:.3g} GiB; take hierarchical-dawid-skene without known "
            "items or families, which counts labels that were given alone, or fit parts of the table"
        )
    judge = table.judge if judging.by_judge else table.judge * 0
    column = judge * len(names) + label_code[table.label]
    if keep_apart or wide_table or judging.kind == "alike":
        row = np.arange(len(unit))
    else:
        row = _distinct_rows(unit_of, column, unit_criterion, known)
    first_unit = np.unique(row, return_index=True)[1]
    if wide_table:
        counts = compress_counts(unit_of, column, (len(unit), size))
    else:
        counts = np.zeros((len(first_unit), size))
        in_first = np.isin(unit_of, first_unit)
        np.add.at(counts, (row[unit_of[in_first]], column[in_first]), 1.0)
    possible = np.full((len(unit), len(chosen)), LOG_IMPOSSIBLE)
    possible[known < 0] = 0.0
    possible[known_units, known[known_units]] = 0.0
    data = labels_data(counts, possible[first_unit], unit_criterion[first_unit], np.bincount(row).astype(float))
    shared = judging.kind in SHARED_ERRORS
    used_families = dict(families or {}) if shared else {}
    levels = (table.judges, table.criteria, table.items)
    sizes = (len(table.judges), len(table.criteria), len(table.items))
    anchored = tuple(int(j) for j in np.unique(known[known_units]))
    blocks = _judge_blocks(used_families, table.judges, counts, len(names)) if shared else ()
    density = LabelsDensity(model, *sizes, len(unit), len(chosen), len(names), anchored, blocks)
    label_counts = np.bincount(table.judge, minlength=len(table.judges)).astype(np.int64)
    encoded = LabelsProblem(
        density, data, *levels, label_counts, table, names, len(chosen), unit_item, unit_criterion, row, known
    )
    return replace(encoded, families=used_families, positive=success_class(chosen, positive))


def _judge_blocks(
    families: Mapping[str, str], judges: tuple[str, ...], counts: Floats, labels: int
) -> tuple[tuple[int, ...], ...]:
    """Families of several judges, and single judges that label some item twice; see :class:`.LabelsLayout`."""
    label_counts = counts.reshape(len(counts), len(judges), labels).sum(axis=2)
    repeats = (label_counts > 1.0).any(axis=0)
    members: dict[str, list[int]] = {}
    for k, judge in enumerate(judges):
        members.setdefault(families.get(judge, judge), []).append(k)
    return tuple(tuple(block) for block in members.values() if len(block) > 1 or repeats[block[0]])


def _distinct_rows(unit: Ints, column: Ints, criterion: Ints, known: Ints) -> Ints:
    """Row of each unit among the distinct ones, in order of appearance, from its labels, criterion and known class.

    Parameters
    ----------
    unit, column : int array, shape (labels,)
        Unit and column of counts of each label of the table.
    """
    order = np.lexsort((column, unit))
    labels = column[order].tobytes()
    end = np.cumsum(np.bincount(unit, minlength=len(known))) * column.itemsize
    start = np.append(0, end[:-1])
    number: dict[tuple[bytes, int, int], int] = {}
    keys = zip(start.tolist(), end.tolist(), criterion.tolist(), known.tolist(), strict=True)
    return np.array([number.setdefault((labels[i:j], c, k), len(number)) for i, j, c, k in keys], dtype=np.int64)


def _choose_classes(table: Labels, classes: Sequence[object] | None, problems: Problems) -> tuple[str, ...]:
    if len(table.labels) < 2:
        problems.table(
            f"only the label {table.labels[0]!r} occurs; name all labels there may be (levels=..., --levels)"
        )
    if classes is None:
        return table.labels
    chosen = tuple(dict.fromkeys(str(name) for name in read_list("classes", classes)))
    for name in chosen:
        if name not in table.labels:
            problems.table(
                f"class {name!r} is no label; labels are {known_names(table.labels)}"
                f"{nearest_name(name, table.labels) or '; levels= (--levels) names labels that no judge gave'}"
            )
    if len(chosen) < 2:
        problems.table(f"classes {known_names(chosen)} are fewer than two; name at least two labels")
    return chosen


def known_classes(problem: LabelsProblem, people: Labels, name: str) -> Ints:
    """Class of each unit of a problem that people name, -1 for other units.

    Parameters
    ----------
    people : Labels
        Items of known class.
    name : str
        Name of their table in messages.

    Raises
    ------
    InputError
        As for anchors in :func:`encode_labels`.
    """
    problems, item_count = Problems(name), max(len(problem.items), 1)
    unit = problem.unit_criterion * item_count + problem.unit_item
    known = _known_classes(problem.table, people, unit, item_count, problem.labels[: problem.classes], problems)
    problems.raise_any()
    return known


def _known_classes(
    table: Labels, anchors: Labels | None, unit: Ints, item_count: int, classes: tuple[str, ...], problems: Problems
) -> Ints:
    """Class of each unit that an anchor names, -1 for other units."""
    known = np.full(len(unit), -1, dtype=np.int64)
    if anchors is None:
        return known
    items = {name: code for code, name in enumerate(table.items)}
    criteria = {name: code for code, name in enumerate(table.criteria)}
    row_of = {int(code): row for row, code in enumerate(unit)}
    if not anchors.has_criteria and len(table.criteria) > 1:
        problems.table(f"there is no column 'criterion', but the labels have {len(table.criteria)} criteria; add it")
        return known
    unknown: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in range(anchors.rows):
        item, label = anchors.items[anchors.item[row]], anchors.labels[anchors.label[row]]
        criterion = anchors.criteria[anchors.criterion[row]] if anchors.has_criteria else table.criteria[0]
        code = criteria.get(criterion, -1) * item_count + items.get(item, -1)
        this_row = [row + 1]
        if item not in items or criterion not in criteria or code not in row_of:
            suffix = f" under criterion {criterion!r}" if anchors.has_criteria else ""
            unknown[suffix][item].append(row + 1)
        elif label not in classes:
            problems.rows(this_row, f"label {label!r} is no class; classes are {known_names(classes)}")
        elif known[row_of[code]] not in (-1, classes.index(label)):
            earlier_class = classes[known[row_of[code]]]
            problems.rows(this_row, f"item {item!r} is {label!r} here and {earlier_class!r} before; keep one")
        else:
            known[row_of[code]] = classes.index(label)
    for suffix, rows in unknown.items():
        noun, pronoun = ("item", "it") if len(rows) == 1 else ("items", "them")
        sentence = f"no judge has labelled {noun} {known_names([*rows])}{suffix}; leave {pronoun} out"
        problems.rows(chain.from_iterable(rows.values()), sentence)
    return known
