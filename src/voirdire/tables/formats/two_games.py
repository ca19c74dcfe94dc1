"""Benchmarks with two games per pair, the second in swapped order: votes, and grades of single answers.

Arena-Hard-Auto compares each model with a baseline. JudgeBench's decisions name the displayed positions. LLMBar names
the outputs. MT-bench, as FastChat writes it, names the models, and has votes of people; mt_bench_repro names the
positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, guarded_rows, has_keys
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Known,
    Odd,
    Refused,
    Row,
    Score,
    Vote,
    join_names,
    name_text,
    number_or_none,
    outcome_winner,
    score_row,
)
from voirdire.tables.formats.source import Head

_TIE_VERDICTS = {"A=B": "tie", "B=A": "tie"}
_BETTER_VERDICTS = {"A>B": "first", "B<A": "first", "B>A": "second", "A<B": "second"}
_MUCH_BETTER_VERDICTS = {"A>>B": "first", "B<<A": "first", "B>>A": "second", "A<<B": "second"}
_VERDICTS = _TIE_VERDICTS | _BETTER_VERDICTS | _MUCH_BETTER_VERDICTS
_DECISIONS = _TIE_VERDICTS | _BETTER_VERDICTS
#: Degree of "slightly better" on the scale B>>A, B>A, A=B, A>B, A>>B with equal steps.
_SLIGHTLY_BETTER_DEGREE = 0.75

_FOREIGN_KEYS = frozenset(("conv_metadata", "evaluation_session_id", "anony", "tstamp", "winner_tie", "winner_ab"))
_WINNERS_OF_GAMES = (
    {"model_1": "first", "model_2": "second", "tie": "tie"},
    {"model_2": "first", "model_1": "second", "tie": "tie"},  # the second game shows model_2 first
)
_HUMAN_WINNERS = {"model_a": "first", "model_b": "second", "tie": "tie"}
_REPRO_WINNERS = {"A": "first", "B": "second", "tie": "tie", "C": "tie"}


class ArenaHard(Format):
    """Judgements of Arena-Hard-Auto."""

    name = "arenahard"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the votes of all games with the baseline."""
        if "baseline" not in self.head.keys and self.asked.baseline is None:
            raise InputError(
                f"{self.file}: Arena-Hard files of version 0.1 do not name the baseline that all models were compared "
                "with; --set baseline=NAME says it (the configuration's default is gpt-4-0314)"
            )
        degrees = self.asked.degrees
        pair = name_text(record.get("baseline")) or self.asked.baseline, name_text(record["model"])
        context = name_text(record["uid"] if "uid" in record else record["question_id"])
        for game, played in enumerate(record["games"]):
            verdict = (played or {}).get("score")
            if verdict not in _VERDICTS:
                reason = "no verdict" if verdict is None else f"verdict {verdict!r} is unknown"
                yield Refused(f"{place} game {game}", reason)
                continue
            self.count_event("sure" if degrees else "strong", verdict in _MUCH_BETTER_VERDICTS)
            order = pair[::-1] if game % 2 else pair
            degree = _SLIGHTLY_BETTER_DEGREE if degrees and verdict in _BETTER_VERDICTS else None
            yield Vote(name_text(record["judge"]), *order, _VERDICTS[verdict], context=context, degree=degree)


class JudgeBench(Format):
    """Judgements of JudgeBench."""

    name = "judgebench"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the votes of both games."""
        context = name_text(record["pair_id"])
        pair = join_names(context, "A"), join_names(context, "B")
        for game, judgment in enumerate(record["judgments"]):
            order, where = pair[::-1] if game % 2 else pair, f"{place} game {game}"
            yield from guarded_rows(where, _read_judgment, judgment or {}, record["judge_name"], order, context)


def _read_judgment(judgment: Record, judge_name: object, order: tuple[str, str], context: str | None) -> Iterator[Row]:
    decision = judgment.get("decision")
    if decision not in _DECISIONS:
        raise Odd("no decision" if decision is None else f"decision {decision!r} is unknown")
    judge = join_names(judgment["judgment"]["judge_model"], judge_name)
    yield Vote(judge, *order, _DECISIONS[decision], context=context)


class LLMBar(Format):
    """Results of the evaluators of LLMBar, and of others with its keys."""

    name = "llmbar"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the votes in both orders of each result, and the label; both are the number of the better output."""
        context, results, judge = name_text(record["input"]), record["results"], self.asked.judge or "llmbar"
        pair = join_names(context, 1), join_names(context, 2)
        orders = {"swap = False": pair, "swap = True": pair[::-1]}
        self.count_event("nameless", self.asked.judge is None)
        if "label" in record:
            vote = partial(_output_vote, None, pair, pair, record["label"], context)
            yield from guarded_rows(f"{place} label", lambda: [Known(place, vote())])
        for index, result in enumerate(results, start=1):
            run = index if len(results) > 1 else None
            for key, game in result.items():
                cells = judge, pair, orders.get(key), (game or {}).get("winner"), context, run
                yield from guarded_rows(f"{place} result {index} {key}", lambda *cells: [_output_vote(*cells)], *cells)


