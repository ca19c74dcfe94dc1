"""Filter of a protocol: only chosen comparisons are asked.

A protocol is a pure function of its answers and can be run again. So it is run once per round, with an ``ask`` that
passes on the comparisons chosen so far and answers all others with "not chosen". Other questions (criteria, their
weights) are passed on. The rows of the last run are the tables.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.adaptive.rounds import Course, Request, Rounds, choose_rounds
from voirdire.collect.asking import NOT_ASKED
from voirdire.collect.budget import count_text_tokens, estimate_answer_tokens, token_price
from voirdire.collect.plan import Plan
from voirdire.collect.protocol import Answer, Ask, Calls, Key, Question, Row, Setting
from voirdire.collect.protocols.pairing import PairOptions
from voirdire.collect.protocols.pairwise import COMPARISON_KEY
from voirdire.errors import InputError
from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

NOT_CHOSEN = "not chosen"
_Name = tuple[str, Key]


class ProtocolFilter:
    """Filter that passes on chosen comparisons and all questions that are not comparisons.

    Parameters
    ----------
    ask : callable
        Function that asks a question.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask, self._answers = ask, dict[_Name, Answer]()
        self.chosen: set[_Name] = set()
        self.questions: dict[_Name, Question] = {}
        #: True if a passed question was not asked yet.
        self.halted = False

    async def answer_once(self, question: Question) -> Answer:
        """Answer a question, once for all runs of the protocol."""
        name = (question.judge, question.key)
        if question.key[0] == COMPARISON_KEY:
            self.questions.setdefault(name, question)
            if name not in self.chosen:
                return Answer(None, NOT_CHOSEN)
        if name not in self._answers:
            self._answers[name] = await self._ask(question)
        answer = self._answers[name]
        self.halted |= answer.missing == NOT_ASKED
        return answer


class RoundProtocol:
    """A replacement for a plan's protocol that asks round by round.

    Parameters
    ----------
    plan : Plan
        The plan with the protocol.
    request : Request
        Settings of the rounds.

    Attributes
    ----------
    course : Course
        Record of the last run.

    Raises
    ------
    InputError
        If single comparisons of the protocol cannot be left out.
    """

    Options: ClassVar[type[Any]] = PairOptions

    def __init__(self, plan: Plan, request: Request) -> None:
        self.protocol, self.prompts, self.name = plan.protocol, plan.prompts, plan.protocol.name
        self.request, self.course = request, Course()
        if not isinstance(plan.setting.options, PairOptions):
            raise InputError(
                f"protocol {self.name}: what it asks depends on earlier answers, so that single comparisons cannot be "
                "left out; take pairwise or maple, or leave until out"
            )

    def problems(self, setting: Setting) -> list[str]:
        """Problems of the protocol."""
        return self.protocol.problems(setting)

    def calls(self, setting: Setting) -> Calls:
        """Numbers of calls: from none to those of the protocol."""
        return Calls({}, self.protocol.calls(setting).most)

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Ask round by round; return the rows without comparisons that were not chosen."""
        self.course, gate = Course(), ProtocolFilter(ask)
        rows = await self.protocol.run(setting, gate.answer_once)
        names = list(gate.questions)
        if not names or gate.halted:
            return _drop_unchosen_rows(rows)
        questions, criteria_votes = self._question_table(setting, gate.questions), _criteria_votes(rows)
        rounds = choose_rounds(questions, self.request, self.course, criteria_votes)
        chosen: Ints | None = next(rounds)
        while chosen is not None:
            gate.chosen |= {names[row] for row in chosen}
            rows = await self.protocol.run(setting, gate.answer_once)
            if gate.halted:
                break
            winners = _vote_winners(rows)
            # a fit takes seconds; in a thread it does not block the event loop, so that the run can be stopped
            chosen = await asyncio.to_thread(_next_round, rounds, [winners.get(names[row]) for row in chosen])
        return _drop_unchosen_rows(rows)

    def _question_table(self, setting: Setting, questions: dict[_Name, Question]) -> pd.DataFrame:
        """Table of all possible comparisons with their expected cost (1 for all if any has no price)."""
        import pandas as pd

        judges = {judge.name: judge for judge in setting.judges}
        rows = []
        for (judge, key), question in questions.items():
            prompt = self.prompts.render(question.template, question.variables)
            prompt_tokens = count_text_tokens(prompt.system + prompt.user)
            answer_tokens = estimate_answer_tokens(question.schema, judges[judge].max_tokens)
            price = token_price(judges[judge], prompt_tokens, answer_tokens)
            rows.append((judge, key[1], question.variables.get("context"), key[2], key[3], price))
        table = pd.DataFrame(rows, columns=["judge", "criterion", "context", "first", "second", "cost"])
        if not table["cost"].all():
            table["cost"] = 1.0
        return table.drop(columns=[name for name in ("criterion", "context") if not any(table[name])])


def _next_round(work: Rounds, winners: Sequence[str | None]) -> Ints | None:
    """Send the answers and return the next round; None at the end."""
    try:
        return work.send(winners)
    except StopIteration:
        return None


def _vote_winners(rows: list[Row]) -> dict[_Name, str]:
    """Winner of every vote, by the judge and key of its question."""
    winners: dict[_Name, str] = {}
    for row in rows:
        cells = row.values
        if "winner" in cells:
            key = (COMPARISON_KEY, cells.get("criterion", ""), cells["first"], cells["second"], cells["run"])
            winners[cells["judge"], key] = str(cells["winner"])
    return winners


def _criteria_votes(rows: list[Row]) -> pd.DataFrame | None:
    import pandas as pd

    records = [row.values for row in rows if row.table == "criteria"]
    return pd.DataFrame(records).drop(columns="run") if records else None


def _drop_unchosen_rows(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.table != "missing" or row.values["reason"] != NOT_CHOSEN]
