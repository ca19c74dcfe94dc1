"""Arena-Hard-Auto's judgements: two games of a model and a baseline, the second with the places changed."""

from __future__ import annotations

from collections.abc import Iterator

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Vote, name_text
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("games model judge")
_VERDICTS = dict.fromkeys(("A>B", "A>>B", "B<A", "B<<A"), "first")
_VERDICTS |= dict.fromkeys(("B>A", "B>>A", "A<B", "A<<B"), "second")
_VERDICTS |= dict.fromkeys(("A=B", "B=A"), "tie")


#: How sure the winner is on the scale B>>A, B>A, A=B, A>B, A>>B, whose steps are taken as equal.
_SLIGHTLY = 0.75


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    if "baseline" not in source.head.keys and asked.baseline is None:
        raise InputError(
            f"{source.name}: Arena-Hard files of version 0.1 do not name the baseline that all models were compared "
            "with; voirdire import --set baseline=NAME says it (the configuration's default is gpt-4-0314)"
        )
    strong = 0

    def read_record(record: Record, place: str) -> Iterator[Row]:
        nonlocal strong
        baseline = name_text(record.get("baseline")) or asked.baseline
        pair = baseline, name_text(record["model"])
        context = name_text(record["uid"] if "uid" in record else record["question_id"])
        for game, played in enumerate(record["games"]):
            verdict = (played or {}).get("score")
            if verdict not in _VERDICTS:
                said = "no verdict" if verdict is None else f"verdict {verdict!r} is unknown"
                yield Refused(f"{place} game {game}", said)
                continue
            much = ">>" in verdict or "<<" in verdict
            strong += much
            degree = None if much or "=" in verdict or not asked.degrees else _SLIGHTLY
            order = pair[::-1] if game % 2 else pair
            yield Vote(name_text(record["judge"]), *order, _VERDICTS[verdict], context=context, degree=degree)

    yield from read_records(source, read_record)
    if strong:
        how = "counted once each, the strength is not kept"
        if asked.degrees:
            how = f"votes that are sure; slightly better (>) is of degree {_SLIGHTLY}, halfway to a tie"
        yield Note(f"{strong} verdicts say 'significantly better' (>>): {how}")


FORMAT = Format("arenahard", "Arena-Hard-Auto", _NEEDS, _detect_format, _read_rows, ("baseline", "degrees"))
