"""Conversion of upstream files with answers of people: labels, votes and scores, and the people's answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

GRADES = ("0", "1", "2", "3")


def convert_dices(crowd: Path, expert: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert DICES-350 from JUDGE-BENCH: the raters' labels and the experts' label of each conversation.

    Both files list ``instances`` with an ``id`` and ``annotations.safety.individual_human_scores``, in the crowd's file
    one label per rater, in the order of the raters. Raters have no names upstream; here: ``rater-001`` and so on.

    Returns
    -------
    tuple of pandas.DataFrame
        Columns item, judge, label (Yes, No, Unsure); and item, label.

    Raises
    ------
    KeyError
        A record lacks one of the fields (it is not the registered file).

    Examples
    --------
    >>> import tempfile
    >>> folder, paths = Path(tempfile.mkdtemp()), []
    >>> for name, said in (("crowd", ["No", "Unsure"]), ("expert", ["No"])):
    ...     one = {"id": 7, "annotations": {"safety": {"individual_human_scores": said}}}
    ...     _ = (folder / name).write_text(json.dumps({"instances": [one]}))
    ...     paths.append(folder / name)
    >>> labels, gold = convert_dices(*paths)
    >>> labels.values.tolist()
    [['conversation-007', 'rater-001', 'No'], ['conversation-007', 'rater-002', 'Unsure']]
    >>> gold.values.tolist()
    [['conversation-007', 'No']]
    """
    import pandas as pd

    def answers_by_conversation(path: Path) -> list[tuple[str, list[str]]]:
        instances = json.loads(path.read_text(encoding="utf-8"))["instances"]
        return [
            (f"conversation-{record['id']:03d}", record["annotations"]["safety"]["individual_human_scores"])
            for record in instances
        ]

    labels = [
        (item, f"rater-{k:03d}", label)
        for item, answers in answers_by_conversation(crowd)
        for k, label in enumerate(answers, 1)
    ]
    gold = [(item, expert_labels[0]) for item, expert_labels in answers_by_conversation(expert)]
    return (pd.DataFrame(labels, columns=["item", "judge", "label"]), pd.DataFrame(gold, columns=["item", "label"]))


def convert_newsroom(result: Path) -> tuple[pd.DataFrame, None, pd.DataFrame]:
    """Convert Newsroom's human evaluation from JUDGE-BENCH: three scores of each summary under each criterion.

    Summaries are ``summary-000`` and so on in the order of the file; seven consecutive ones are of one article, by the
    seven systems in turn. Raters have no names upstream; here they are ``rater-1`` to ``rater-3`` by position, so the
    same name may be different persons.

    Returns
    -------
    tuple of pandas.DataFrame
        Scores with columns item, criterion (small letters), judge, score (int); None, as there are no further answers
        of people; and items with their context (``article-00`` and so on) and system (``system-0`` to ``system-6``).

    Raises
    ------
    KeyError
        A record lacks one of the fields (it is not the registered file).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "newsroom.json"
    >>> one = {"annotations": {"Fluency": {"individual_human_scores": [3, 5]}}}
    >>> _ = path.write_text(json.dumps({"instances": [one]}))
    >>> scores, _, items = convert_newsroom(path)
    >>> scores.values.tolist()
    [['summary-000', 'fluency', 'rater-1', 3], ['summary-000', 'fluency', 'rater-2', 5]]
    >>> items.values.tolist()
    [['summary-000', 'article-00', 'system-0']]
    """
    import pandas as pd

    instances = json.loads(result.read_text(encoding="utf-8"))["instances"]
    rows = [
        (f"summary-{number:03d}", criterion.lower(), f"rater-{k}", score)
        for number, instance in enumerate(instances)
        for criterion, answers in instance["annotations"].items()
        for k, score in enumerate(answers["individual_human_scores"], 1)
    ]
    items = [(f"summary-{n:03d}", f"article-{n // 7:02d}", f"system-{n % 7}") for n in range(len(instances))]
    return (
        pd.DataFrame(rows, columns=["item", "criterion", "judge", "score"]),
        None,
        pd.DataFrame(items, columns=["item", "context", "system"]),
    )


