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
    known = ("schema", "benchmark", "mode", "reading", "data digest", "samples asked")
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
    notes = [f"without a rank: {why}" for why in board.left_out]
    if len(board.tables) > 1:
        notes.insert(0, "Runs in different tables cannot be compared.")
    return page.render(
        "leaderboard.html",
        title="agentbench leaderboard",
        head=_HEAD,
        tables=[
            {"title": _title(table), "rows": _rows(table), "facts": _facts(table)}
            for table in board.tables
        ],
        notes=notes,
    )
