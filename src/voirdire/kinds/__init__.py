"""Kinds of data that can be fitted: votes, labels, scores, rankings, and votes with scores."""

from __future__ import annotations

from voirdire.doors import lazy_attributes

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "Fit": "fit",
        "LabelsProblem": "labels.problem",
        "Request": "request",
        "ScoresProblem": "scores.problem",
        "VotesProblem": "votes.problem",
        "encode_labels": "labels.problem",
        "encode_scores": "scores.problem",
        "encode_votes": "votes.problem",
        "find_kind": "registry",
        "kind_of": "registry",
        "read_anchors": "votes.people",
    },
)
