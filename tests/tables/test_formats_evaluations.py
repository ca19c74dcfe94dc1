"""Files of evaluations: UltraFeedback, MLflow, Every Eval Ever, OpenAI's evals, MQM sheets."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

from voirdire import InputError, fit, read

Files = dict[str, list[tuple[str, str]]]


def jsonl(path: Path, records: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return path


def rows(frame: pd.DataFrame | None) -> list[list[Any]]:
    assert frame is not None
    return frame.values.tolist()


def completion(model: str | None, **aspects: Any) -> dict[str, Any]:
    return {"response": "r", "annotations": aspects} | ({"model": model} if model else {})


class TestUltraFeedback:
    def test_every_aspect_of_every_completion(self, shared: Path) -> None:
        found = read(shared / "cases" / "f_ultra.jsonl")
        assert found.counts == {"scores": 12}
        assert set(found.scores["criterion"]) == {"helpfulness", "honesty"}
        assert set(found.scores["system"]) == {"m1", "m2"}
        assert "all are one judge 'ultrafeedback' (--set judge=NAME names it)" in found.notes[0]
        named = read(shared / "cases" / "f_ultra.jsonl", set={"judge": "gpt-4"})
        assert set(named.scores["judge"]) == {"gpt-4"}
        assert named.notes == ()

    def test_ratings_of_all_shapes(self, tmp_path: Path) -> None:
        first = completion("m1", honesty={"Rating": "4"}, truth=[{"Rating": 5, "Type": ["1"]}, {"Rating": "3"}], help=2)
        second = completion(None, honesty={"Rating": "N/A"}, truth=[], help={"rating": None}, tone={"x": 1})
        second |= {"overall_score": 8.5, "fine-grained_score": 4.25}
        records = [
            {"instruction": "q", "models": ["m1", "m2"], "completions": [first, second, {"model": "m3"}]},
            {"instruction": "q", "models": [], "completions": []},
            {"instruction": "p", "annotator": "gpt", "completions": [completion(None, honesty=1)]},
            {"completions": [first]},
            {"instruction": "r"},
        ]
        found = read(jsonl(tmp_path / "u.jsonl", records))
        columns = ["judge", "item", "score", "criterion", "run"]
        assert rows(found.scores[columns]) == [
            ["ultrafeedback", "q/m1", 4, "honesty", 1],
            ["ultrafeedback", "q/m1", 5, "truth", 1],
            ["ultrafeedback", "q/m1", 3, "truth", 2],
            ["ultrafeedback", "q/m1", 2, "help", 1],
            ["ultrafeedback", "q/m2", 8.5, "overall_score", 1],
            ["gpt", "p/completion 1", 1, "honesty", 1],
        ]
        assert rows(found.refused) == [
            ["u.jsonl:1 m2 honesty", 'no rating: "N/A"'],
            ["u.jsonl:1 m2 truth", "no rating: null"],
            ["u.jsonl:1 m2 help", "no rating: null"],
            ["u.jsonl:1 m2 tone", "no rating: null"],
            ["u.jsonl:1 m3", "no ratings"],
            ["u.jsonl:2", "the list of completions is empty"],
            ["u.jsonl:4", "neither an instruction nor an id"],
            ["u.jsonl:5", "no list of completions"],
        ]
        assert "1 means over aspects (fine-grained_score) are left out" in found.notes[1]


def assessment(name: str, value: Any, who: str | None = "gpt-x", kind: str = "LLM_JUDGE", **more: Any) -> Any:
    said = {"name": name, "source": {"source_type": kind, "source_id": who}, "feedback": {"value": value}}
    return said | more


class TestMlflow:
    def test_a_table_as_it_is_logged(self, tmp_path: Path) -> None:
        columns = ["inputs", "outputs", "ground_truth", "token_count", "toxicity/v1/score", "tone/v1/score",
                   "tone/v1/justification"]  # fmt: skip
        data = [
            ["Grüße?", "a", "b", 7, 0.25, 4, "fine"],
            ["Grüße?", "c", "b", 9, None, "5", "good"],
            ["p", "d", "b", 9, 0.5, "n/a", ""],
            ["p"],
        ]
        path = tmp_path / "eval_results_table.json"
        path.write_text(json.dumps({"columns": columns, "data": data}))
        found = read(path)
        assert found.scores.to_dict("records") == [
            {"judge": "mlflow", "item": item, "score": score, "criterion": criterion, "context": context}
            for item, score, criterion, context in (
                ("Grüße?", 0.25, "toxicity", "Grüße?"),
                ("Grüße?", 4, "tone", "Grüße?"),
                ("Grüße?/2", 5, "tone", "Grüße?"),
                ("p", 0.5, "toxicity", "p"),
            )
        ]
        assert rows(found.labels) == [["mlflow", "p", "n/a", "tone", "p"]]
        assert rows(found.refused) == [
            [f"{path.name} data[1] toxicity", "no score"],
            [f"{path.name} data[3]", "no row of 7 cells"],
        ]
        said = " ".join(found.notes)
        assert "does not say by which model or program a metric was computed" in said
        assert "the metrics toxicity, tone are criteria that count equally" in said
        assert "--set questions=NAME" in said
        named = read(path, set={"judge": "gpt-4", "system": "m", "questions": ["tone"]})
        assert named.scores["judge"].unique().tolist() == ["gpt-4"]
        assert named.scores["item"].tolist() == ["Grüße?/m", "Grüße?/2/m"]
        assert named.scores["system"].tolist() == ["m", "m"]
        assert named.notes == ()

    def test_a_logged_table_of_nothing_we_know_is_no_evaluation(self, tmp_path: Path) -> None:
        path = tmp_path / "table.json"
        path.write_text(json.dumps({"columns": ["a", "b"], "data": [[1, 2]]}))
        with pytest.raises(InputError, match="of no known format"):
            read(path)

    @pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
    def test_results_of_scorers(self, tmp_path: Path, ending: str) -> None:
        frame = pd.DataFrame(
            {
                "trace_id": ["tr-1", "tr-2"],
                "request": ["q1", "q2"],
                "correctness/value": ["yes", "no"],
                "correctness/rationale": ["", "wrong"],
                "length/value": [3.0, None],
                "length/error_message": [None, "too long"],
            }
        )
        path = tmp_path / f"result.{ending}"
        if ending == "json":
            frame.to_json(path, orient="records")
        else:
            frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
        found = read(path)
        assert set(found.formats.values()) == {"mlflow"}
        assert rows(found.labels) == [
            ["mlflow", "tr-1", "yes", "correctness", "q1"],
            ["mlflow", "tr-2", "no", "correctness", "q2"],
        ]
        assert rows(found.scores) == [["mlflow", "tr-1", 3, "length", "q1"]]
        assert found.refused["reason"].tolist() == ["error: too long"]

    def test_assessments_of_traces(self, tmp_path: Path) -> None:
        assessments = [
            assessment("correctness", "yes"),
            assessment("correctness", "no", "ann@x.org", "HUMAN"),
            assessment("correctness", True, None, "CODE"),
            assessment("grade", 4.0, "default"),
            assessment("parts", {"tone": 3, "style": "plain"}),
            assessment("facts", ["a", "b"]),
            assessment("grade", 2, "bob", "HUMAN", valid=False),
            assessment("grade", None, "eve", error={"error_code": "TIMEOUT"}),
            assessment("grade", None, "eve"),
            {"assessment_name": "grade", "source": {"source_id": "old"}, "feedback": {"value": 1}},
            {"source": {"source_id": "old"}, "feedback": {"value": 1}},
            {"name": "correctness", "source": {"source_id": "ann"}, "expectation": {"value": "yes"}},
            {"name": "grade", "expectation": {"value": 5}},
            {"name": "facts", "expectation": {"value": ["a"]}},
            "nothing",
        ]
        traces = [
            {"info": {"trace_id": "tr-1", "assessments": assessments}, "data": {"spans": []}},
            {"info": {"trace_id": "tr-2"}, "data": {}},
        ]
        path = tmp_path / "traces.json"
        path.write_text(json.dumps(traces))
        found = read(path)
        assert rows(found.labels) == [
            ["gpt-x", "tr-1", "yes", "correctness"],
            ["ann@x.org", "tr-1", "no", "correctness"],
            ["code", "tr-1", "True", "correctness"],
            ["gpt-x", "tr-1", "plain", "parts.style"],
        ]
        assert rows(found.scores) == [
            ["llm_judge", "tr-1", 4, "grade"],
            ["gpt-x", "tr-1", 3, "parts.tone"],
            ["old", "tr-1", 1, "grade"],
        ]
        reasons = found.refused["reason"].tolist()
        assert reasons[:5] == [
            'value ["a", "b"] is no number and no class',
            "grade: replaced by a later assessment",
            "grade: error: TIMEOUT",
            "grade: no value",
            "the assessment has no name",
        ]
        assert reasons[5] == 'facts: the expected value ["a"] is no number and no class'
        assert reasons[6].startswith("not as the tool writes it")
        assert reasons[7] == "the trace has no assessments"
        assert found.counts["anchors_labels"] == found.counts["anchors_scores"] == 1
        assert rows(read(path, set={"questions": ["correctness"]}).anchors) == [["tr-1", "yes", "correctness"]]
        assert "assessments without the name of who made them are those of 'code', 'llm_judge'" in found.notes[0]

    def test_traces_in_other_wrappings_are_the_same(self, tmp_path: Path) -> None:
        made = [assessment("tone", 3)]
        info = {"trace_id": "tr-1", "assessments": made}
        want = [["gpt-x", "tr-1", 3, "tone"]]
        wrappings: list[Any] = [
            {"traces": [{"info": info, "data": {}}], "next_page_token": None},
            [{"info": info, "data": {}}],
            {"info": info, "data": {}},
            [{"trace_id": "tr-1", "state": "OK", "assessments": made}],
            [{"trace_id": "tr-1", "tone/value": 3, "tone/rationale": "", "assessments": made}],
            [{"trace_id": "tr-1", "assessments": json.dumps(made)}],
            [{"trace": json.dumps({"info": info}), "tone/value": 3, "tone/rationale": ""}],
        ]
        for wrapping in wrappings:
            path = tmp_path / "file"
            path.write_text(json.dumps(wrapping))
            assert rows(read(path).scores) == want, wrapping

    def test_known_answers_go_with_a_fit(self, tmp_path: Path) -> None:
        traces = []
        for n in range(12):
            truth = "yes" if n % 2 else "no"
            made = [assessment("ok", truth if n % (k + 3) else "no", f"j{k}") for k in range(3)]
            expected = [{"name": "ok", "expectation": {"value": truth}}] if n < 5 else []
            traces.append({"info": {"trace_id": f"tr-{n}", "assessments": made + expected}, "data": {}})
        found = read(jsonl(tmp_path / "traces.jsonl", traces))
        assert rows(found.anchors)[0] == ["tr-0", "no", "ok"]
        assert fit(found.labels, anchors=found.anchors, method="map").anchored is not None


class TestEveryEvalEver:
    def results(self, files: Files) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(files["every-eval-ever"][0][1])
        return found

    def sample(self, files: Files) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(files["every-eval-ever"][1][1])
        return found

    def test_results_by_metric_and_model(self, tool_files: Files, tmp_path: Path) -> None:
        whole = self.results(tool_files)
        plain = whole["evaluation_results"][0]
        model = {"model_info": {"id": "o/judge", "name": "Judge"}}

        def changed(name: str, score: Any, judges: list[Any] | None = None, **config: Any) -> dict[str, Any]:
            one = copy.deepcopy(plain)
            one["evaluation_name"] = name
            one["score_details"] = {"score": score}
            one["metric_config"] |= config
            if judges is not None:
                one["metric_config"]["llm_scoring"] = {"judges": judges, "aggregation_method": "median"}
            return one

        whole["evaluation_results"] += [
            changed("Chat", 7.5, [model], metric_name="quality"),
            changed("Chat", 6, [model, model], metric_name="jury"),
            changed("Toxic", 0.1, metric_name=None, lower_is_better=True),
            changed("Levels", -1, has_unknown_level=True),
            changed("Text", "high"),
            changed("None", None),
            "odd",
        ]
        path = tmp_path / "r.json"
        path.write_text(json.dumps(whole))
        found = read(path)
        assert rows(found.scores) == [
            ["accuracy", "GSM/o/m", 0.5, "accuracy", "GSM", "o/m"],
            ["o/judge", "Chat/o/m", 7.5, "quality", "Chat", "o/m"],
            ["Toxic", "Toxic/o/m", 0.1, "Toxic", "Toxic", "o/m"],
        ]
        assert found.refused["reason"].tolist() == [
            "the median of 2 judges: o/judge, o/judge; none alone is here",
            "the level is unknown (-1)",
            'score "high" is no number',
            "no score",
            "a str instead of an object",
        ]
        assert any("lower is better by Toxic" in note for note in found.notes)
        assert any("the metric (or the evaluation) stands for the judge" in note for note in found.notes)
        assert read(path, set={"judge": "us"}).scores["judge"].tolist() == ["us", "o/judge", "us"]

    def test_samples_take_their_judge_from_the_results(self, tool_files: Files, tmp_path: Path) -> None:
        whole, sample = self.results(tool_files), self.sample(tool_files)
        judge = {"model_info": {"id": "o/judge", "name": "Judge"}}
        whole["evaluation_results"][0]["metric_config"]["llm_scoring"] = {"judges": [judge], "input_prompt": "?"}
        results, samples = tmp_path / "r.json", tmp_path / "r.jsonl"
        results.write_text(json.dumps(whole))
        other = sample | {"sample_id": 2, "evaluation": {"score": 0.25, "is_correct": False}}
        failed = sample | {"sample_id": "s3", "error": "timeout"}
        empty = sample | {"sample_id": "s4", "evaluation": {"is_correct": True}}
        jsonl(samples, [sample, other, failed, empty])
        found = read([results, samples])
        assert rows(found.scores[["judge", "item", "score", "criterion", "context", "system"]]) == [
            ["o/judge", "GSM/s1/o/m", 1.0, "accuracy", "GSM/s1", "o/m"],
            ["o/judge", "GSM/2/o/m", 0.25, "accuracy", "GSM/2", "o/m"],
        ]
        assert found.refused["reason"].tolist() == ["error: timeout", "no score"]
        assert any("1 results over all samples are left out" in note for note in found.notes)
        alone = read(samples)
        assert alone.scores["judge"].unique().tolist() == ["GSM"]
        assert read(results).counts == {"scores": 1}


class TestOpenaiEvals:
    SPEC: ClassVar[dict[str, Any]] = {"spec": {"completion_fns": ["m"], "eval_name": "e.dev.v0", "run_id": "r"}}

    def event(self, number: int, kind: str, data: Any, sample: Any = "e.dev.0") -> dict[str, Any]:
        return {"run_id": "r", "event_id": number, "sample_id": sample, "type": kind, "data": data}

    def test_matches_are_scores_of_a_program(self, tmp_path: Path) -> None:
        records = [
            self.SPEC,
            self.event(0, "sampling", {"prompt": "?", "sampled": ["4"]}),
            self.event(1, "match", {"correct": True, "expected": "4", "picked": "4"}),
            self.event(2, "match", {"correct": False}, "e.dev.1"),
            self.event(3, "match", {"correct": None}, "e.dev.2"),
            self.event(4, "match", {"correct": True}, None),
            self.event(5, "error", {"type": "Timeout", "message": "no answer"}, "e.dev.3"),
            self.event(6, "match", {"correct": True}),
            {"final_report": {"accuracy": 0.5}},
            ["odd"],
        ]
        found = read(jsonl(tmp_path / "log.jsonl", records))
        assert rows(found.scores) == [
            ["match", "e.dev.0/m", 1, "e.dev.0", "m", 1],
            ["match", "e.dev.1/m", 0, "e.dev.1", "m", 1],
            ["match", "e.dev.0/m", 1, "e.dev.0", "m", 2],
        ]
        assert found.refused["reason"].tolist() == [
            "correct is null, neither true nor false",
            "sample_id is missing",
            "Timeout: no answer",
            "a list instead of an object",
        ]
        assert found.notes == ("log.jsonl: the final report is of all samples and is left out",)

    def test_a_model_that_graded_is_the_judge(self, tmp_path: Path) -> None:
        graded = copy.deepcopy(self.SPEC)
        graded["spec"] |= {
            "completion_fns": ["m", "gpt-4"],
            "run_config": {"eval_spec": {"args": {"modelgraded_spec": "fact"}}},
        }
        events = [
            self.event(0, "metrics", {"choice": "A", "choice_metascore": True, "score": 0.5}),
            self.event(1, "metrics", {"choice": "__invalid__"}, "e.dev.1"),
            self.event(2, "metrics", {"choice": None, "tone": "B"}, "e.dev.2"),
        ]
        found = read(jsonl(tmp_path / "log.jsonl", [graded, *events]))
        assert rows(found.labels) == [
            ["gpt-4", "e.dev.0/m", "A", "fact", "e.dev.0", "m"],
            ["gpt-4", "e.dev.2/m", "B", "fact/tone", "e.dev.2", "m"],
        ]
        assert rows(found.scores) == [["gpt-4", "e.dev.0/m", 0.5, "fact", "e.dev.0", "m"]]
        assert found.refused["reason"].tolist() == ["the grader's answer could not be read", "null is no grade"]
        assert found.notes == ("log.jsonl: 1 agreements of the grader with people are left out",)
        own = read(jsonl(tmp_path / "own.jsonl", [self.SPEC, *events[:1]]))
        assert own.labels["judge"].tolist() == ["m"]
        assert "the evaluated model graded itself" in own.notes[0]
        assert read(tmp_path / "own.jsonl", set={"judge": "gpt-4", "system": "x"}).labels["judge"].tolist() == ["gpt-4"]

    def test_other_metrics_are_programs(self, tmp_path: Path) -> None:
        records = [self.SPEC, self.event(0, "metrics", {"bleu": 12.5, "ok": True, "text": "long", "many": [1]})]
        found = read(jsonl(tmp_path / "log.jsonl", records))
        assert [row[:3] for row in rows(found.scores)] == [["bleu", "e.dev.0/m", 12.5], ["ok", "e.dev.0/m", 1]]
        assert found.refused["reason"].tolist() == ['"long" is no grade', "[1] is no grade"]
        lone = read(jsonl(tmp_path / "events.jsonl", records[1:]))
        assert lone.scores["item"].tolist() == ["e.dev.0", "e.dev.0"]
        assert "the evaluated model is not named" in lone.notes[0]

    def test_output_items_of_the_platform(self, tool_files: Files, tmp_path: Path) -> None:
        item = json.loads(tool_files["openai-platform"][0][1])
        judged = copy.deepcopy(item) | {"datasource_item_id": 8}
        judged["results"] = [
            {"name": "tone", "score": 2.0, "passed": False, "sample": {"model": "gpt-x"}},
            {"name": "form", "score": None, "passed": False},
        ]
        failed = item | {"datasource_item_id": 9, "results": [], "sample": {"error": {"message": "too long"}}}
        path = tmp_path / "page.json"
        path.write_text(json.dumps({"object": "list", "data": [item, judged, failed], "has_more": False}))
        found = read(path)
        assert rows(found.scores) == [
            ["tone", "e1/7/m", 0.8, "tone", "e1/7", "m"],
            ["gpt-x", "e1/8/m", 2.0, "tone", "e1/8", "m"],
        ]
        assert found.refused["reason"].tolist() == ["score null is no number", "error: too long"]
        assert "no model is named that graded by tone" in found.notes[0]


MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def sheet(path: Path, lines: list[str], head: str = MQM) -> Path:
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


class TestMqm:
    def test_weights_are_summed_by_rater_system_and_segment(self, shared: Path) -> None:
        found = read(shared / "cases" / "j_wmt_mqm.tsv")
        assert found.labels is None
        got = {(row[0], row[1]): row[2] for row in rows(found.scores)}
        assert got == {
            ("r1", "d.1/10/S1"): -6,
            ("r2", "d.1/10/S1"): 0,
            ("r1", "d.1/10/S2"): 0,
            ("r2", "d.1/10/S2"): -1,
            ("r1", "d.1/11/S1"): 0,
            ("r2", "d.1/11/S1"): -5,
            ("r1", "d.1/11/S2"): 0,
            ("r2", "d.1/11/S2"): 0,
        }
        assert set(found.scores["context"]) == {"d.1/10", "d.1/11"}
        assert set(found.scores["system"]) == {"S1", "S2"}

    def test_every_weight_and_what_has_none(self, tmp_path: Path) -> None:
        said = [
            ("r1", "1", "Non-translation!", "Major"),
            ("r1", "1", "Accuracy/Omission", "Minor"),
            ("r2", "1", "Fluency/Punctuation", "Minor"),
            ("r2", "1", "Fluency/Punctuation", "minor "),
            ("r2", "1", "Fluency/Punctuation", "Minor"),
            ("r1", "2", "Fluency/Punctuation", "Major"),
            ("r2", "2", "Style/Awkward", "Neutral"),
            ("r1", "3", "Accuracy/Omission", "Critical"),
            ("r1", "3", "Accuracy/Omission", "Minor"),
            ("r2", "3", "Missed", "HOTW-test"),
            ("", "4", "No-error", "No-error"),
            ("r2", "5", "No-error", ""),
            ("r3", "5", "Non-translation", "Minor"),
        ]
        lines = [f'S\td\t9\t{seg}\t{who}\tsay "a\tä "b\t{what}\t{how}' for who, seg, what, how in said]
        found = read(sheet(tmp_path / "mqm.tsv", [*lines, "S\td"]))
        assert [row[:3] for row in rows(found.scores)] == [
            ["r1", "d/1/S", -26],
            ["r2", "d/1/S", -0.3],
            ["r1", "d/2/S", -5],
            ["r2", "d/2/S", 0],
            ["r2", "d/5/S", 0],
            ["r3", "d/5/S", -1],
        ]
        assert rows(found.refused) == [
            ["mqm.tsv:9", "severity 'Critical' is none of Major, Minor, Neutral, no-error"],
            ["mqm.tsv:12", "rater, system or segment is empty"],
            ["mqm.tsv:15", "2 fields, where the header has 9"],
            ["mqm.tsv d/3 S r1", "not scored: severity 'Critical' is none of Major, Minor, Neutral, no-error"],
        ]
        assert "1 rows are tests of the raters' attention" in found.notes[1]

    def test_later_sheets_and_other_wrappings(self, tmp_path: Path) -> None:
        head = MQM.replace("doc_id\tseg_id", "docSegId\tglobalSegId") + "\tmetadata"
        path = sheet(tmp_path / "a", ["S\td\t1\t77\tr\ta\tb\tAccuracy/Addition\tmajor\t{}"], head)
        assert rows(read(path).scores) == [["r", "d/77/S", -5, "d/77", "S"]]
        path = tmp_path / "b.csv"
        path.write_text("system,seg_id,rater,category,severity\nS,3,r,Style,Minor\n")
        assert rows(read(path).scores) == [["r", "3/S", -1, "3", "S"]]
        path = jsonl(tmp_path / "c", [{"system": "S", "seg_id": 3, "rater": "r", "category": "x", "severity": "Major"}])
        assert rows(read(path).scores) == [["r", "3/S", -5, "3", "S"]]

    def test_segments_numbered_within_documents_are_apart_whichever_column_names_these(self, tmp_path: Path) -> None:
        head = "system\tdoc_id\tseg_id\trater\tcategory\tseverity"
        path = sheet(tmp_path / "a.tsv", ["S\tx\t1\tr\tStyle\tMajor", "S\ty\t1\tr\tStyle\tMinor"], head)
        assert rows(read(path).scores) == [["r", "x/1/S", -5, "x/1", "S"], ["r", "y/1/S", -1, "y/1", "S"]]
        head = "system\tdoc_id\trater\tcategory\tseverity"  # the document is all there is
        path = sheet(tmp_path / "b.tsv", ["S\tx\tr\tStyle\tMajor"], head)
        assert rows(read(path).scores) == [["r", "x/S", -5, "x", "S"]]


def test_a_member_of_a_list_that_is_no_object_is_refused_by_name(tmp_path: Path) -> None:
    case = {"name": "c", "metricsData": [{"name": "tone", "score": 1, "evaluationModel": "m"}]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [case, [1], "x"]}))
    assert rows(read(path).refused) == [
        ["run.json case 1", "a list instead of an object"],
        ["run.json case 2", "a str instead of an object"],
    ]


def test_results_of_promptfoo_by_line_are_those_of_its_json(tmp_path: Path) -> None:
    def result(test: int, prompt: int, score: float | None) -> dict[str, Any]:
        assertion = {"type": "llm-rubric", "value": "is polite", "provider": "openai:gpt-4.1"}
        graded = {"componentResults": [{"score": score, "pass": True, "assertion": assertion}]}
        about = {"testIdx": test, "promptIdx": prompt, "provider": {"id": "m"}, "prompt": {"label": f"p{prompt}"}}
        return about | {"failureReason": 0, "gradingResult": None if score is None else graded}

    results = [result(test, prompt, 0.1 * test) for test in range(2) for prompt in range(2)] + [result(2, 0, None)]
    whole = tmp_path / "r.json"
    whole.write_text(json.dumps({"results": {"version": 3, "results": results}, "config": {}}))
    found, lines = read(whole), read(jsonl(tmp_path / "r.jsonl", results))
    assert lines.formats[str(tmp_path / "r.jsonl")] == "promptfoo"
    assert rows(lines.scores) == rows(found.scores)
    assert rows(found.scores)[1] == ["openai:gpt-4.1", "0/1", 0.0, "is polite", "0", "m | p1"]
    assert lines.refused["place"].tolist() == ["r.jsonl:5 (test 2, prompt 0)"]
    single = read(jsonl(tmp_path / "one.jsonl", results[:1]))
    assert rows(single.scores) == [["openai:gpt-4.1", "0/0", 0.0, "is polite", "0", "m"]]


def test_fresh_draws_of_cje_are_answers_of_their_own(tmp_path: Path) -> None:
    plain = [{"prompt_id": n, "judge_score": 0.1 * n} for n in range(2)]
    found = read(jsonl(tmp_path / "base_responses.jsonl", plain))
    assert rows(found.scores) == [
        ["judge_score", "0/base", 0.0, "0", "base"],
        ["judge_score", "1/base", 0.1, "1", "base"],
    ]
    assert found.refused["reason"].tolist() == ["missing", "missing"]
    several = [one | {"draw_idx": draw, "oracle_label": 0.5} for one in plain for draw in range(2)]
    found = read(jsonl(tmp_path / "b_responses.jsonl", several))
    assert found.scores is not None
    assert found.scores["item"].drop_duplicates().tolist() == ["0/b/0", "0/b/1", "1/b/0", "1/b/1"]
    assert found.scores["context"].tolist()[:4] == ["0"] * 4
    old = [{"prompt_id": n, "response": "r", "metadata": {"judge_score": 0.5}, "draw_idx": n} for n in range(2)]
    found = read(jsonl(tmp_path / "c_responses.jsonl", old))
    assert found.scores is not None
    assert found.scores["item"].tolist() == ["0/c/0", "1/c/1"]


def test_scores_beside_others_than_those_of_cje_are_a_table(tmp_path: Path) -> None:
    records = [{"prompt_id": n, "judge_score": n, "oracle_label": n, "human_score": 2 * n} for n in range(3)]
    found = read(jsonl(tmp_path / "t.jsonl", records))
    assert set(found.formats.values()) == {"table"}
    assert set(found.scores["judge"]) == {"judge_score", "oracle_label", "human_score"}


def test_classes_of_langfuse_without_a_text_are_their_values(tmp_path: Path) -> None:
    given = [("BOOLEAN", True), ("BOOLEAN", 0), ("CATEGORICAL", "good"), ("CATEGORICAL", 2), ("BOOLEAN", None)]
    records = [
        {"id": n, "name": "q", "source": "API", "dataType": kind, "value": value, "traceId": f"t{n}"}
        for n, (kind, value) in enumerate(given)
    ]
    found = read(jsonl(tmp_path / "s.jsonl", records))
    assert found.labels is not None
    assert found.labels["label"].tolist() == ["True", "False", "good"]
    assert found.refused["reason"].tolist() == ["label is empty"] * 2


def test_a_list_of_evaluations_of_biggen_is_as_the_object(tmp_path: Path) -> None:
    def record(number: int, model: str, score: int) -> dict[str, Any]:
        return {"id": f"p{number}", "response_model_name": model, "eval_model_name": "prom", "score": score}

    records = [record(0, "x", 4), record(0, "y", 3), record(1, "x", -1)]
    found = read(jsonl(tmp_path / "s.jsonl", records))
    assert rows(found.scores) == [["prom", "p0/x", 4, "p0", "x"], ["prom", "p0/y", 3, "p0", "y"]]
    assert found.refused["reason"].tolist() == ["score -1 is none"]


def test_llmbar_has_votes_in_both_orders_and_known_winners(tmp_path: Path) -> None:
    """The winner is the number of the output in the file, not its place in the order shown."""

    def record(name: str, label: Any, *winners: Any) -> dict[str, Any]:
        games = {f"swap = {swap}": {"winner": number} for swap, number in zip((False, True), winners, strict=True)}
        return {"input": name, "output_1": "x", "output_2": "y", "label": label, "results": [games]}

    path = tmp_path / "result.json"
    path.write_text(json.dumps([record("p", 1, "1", "1"), record("q", 2, "1", "2"), record("r", 0, "2", None)]))
    found = read(path, set={"judge": "gpt"})
    assert found.votes[["judge", "first", "second", "winner", "context"]].values.tolist() == [
        ["gpt", "p/1", "p/2", "first", "p"],
        ["gpt", "p/2", "p/1", "second", "p"],
        ["gpt", "q/1", "q/2", "first", "q"],
        ["gpt", "q/2", "q/1", "first", "q"],
        ["gpt", "r/1", "r/2", "second", "r"],
    ]
    assert found.anchors[["first", "second", "winner"]].values.tolist() == [
        ["p/1", "p/2", "first"],
        ["q/1", "q/2", "second"],
    ]
    assert found.refused["place"].tolist() == ["result.json[2] label", "result.json[2] result 1 swap = True"]
    assert any("'llmbar' (--set judge=NAME names it)" in note for note in read(path).notes)
