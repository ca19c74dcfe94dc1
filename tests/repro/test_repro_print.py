"""Tables as papers print them: every figure is in its place, in all three formats."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire_repro import load_system, system_names
from voirdire_repro.print_tables import laid_out, print_tables


@pytest.mark.parametrize("name", system_names())
def test_every_figure_of_every_table_is_printed(name: str) -> None:
    for table in load_system(name).tables.values():
        frame = laid_out(table)
        text = frame.to_csv(index=False)
        assert all(cell.text in text for cell in table.cells), table.name
        keys = [column for column in frame.columns if column in table.columns]
        assert not keys or not frame.duplicated(keys).any()


def test_layouts_of_the_papers() -> None:
    maple, masa = load_system("maple"), load_system("masa")
    themes = laid_out(maple.tables["table5"])
    assert themes.shape == (7, 1 + 4)
    assert themes.loc[0, "MAPLE (Full)"] == "0.752 ± 0.073"
    assert laid_out(maple.tables["table4"]).shape[0] == 1
    shares = laid_out(masa.tables["table2"])
    (average,) = shares[
        (shares["judge"] == "GPT-4") & (shares["summariser"] == "Llama-2-70B") & (shares["dataset"] == "average")
    ]["win"]
    assert average == "41.02 ± 3.72"
    dimensions = laid_out(load_system("maj_eval").tables["table3"])
    assert list(dimensions.columns[3:6]) == ["overall, pearson", "overall, spearman", "overall, kendall"]


def test_three_formats_and_ours_beside(tmp_path: Path) -> None:
    system = load_system("maple")
    own = tmp_path / "results" / "maple" / "asap2"
    own.mkdir(parents=True)
    (own / "table3.csv").write_text(
        "theme,method,statistic,value\nCar-free cities,MAPLE,mean,0.8\nCar-free cities,MAPLE,sd,0.1\n"
    )
    written = print_tables(system, tmp_path / "out", tmp_path / "results")
    assert len(written) == 3 * (len(system.tables) + 1)
    ours = pd.read_csv(tmp_path / "out" / "maple-table3-asap2.csv")
    assert ours.loc[0, "MAPLE"] == "0.8 ± 0.1"
    latex = (tmp_path / "out" / "maple-table3.tex").read_text()
    assert r"0.794 $\pm$ 0.061" in latex
    assert "(published)" in latex
    assert "<td>0.794 ± 0.061</td>" in (tmp_path / "out" / "maple-table3.html").read_text()
    found = CliRunner().invoke(app, ["repro", "mareval", "--tables", str(tmp_path / "cli")])
    assert found.exit_code == 0
    assert "mareval-table1.tex" in found.stdout
