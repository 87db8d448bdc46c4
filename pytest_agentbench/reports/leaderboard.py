"""The leaderboard as text and as a page."""

from __future__ import annotations

from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports.html import page
from pytest_agentbench.reports.text import columns, interval, number
from pytest_agentbench.scoring.ranking import Leaderboard, Table
from pytest_agentbench.settings.gates import COVERAGE

_HEAD = ("agent", "rank", "score", INTERVAL, "coverage", "gates", "run")


def _title(table: Table) -> str:
    own = table.identity
    return f"{own['benchmark']} ({own['mode']}), reading {own['reading']}"


def _facts(table: Table) -> list[str]:
    known = ("schema", "benchmark", "mode", "reading", "readings", "data digest", "samples asked")
    conditions = [f"{key}: {value}" for key, value in table.identity.items() if key not in known]
    data = f"data {table.identity['data digest'][:12]}"
    facts = [
        f"{table.metric}, {table.better} is better; {', '.join([f'{table.samples} answers', data, *conditions])}"
    ]
    return [*facts, f"= shares its rank; {table.ties}"] if table.ties else facts


def _rows(table: Table) -> list[list[str]]:
    return [
        [
            row.run.agent,
            f"{'=' if row.tied else ''}{row.rank}",
            number(row.score.value),
            interval(row.score.low, row.score.high),
            number(row.run.scores.metric(COVERAGE.metric).value),
            row.run.scores.gates_passed,
            row.run.name,
        ]
        for row in table.rows
    ]


def text(board: Leaderboard) -> str:
    lines: list[str] = []
    for table in board.tables:
        lines += [_title(table), *columns([_HEAD, *_rows(table)], left=(0, 6)), *_facts(table), ""]
    if len(board.tables) > 1:
        lines += [f"{len(board.tables)} tables: runs in different ones cannot be compared", ""]
    lines += [f"without a rank: {why}" for why in board.left_out]
    return "\n".join(lines).rstrip("\n") + "\n"


def html(board: Leaderboard) -> str:
    body = []
    for table in board.tables:
        body += [page.heading(_title(table)), page.table(_HEAD, _rows(table))]
        body += [page.paragraph(fact, "note") for fact in _facts(table)]
    if len(board.tables) > 1:
        body.append(page.paragraph("Runs in different tables cannot be compared.", "note"))
    body += [page.paragraph(f"without a rank: {why}", "note") for why in board.left_out]
    return page.page("agentbench leaderboard", body)
