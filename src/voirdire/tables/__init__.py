"""Tables of votes, scores and labels: read, validate, count."""

from __future__ import annotations

from voirdire.doors import lazy_attributes

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "Votes": "counts",
        "read_labels": "labels",
        "read_rankings": "rankings",
        "read_scores": "scores",
        "read_table": "detect",
        "read_votes": "votes",
    },
)
