"""Benchmarks whose judges see each pair in two games, the second with the places changed: votes, and single grades.

Arena-Hard-Auto compares each model with a baseline. JudgeBench's judges speak of the answers as shown. MT-bench, as
FastChat writes it, names the models, and has votes of people; mt_bench_repro names the places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from voirdire.errors import InputError
from voirdire.tables.formats.format import Format, guarded_rows, has_keys, key_sets
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import (
    UNKNOWN,
    Odd,
    Refused,
    Row,
    Score,
    UnknownOrder,
    Vote,
    join_names,
    name_text,
    number_or_none,
    outcome_winner,
    score_row,
)
from voirdire.tables.formats.source import Head

_EVEN = {"A=B": "tie", "B=A": "tie"}
_BETTER = {"A>B": "first", "B<A": "first", "B>A": "second", "A<B": "second"}
_MUCH_BETTER = {"A>>B": "first", "B<<A": "first", "B>>A": "second", "A<<B": "second"}
_VERDICTS = _EVEN | _BETTER | _MUCH_BETTER
_DECISIONS = _EVEN | _BETTER
#: How sure the winner is on the scale B>>A, B>A, A=B, A>B, A>>B, whose steps are taken as equal.
_SLIGHTLY = 0.75
_STRONG = "{count} verdicts say 'significantly better' (>>): "

_PAIR = key_sets("g1_winner g2_winner model_1 model_2")
_SINGLE = key_sets("question_id model score judge turn")
_HUMAN = key_sets("model_a model_b winner judge turn question_id")
_OTHERS = frozenset(("conv_metadata", "evaluation_session_id", "anony", "tstamp", "winner_tie", "winner_ab"))
_GAMES = (
    {"model_1": "first", "model_2": "second", "tie": "tie"},
    {"model_2": "first", "model_1": "second", "tie": "tie"},  # the second game shows model_2 first
)
_VOTES = {"model_a": "first", "model_b": "second", "tie": "tie"}
_REPRO_PAIR = key_sets("model_a model_b judge_id winner_ab", "model_a model_b judge_id winner_ba")
_REPRO_SINGLE = key_sets("model_id judge_id score_turn1", "model_id judge_id score_turn2")
_PLACES = {"A": "first", "B": "second", "tie": "tie", "C": "tie"}


class ArenaHard(Format):
    """Judgements of Arena-Hard-Auto."""

    name, title, options = "arenahard", "Arena-Hard-Auto", ("baseline", "degrees")
    needs = key_sets("games model judge")
    notes: ClassVar = {
        "strong": f"{_STRONG}counted once each, the strength is not kept",
        "sure": f"{_STRONG}votes that are sure; slightly better (>) is of degree {_SLIGHTLY}, halfway to a tie",
    }

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The votes of all games with the baseline."""
        if "baseline" not in self.head.keys and self.asked.baseline is None:
            raise InputError(
                f"{self.file}: Arena-Hard files of version 0.1 do not name the baseline that all models were compared "
                "with; --set baseline=NAME says it (the configuration's default is gpt-4-0314)"
            )
        degrees = self.asked.degrees
        pair = name_text(record.get("baseline")) or self.asked.baseline, name_text(record["model"])
        context = name_text(record["uid"] if "uid" in record else record["question_id"])
        for game, played in enumerate(record["games"]):
            said = (played or {}).get("score")
            if said not in _VERDICTS:
                why = "no verdict" if said is None else f"verdict {said!r} is unknown"
                yield Refused(f"{place} game {game}", why)
                continue
            self.count("sure" if degrees else "strong", said in _MUCH_BETTER)
            order = pair[::-1] if game % 2 else pair
            degree = _SLIGHTLY if degrees and said in _BETTER else None
            yield Vote(name_text(record["judge"]), *order, _VERDICTS[said], context=context, degree=degree)


