"""Plugin of pytest: the fixture ``voirdire_gate``, which fails a test if a new version is worse than the old one.

::

    def test_the_new_prompt_is_no_worse(voirdire_gate):
        voirdire_gate("new.csv", "old.csv", margin=0.05)

The plugin imports voirdire when the fixture is called. The verdicts of a test run are listed at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

GATE_PROPERTY = "voirdire_gate"
INCONCLUSIVE_OPTION = "voirdire_inconclusive"
INCONCLUSIVE_CHOICES = ("fail", "skip", "pass")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for inconclusive verdicts."""
    parser.addini(
        INCONCLUSIVE_OPTION, f"What an inconclusive gate does: {', '.join(INCONCLUSIVE_CHOICES)}.", default="fail"
    )


@pytest.fixture
def voirdire_gate(
    record_property: Callable[[str, object], None], pytestconfig: pytest.Config
) -> Callable[..., dict[str, Any]]:
    """Gate of a release: :func:`voirdire.gate` that fails the test if the verdict is no pass.

    The arguments are those of :func:`voirdire.gate`, and ``inconclusive``: "fail", "skip" or "pass" (by default the
    setting ``voirdire_inconclusive``, else "fail").
    """

    def check_gate(
        *tables: object, inconclusive: Literal["fail", "skip", "pass"] | None = None, **settings: Any
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        from voirdire.decide.gate import gate, verdict_sentence

        action = inconclusive or pytestconfig.getini(INCONCLUSIVE_OPTION)
        if action not in INCONCLUSIVE_CHOICES:
            name = "inconclusive" if inconclusive else INCONCLUSIVE_OPTION
            raise pytest.UsageError(f"{name} {action!r} is none of {', '.join(INCONCLUSIVE_CHOICES)}")
        verdict = gate(*tables, **settings)
        sentence = verdict_sentence(verdict, lambda name: name.encode("unicode_escape").decode("ascii"))
        record_property(GATE_PROPERTY, sentence)
        if verdict["verdict"] == "fail" or (verdict["verdict"] == "inconclusive" and action == "fail"):
            pytest.fail(f"{sentence}\n{verdict['rule']}\nNote: {verdict['note']}.", pytrace=False)
        if verdict["verdict"] == "inconclusive" and action == "skip":
            pytest.skip(sentence)
        return verdict

    return check_gate


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the verdicts of all gates, from all processes."""
    reports = [
        report
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call"
    ]
    entries = [
        (report.nodeid, text) for report in reports for name, text in report.user_properties if name == GATE_PROPERTY
    ]
    if entries:
        terminalreporter.section("voirdire gate")
        for node, text in entries:
            terminalreporter.write_line(f"{node}: {text}")
