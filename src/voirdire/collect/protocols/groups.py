"""All debates of one judge's groups; the judge's score is the mean of the groups' averages (MAJ-EVAL, algorithm 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from voirdire.collect.protocol import Answer, Ask, Item, Row, missing
from voirdire.collect.protocols.group_debate import Agent, GroupDebate, GroupOptions
from voirdire.collect.protocols.roles import belongs
from voirdire.collect.protocols.scoring import FINAL


async def debates(
    ask: Ask, options: GroupOptions, judge: str, items: Sequence[Item], groups: Mapping[str, Sequence[Agent]]
) -> list[Row]:
    """All groups of one judge debate all items in all runs; the judge's score is the mean of its groups' averages.

    Examples
    --------
    >>> asyncio.run(debates(None, GroupOptions(), "ann", [], {}))
    []
    """
    places = [(item, run) for item in items for run in range(1, options.runs + 1)]
    parts = await asyncio.gather(
        *(
            GroupDebate(judge, item, run, group, tuple(agents), options).go(ask)
            for item, run in places
            for group, agents in groups.items()
        )
    )
    rows: list[Row] = []
    for place, (item, run) in enumerate(places):
        found = parts[place * len(groups) : (place + 1) * len(groups)]
        rows += [row for _, made in found for row in made]
        given = [averages for averages, _ in found if averages]
        columns = {
            "judge": judge,
            "item": item.id,
            **belongs(item),
            "run": run,
            "phase": FINAL,
            "level": "overall",
        }
        if not given:
            lost = Answer(None, "no group came to a rating")
            rows.append(missing(("overall", item.id, run), lost, table="scores", **columns))
            continue
        rows += [
            Row(
                "scores",
                {
                    **columns,
                    "criterion": name,
                    "score": sum(averages[name] for averages in given) / len(given),
                    "groups": len(given),
                },
            )
            for name in options.aspects()
        ]
    return rows


def group_calls(options: GroupOptions, items: int, groups: Sequence[int]) -> tuple[int, int]:
    """Least and most questions of debates in groups of these sizes.

    Examples
    --------
    >>> group_calls(GroupOptions(rounds=4), 1, [3])
    (9, 12)
    """
    least = most = 0
    for size in groups:
        # rounds may be used up before everybody has ended; the last active speaker needs no choice
        speeches = min(size, options.rounds)
        fewest = speeches + min(speeches, size - 1)
        choices = options.rounds if size > 1 else 0
        least += size + fewest + 1
        most += size + options.rounds + choices + 1
    return least * items * options.runs, most * items * options.runs
