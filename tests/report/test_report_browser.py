"""Pages in a real browser: what they say, sort and print, on a phone, in the dark, without scripts; LaTeX compiled."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import voirdire
from voirdire import Fit, fit
from voirdire.folders import write_file
from voirdire.report.compare import Comparison, compare_page
from voirdire.report.output import check_format, render_page
from voirdire.report.sources import save_rows
from voirdire.report.verb import report

FITS = ("llmfao", "many", "one_judge", "hostile", "scored", "hostile_scores")
PAGES = (*FITS, "labelled", "hostile_labels", "study", "metaeval", "hostile_rows", "compared")
LONG = ("llmfao", "many")  # pages of hundreds of items
SLOW = (*LONG, "hostile_labels", "hostile_scores", "hostile_rows", "scored", "compared")
HOSTILE = ("hostile", "hostile_scores", "hostile_labels", "hostile_rows", "compared")


def most_are_slow(names: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW) + [pytest.mark.long] * (name in LONG))
        for name in names
    ]


@pytest.fixture(scope="module")
def llmfao(request: pytest.FixtureRequest) -> Fit:
    table = request.getfixturevalue("shared") / "data" / "llmfao_votes.csv"
    if not table.is_file():
        pytest.skip(f"{table} is not there")
    return fit(table, model="crowd-bt-position")


@pytest.fixture(scope="module")
def metaeval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = []
    for item in range(40):
        for criterion in ("coherence", "<b>fluency</b>"):
            people = (7 * item) % 11
            rows.append(("human", item, criterion, people))
            rows.append(("good", item, criterion, people + (item % 3)))
            rows.append(("fair", item, criterion, people + 4 * (item % 3)))
            rows.append(("constant", item, criterion, 1))
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])
    found = voirdire.metaeval(table, "human", resamples=200)
    folder = tmp_path_factory.mktemp("metaeval") / "run"
    return save_rows(found, folder, "metaeval", {"prob": 0.95, "seed": 0})


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"folder": tmp_path_factory.mktemp("pages")}


@pytest.fixture
def page(name: str, request: pytest.FixtureRequest, pages: dict[str, Path]) -> Path:
    """The page of a run, made once."""
    if name not in pages:
        pages[name] = made(request.getfixturevalue(name), pages["folder"] / f"{name}.html")
    return pages[name]


def made(run: Any, path: Path) -> Path:
    """The page of a run, or of a comparison."""
    if not isinstance(run, Comparison):
        return report(run, path)
    write_file(path, render_page(compare_page(run), check_format(path, None)))
    return path


@pytest.mark.parametrize("name", most_are_slow(PAGES))
def test_a_page_is_quiet_keeps_to_itself_and_fits(name: str, page: Path, browser: Any, artefacts: Path) -> None:
    for width in (1280, 390):
        for dark in (False, True):
            browser.open(page, width=width, dark=dark)
            size = browser.run("[document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]")
            assert max(size[:2]) <= size[2] == width
            assert browser.errors == []
            sent = [address for address in browser.requests if not address.startswith("data:")]
            assert sent == [page.as_uri()]
            ground = browser.run("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 150) == dark
            browser.screenshot(artefacts / f"{name}-{width}{'-dark' * dark}.png", whole=True)


@pytest.mark.parametrize("name", most_are_slow(PAGES))
def test_axe_finds_nothing_serious(name: str, page: Path, browser: Any, axe: str) -> None:
    for dark in (False, True):
        browser.open(page, dark=dark)
        browser.run(f"{axe}; 0")
        found = browser.run("axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html)]))")
        assert [one for one in found if one[0] in ("serious", "critical")] == []


def rows(browser: Any, table: str) -> list[list[str]]:
    code = f"[...document.querySelectorAll('#t-{table} tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    return browser.run(code)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", most_are_slow(FITS))
def test_the_first_row_is_that_of_the_ranking(
    name: str, page: Path, browser: Any, request: pytest.FixtureRequest
) -> None:
    ranking = request.getfixturevalue(name).ranking()
    browser.open(page)
    shown = rows(browser, "ranking")
    assert [row[1] for row in shown] == ranking["item"].tolist()
    first = ranking.iloc[0]
    assert shown[0][0].startswith("1")
    score = shown[0][2].split()[0].replace("\u2212", "-")
    digits = len(score.partition(".")[2])
    assert float(score) == round(first["score"], digits)
    assert first["item"][:20] in browser.run("document.querySelector('.lead').textContent")


@pytest.mark.parametrize("name", most_are_slow(FITS))
def test_tables_sort_and_filter(name: str, page: Path, browser: Any, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(name)
    judges = found.judges()
    many = next(name for name in ("votes", "answers") if name in judges)
    browser.open(page)
    head = f"[...document.querySelectorAll('#t-judges th')].find(h => h.textContent == '{many}')"
    place = browser.run(f"{head}.cellIndex")
    if len(judges) > 1:
        for way in ("descending", "ascending"):
            browser.run(f"{head}.querySelector('button').click()")
            assert browser.run(f"{head}.getAttribute('aria-sort')") == way
            given = [int(row[place].replace(",", "")) for row in rows(browser, "judges")]
            assert given == sorted(judges[many], reverse=way == "descending")
    if len(judges) > 8:
        name_ = judges["judge"].iloc[5]
        code = "const f = document.querySelector('#t-judges').closest('.block').querySelector('input');"
        browser.run(f"{code} f.value = {name_!r}; f.dispatchEvent(new Event('input'))")
        left = browser.run("[...document.querySelectorAll('#t-judges tbody tr')].filter(r => !r.hidden).length")
        # a row may name another judge, such as the one that it is a copy of
        texts = ["".join(row).lower() for row in rows(browser, "judges")]
        assert left == sum(all(word in text for word in name_.lower().split()) for text in texts) >= 1


@pytest.mark.parametrize("name", most_are_slow(FITS))
def test_a_copy_holds_every_digit_and_no_formula(
    name: str, page: Path, browser: Any, request: pytest.FixtureRequest
) -> None:
    fit = request.getfixturevalue(name)
    ranking = fit.ranking().assign(rank_low=[row["rank_low"] for row in fit.as_dict()["items"]])
    browser.open(page)
    found = list(csv.DictReader(io.StringIO(browser.run("document.getElementById('t-ranking').csv()"), newline="")))
    assert len(found) == len(ranking)
    for row, (_, asked) in zip(found, ranking.iterrows(), strict=True):
        for key in ("score", "sd", "low", "high", "rank_low", "p_best"):
            assert math.isclose(float(row[key]), asked[key], rel_tol=1e-12), key
        risky = asked["item"].startswith(("=", "+", "-", "@"))
        assert row["item"] == ("'" if risky else "") + asked["item"]


@pytest.mark.parametrize("name", most_are_slow(PAGES))
def test_a_page_prints_on_several_sheets(name: str, page: Path, browser: Any, artefacts: Path) -> None:
    browser.open(page)
    pdf = browser.pdf()
    (artefacts / f"{name}.pdf").write_bytes(pdf)
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    assert 2 <= sheets <= 60
    # nothing is hidden in a frame that scrolls
    browser.call("Emulation.setEmulatedMedia", media="print")
    cut = "[...document.querySelectorAll('.holder')].filter(h => h.scrollHeight > h.clientHeight + 1).length"
    assert browser.run(cut) == 0
    browser.call("Emulation.setEmulatedMedia", media="")


def test_everything_can_be_read_without_scripts(browser: Any, hostile: Fit, tmp_path: Path) -> None:
    page = report(hostile, tmp_path / "page.html")
    browser.open(page, script=False)
    assert [row[1] for row in rows(browser, "ranking")] == hostile.ranking()["item"].tolist()
    assert browser.run("document.querySelectorAll('button, input').length") == 0
    assert browser.run("document.querySelectorAll('figure svg').length") >= 6


@pytest.mark.parametrize("name", most_are_slow(HOSTILE))
def test_names_do_not_act(name: str, page: Path, browser: Any) -> None:
    browser.open(page)
    assert browser.run("window.hit") is None
    assert browser.run("document.scripts.length") == browser.run(
        "1 + document.querySelectorAll('script[type=\"application/json\"]').length"
    )
    text = browser.run("document.body.innerText")
    assert "<script>window.hit=1</script>" in text
    # the policy of the page stops what would come from elsewhere
    refused = browser.run("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    # and no cell of a copy is a formula
    copies = browser.run("[...document.querySelectorAll('table')].map(t => t.csv())")
    cells = [cell for text in copies for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert [cell for cell in cells if re.match(r"[=+@\t\r]|-(?![\d.])", cell)] == []


def test_a_comparison_sorts_and_begins_as_its_first_run_ranks(
    browser: Any, compared: Comparison, tmp_path: Path
) -> None:
    browser.open(made(compared, tmp_path / "page.html"))
    shown = rows(browser, "items")
    assert [row[0] for row in shown] == [row["item"] for row in compared.items]
    first = min(compared.items, key=lambda row: row[f"rank {next(iter(compared.runs))}"])
    assert shown[0][0] == first["item"]
    head = "[...document.querySelectorAll('#t-items th')].find(h => h.textContent == 'shift')"
    place = browser.run(f"{head}.cellIndex")
    for way in ("descending", "ascending"):
        browser.run(f"{head}.querySelector('button').click()")
        shifts = [float(row[place]) for row in rows(browser, "items")]
        assert shifts == sorted((row["shift"] for row in compared.items), reverse=way == "descending")
    assert len(set(shifts)) > 1


def test_marks_of_the_best_metric(browser: Any, metaeval: Path, tmp_path: Path) -> None:
    page = report(metaeval, tmp_path / "page.html")
    browser.open(page)
    shown = {row[0]: row[1:] for row in rows(browser, "by-spearman")}
    assert list(shown) == ["good", "fair", "constant"]
    best = browser.run(
        "[...document.querySelectorAll('#t-by-spearman strong')].map(e => e.closest('tr').cells[0].textContent)"
    )
    assert best == ["good", "good"]
    assert all(cell.startswith("–") for cell in shown["constant"])
    foot = browser.run("document.querySelector('#t-by-spearman').closest('.block').querySelector('.foot').textContent")
    assert "constant" in foot


@pytest.fixture(scope="module")
def engine() -> str:
    for name in ("pdflatex", "tectonic", "xelatex"):
        if shutil.which(name):
            return name
    pytest.skip("no LaTeX: install Debian's texlive-latex-base and texlive-latex-recommended, or tectonic")


@pytest.mark.slow
def test_tables_with_hostile_names_compile(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    parts = (*HOSTILE, "many")
    for name in parts:
        made(request.getfixturevalue(name), tmp_path / f"{name.replace('_', '-')}.tex")
    inputs = "".join(rf"\input{{{name.replace('_', '-')}}}" for name in parts)
    head = r"\documentclass{article}\usepackage{booktabs,longtable,array}\begin{document}"
    document = rf"{head}{inputs}\end{{document}}"
    (tmp_path / "all.tex").write_text(document)
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([engine, *options, "all.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


@pytest.mark.parametrize("name", most_are_slow(HOSTILE))
def test_hostile_names_are_escaped_everywhere(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    hostile = request.getfixturevalue(name)
    html = made(hostile, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>window" not in html
    assert "&lt;script&gt;window.hit=1&lt;/script&gt;" in html
    markdown = made(hostile, tmp_path / "a.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)<script", markdown)
    latex = made(hostile, tmp_path / "a.tex").read_text(encoding="utf-8")
    assert r"50\% of \$x\_1\$" in latex
    if name != "hostile_rows":
        for text in (html, markdown):
            assert "x" * 295 in text
