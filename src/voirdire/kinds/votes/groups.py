"""Groups of contexts (categories, languages), and strengths of items in each group.

The strength in a group is the mean strength over its contexts. The model shrinks strengths in contexts towards the
strength over all contexts; the fewer the votes, the stronger. For contexts like these, the choice of the n contexts of
a group adds uncertainty: each draw has an additional Normal(0, s_context / sqrt(n)).

Check of the uncertainty that is due to the choice of contexts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, Summary, integrated_scores, normalised_weights, summary_of_draws
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.results import context_strengths, rank_columns
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Check
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes
from voirdire.tables.encode import encode_column, level_positions
from voirdire.tables.further import BY_OPTION, check_groups_of_contexts, missing_column_message
from voirdire.tables.problems import Problems
from voirdire.tables.vote_columns import Details
from voirdire.tables.votes import VoteRows
from voirdire.typing import Floats, Ints

MIN_ANSWERS = 3.0  # answers about an item in a context; with fewer, its strength in a context is not known well
MIN_CONTEXT_SHARE = 0.5  # share of a score's variance from which the message advises more contexts


def contexts_check(problem: VotesProblem, posterior: Posterior) -> list[Check]:
    """Check the share of uncertainty due to the choice of contexts, and how many more would halve an interval."""
    density, values = problem.density, posterior.values
    if not density.contexts or values is None or density.over != "new":
        return []
    score_variance = integrated_scores(density, values).var(axis=0).mean()
    table_variance = context_strengths(density, values).mean(axis=-2).var(axis=0).mean()
    share = float(np.clip(1.0 - table_variance / score_variance, 0.0, 1.0))
    spread = float(np.median(np.exp(values["log_context_spread"])))
    message = (
        f"{share:.0%} of the variance of scores comes from having only {density.contexts} contexts (an item's strength "
        f"differs between contexts by sd {spread:.2g} log-odds)."
    )
    if share >= MIN_CONTEXT_SHARE:
        message += (
            f" About {3 * density.contexts} more contexts would halve the intervals; more votes in these would not."
        )
    if (answers := _votes_per_item_context(problem)) < MIN_ANSWERS:
        message += (
            f" An item has {answers:.1f} votes in a context on average: enough for the differences between contexts "
            "over all items, but not for the strength of one item in one context."
        )
    return [Check("contexts", "ok", share, message)]


def _votes_per_item_context(problem: VotesProblem) -> float:
    """Mean number of votes about an item in a context, over the contexts in which it was compared."""
    votes = problem.votes
    assert isinstance(votes, ContextVotes)
    assert votes.context is not None
    item_contexts = np.unique(
        np.concatenate([votes.context * len(votes.items) + side for side in (votes.first, votes.second)])
    )
    return float(2.0 * votes.counts.sum() / len(item_contexts))


MAX_NAMES = 3


def group_contexts(votes: Votes, by: str) -> tuple[Votes, list[str]]:
    """Group the contexts of votes by a kept column; also return notes on choices made.

    In a table without contexts each group becomes a context.

    Raises
    ------
    InputError
        No such column, an empty cell, a context in two groups, a group of one context, or only one group.
    """
    check_groups_of_contexts(by)
    problems = Problems("votes")
    details = votes.details or Details()
    columns = votes.further.columns
    if by not in columns:
        raise InputError(f"{BY_OPTION}: {missing_column_message(VoteRows(votes), by)}")
    column = encode_column(columns[by], by, problems)
    problems.raise_any()
    groups = tuple(sorted(column.levels))
    code = level_positions(column.levels, groups)[column.codes]
    if len(groups) < 2:
        problems.stop(f"column {by!r} is {groups[0]!r} in every row; name a column with several groups")
    notes = []
    if votes.row_context is None:
        votes = votes.with_codes(contexts=groups, row_context=code)
        notes.append(f"Without a column context, each {by} is one.")
    else:
        _check_contexts(votes, by, groups, code, problems)
    return votes.with_codes(details=replace(details, groups=groups, group=code, by=by)), notes


def _check_contexts(votes: Votes, by: str, groups: tuple[str, ...], code: Ints, problems: Problems) -> None:
    assert votes.row_context is not None
    pairs = np.unique(np.stack([votes.row_context, code]), axis=1)
    repeated = np.flatnonzero(np.bincount(pairs[0]) > 1)
    if len(repeated):
        names = ", ".join(repr(votes.contexts[x]) for x in repeated[:MAX_NAMES])
        problems.table(f"{len(repeated)} contexts, such as {names}, are of more than one {by}; a context is of one")
    single = np.flatnonzero(np.bincount(pairs[1], minlength=len(groups)) == 1)
    if len(single):
        names = ", ".join(repr(groups[g]) for g in single[:MAX_NAMES])
        problems.table(
            f"{by} {names} has one context alone, which does not show how contexts differ; join it to another group"
        )
    problems.raise_any()


def context_groups(problem: VotesProblem) -> Ints:
    """Group of each context, shape (contexts,)."""
    votes = problem.votes
    assert votes.details is not None
    assert votes.details.group is not None
    assert votes.row_context is not None
    groups = np.zeros(len(votes.contexts), dtype=np.int64)
    groups[votes.row_context] = votes.details.group
    return groups


def group_strengths(problem: VotesProblem, values: Values, rng: np.random.Generator | None) -> Floats:
    """Strengths in each group, weighted over criteria, sum zero over items, shape (..., groups, items)."""
    group = context_groups(problem)
    count = np.bincount(group).astype(float)
    mean = (np.arange(len(count))[:, None] == group) / count[:, None]
    u = np.einsum("...cix,gx->...cgi", values["context_strength"], mean)
    if rng is not None and problem.density.over == "new" and not _contexts_are_groups(problem):
        spread = np.exp(np.asarray(values["log_context_spread"]))[..., None, None, None]
        u = u + spread / np.sqrt(count)[:, None] * rng.standard_normal(u.shape)
    strength = values["strength"][..., None, :] + u
    scores = np.einsum("...c,...cgi->...gi", normalised_weights(problem.density, values), strength)
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def _contexts_are_groups(problem: VotesProblem) -> bool:
    details = problem.votes.details
    return details is not None and details.groups == problem.votes.contexts


def items_by_group(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """Rank items in each group, best first: by, group, item, score (log-odds, sum zero), sd, low, high, rank, p_best.

    Raises
    ------
    InputError
        The fit has no groups.
    """
    details = problem.votes.details
    if details is None or details.group is None or not problem.density.contexts:
        raise InputError("the fit has no groups of contexts; pass by=, the column that names them")
    rng = np.random.default_rng(0)
    values = posterior.values
    summary = Summary(group_strengths(problem, posterior.central_values, None), *[np.array(np.nan)] * 3)
    size, items = summary.point.shape
    draws = None
    if values is not None:
        draws = group_strengths(problem, values, rng).reshape(-1, size, items)
        summary = summary_of_draws(posterior, draws, prob)
    parts = rank_columns(summary, draws, prob)
    order = np.argsort(parts["rank"], axis=-1)
    columns: Columns = {
        "by": np.full(size * items, details.by, dtype=object),
        "group": np.repeat(np.array(details.groups, dtype=object), items),
        "item": np.array(problem.items, dtype=object)[order].ravel(),
    }
    for name in ("score", "sd", "low", "high", "rank", "p_best"):
        part = np.broadcast_to(parts[name], order.shape)
        columns[name] = np.take_along_axis(part, order, axis=-1).ravel()
    return columns


def nest_groups(columns: Columns) -> list[dict[str, Any]]:
    """Nest the rows by group, as in JSON: by, group, items."""
    nested: list[dict[str, Any]] = []
    for row in to_records(columns):
        by, group = row.pop("by"), row.pop("group")
        if not nested or nested[-1]["group"] != group:
            nested.append({"by": by, "group": group, "items": []})
        nested[-1]["items"].append(row)
    return nested
