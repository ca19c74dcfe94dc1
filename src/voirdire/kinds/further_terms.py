"""Further terms beside those of a model: columns, covariates, families, time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.own_families import add_own_families, own_family_judges
from voirdire.model.design import Term
from voirdire.model.panel_density import (
    POSITION,
    STEP,
    TIME,
    added_equation,
    added_terms,
    factor_of_column,
    random_walk_design,
    term_label,
)
from voirdire.model.specs import Model
from voirdire.model.term_rows import FACTOR_SEPARATOR, TERM_SEPARATOR, TermRow
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.tables.families import read_families, shared_families
from voirdire.tables.further import (
    BY_OPTION,
    check_groups_of_contexts,
    further_names,
    missing_column_message,
    with_column,
    with_covariates,
)
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.times import RUN, format_time
from voirdire.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from voirdire.kinds.request import Request

MAX_PERIODS = 8  # largest number of periods of a term of time
PERIOD = "period"
#: Factors that are standard columns of tables, with the attribute of their levels.
FACTORS = {"judge": "judges", "criterion": "criteria", "item": "items", "context": "contexts", "run": "runs"}
SCORE_FACTORS = {"phase": "phases", "system": "systems"}  # further ones of tables that have them
FAMILY = "family"
ONE_FAMILY_REASON = "all judges are of one family, so its errors are confounded with the strengths of items"
T = TypeVar("T")  # a table of scores or rankings, or the rows of one of votes


def attach_terms(
    table: T,
    model: Model,
    request: Request,
    of_judges: Collection[str] = (),
    judge_sd: float | None = None,
    unit: float = 1.0,
) -> tuple[T, Model, list[str]]:
    """Attach further terms: add their columns to the table, and the requested terms to the model.

    Parameters
    ----------
    table : Scores, Rankings or VoteRows
    model : Model
    request : Request
        Request with covariates, families of items, groups of contexts.
    of_judges : collection of str
        Factors of judges that are not columns of the table.
    judge_sd : float, optional
        Standard deviation of judges' slopes without a term of their own, if the model learns none.
    unit : float
        Unit, as for :func:`.added_terms`.

    Returns
    -------
    table, model, notes

    Raises
    ------
    InputError
        A term names a column that the table does not have.
    """
    notes: list[str] = []
    rows = list(model.terms)
    extended: Any = table
    if request.by is not None:
        check_groups_of_contexts(request.by)
    if request.covariates is not None:
        extended = with_covariates(extended, request.covariates)
    extended, own_family_notes = add_own_families(extended, request)
    notes += own_family_notes
    if request.terms:
        _check_unused_settings(request, rows, extended)
    else:
        new_rows = _covariate_terms(extended.further.covariates, len(extended.judges), judge_sd)
        new_rows += [] if request.by is None else [TermRow(("item", request.by))]
        factor_sets = {frozenset(row.factors) for row in rows}
        rows += [row for row in new_rows if frozenset(row.factors) not in factor_sets]
    for name in dict.fromkeys(name for row in (*request.terms, *rows) for name in row.factors):
        if name == PERIOD and any(TIME in row.factors for row in rows):
            raise InputError("terms: periods are those of time; rename the column 'period', or leave time out")
        if name == TIME:
            extended = _add_periods(extended)
        elif name in (*FACTORS, *SCORE_FACTORS):
            _check_column(name, extended)
        elif name in of_judges:
            _check_judge_groups(name, extended, request)
        elif name == FAMILY and name not in extended.further.columns:
            _check_judge_groups(name, extended, request)
            extended = with_families(extended, request.families)
        elif name == OWN_FAMILY and name not in extended.further.covariates:
            raise InputError(
                f"terms: {name} needs families=, item_families=, and no without_own_family; pass both alone, or leave "
                "it out"
            )
        elif name in (*extended.further.covariates, *extended.further.factors):
            continue
        elif name == POSITION and hasattr(extended, "order_known") and name not in further_names(extended):
            _check_order(extended)
        else:
            _check_name(name, extended, of_judges, request.by)
            extended = with_column(extended, name)
            data_type = "numbers" if name in extended.further.covariates else "names"
            notes.append(f"Column {name} is taken as {data_type}.")
    _check_covariates_per_term(rows, extended)
    if rows:
        if added_words := [row.words for row in rows if row not in model.terms]:
            notes.append(f"Terms beside those of {model.name}: {', '.join(added_words)}.")
        equation = added_equation(rows, extended.further.covariates, unit, _knows_position(extended))
        model = replace(model, terms=tuple(rows), equation=f"{model.equation.rstrip()}\n{equation}")
    return extended, model, notes


def _covariate_terms(names: Sequence[str], judges: int, judge_sd: float | None) -> list[TermRow]:
    """Make a term of the slope of each covariate, and of its slopes by judge if there are several judges."""
    rows = [TermRow((name,)) for name in names]
    return rows + ([TermRow(("judge", name), sd=judge_sd) for name in names] if judges > 1 else [])


def with_families(table: Any, families: object) -> Any:
    """Add the factor of families of judges to a table; a judge that is alone in its family has no family."""
    code, levels = shared_families(read_families(families, table.judges), table.judges)
    return table.with_further(table.further.with_factor(FAMILY, levels, np.array(code)[table.judge]))


def _check_order(table: Any) -> None:
    """Raise if it is unknown which item was shown first."""
    if not table.order_known:
        raise InputError(
            "terms: which item was shown first is unknown, so effects of position are, too; leave position out, or say "
            "which was first (--order shown where it is that of the columns)"
        )


def _knows_position(table: Any) -> bool:
    """True if position in a term is that of the item shown first: its order is known, and no column has this name."""
    return getattr(table, "order_known", False) and POSITION not in (*table.further.covariates, *table.further.factors)


def _check_unused_settings(request: Request, rows: Sequence[TermRow], table: Any) -> None:
    """Raise unless every given covariate, and the column of groups, is named in a term."""
    settings = [*table.further.covariates, *([] if request.by is None else [request.by])]
    factors = {name for row in rows for name in row.factors}
    problems = Problems("terms")
    for name in settings:
        if name not in factors:
            option = "by=, --by" if name == request.by else "covariates=, --covariates"
            problems.table(
                f"{name!r} is given ({option}), and no term names it; add it (as in item + {name}), or leave it out"
            )
    problems.raise_any()


def _add_periods(table: Any) -> Any:
    """Add the factor of periods, with about equal numbers of answers."""
    if table.time is None:
        raise InputError(f"terms: the {table.data} have no column 'time'; leave time out")
    moments, code = np.unique(table.time, return_inverse=True)
    if len(moments) < 2:
        raise InputError("terms: all answers are of one time, so effects of time are unknown; leave it out")
    midpoint = np.cumsum(np.bincount(code)) - 0.5 * np.bincount(code)
    period = np.minimum((midpoint * MAX_PERIODS / table.rows).astype(np.int64), MAX_PERIODS - 1)
    _, period = np.unique(period if len(moments) > MAX_PERIODS else np.arange(len(moments)), return_inverse=True)
    starts = [moments[period == number].min() for number in range(period.max() + 1)]
    levels = tuple(f"period {index + 1}: from {format_time(moment)}" for index, moment in enumerate(starts))
    return table.with_further(table.further.with_factor(PERIOD, levels, period[code]))


def _check_name(name: str, table: Any, of_judges: Collection[str], by: str | None) -> None:
    """Raise if neither a table nor its judges have a factor; the message lists the possible factors."""
    further = table.further
    if name in (*further.present, *further.columns) or name in further_names(table):
        return
    if name == by:
        raise InputError(f"{BY_OPTION}: {missing_column_message(table, name)}")
    levels = {factor: getattr(table, labels, ()) for factor, labels in (FACTORS | SCORE_FACTORS).items()}
    levels |= {TIME: () if table.time is None else np.unique(table.time)}
    usable = [factor for factor, labels in levels.items() if factor in ("judge", "item") or len(labels) > 1]
    usable += ["group"] if "group" in of_judges and table.groups else []
    usable += [POSITION] if getattr(table, "order_known", False) else []
    allowed = list(dict.fromkeys([*usable, *further.covariates, *further.factors, *further_names(table)]))
    raise InputError(
        f"terms: the {table.data} have no column {name!r}; terms of this table may name {', '.join(allowed)}"
        f"{nearest_name(name, allowed)}"
    )


def _check_column(name: str, table: Any) -> None:
    """Raise if a standard column is missing, or has a single level (except judge and item)."""
    if getattr(table, name, None) is None:
        if name == RUN and RUN in table.further.present and table.time is not None:
            raise InputError(
                f"terms: runs of {table.data} are the times of their answers; name time, as in item + item:time, or "
                "leave it out"
            )
        raise InputError(f"terms: the {table.data} have no column {name!r}; leave it out")
    if name not in ("judge", "item") and len(getattr(table, (FACTORS | SCORE_FACTORS)[name])) < 2:
        raise InputError(f"terms: {name!r} is the same in every row of the {table.data}; leave it out")


def _check_judge_groups(name: str, table: Any, request: Request) -> None:
    """Raise if the groups or families of judges are unknown."""
    if name == "group" and not table.groups:
        raise InputError(f"terms: the {table.data} have no column 'group'; leave it out")
    if name == "family" and (reason := reason_families_unknown(table, request)) is not None:
        raise InputError(f"terms: family cannot be estimated from these data: {reason}; leave it out")


def reason_families_unknown(table: Any, request: Request) -> str | None:
    """Reason why effects of families of judges are not identified; None if they are."""
    if request.families is None:
        return "it needs families=, the family of each judge"
    members = Counter(read_families(request.families, table.judges).values())
    if len(members) == 1 < len(table.judges):
        return ONE_FAMILY_REASON
    return "no family has several judges" if max(members.values()) < 2 else None


def has_family_terms(model: Model) -> bool:
    """True if a model has a term of families of judges."""
    return any(FAMILY in row.factors for row in model.terms)


def family_of_judges(added: ResolvedTerms, judge: Ints, judges: int) -> Ints:
    """Code of each judge's family, shape (judges,); -1 without a family or a term of families.

    Parameters
    ----------
    judge : int array, shape (rows,)
        Judge of each row of the table.
    """
    family = np.full(judges, -1)
    if FAMILY in added.codes:
        family[judge] = added.codes[FAMILY]
    return family


def _check_covariates_per_term(rows: Sequence[TermRow], table: Any) -> None:
    problems = Problems("terms")
    numeric = (*table.further.covariates, TIME, *[POSITION] * _knows_position(table))
    for row in rows:
        numbers = [name for name in row.factors if name in numeric]
        if len(numbers) > 1:
            problems.table(f"{row.words} has several numbers ({', '.join(numbers)}); a term has one at most")
    problems.raise_any()


def build_sum_model(
    base: Model,
    rows: Sequence[TermRow],
    sections: Mapping[str, frozenset[str]],
    required: Collection[frozenset[str]],
    missing: Mapping[str, str | None],
) -> Model:
    """Make the model of a sum of terms: the sections that it names, and its other terms.

    Parameters
    ----------
    base : Model
        Model with all sections.
    rows : sequence of TermRow
        Terms of the sum.
    sections : mapping of str to frozenset of str
        Factors of each section; sections that no term names are left out.
    required : collection of frozenset of str
        Factors of the terms that every model has.
    missing : mapping of str to str or None
        Reason why the table does not identify a section; None if it does.

    Raises
    ------
    InputError
        No term ``item``; a section that the table does not identify.
    """
    factor_sets = [frozenset(row.factors) for row in rows]
    text = " + ".join(row.words for row in rows)
    problems = [] if frozenset({"item"}) in factor_sets else [_missing_item_message(rows, text)]
    problems += [
        f"terms: {rows[factor_sets.index(key)].words} cannot be estimated from these data: {reason}; leave it out"
        for name, key in sections.items()
        if key in factor_sets and (reason := missing.get(name)) is not None
    ]
    if problems:
        raise InputError(problems)
    absent: dict[str, Any] = {name: None for name, key in sections.items() if key not in factor_sets}
    extra = tuple(
        row for row, key in zip(rows, factor_sets, strict=True) if key not in required and key not in sections.values()
    )
    omitted = ", ".join(":".join(sorted(sections[name])) for name in absent if getattr(base, name) is not None)
    equation = f"{base.equation.rstrip()}\nhere without {omitted}" if omitted else base.equation
    return replace(base, name=text, title=f"Sum of terms: {text}", terms=extra, equation=equation, **absent)


def _missing_item_message(rows: Sequence[TermRow], text: str) -> str:
    single_names = [row.words for row in rows if len(row.factors) == 1]
    hint = next((nearest for name in single_names if (nearest := nearest_name(name, ("item",)))), "")
    hint = hint or (
        f"; write {TERM_SEPARATOR} between terms and {FACTOR_SEPARATOR!r} between the names of a term, as in "
        "item + judge:length"
    )
    return f"terms {text!r}: there is no term item{hint}"


@dataclass(frozen=True, eq=False)
class ResolvedTerms:
    """Terms of a model, with their factors and numbers in each row of a table.

    Attributes
    ----------
    terms : tuple of Term
    levels : dict of str to tuple of str
        Names of the levels of each factor that is not a standard column of the table.
    codes : dict of str to int array, shape (rows,)
        Levels of the factors of all terms; and ``numbers``, the row of the attribute ``numbers`` (for votes, of each of
        both items).
    numbers : array, shape (different rows + 1, numbers)
        Covariates, then steps of time; the last row, of zeros, is for answers without numbers.
    walk : array, shape (periods, steps)
        Numbers of the steps of time in each period.
    units : dict of str to float
        Unit of the effect of each covariate, in numbers of the table.
    concerned : tuple of str
        Judges with an identified effect of own families.
    periods : tuple of str
        Names of the periods of time, with their beginnings.
    """

    terms: tuple[Term, ...]
    levels: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, Ints]
    numbers: Floats
    walk: Floats
    units: Mapping[str, float] = field(default_factory=dict)
    concerned: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()


NO_TERMS = ResolvedTerms((), {}, {}, np.zeros((1, 0)), np.zeros((1, 0)))


def resolve_terms(
    model: Model, table: Any, judges: Mapping[str, tuple[Ints, tuple[str, ...]]], apart: bool = False, unit: float = 1.0
) -> ResolvedTerms:
    """Resolve the terms of a model in a table from :func:`attach_terms`.

    Parameters
    ----------
    judges : mapping
        For each factor of judges: level of each judge, and names of the levels.
    apart, unit
        As for :func:`.added_terms`.
    """
    rows, further = model.terms, table.further
    if not rows:
        return NO_TERMS
    factors = {name for row in rows for name in row.factors}
    covariates = further.covariates if factors & {*further.covariates} else ()
    parts = [further.covariate] if covariates else []
    levels: dict[str, tuple[str, ...]] = {}
    codes: dict[str, Ints] = {}
    steps, walk = 0, np.zeros((1, 0))
    if TIME in factors:
        steps, period = len(further.factors[PERIOD]) - 1, further.codes[PERIOD]
        design = random_walk_design(period, steps + 1)
        parts.append(design if table.item.ndim == 1 else np.repeat(design[:, None], 2, axis=1))
        walk = design[np.unique(period, return_index=True)[1]]
        levels[STEP] = further.factors[PERIOD][1:]
    order_known = _knows_position(table)
    for name in factors - {*covariates, TIME, *[POSITION] * order_known}:
        if name in judges:
            judge_level, names = judges[name]
            codes[name], levels[name] = judge_level[table.judge], names
        elif name in further.factors:
            factor = factor_of_column(name)
            codes[factor], levels[factor] = further.codes[name], further.factors[name]
        else:
            codes[name] = getattr(table, name)
            levels[name] = getattr(table, (FACTORS | SCORE_FACTORS)[name])
    numbers = np.zeros((1, 0))
    if parts:
        stacked = np.concatenate(parts, axis=-1)
        different, row = np.unique(stacked.reshape(-1, stacked.shape[-1]), axis=0, return_inverse=True)
        numbers = np.concatenate([different, np.zeros((1, different.shape[1]))])
        codes["numbers"] = row.reshape(stacked.shape[:-1])
    terms = added_terms(rows, covariates, steps, by_item=apart, unit=unit, order_known=order_known)
    units = dict(zip(further.covariates, further.units.tolist(), strict=True))
    return ResolvedTerms(
        terms, levels, codes, numbers, walk, units, own_family_judges(table), further.factors.get(PERIOD, ())
    )


def check_terms_vary(added: ResolvedTerms, unit: str, varies: Bools | None = None) -> None:
    """Refuse terms that are the same for all items of an answer: they say nothing about their order.

    Parameters
    ----------
    unit : str
        Noun for an answer.
    varies : bool array, shape (numbers,), optional
        True for numbers that differ between the items of some answer; by default for all but steps of time.

    Raises
    ------
    InputError
    """
    constant = [
        term_label(term.name)
        for term in added.terms
        if "item" not in term.factors
        and term.contrast
        and (term.covariate is None or STEP in term.factors or (varies is not None and not varies[term.covariate]))
    ]
    if names := ", ".join(dict.fromkeys(constant)):
        raise InputError(
            f"terms: {names} is the same for all items of a {unit}, so it says nothing about their order; name item "
            "or a number in it, too"
        )
