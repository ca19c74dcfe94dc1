"""Conversion of the files of a repetition of MT-bench with small models, one JSON object per line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the objects of a file with one JSON object per line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "some.jsonl"
    >>> _ = path.write_text('{"a": 1}\\n\\n{"a": 2}\\n')
    >>> read_records(path)
    [{'a': 1}, {'a': 2}]
    """
    # not splitlines(): texts may contain other line ends
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def verdict_votes(*paths: Path) -> pd.DataFrame:
    """Convert each judge's verdict on each pair of answers, in both orders, to a votes table.

    A record is one pair; ``winner_ab`` and ``winner_ba`` are ``A`` (the answer shown first), ``B`` or ``tie``. Other
    values are unreadable verdicts and left out.

    Returns
    -------
    pandas.DataFrame
        Columns judge, context (the prompt's number), category, turn, first, second, winner.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x_vs_y.jsonl"
    >>> pair = {"question_id": 81, "model_a": "x", "model_b": "y", "judge_id": "j", "winner_ab": "A", "winner_ba": "?"}
    >>> _ = path.write_text(json.dumps(pair | {"turn": 2, "category": "math"}))
    >>> verdict_votes(path).values.tolist()
    [['j', 81, 'math', 2, 'x', 'y', 'first']]
    """
    import pandas as pd

    winners = {"A": "first", "B": "second", "tie": "tie"}
    rows = []
    for judgement in (record for path in paths for record in read_records(path)):
        key = (judgement["judge_id"], judgement["question_id"], judgement["category"], judgement["turn"])
        shown = (judgement["model_a"], judgement["model_b"])
        for order, winner in ((shown, judgement["winner_ab"]), (shown[::-1], judgement["winner_ba"])):
            if winner in winners:
                rows.append((*key, *order, winners[winner]))
    return pd.DataFrame(rows, columns=["judge", "context", "category", "turn", "first", "second", "winner"])


def answer_lengths(*paths: Path) -> pd.DataFrame:
    """Count the characters of each model's answer to each prompt, both turns together.

    Returns
    -------
    pandas.DataFrame
        Columns item (the model), context (the prompt's number), length.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.jsonl"
    >>> answer = {"question_id": 81, "model_id": "x", "choices": [{"index": 0, "turns": ["Yes.", "No."]}]}
    >>> _ = path.write_text(json.dumps(answer))
    >>> answer_lengths(path).values.tolist()
    [['x', 81, 7]]
    """
    import pandas as pd

    rows = [
        (record["model_id"], record["question_id"], sum(map(len, record["choices"][0]["turns"])))
        for path in paths
        for record in read_records(path)
    ]
    return pd.DataFrame(rows, columns=["item", "context", "length"])


def votes_and_lengths(*paths: Path) -> tuple[pd.DataFrame, None, pd.DataFrame]:
    """Return votes from the files of judgements, None, and lengths from the files in a folder ``answers``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answers" / "x.jsonl"
    >>> path.parent.mkdir()
    >>> _ = path.write_text('{"question_id": 1, "model_id": "x", "choices": [{"turns": ["Yes."]}]}')
    >>> [None if part is None else len(part) for part in votes_and_lengths(path)]
    [0, None, 1]
    """
    answers = [path for path in paths if path.parent.name == "answers"]
    return verdict_votes(*(path for path in paths if path not in answers)), None, answer_lengths(*answers)


def turn_scores(*paths: Path) -> pd.DataFrame:
    """Convert each judge's scores, 1 to 10, of both turns of each answer.

    Unreadable scores (below 0 upstream) are left out.

    Returns
    -------
    pandas.DataFrame
        Columns judge, context (``prompt-turn``), system, criterion (the prompt's category), score.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.jsonl"
    >>> one = {"question_id": 81, "model_id": "x", "judge_id": "j", "score_turn1": 9.0, "score_turn2": -1}
    >>> _ = path.write_text(json.dumps(one | {"category": "math"}))
    >>> turn_scores(path).values.tolist()
    [['j', '81-1', 'x', 'math', 9.0]]
    """
    import pandas as pd

    rows = [
        (
            record["judge_id"],
            f"{record['question_id']}-{turn}",
            record["model_id"],
            record["category"],
            record[f"score_turn{turn}"],
        )
        for path in paths
        for record in read_records(path)
        for turn in (1, 2)
        if record[f"score_turn{turn}"] >= 0
    ]
    return pd.DataFrame(rows, columns=["judge", "context", "system", "criterion", "score"])