def _output_vote(
    judge: str | None, pair: Sequence[str], order: Sequence[str] | None, number: object, context: Any, run: Any = None
) -> Vote:
    """The vote for the output of a number, 1 or 2, in the order shown."""
    if order is None:
        raise Odd("the order shown is not known: the result is under no key 'swap = False' or 'swap = True'")
    outcomes = {str(index): "first" if item == order[0] else "second" for index, item in enumerate(pair, start=1)}
    return Vote(judge, order[0], order[1], outcome_winner(name_text(number), outcomes), context=context, run=run)


class MTBench(Format):
    """MT-bench as FastChat writes it."""

    name = "mtbench"

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True if the head of a file shows pairs, grades, or votes of people without keys of other tools."""
        if has_keys(head, cls.keys["people"], "records table"):
            return not head.keys & _FOREIGN_KEYS
        return has_keys(head, cls.keys["pairs"] + cls.keys["grades"])

    def read_record(self, record: Record, place: str) -> Iterable[Row]:
        """Read the votes of both games, a grade, or the vote of a person."""
        if has_keys(self.head, self.keys["pairs"]):
            return _read_comparison(record, place)
        if has_keys(self.head, self.keys["grades"]):
            return [self.number_runs(_read_grade(record))]
        self.count_event("people")
        return _read_human_vote(record)


def _judge_name(record: Record) -> str | None:
    """The judge's name without its template, which varies with question and turn."""
    judge = record["judge"]
    return name_text(judge[0] if isinstance(judge, list) else judge)


def _question_and_turn(record: Record) -> str:
    return join_names(record["question_id"], record["turn"])


def _read_comparison(record: Record, place: str) -> Iterator[Row]:
    if "turn" not in record:
        raise Odd("two scores instead of a comparison (a template of type single)")
    shown = name_text(record["model_1"]), name_text(record["model_2"])
    for game, (meanings, order) in enumerate(zip(_WINNERS_OF_GAMES, (shown, shown[::-1]), strict=True), start=1):
        winner = record[f"g{game}_winner"]
        if winner in meanings:
            yield Vote(_judge_name(record), *order, meanings[winner], context=_question_and_turn(record))
        else:
            reason = "the judge's answer could not be read" if winner == "error" else f"winner {winner!r} is unknown"
            yield Refused(f"{place} game {game}", reason)


def _read_grade(record: Record) -> Row:
    score = _grade_or_none(record["score"])
    if score is None:
        raise Odd("no score (the judge's answer could not be read)")
    context, system = _question_and_turn(record), name_text(record["model"])
    judge, item = _judge_name(record), join_names(context, system)
    return Score(judge, item, score, context=context, system=system)


def _grade_or_none(grade: object) -> float | None:
    """A grade; None for a missing one, for which both tools write -1."""
    value = number_or_none(grade)
    return None if value == -1 else value


def _read_human_vote(record: Record) -> Iterator[Row]:
    if record["winner"] == "tie (inconsistent)":
        raise Odd("'tie (inconsistent)' is the result of two games, not a vote")
    pair = name_text(record["model_a"]), name_text(record["model_b"])
    winner = outcome_winner(record["winner"], _HUMAN_WINNERS)
    yield Vote(_judge_name(record), *pair, winner, context=_question_and_turn(record), order=UNKNOWN)


class MTBenchRepro(Format):
    """Judgements of mt_bench_repro."""

    name = "mtbench_repro"

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """Read the votes on a pair in both display orders, or the grades of two turns."""
        if not has_keys(self.head, self.keys["pairs"]):
            system = name_text(record["model_id"])
            for turn in (1, 2):
                score, context = record.get(f"score_turn{turn}"), join_names(record["question_id"], turn)
                columns = name_text(record["judge_id"]), join_names(context, system), _grade_or_none(score)
                yield score_row(f"{place} turn {turn}", *columns, context=context, system=system)
            return
        pair = name_text(record["model_a"]), name_text(record["model_b"])
        context = _question_and_turn(record)
        for key, order in (("winner_ab", pair), ("winner_ba", pair[::-1])):
            winner = record.get(key)
            if winner in _REPRO_WINNERS:
                yield Vote(name_text(record["judge_id"]), *order, _REPRO_WINNERS[winner], context=context)
            else:
                yield Refused(f"{place} {key}", f"verdict {winner!r} names neither place nor a tie")
