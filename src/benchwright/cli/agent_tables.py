"""How a run of an agent looks in a terminal, besides the grading of its patches."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from benchwright.app.agents.report import AgentRunReport
from benchwright.cli.agent_progress import money
from benchwright.cli.tables import simple_table
from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Ending

_SHOWN_FINDINGS = 10


def show_agents(out: Console, report: AgentRunReport) -> None:
    """Endings, what was spent, and the integrity report."""
    summary, plan = report.summary, report.plan
    out.print(f"scaffold {escape(plan.scaffold.name)}, evaluation {plan.identity['evaluation']['version']}")
    out.print(
        simple_table(
            "How the agents ended",
            ("ending", "samples"),
            [(ending.replace("_", " "), str(n)) for ending, n in summary.endings.items()],
        )
    )
    out.print(
        f"{report.now} samples finished now, {report.before} before; in the median {summary.turns} turns, "
        f"{summary.tokens:,} tokens, {summary.wall_seconds:.0f} s; all calls: {report.ledger.spent.total:,} tokens, "
        f"{money(report.ledger.cost)}"
    )
    _show_integrity(out, report)


def _show_integrity(out: Console, report: AgentRunReport) -> None:
    integrity = report.summary.integrity
    found = {kind.value: flagged for kind, flagged in integrity.kinds.items() if flagged.attempts}
    if not found:
        out.print("Integrity: nothing was found that a person should look at.")
        return
    if integrity.grave.attempts:
        found["network, history or runner configuration"] = integrity.grave
    out.print(
        simple_table(
            "Integrity: samples to look at, and the score if their passes did not count",
            ("what", "samples", "passes", "score"),
            [
                (name.replace("_", " "), str(one.attempts), str(one.passes), f"{100 * one.value:.1f} %")
                for name, one in found.items()
            ],
        )
    )
    findings = _findings(report.attempts)
    for line in findings[:_SHOWN_FINDINGS]:
        out.print(escape(line), soft_wrap=True)
    if len(findings) > _SHOWN_FINDINGS:
        out.print(f"… and {len(findings) - _SHOWN_FINDINGS} more; all are in attempts.jsonl.")


def _findings(attempts: Sequence[AgentAttempt]) -> list[str]:
    """One line each: what was found, in which turn, and in which log the transcript is."""
    return [
        f"{attempt.log} {attempt.log_sample or attempt.problem_id}"
        f"{'' if finding.turn is None else f', turn {finding.turn}'}: {finding.kind.replace('_', ' ')}: "
        f"{finding.excerpt}"
        for attempt in attempts
        if attempt.ending is not Ending.FAILED
        for finding in attempt.findings
    ]
