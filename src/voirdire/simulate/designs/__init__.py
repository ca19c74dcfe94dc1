"""Designs: choice of pairs, order of presentation, repeats and contexts."""

from __future__ import annotations

from voirdire.settings import build_setting
from voirdire.simulate.designs.base import Design
from voirdire.simulate.designs.pairs import AllPairs, GivenPairs, InContexts, Referenced, RoundRobin, SharePairs

DESIGNS: dict[str, type[Design]] = {
    cls.kind: cls for cls in (AllPairs, SharePairs, Referenced, RoundRobin, InContexts, GivenPairs)
}


def design_from_spec(spec: object) -> Design:
    """Make the design from a kind or a table.

    Raises
    ------
    InputError
        Unknown kind (the message names the nearest), unknown keys, invalid values.

    Examples
    --------
    >>> design_from_spec({"kind": "share", "share": 0.5, "order": "swap"}).order
    'swap'
    """
    return build_setting(DESIGNS, spec, "design")
