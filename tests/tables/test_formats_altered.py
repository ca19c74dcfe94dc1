"""Files of every tool with an answer that no tool gives, or without it: refused by name, never another answer."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from case_options import reading_of

from voirdire import InputError, read
from voirdire.tables.formats.imported import Imported

STRANGE = "perhaps##"  # no tool's word for an answer
LIST = ["one", "two"]  # where any word may be a label

#: By case of ../shared/formats the keys that hold answers, and what is put in their place.
ALTERED: dict[str, tuple[tuple[str, Any], ...]] = {
    "alpacaeval/old_integers": (("preference", STRANGE), ("preference", 7)),
    "alpacaeval/weighted": (("preference", STRANGE),),
    "arenahard/v0.1_scores_only": (("score", STRANGE),),
    "arenahard/v2.0": (("score", STRANGE),),
    "argilla/to_json": (("value", LIST),),
    "biggen/sample_evals": (("score", STRANGE),),
    "cje/fresh_draws": (("judge_score", STRANGE), ("oracle_label", STRANGE)),
    "crowdkit/classification": (("label", ""),),
    "crowdkit/llmfao": (("winner", STRANGE),),
    "crowdkit/pairwise": (("label", STRANGE),),
    "deepeval/geval": (("score", STRANGE),),
    "deepeval/two_judges": (("score", STRANGE),),
    "inspect/json_match": (("value", LIST),),
    "judgebench/two_games": (("decision", STRANGE),),
    "labelstudio/several_people": (("rating", STRANGE), ("selected", STRANGE), ("choices", LIST)),
    "langfuse/export_json": (("value", STRANGE), ("dataType", STRANGE)),
    "langsmith/feedback": (("score", LIST),),
    "lmarena/chatbot_arena": (("winner", STRANGE),),
    "lmarena/kaggle_table": (("winner_model_a", STRANGE),),
    "lmarena/preference_140k": (("winner", STRANGE),),
    "lmeval/several_metrics": (("acc", STRANGE),),
    "mtbench/human": (("winner", STRANGE),),
    "mtbench/pair": (("g1_winner", STRANGE), ("g2_winner", STRANGE)),
    "mtbench/single": (("score", STRANGE),),
    "mtbench_repro/pairwise": (("winner_ab", STRANGE), ("winner_ba", STRANGE)),
    "mtbench_repro/single": (("score_turn1", STRANGE),),
    "pandalm/people_and_a_model": (("annotator1", STRANGE), ("annotator1", 7)),
    "potato/export_jsonl": (("selection", STRANGE),),
    "promptfoo/two_judges": (("score", STRANGE),),
}
PLACES = 4  # of each key, the first so many


def places(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """The objects in a document that hold a key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for one in value.values():
            yield from places(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from places(one, key)


def alter(path: Path, whole: str, key: str, at: int, new: Any) -> bool:
    """Write a file whose answer at a place is another, or gone (``new`` is None); False without such a place."""
    if path.suffix in (".csv", ".tsv"):
        mark = "\t" if path.suffix == ".tsv" else ","
        table = pd.read_csv(path, sep=mark, dtype=str, keep_default_na=False)
        if key not in table or at >= len(table) or new is None:
            return False
        table.loc[at, key] = new
        table.to_csv(path, sep=mark, index=False)
        return True
    try:
        document, lines = json.loads(whole), False
    except ValueError:
        document, lines = [json.loads(line) for line in whole.splitlines() if line.strip()], True
    found = list(places(document, key))
    if at >= len(found):
        return False
    if new is None:
        del found[at][key]
    else:
        found[at][key] = new
    path.write_text("\n".join(map(json.dumps, document)) if lines else json.dumps(document))
    return True


def answers(found: Imported) -> Counter[tuple[str, ...]]:
    rows: Counter[tuple[str, ...]] = Counter()
    for name in ("votes", "scores", "labels"):
        table = getattr(found, name)
        if table is not None:
            # which repetition it is may change where one before it is refused
            table = table.drop(columns="run", errors="ignore").reindex(sorted({*table.columns} - {"run"}), axis=1)
            columns = list(table.columns)
            for row in table.astype(str).values.tolist():
                pairs = zip(columns, row, strict=True)
                rows[(name, *(f"{column}={cell}" for column, cell in pairs if cell not in ("", "nan", "None")))] += 1
    return rows


@pytest.mark.parametrize("case", ALTERED)
def test_an_answer_that_is_none_is_refused_and_nothing_else_changes(shared: Path, tmp_path: Path, case: str) -> None:
    folder = shared / "formats" / case
    if not folder.is_dir():
        pytest.skip("no files of tools in VOIRDIRE_SHARED")
    about = json.loads((folder / "case.json").read_text())
    files = [folder / name for name in about["files"]]
    whole = read(files, **reading_of(about))
    before, refused = (answers(whole), Counter(map(tuple, whole.refused[["place", "reason"]].to_numpy().tolist())))
    told = 0
    for key, new in ALTERED[case]:
        for at in range(PLACES):
            for put in (new, None):
                copy = tmp_path / f"{key}-{at}-{'gone' if put is None else 'strange'}"
                copy.mkdir(exist_ok=True)
                for file in files:
                    shutil.copyfile(file, copy / file.name)
                first = copy / files[0].name
                if not alter(first, first.read_text(encoding="utf-8-sig"), key, at, put):
                    continue
                try:
                    found = read([copy / file.name for file in files], **reading_of(about))
                except InputError as error:
                    told += bool(str(error))
                    continue
                after = answers(found)
                assert not after - before, (key, at, put, after - before)
                lost = sum(before.values()) - sum(after.values())
                more = Counter(map(tuple, found.refused[["place", "reason"]].to_numpy().tolist())) - refused
                assert lost == 0 or more, (key, at, put)
                told += lost > 0
    assert told, f"no {[key for key, _ in ALTERED[case]]} of {files[0].name} is an answer"


def test_every_tool_is_in_the_table(shared: Path) -> None:
    tools = {path.parent.parent.name for path in (shared / "formats").glob("*/*/case.json")}
    if not tools:
        pytest.skip("no files of tools in VOIRDIRE_SHARED")
    assert {case.partition("/")[0] for case in ALTERED} == tools - {"wide", "long"}


def _odd_in_the_middle() -> dict[str, tuple[Any, list[str]]]:
    """Files whose only record has a good answer, an odd one, and a good one; with the places of what is refused."""
    choice = {"type": "choices", "from_name": "c", "value": {"choices": ["x"]}}
    rating = {"type": "rating", "from_name": "r", "value": {}}
    study = [{"id": 7, "annotations": [{"id": 1, "completed_by": 3, "result": [choice, rating, choice]}]}]
    answers = {"a": [{"value": 1, "user_id": "u"}], "b": [{"user_id": "u"}], "c": [{"value": 2, "user_id": "u"}]}
    argilla = [{"id": "r", "fields": {}, "responses": answers, "_server_id": "s"}]
    scores = {"a": {"value": 1}, "b": {}, "c": {"value": 2}}
    inspect = {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "scores": scores}]}
    metrics = [{"name": "a", "score": 1}, {"score": 1}, {"name": "b", "score": 1}]
    deepeval = {"testCases": [{"name": "case", "metricsData": metrics}]}
    assertions = [{"assertion": {"type": "pi"}} | ({"score": 1} if good else {}) for good in (True, False, True)]
    result = {"testIdx": 0, "promptIdx": 0, "provider": "m", "gradingResult": {"componentResults": assertions}}
    games = [{"decision": "A>B", "judgment": {"judge_model": "g"}}, {"decision": "A>B"}, None]
    games[2] = games[0]
    judgebench = [{"pair_id": "p", "judge_name": "j", "judgments": games}]
    items = [{"eval_id": "e", "run_id": "r", "datasource_item_id": 1, "results": metrics}]
    labels = {"a": {"x": "x"}, "b": 3, "c": {"y": "y"}}
    potato = [{"instance_id": "i", "user_id": "u", "labels": labels}]
    return {
        "Label Studio": (study, ["f.json task 7 annotation 1"]),
        "Argilla": (argilla, ["f.json[0] b"]),
        "Inspect": (inspect, ["f.json sample 1 epoch 1 b"]),
        "DeepEval": (deepeval, ["f.json case"]),
        "promptfoo": ([result], ["f.json[0] (test 0, prompt 0) assertion 1"]),
        "JudgeBench": (judgebench, ["f.json[0] game 1"]),
        "OpenAI's platform": (items, ["f.json[0]"]),
        "Potato": (potato, ["u i b"]),
    }


@pytest.mark.parametrize("tool", _odd_in_the_middle())
def test_one_odd_answer_of_a_record_takes_no_other_with_it(tmp_path: Path, tool: str) -> None:
    content, places = _odd_in_the_middle()[tool]
    path = tmp_path / "f.json"
    path.write_text(json.dumps(content))
    found = read(path)
    assert found.refused["place"].tolist() == places
    assert sum(count for kind, count in found.counts.items() if kind != "refused") == 2