class JudgeBench(Format):
    """Judgements of JudgeBench."""

    name, title, needs = "judgebench", "JudgeBench", key_sets("pair_id judgments")
    notes: ClassVar = {
        "": "`label` is the key of the benchmark, not a vote: it goes to the anchors or is left out"
    }

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The votes of both games."""
        context = name_text(record["pair_id"])
        pair = join_names(context, "A"), join_names(context, "B")
        for game, judgment in enumerate(record["judgments"]):
            order, where = pair[::-1] if game % 2 else pair, f"{place} game {game}"
            yield from guarded_rows(
                where, _read_judgment, judgment or {}, record["judge_name"], order, context
            )


def _read_judgment(
    judgment: Record, called: object, order: tuple[str, str], context: str | None
) -> Iterator[Row]:
    said = judgment.get("decision")
    if said not in _DECISIONS:
        raise Odd("no decision" if said is None else f"decision {said!r} is unknown")
    judge = join_names(judgment["judgment"]["judge_model"], called)
    yield Vote(judge, *order, _DECISIONS[said], context=context)


class MTBench(Format):
    """MT-bench as FastChat writes it."""

    name, title, needs = "mtbench", "MT-bench", _PAIR + _SINGLE + _HUMAN
    notes: ClassVar = {"people": UnknownOrder("the order of display is not in the file")}

    @classmethod
    def detect(cls, head: Head) -> bool:
        """True where a file that begins so has pairs, grades, or votes of people and of no other tool."""
        if has_keys(head, _HUMAN, "records table"):
            return not head.keys & _OTHERS
        return has_keys(head, _PAIR + _SINGLE)

    def read_record(self, record: Record, place: str) -> Iterable[Row]:
        """The votes of both games, a grade, or the vote of a person."""
        if has_keys(self.head, _PAIR):
            return _read_comparison(record, place)
        if has_keys(self.head, _SINGLE):
            return [self.numbered(_read_grade(record))]
        self.count("people")
        return _read_human_vote(record)


def _judge_name(record: Record) -> str | None:
    """The judge without its template, which changes with question and turn."""
    judge = record["judge"]
    return name_text(judge[0] if isinstance(judge, list) else judge)


def _question_and_turn(record: Record) -> str:
    return join_names(record["question_id"], record["turn"])


def _read_comparison(record: Record, place: str) -> Iterator[Row]:
    if "turn" not in record:
        raise Odd("two scores instead of a comparison (a template of type single)")
    shown = name_text(record["model_1"]), name_text(record["model_2"])
    for game, (meanings, order) in enumerate(zip(_GAMES, (shown, shown[::-1]), strict=True), start=1):
        said = record[f"g{game}_winner"]
        if said in meanings:
            yield Vote(_judge_name(record), *order, meanings[said], context=_question_and_turn(record))
        else:
            why = "the judge's answer could not be read" if said == "error" else f"winner {said!r} is unknown"
            yield Refused(f"{place} game {game}", why)


def _read_grade(record: Record) -> Row:
    score = _grade_or_none(record["score"])
    if score is None:
        raise Odd("no score (the judge's answer could not be read)")
    context, system = _question_and_turn(record), name_text(record["model"])
    judge, item = _judge_name(record), join_names(context, system)
    return Score(judge, item, score, context=context, system=system)


def _grade_or_none(said: object) -> float | None:
    """A grade; None for what is none, for which both tools write -1."""
    value = number_or_none(said)
    return None if value == -1 else value


def _read_human_vote(record: Record) -> Iterator[Row]:
    if record["winner"] == "tie (inconsistent)":
        raise Odd("'tie (inconsistent)' is the result of two games, not a vote")
    pair = name_text(record["model_a"]), name_text(record["model_b"])
    winner = outcome_winner(record["winner"], _VOTES)
    yield Vote(_judge_name(record), *pair, winner, context=_question_and_turn(record), order=UNKNOWN)


class MTBenchRepro(Format):
    """Judgements of mt_bench_repro."""

    name, title, needs = "mtbench_repro", "mt_bench_repro", _REPRO_PAIR + _REPRO_SINGLE

    def read_record(self, record: Record, place: str) -> Iterator[Row]:
        """The votes on a pair shown both ways, or the grades of two turns."""
        if not has_keys(self.head, _REPRO_PAIR):
            system = name_text(record["model_id"])
            for turn in (1, 2):
                score, context = record.get(f"score_turn{turn}"), join_names(record["question_id"], turn)
                about = name_text(record["judge_id"]), join_names(context, system), _grade_or_none(score)
                yield score_row(f"{place} turn {turn}", *about, context=context, system=system)
            return
        pair = name_text(record["model_a"]), name_text(record["model_b"])
        context = _question_and_turn(record)
        for key, order in (("winner_ab", pair), ("winner_ba", pair[::-1])):
            said = record.get(key)
            if said in _PLACES:
                yield Vote(name_text(record["judge_id"]), *order, _PLACES[said], context=context)
            else:
                yield Refused(f"{place} {key}", f"verdict {said!r} names neither place nor a tie")
