"""MAJ-EVAL: personas of stakeholders found in documents debate in groups and rate.

Source: "Multi-Agent-as-Judge: Aligning LLM-Agent-Based Automated Evaluation with Multi-Dimensional Human
Evaluation", section 3, algorithm 1 and appendix A.12.

Inputs: texts; documents on the task (people's needs and reasons), or personas (``persona_texts``), which debate as in
step 4. For each judge, which plays all agents:

1. From each document: stakeholders with name, description and (dimension, evidence) pairs.
2. Stakeholders of all documents are grouped by meaning; within a group, dimensions of the same meaning are merged,
   each with its evidence. Stakeholders and dimensions that the answer omits become groups or dimensions of their own.
3. For each dimension of a group (at most ``personas``) a persona of five attributes: demographic information,
   evaluative dimension, domain specialty, psychological traits, social relationships.
4. Each group debates each item. Phase 1: every persona evaluates independently. Phase 2: a coordinator chooses the
   next speaker, unless only one agent is active; a speaker may change its ratings; "no more comments" ends its part;
   at most ``rounds`` speeches. Phase 3: the mean of the final ratings, and a synthesis of agreements and differences.
5. The judge's score is the mean of its groups' means.

Outputs: ``scores`` (agents ``judge/group/persona``, phases ``initial`` and ``final``, with ``ended``; groups
``judge/group``; the judge), ``texts`` (stakeholders, dimensions, personas, all speeches, syntheses). The final rating
of an agent that has not ended is its latest one, unless ``unfinished = "missing"``.

Simple role is the ablation of section 5.3.1: the same debates by agents with one sentence as their role (``roles``)
instead of personas from documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from voirdire.collect.protocol import Ask, Row, Setting
from voirdire.settings import Count
from voirdire_protocols.group_debate import Agents, GroupOptions, GroupProtocol, group_calls
from voirdire_protocols.stakeholders import Personas, short_name


@dataclass(frozen=True)
class MajEvalOptions(GroupOptions):
    """Options of maj-eval.

    Attributes
    ----------
    documents : tuple of str
        Texts on the task, such as studies of its users' needs.
    stakeholders, dimensions : int
        Most stakeholders of a document, and most dimensions of a stakeholder.
    groups, personas : int
        Most groups that debate, and most personas of a group.
    persona_texts : mapping of str to str
        Given personas: ``group/name`` and a description of each; no document is read then.

    Examples
    --------
    >>> MajEvalOptions().personas
    3
    """

    documents: tuple[str, ...] = ()
    stakeholders: Count = 8
    dimensions: Count = 6
    groups: Count = 5
    personas: Count = 3
    persona_texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SimpleRoleOptions(GroupOptions):
    """Options of simple-role.

    Attributes
    ----------
    roles : mapping of str to str
        Groups, and the sentence that describes the agents of each group.
    agents : int
        Number of agents of each group.

    Examples
    --------
    >>> SimpleRoleOptions().agents
    3
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    agents: Count = 3


class MajEval(GroupProtocol):
    """The protocol ``maj-eval``."""

    name: ClassVar[str] = "maj-eval"
    Options: ClassVar[type[Any]] = MajEvalOptions

    def option_faults(self, options: MajEvalOptions) -> list[str]:
        """Return the faults: documents and personas both or neither, empty documents, incomplete personas."""
        if options.persona_texts:
            return _persona_faults(options)
        if not options.documents:
            return [
                "option documents is empty; give at least one text that stakeholders can be found in, or personas as "
                "persona_texts"
            ]
        return [
            f"option documents: document {number} is empty; give its text"
            for number, text in enumerate(options.documents, 1)
            if not text.strip()
        ]

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the bounds: at least one question per document, at most with all possible groups and personas."""
        options: MajEvalOptions = setting.options
        if options.persona_texts:
            sizes = [len(agents) for agents in _given_personas(options).values()]
            return group_calls(options, len(setting.items), sizes)
        size, groups = len(options.documents), options.groups
        persona_questions = 1 + size * options.stakeholders + groups * options.personas
        _, most = group_calls(options, len(setting.items), [options.personas] * groups)
        return size, size + persona_questions + most

    async def agents_by_group(
        self, judge: str, options: MajEvalOptions, ask: Ask, rows: list[Row]
    ) -> Mapping[str, Agents]:
        """Return the given personas, or personas made from the documents."""
        if options.persona_texts:
            return _given_personas(options)
        makers = Personas(judge, ask, options, rows)
        stakeholders = await makers.find_stakeholders(options.documents)
        return await makers.make_personas(await makers.group_stakeholders(stakeholders))


def _given_personas(options: MajEvalOptions) -> dict[str, Agents]:
    """Return the agents of the given personas by group."""
    cast: dict[str, dict[str, dict[str, str]]] = {}
    for name, text in options.persona_texts.items():
        group, _, person = map(short_name, name.partition("/"))
        cast.setdefault(group, {})[person] = {"Persona": text}
    return dict(cast)


def _persona_faults(options: MajEvalOptions) -> list[str]:
    faults = ["options documents and persona_texts are both given; leave out one"] if options.documents else []
    for name, text in options.persona_texts.items():
        group, _, person = map(short_name, name.partition("/"))
        if not (group and person):
            faults.append(f"option persona_texts: {name!r} is no group/name, such as teachers/Ann")
        elif not text.strip():
            faults.append(f"option persona_texts: {name!r} has no text; say who it is")
    return faults


class SimpleRole(GroupProtocol):
    """The protocol ``simple-role``."""

    name: ClassVar[str] = "simple-role"
    Options: ClassVar[type[Any]] = SimpleRoleOptions

    def option_faults(self, options: SimpleRoleOptions) -> list[str]:
        """Return a fault if there are no roles."""
        fault = "option roles is empty; give a sentence for each group of stakeholders"
        return [] if options.roles else [fault]

    def question_bounds(self, setting: Setting) -> tuple[int, int]:
        """Return the bounds of the evaluations, choices, speeches and syntheses."""
        options: SimpleRoleOptions = setting.options
        return group_calls(options, len(setting.items), [options.agents] * len(options.roles))

    async def agents_by_group(
        self, judge: str, options: SimpleRoleOptions, ask: Ask, rows: list[Row]
    ) -> Mapping[str, Agents]:
        """Return the agents of each group, all with the group's sentence as their role."""
        return {
            group: {f"{group} {number}": {"Role": sentence} for number in range(1, options.agents + 1)}
            for group, sentence in options.roles.items()
        }
