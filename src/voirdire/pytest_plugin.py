"""Plugin of pytest: the fixture ``voirdire_gate``, which fails a test where a new version is worse than the old one.

::

    def test_the_new_prompt_is_no_worse(voirdire_gate):
        voirdire_gate("new.csv", "old.csv", margin=0.05)

It loads nothing until the fixture is called. The verdicts of a run are listed at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

PROPERTY = "voirdire_gate"
OPTION = "voirdire_inconclusive"
CHOICES = ("fail", "skip", "pass")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting of what an inconclusive verdict does."""
    parser.addini(OPTION, f"What an inconclusive gate does: {', '.join(CHOICES)}.", default="fail")


@pytest.fixture
def voirdire_gate(
    record_property: Callable[[str, object], None], pytestconfig: pytest.Config
) -> Callable[..., dict[str, Any]]:
    """Gate of a release: :func:`voirdire.gate`, which fails the test where the verdict is no pass.

    It takes what :func:`voirdire.gate` takes, and ``inconclusive``: "fail", "skip" or "pass" (by default the setting
    ``voirdire_inconclusive``, else "fail").
    """

    def check_gate(
        *tables: object, inconclusive: Literal["fail", "skip", "pass"] | None = None, **settings: Any
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        from voirdire.decide.gate import gate, verdict_sentence

        action = inconclusive or pytestconfig.getini(OPTION)
        if action not in CHOICES:
            name = "inconclusive" if inconclusive else OPTION
            raise pytest.UsageError(f"{name} {action!r} is none of {', '.join(CHOICES)}")
        found = gate(*tables, **settings)
        said = verdict_sentence(found, lambda name: name.encode("unicode_escape").decode("ascii"))
        record_property(PROPERTY, said)
        if found["verdict"] == "fail" or (found["verdict"] == "inconclusive" and action == "fail"):
            pytest.fail(f"{said}\n{found['rule']}\nNote: {found['note']}.", pytrace=False)
        if found["verdict"] == "inconclusive" and action == "skip":
            pytest.skip(said)
        return found

    return check_gate


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the verdicts of all gates, whichever process they ran in."""
    reports = [
        report
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call"
    ]
    said = [
        (report.nodeid, text)
        for report in reports
        for name, text in report.user_properties
        if name == PROPERTY
    ]
    if said:
        terminalreporter.section("voirdire gate")
        for node, text in said:
            terminalreporter.write_line(f"{node}: {text}")
