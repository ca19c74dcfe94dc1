"""crowd-kit's Wawa. Known items do not enter."""

from __future__ import annotations

from benchmarks.aggregators.methods import classed, of_peer, peer

NAME = "crowd-kit Wawa"
USES_KNOWN = False


def answer(task):
    said = classed(task).assign(known=lambda rows: rows["item"].map(task.known))
    return of_peer(task, peer("wawa_chances", labels=said))
