"""Files of tools are told by their content, and a wrong --from says what the file is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voirdire import InputError, read
from voirdire.cli import app
from voirdire.tables.formats import registry
from voirdire.tables.formats.source import open_source

RUN = CliRunner()
Files = dict[str, list[tuple[str, str]]]


def test_exactly_one_tool_takes_a_file_whatever_its_name(tool_files: Files, tmp_path: Path) -> None:
    for tool, files in tool_files.items():
        for _, text in files:
            path = tmp_path / "file"
            path.write_text(text, encoding="utf-8")
            with open_source(path) as source:
                heads = [source.head] + ([source.head.as_single_record_list()] if source.head.lone else [])
                takers = {one.name for one in registry.list_tools() for head in heads if one.detect(head)}
            assert takers == {tool}, (tool, text)


def test_no_new_tool_takes_the_files_of_the_others(shared: Path) -> None:
    """That is tested with the files themselves; here, that tables of nobody stay so."""
    for folder in ("wide", "long"):
        for path in sorted((shared / "formats" / folder).glob("*/*.*")):
            if path.name != "case.json" and path.suffix in (".csv", ".tsv", ".jsonl", ".json"):
                with open_source(path) as source:
                    assert registry.tool_from_first_record(source.head) is None, path


@pytest.mark.slow
def test_every_format_is_imported_by_one_command(tool_files: Files, tmp_path: Path) -> None:
    for tool, files in tool_files.items():
        for number, (name, text) in enumerate(files):
            path = tmp_path / name
            path.write_text(text, encoding="utf-8")
            out = tmp_path / f"{tool}-{number}"
            for more in ([], ["--from", tool]):
                done = RUN.invoke(app, ["import", str(path), "--out", str(out), "--json", "--overwrite", *more])
                assert done.exit_code == 0, (tool, done.output)
                found = json.loads(done.stdout)
                assert found["formats"] == {str(path): tool}
                assert sum(found["rows"].values()) >= 1
                assert sorted(found["tables"]) == sorted(found["rows"])
                for table in found["tables"].values():
                    assert Path(table).is_file(), (tool, table)


def test_packed_files_and_single_objects_are_read_alike(tool_files: Files, tmp_path: Path) -> None:
    for files in tool_files.values():
        for name, text in files:
            plain, packed = tmp_path / name, tmp_path / f"{name}.gz"
            plain.write_text(text, encoding="utf-8")
            packed.write_bytes(gzip.compress(text.encode()))
            assert read(packed).counts == read(plain).counts


def test_a_wrong_tool_is_said_with_the_right_one(tool_files: Files, tmp_path: Path) -> None:
    for tool, files in tool_files.items():
        path = tmp_path / files[0][0]
        path.write_text(files[0][1], encoding="utf-8")
        for wrong in registry.formats_by_name():
            if wrong in (tool, "table"):
                continue
            with pytest.raises(InputError, match=f"is no file of .*--from {tool}"):
                read(path, wrong)


def test_a_first_record_that_is_odd_does_not_hide_the_tool(tmp_path: Path) -> None:
    good = {"_input_hash": 1, "_task_hash": 2, "answer": "accept", "_annotator_id": "a", "label": "ok"}
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, ({"text": "odd"}, good))))
    found = read(path, "prodigy")
    assert found.counts == {"labels": 1, "refused": 1}


@pytest.mark.parametrize(
    "tool",
    ["inspect", "promptfoo", "deepeval", "biggen", "pandalm", "judgebench-people", "mlflow", "mqm", "labelstudio"],
)
@pytest.mark.parametrize("text", ['{"x": [1, 2]}', '[{"a": 1}]', "a,b\n1,2\n", '{"a": 1}\n{"a": 2}\n'])
def test_any_file_as_one_of_a_tool_is_one_error(tmp_path: Path, tool: str, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError, match="is no file of"):
        read(path, tool)
