"""crowd-kit's DawidSkene. Known items enter as its true labels."""

from __future__ import annotations

from benchmarks.aggregators.methods import classed, of_peer, peer

NAME = "crowd-kit DawidSkene"
USES_KNOWN = True


def answer(task):
    said = classed(task).assign(known=lambda rows: rows["item"].map(task.known))
    return of_peer(task, peer("dawid_skene_chances", labels=said))
