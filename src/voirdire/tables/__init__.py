"""Tables of votes, scores and labels: read, validate, count."""

from __future__ import annotations

from voirdire.doors import open_door

__getattr__, __dir__ = open_door(
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
