"""Origin of a fit (model, priors, data, settings, diagnostics, versions, citation), its claims, and their caveats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voirdire.kinds.checks import ORIENTATION_CHECKS
from voirdire.model.catalogue import criteria_in_words, model_card, prior_lines
from voirdire.report.page import Block, Code, Facts, Text, isolate_name
from voirdire.report.table import make_table

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def caveat_text(fit: Fit) -> str:
    """Return the caveat on claims about items and judges; empty where no check calls for one.

    A failed check of any kind has priority over a warning of a check of orientation.
    """
    if fit.level == "fail":
        return "checks failed"
    doubted = any(check.check in ORIENTATION_CHECKS and check.level != "ok" for check in fit.all_checks)
    return fit.kind.page_words.possible_error if doubted else ""


def caveat_sentence(fit: Fit) -> str:
    """Return the sentence to add to a claim that has a caveat; empty where it has none."""
    caveat = caveat_text(fit)
    return f" But {caveat}: see what the checks say before trusting this." if caveat else ""


def winner_sentence(fit: Fit, rows: Sequence[dict[str, Any]]) -> str:
    """Return a sentence with the first item, and the data that would settle the ranking."""
    if fit.kind.has_unlinked_pairs(fit.problem):
        return (
            "No item is first of all: each pair stands by itself, as no vote links it with another, and scores compare "
            "the two items of a pair alone. Collect votes between the pairs, or give people's answers to some of them "
            "(anchors)."
        )
    if fit.decision is None:
        return (
            f"{isolate_name(rows[0]['item'])} has the highest score. This fit has no intervals, so how sure that is "
            "remains open."
        )
    return f"{fit.decision.sentence(isolate_name)} {fit.decision.settle()}".strip()


def origin_blocks(fit: Fit) -> Iterator[Block]:
    """Yield blocks on the model, the data and the settings of a fit."""
    model = fit.model
    facts = model_card(model)
    yield Text(f"{model.name}: {model.title}.", "lead")
    yield Code("Equation", model.equation.strip())
    yield make_table("priors", "Terms and every number of the prior", prior_rows(fit))
    model_facts = [
        ("Criteria", criteria_in_words(model)),
        ("Position of an item", "may sway a judge" if model.position_aware else "does not matter"),
        *(("Reduces to", f"{reduction['model']} when {reduction['when']}") for reduction in facts["reduces_to"]),
        ("Identifiability", model.identifiability),
        ("Source", model.source),
    ]
    yield Facts("Model", tuple(model_facts))
    yield Facts("Data", tuple(_data_facts(fit)))
    yield Facts("Settings", tuple(_settings_facts(fit)))
    diagnostics = [row for row in fit.as_dict()["checks"] if row["check"] in _DIAGNOSTICS]
    if diagnostics:
        yield make_table("diagnostics", "Diagnostics of the computation", diagnostics, drop=("level",))
    yield from software_and_citation_blocks(fit.versions)


_DIAGNOSTICS = ("convergence", "curvature", "rhat", "ess_bulk", "ess_tail", "divergences", "ebfmi")


def prior_rows(fit: Fit) -> list[dict[str, str]]:
    """Return rows of the terms of the model with kind and numbers of the prior, and the names of changed numbers."""
    changed: dict[str, list[str]] = {}
    for section, key, _ in fit.model.overrides:
        changed.setdefault(section, []).append(key)
    rows = [{"term": name, "kind": kind, "prior": numbers} for name, kind, numbers in prior_lines(fit.model)]
    if changed:
        rows = [row | {"changed": ", ".join(changed.get(row["term"], []))} for row in rows]
    return rows


def _data_facts(fit: Fit) -> Iterator[tuple[str, str]]:
    problem = fit.problem
    yield "Judges", f"{len(problem.judges):,}"
    yield "Items", f"{len(problem.items):,}"
    yield "Criteria", f"{len(problem.criteria):,}"
    yield "Judgements", f"{int(problem.judge_votes.sum()):,}"
    vote_part = problem.part("votes")
    votes = None if vote_part is None else vote_part.votes
    if votes is None or not hasattr(votes, "row_outcome"):
        return
    ties = int((votes.row_outcome == 2).sum())
    first_chosen = int((votes.row_outcome == 0).sum())
    decided = max(votes.rows - ties, 1)
    yield "Votes on items", f"{votes.rows:,}, of which {ties:,} ties ({ties / max(votes.rows, 1):.1%})"
    yield "First item chosen", f"{first_chosen / decided:.1%} of the decided votes"
    pairs = {(min(a, b), max(a, b)) for a, b in zip(votes.first.tolist(), votes.second.tolist(), strict=True)}
    size = len(votes.items)
    yield "Pairs compared", f"{len(pairs):,} of {size * (size - 1) // 2:,}"
    if votes.contexts:
        yield "Contexts", f"{len(votes.contexts):,}"
    criteria_votes = None if vote_part is None else vote_part.criteria_votes
    if criteria_votes is not None:
        yield "Votes on criteria", f"{criteria_votes.rows:,}"


def _settings_facts(fit: Fit) -> Iterator[tuple[str, str]]:
    yield "Method", fit.method + (f" ({fit.sampler})" if fit.sampler else "")
    yield "Seed", str(fit.seed)
    yield "Probability of the intervals", f"{fit.prob:g}"
    if fit.posterior.draws is not None:
        chains, draws = fit.posterior.draws.shape[:2]
        yield "Draws", f"{chains} x {draws:,}" if chains > 1 else f"{draws:,}"
    yield "Seconds", f"{fit.seconds:.1f}"
    for note in fit.notes:
        yield "Note", note


def software_and_citation_blocks(versions: Mapping[str, str]) -> Iterator[Block]:
    """Yield the versions of the software, and its BibTeX entry."""
    yield Facts("Versions", tuple(versions.items()))
    yield Code("BibTeX", bibtex_entry(versions.get("voirdire", "")), copy=True)


def bibtex_entry(version: str) -> str:
    """Return the BibTeX entry of the software.

    Examples
    --------
    >>> print(bibtex_entry("0.1.0").splitlines()[0])
    @software{voirdire,
    """
    return (
        "@software{voirdire,\n"
        "  title   = {voirdire: Bayesian aggregation of judge panels},\n"
        "  author  = {{The voirdire developers}},\n"
        f"  version = {{{version}}},\n"
        "  note    = {Cite the source of the model beside it}\n"
        "}"
    )
