"""Simple role: the debates of MAJ-EVAL by agents that are told one sentence about themselves.

Source: the ablation of section 5.3.1 of "Multi-Agent-as-Judge: Aligning LLM-Agent-Based Automated Evaluation
with Multi-Dimensional Human Evaluation": the stakeholders of ``maj-eval``, with a plain role instead of
personas from documents.

Inputs: texts; ``roles``, a sentence for each stakeholder group; ``agents``, how many of each. Decision rules
and outputs: those of ``maj-eval`` from the debate on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Calls, Row, Setting
from voirdire.collect.protocols.group_debate import Agent, GroupOptions
from voirdire.collect.protocols.groups import debates, group_calls
from voirdire.collect.protocols.roles import takers
from voirdire.collect.protocols.scoring import at_least, score_problems


@dataclass(frozen=True)
class SimpleRoleOptions(GroupOptions):
    """Options of simple-role.

    Attributes
    ----------
    roles : mapping of str to str
        Groups, and the sentence that says who its agents are.
    agents : int
        Agents of each group.

    Examples
    --------
    >>> SimpleRoleOptions().agents
    3
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    agents: int = 3


class SimpleRole:
    """The protocol ``simple-role``."""

    name: ClassVar[str] = "simple-role"
    Options: ClassVar[type[Any]] = SimpleRoleOptions

    def problems(self, setting: Setting) -> list[str]:
        """Unknown judges, an impossible scale, no roles, bounds below 1."""
        options: SimpleRoleOptions = setting.options
        found = [*score_problems(setting), *at_least(options, rounds=1, agents=1)]
        if not options.roles:
            found.append("option roles is empty; give a sentence for each group of stakeholders")
        return found

    def calls(self, setting: Setting) -> Calls:
        """Evaluations, choices, speeches and syntheses."""
        options: SimpleRoleOptions = setting.options
        least, most = group_calls(options, len(setting.items), [options.agents] * len(options.roles))
        names = takers(setting, options.judges)
        return Calls(dict.fromkeys(names, least), dict.fromkeys(names, most))

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """All groups of all judges at once."""
        options: SimpleRoleOptions = setting.options
        cast = {
            group: [Agent(f"{group} {number}", {"Role": sentence}) for number in range(1, options.agents + 1)]
            for group, sentence in options.roles.items()
        }
        parts = await asyncio.gather(
            *(debates(ask, options, judge, setting.items, cast) for judge in takers(setting, options.judges))
        )
        return [row for part in parts for row in part]
