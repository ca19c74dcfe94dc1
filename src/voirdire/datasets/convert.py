"""Conversion of upstream files to this package's tables: one function per data set; rows and their order are kept."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.datasets.mtrepro import read_records

if TYPE_CHECKING:
    import pandas as pd


#: Winner by the first letter of an answer: A, B, or "Neither is more accurate (use sparingly)".
WINNERS = {"a": "first", "b": "second", "n": "tie"}


def preference_votes(*paths: Path) -> pd.DataFrame:
    """Convert the pairwise preferences of the MSLR set to a votes table: the summary nearer to the target wins.

    ======== ==============================================================================
    judge    ``annotator-N``, where N is the number of the annotator's sample in the file name
    context  ``review_id``
    first    ``sys_a``: the system of the summary shown first; names as in ``mslr-cochrane``
    second   ``sys_b``
    winner   ``first``, ``second`` or ``tie`` (neither is more accurate)
    ======== ==============================================================================

    Pairs without an answer are left out.

    Parameters
    ----------
    *paths : Path
        Files ``sample2 - ... .tsv`` and so on, one per annotator.

    Returns
    -------
    pandas.DataFrame
        Columns judge, context, first, second, winner, in the files' order.

    Raises
    ------
    KeyError
        A file lacks a column, or an answer is none of the three (it is not the registered file).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sample3 - ann - Sheet1.tsv"
    >>> _ = path.write_text("review_id\\tsys_a\\tsys_b\\tWhich of A or B?\\nCD1\\tX\\tY\\tNeither\\n")
    >>> preference_votes(path).values.tolist()
    [['annotator-3', 'CD1', 'X', 'Y', 'tie']]
    """
    import pandas as pd

    votes = []
    for path in paths:
        match = re.match(r"sample(\d+)", path.name)
        if match is None:
            raise KeyError(f"{path.name} has no number of a sample")
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        (question,) = {name for row in rows for name in row if name and name.startswith("Which of")}
        for row in rows:
            answer = row[question].strip().lower()
            if answer:
                pair = (row["review_id"], row["sys_a"], row["sys_b"])
                votes.append((f"annotator-{match[1]}", *pair, WINNERS[answer[0]]))
    return pd.DataFrame(votes, columns=["judge", "context", "first", "second", "winner"])


def convert_llmfao(crowd: Path, gpt35: Path, gpt4: Path) -> pd.DataFrame:
    """Convert LLMFAO's three comparison files to one votes table.

    ======== =============================================================================
    judge    ``worker-NNN``, NNN the upstream ``worker`` number (0 to 123) with three digits;
             ``gpt-3.5`` and ``gpt-4`` for the two files that have no worker column
    context  the upstream ``prompt``, an integer
    first    the upstream ``left``: the model whose answer was shown first
    second   the upstream ``right``
    winner   ``left`` becomes ``first``, ``right`` becomes ``second``, ``tie`` stays
    ======== =============================================================================

    The upstream ``id``, ``model_x`` and ``model_y`` (numbers of the pair, of ``left`` and of ``right``) are
    redundant and left out. Workers are already anonymous upstream.

    Parameters
    ----------
    crowd, gpt35, gpt4 : Path
        ``crowd-comparisons.csv``, ``gpt3-crowd-comparisons.csv`` and ``gpt4-crowd-comparisons.csv``.

    Returns
    -------
    pandas.DataFrame
        Columns judge, context, first, second, winner; the crowd's rows, then GPT-3.5's, then GPT-4's.

    Raises
    ------
    KeyError
        A file lacks one of the columns named above (it is not the registered file).

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, start in [("crowd", "prompt,worker,"), ("gpt3", "prompt,"), ("gpt4", "prompt,")]:
    ...     row = "8,58," if name == "crowd" else "8,"
    ...     _ = (folder / name).write_text(f"{start}winner,left,right\\n{row}left,Alpaca,Weaver\\n")
    >>> convert_llmfao(folder / "crowd", folder / "gpt3", folder / "gpt4").values.tolist()[0]
    ['worker-058', 8, 'Alpaca', 'Weaver', 'first']
    """
    import pandas as pd

    votes = []
    for path, judge in ((crowd, None), (gpt35, "gpt-3.5"), (gpt4, "gpt-4")):
        table = pd.read_csv(path)
        votes.append(
            pd.DataFrame(
                {
                    "judge": table["worker"].map("worker-{:03d}".format) if judge is None else judge,
                    "context": table["prompt"],
                    "first": table["left"],
                    "second": table["right"],
                    "winner": table["winner"].replace({"left": "first", "right": "second"}),
                }
            )
        )
    return pd.concat(votes, ignore_index=True)


def convert_topical_chat(result: Path) -> pd.DataFrame:
    """Convert UniEval's Topical-Chat result file to a scores table.

    Each of the 360 upstream records is one reply: its ``source`` (the dialogue so far), its ``system_id``,
    ``scores`` (the annotators' mean per criterion, judge ``human``) and ``predict_scores`` (judge
    ``unieval``). Dialogues have no names upstream; they are numbered ``dialogue-00`` to ``dialogue-59`` in
    the order in which their ``source`` first appears. Scores keep the digits of the file. The scales of the two
    judges differ: annotators used 0-1 (understandability, groundedness), 1-3 (naturalness, coherence,
    engagingness) and 1-5 (overall); UniEval gives probabilities, a sum of them for engagingness, and the mean
    of the five others as overall.

    Parameters
    ----------
    result : Path
        ``topical_chat_result.json``.

    Returns
    -------
    pandas.DataFrame
        Columns context, system, criterion, judge, score (float); per reply the human scores come first.

    Raises
    ------
    KeyError
        A record lacks one of the four fields (it is not the registered file).

    Examples
    --------
    >>> import json, tempfile
    >>> reply = {"source": "hi", "system_id": "A"}
    >>> reply |= {"scores": {"overall": 4.5}, "predict_scores": {"overall": 0.9}}
    >>> path = Path(tempfile.mkdtemp()) / "result.json"
    >>> _ = path.write_text(json.dumps([reply]))
    >>> convert_topical_chat(path).values.tolist()
    [['dialogue-00', 'A', 'overall', 'human', 4.5], ['dialogue-00', 'A', 'overall', 'unieval', 0.9]]
    """
    numbers: dict[str, int] = {}

    def dialogue_name(reply: dict[str, Any]) -> str:
        return f"dialogue-{numbers.setdefault(reply['source'], len(numbers)):02d}"

    return _unieval_scores(result, dialogue_name)


def convert_summeval(result: Path) -> pd.DataFrame:
    """Convert UniEval's SummEval result file to a scores table.

    Each record is one summary: its article (``doc_id``), its ``system_id``, ``scores`` (the experts' mean per
    criterion, judge ``human``; ``overall`` is the mean of the four) and ``predict_scores`` (judge ``unieval``).

    Parameters
    ----------
    result : Path
        ``summeval_result.json``.

    Returns
    -------
    pandas.DataFrame
        Columns context, system, criterion, judge, score (float); per summary the human scores come first.

    Raises
    ------
    KeyError
        A record lacks one of the four fields (it is not the registered file).

    Examples
    --------
    >>> import json, tempfile
    >>> summary = {"doc_id": "d1", "system_id": "M0", "scores": {"fluency": 4.5}, "predict_scores": {"fluency": 0.9}}
    >>> path = Path(tempfile.mkdtemp()) / "result.json"
    >>> _ = path.write_text(json.dumps([summary]))
    >>> convert_summeval(path).values.tolist()
    [['d1', 'M0', 'fluency', 'human', 4.5], ['d1', 'M0', 'fluency', 'unieval', 0.9]]
    """
    return _unieval_scores(result, lambda summary: str(summary["doc_id"]))


def _unieval_scores(result: Path, context: Callable[[dict[str, Any]], str]) -> pd.DataFrame:
    """Return scores of people and of UniEval in a result file; ``context`` gives the context of a record."""
    import json

    import pandas as pd

    rows = [
        (context(record), record["system_id"], criterion, judge, float(score))
        for record in json.loads(result.read_text(encoding="utf-8"))
        for judge, field in (("human", "scores"), ("unieval", "predict_scores"))
        for criterion, score in record[field].items()
    ]
    return pd.DataFrame(rows, columns=["context", "system", "criterion", "judge", "score"])


def convert_mslr_cochrane(result: Path) -> pd.DataFrame:
    """Convert the annotated summaries of the MSLR shared task's Cochrane set to a scores table.

    Judges: ``human`` (the mean over annotators), ``bertscore`` and ``rouge-l`` (F, computed by the data set's authors,
    the same for all criteria). The criteria are those of :func:`annotation_scores`.

    Parameters
    ----------
    result : Path
        ``data_with_overlap_scores.json``, one review per line.

    Returns
    -------
    pandas.DataFrame
        Columns context (the review), system, criterion, judge, score (float).

    Raises
    ------
    KeyError
        A record lacks a field (it is not the registered file).
    """
    import pandas as pd

    rows = []
    for review in read_records(result):
        for summary in review.get("predictions", []) if review.get("subtask") == "Cochrane" else []:
            parts = [annotation_scores(annotation) for annotation in summary["annotations"]]
            for criterion in parts[0] if parts else ():
                values = {
                    "human": sum(part[criterion] for part in parts) / len(parts),
                    "bertscore": float(summary["scores"]["bertscore_f"]),
                    "rouge-l": float(summary["scores"]["rougeL_f"]),
                }
                key = (review["review_id"], summary["exp_short"], criterion)
                rows += [(*key, judge, value) for judge, value in values.items()]
    return pd.DataFrame(rows, columns=["context", "system", "criterion", "judge", "score"])


def annotation_scores(annotation: Mapping[str, Any]) -> dict[str, float]:
    """Compute scores by criterion of one annotation of the MSLR set.

    Fluency (0 to 2), PIO consistency (mean of population, intervention and outcome, 0 to 2), effect direction and
    evidence strength (1 if equal to the target's, else 0), and overall, the mean of these four rescaled to 0 to 1 (our
    definition).

    Examples
    --------
    >>> marks = {"fluency": 2, "population": 2, "intervention": 1, "outcome": 0}
    >>> marks |= {"ed_agree": True, "strength_agree": False}
    >>> annotation_scores(marks)["overall"]
    0.625
    """
    pio = sum(float(annotation[key]) for key in ("population", "intervention", "outcome")) / 3
    scores = {
        "fluency": float(annotation["fluency"]),
        "PIO consistency": pio,
        "effect direction": float(annotation["ed_agree"]),
        "evidence strength": float(annotation["strength_agree"]),
    }
    halves = scores["fluency"] / 2 + scores["PIO consistency"] / 2
    return scores | {"overall": (halves + scores["effect direction"] + scores["evidence strength"]) / 4}


def demo_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Read the embedded panel: its votes, 20 answers of people, and the texts with grades (0 to 3, 3 best) and words.

    Examples
    --------
    >>> votes, people, texts = demo_tables()
    >>> len(votes), len(people), texts["grade"].value_counts().to_dict()
    (960, 20, {3: 4, 2: 4, 1: 4, 0: 4})
    """
    import pandas as pd

    folder = Path(__file__).parent / "demo"
    votes, people, texts = (pd.read_csv(folder / f"{name}.csv") for name in ("votes", "people", "texts"))
    return votes, people, texts