def convert_llmjudge(
    *paths: Path, judges: Sequence[str], queries: Sequence[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert LLMJudge: grades of query-passage pairs by language models, and by people.

    All files have the format of TREC's judgements, ``query 0 passage grade`` per line. An item is ``query|passage``.
    Lines without a grade from 0 to 3 are left out.

    Parameters
    ----------
    *paths : Path
        One file per judge, in the order of ``judges``, then the people's file.
    judges : sequence of str
        Names of the judges.
    queries : sequence of str, optional
        Queries to keep; all by default.

    Returns
    -------
    tuple of pandas.DataFrame
        Columns judge, item, context (the query), label (int); and item, label.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("q1 0 p3 2\\nq1 0 p4 9\\n")
    >>> _ = (folder / "people.txt").write_text("q1 0 p3 1\\n")
    >>> labels, gold = convert_llmjudge(folder / "a.txt", folder / "people.txt", judges=["a"])
    >>> labels.values.tolist(), gold.values.tolist()
    ([['a', 'q1|p3', 'q1', 2]], [['q1|p3', 1]])
    """
    import pandas as pd

    def is_kept(query: str) -> bool:
        return queries is None or query in queries

    def read_grades(path: Path) -> list[tuple[str, str, int]]:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [(f"{q}|{p}", q, int(grade)) for q, _, p, grade in lines if grade in GRADES and is_kept(q)]

    *judge_paths, people_path = paths
    labels = [(judge, *row) for judge, path in zip(judges, judge_paths, strict=True) for row in read_grades(path)]
    gold = [(item, grade) for item, _, grade in read_grades(people_path)]
    return (
        pd.DataFrame(labels, columns=["judge", "item", "context", "label"]),
        pd.DataFrame(gold, columns=["item", "label"]),
    )


def convert_llmbar(*paths: Path, subsets: Sequence[str]) -> pd.DataFrame:
    """Convert LLMBar: for each pair of outputs the one that follows the instruction, as agreed by its authors.

    Parameters
    ----------
    *paths : Path
        One ``dataset.json`` per subset, in the order of ``subsets``.
    subsets : sequence of str
        Names of the subsets; a pair of outputs is ``<subset>-000/1`` and ``<subset>-000/2``.

    Returns
    -------
    pandas.DataFrame
        Columns judge (``people``), subset, first, second, winner.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "dataset.json"
    >>> _ = path.write_text(json.dumps([{"input": "Add.", "output_1": "2", "output_2": "3", "label": 2}]))
    >>> convert_llmbar(path, subsets=["Natural"]).values.tolist()
    [['people', 'Natural', 'Natural-000/1', 'Natural-000/2', 'second']]
    """
    import pandas as pd

    winners = {1: "first", 2: "second"}
    rows = [
        ("people", subset, f"{subset}-{number:03d}/1", f"{subset}-{number:03d}/2", winners[pair["label"]])
        for subset, path in zip(subsets, paths, strict=True)
        for number, pair in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]
    return pd.DataFrame(rows, columns=["judge", "subset", "first", "second", "winner"])


def convert_llmbar_judges(*paths: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert the verdicts of LLMBar's judges: each language model under each prompt on each pair, in both orders.

    Parameters
    ----------
    *paths : Path
        ``<subset>/evaluators/<model>/<prompt>/result.json``: a list of pairs with ``label`` and ``results``. One of
        the results holds a ``winner`` for each order, the number of an output; unreadable verdicts are left out.

    Returns
    -------
    tuple of pandas.DataFrame
        Columns judge (``model/prompt``), subset, first, second, winner; and the authors' answers: first, second,
        winner, subset.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "Natural" / "evaluators" / "GPT-4" / "CoT" / "result.json"
    >>> path.parent.mkdir(parents=True)
    >>> said = {"swap = False": {"winner": "1"}, "swap = True": {"winner": "1"}}
    >>> _ = path.write_text(json.dumps([{"label": 2, "results": [said]}]))
    >>> votes, people = convert_llmbar_judges(path)
    >>> votes.values.tolist()[1]
    ['GPT-4/CoT', 'Natural', 'Natural-000/2', 'Natural-000/1', 'second']
    >>> people.values.tolist()
    [['Natural-000/1', 'Natural-000/2', 'second', 'Natural']]
    """
    import pandas as pd

    rows, people = [], {}
    for path in paths:
        *_, subset, _, model, prompt, _ = path.parts
        for number, pair in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            outputs = [f"{subset}-{number:03d}/{n}" for n in ("1", "2")]
            people[outputs[0]] = (*outputs, "second" if pair["label"] == 2 else "first", subset)
            (result,) = (part for part in pair["results"] if isinstance(part, dict))
            for swapped, shown in ((False, outputs), (True, outputs[::-1])):
                best = result[f"swap = {swapped}"]["winner"]
                if best in ("1", "2"):
                    winner = "first" if shown[0].endswith(best) else "second"
                    rows.append((f"{model}/{prompt}", subset, *shown, winner))
    return (
        pd.DataFrame(rows, columns=["judge", "subset", "first", "second", "winner"]),
        pd.DataFrame(people.values(), columns=["first", "second", "winner", "subset"]),
    )
