"""Figures are drawn from what is committed, and say whether the numbers are the paper's or ours."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire_repro import draw, load_system

FIGURES = {
    "maple": [f"maple-figure{number}" for number in range(1, 7)],
    "maj_eval": [f"maj_eval-figure{number}" for number in range(3, 6)],
    "debate": ["debate-figure2"],
    "mareval": ["mareval-figure3"],
    "masa": ["masa-table3"],
}


def reproduce(project: Path, system: str) -> ModuleType:
    path = project / "paper_repro" / system / "reproduce.py"
    spec = importlib.util.spec_from_file_location(f"reproduce_{system}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("system", FIGURES)
def test_figures_are_drawn(system: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, str] = {}

    def keep(figure: object, path: Path, source: str) -> None:
        said[path.stem] = source
        draw.save(figure, path, source)  # type: ignore[arg-type]

    module = reproduce(project, system)
    monkeypatch.setattr(module, "save", keep)
    module.draw(load_system(system), tmp_path)
    assert sorted(said) == FIGURES[system]
    for name, source in said.items():
        assert source.startswith(("The paper's figures", "Our run")), source
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("system", "run", "claim", "axis"),
    [("debate", "summeval", "figure2-rounds", "most rounds"), ("mareval", "topical-chat", "figure3-runs", "Monte")],
)
def test_a_run_of_ours_draws_its_curve(
    system: str, run: str, claim: str, axis: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The iterations or runs that were tried, and what the correlation came to, stand in the paper's figure."""
    kept = tmp_path / system / run
    kept.mkdir(parents=True)
    (kept / "curves.csv").write_text(
        f"claim,tried,value\nother,1,0.9\n{claim},1,0.41\n{claim},2,0.47\n{claim},3,0.52\n", encoding="utf-8"
    )
    drawn: list[Any] = []
    module = reproduce(project, system)
    monkeypatch.setattr(module, "save", lambda figure, path, source: drawn.append((figure, source)))
    module.draw(load_system(system), tmp_path, tmp_path)
    ((figure, source),) = drawn
    (axes,) = [one for one in figure.axes if axis in one.get_xlabel()]
    lines = [list(zip(*line.get_data(), strict=True)) for line in axes.lines]
    assert [(1, 0.41), (2, 0.47), (3, 0.52)] in lines
    assert "our run" in source


def test_the_program_of_a_paper_writes_its_tables(project: Path, tmp_path: Path) -> None:
    """``python paper_repro/masa/reproduce.py --tables DIR``: CSV, LaTeX and HTML of every table."""
    program = project / "paper_repro" / "masa" / "reproduce.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", [str(program), "--tables", str(tmp_path)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(program), run_name="__main__")
    assert ended.value.code in (0, None)
    tables = load_system("masa").tables
    assert {path.name for path in tmp_path.iterdir()} == {
        f"masa-{name}.{suffix}" for name in tables for suffix in ("csv", "tex", "html")
    }


def test_the_command_draws_and_runs(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["repro", "masa", "--figures", str(tmp_path)])
    assert found.stdout.split() == [str(tmp_path / "masa-table3.png")]
    assert (tmp_path / "masa-table3.png").read_bytes().startswith(b"\x89PNG")
    for arguments, said in (
        (["--run", "asap2"], "name it: voirdire repro PAPER"),
        (["maple", "--run", "asap2"], "--out is missing"),
        (["maple", "--run", "asap3", "--out", str(tmp_path)], "unknown run 'asap3'"),
    ):
        found = CliRunner().invoke(app, ["repro", *arguments])
        assert found.exit_code == 1
        assert said in found.stderr


def test_bars_show_the_typed_figures(project: Path) -> None:
    figure, (axis,) = draw.canvas()
    table = load_system("maple").tables["table3"]
    themes = list(dict.fromkeys(cell.by["theme"] for cell in table.cells))
    series = {"MAPLE": draw.column(table, "theme", themes, method="MAPLE", statistic="mean"), "none": [None] * 7}
    draw.grouped_bars(axis, themes, series, "concordance")
    assert [bar.get_height() for bar in axis.patches] == [0.794, 0.832, 0.880, 0.833, 0.840, 0.876, 0.810]
    assert [text.get_text() for text in axis.get_xticklabels()] == themes
    assert figure.axes == [axis]


def test_the_synthetic_panel_of_figures_1_and_4(project: Path) -> None:
    found = reproduce(project, "maple").synthetic()
    assert {len(values) for values in found.values()} == {20}
    means = {key: sum(values) / 20 for key, values in found.items()}
    singles = {panel: mean for (panel, model), mean in means.items() if model == "maple" and panel != "all models"}
    assert len(singles) == 10
    # the sd over replicates is at most 0.08, so two standard errors of a difference are below 0.04
    assert means["all models", "maple"] - max(singles.values()) > 0.04


@pytest.mark.slow
def test_the_synthetic_panel_again(project: Path) -> None:
    from dataclasses import replace

    from voirdire_studies import load_study, run_study

    module = reproduce(project, "maple")
    study = load_study(module.SYNTHETIC / "study.toml")
    kept = module.synthetic()
    panels = [study.settings["panels"][0], study.settings["panels"][-1]]
    small = replace(study, settings={**study.settings, "panels": panels, "models": ["maple"], "batch": 2})
    for row in run_study(small, replicates=2).replicates.to_dict("records"):
        assert row["value"] == pytest.approx(kept[row["panel"], row["model"]][row["replicate"]], abs=0.01)
