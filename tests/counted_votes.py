"""Votes that are only counted, made of votes whose order is known."""

from __future__ import annotations

from voirdire.tables.counts import CountedVotes, Votes


def drop_order_and_contexts(votes: Votes) -> CountedVotes:
    names = ("judges", "criteria", "items", "judge", "criterion", "first", "second", "counts")
    kept = {name: getattr(votes, name) for name in (*names, "has_criteria", "order_unknown")}
    return CountedVotes(**kept)
