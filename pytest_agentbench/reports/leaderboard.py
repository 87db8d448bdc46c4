"""The leaderboard as text, as Markdown and as a page."""

from __future__ import annotations

from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports.html import page
from pytest_agentbench.reports.markdown import cell, markdown_table
from pytest_agentbench.reports.text import columns, interval, money, number
from pytest_agentbench.scoring.ranking import Leaderboard, Row, Table
from pytest_agentbench.settings.gates import COVERAGE

_HEAD = ("agent", "rank", "score", INTERVAL, "coverage", "gates")
_MODELS_HEAD = ("cost", "cost/point", "tokens/sample")  # where a run has asked models
_APART_HEAD = ("agent", "score", "coverage", "run", "why it has no rank")
_APART = "Without a rank"
_SEVERAL = "runs in different ones cannot be compared"


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
    if table.recorded:
        facts.append(f"scores as recorded, not recomputed: {table.recorded}")
    facts += [f"= shares its rank; {table.ties}"] if table.ties else []
    return facts + _cost_facts(table)


def _cost_facts(table: Table) -> list[str]:
    """What a point is, or why there are none to be paid for."""
    used = [row.run.scores.model_use for row in table.rows]
    if not any(use is not None and use.whole_cost is not None for use in used):
        return []
    if all(row.cost_per_point is None for row in table.rows):
        return [f"no cost per point: {table.metric} is not between a worst and a best value"]
    return [f"a point is a hundredth of the way from the worst {table.metric} to the best"]


def _asks_models(table: Table) -> bool:
    return any(row.run.scores.model_use is not None for row in table.rows)


def _head(table: Table) -> tuple[str, ...]:
    return (*_HEAD, *(_MODELS_HEAD if _asks_models(table) else ()), "run")


def _rows(table: Table) -> list[list[str]]:
    return [
        [
            row.run.agent,
            f"{'=' if row.tied else ''}{row.rank}",
            number(row.score.value),
            interval(row.score.low, row.score.high),
            number(row.run.scores.metric(COVERAGE.metric).value),
            row.run.scores.gates_passed,
            *(_model_cells(row) if _asks_models(table) else ()),
            row.run.name,
        ]
        for row in table.rows
    ]


def _model_cells(row: Row) -> list[str]:
    """What the answers cost when they were asked, also those that the cache has given since."""
    scores, use = row.run.scores, row.run.scores.model_use
    if use is None:
        return ["-", "-", "-"]
    tokens = f"{use.tokens / max(1, scores.samples.total):,.0f}"
    return [money(use.whole_cost), money(row.cost_per_point), tokens]


def _apart(board: Leaderboard) -> list[list[str]]:
    """Runs without a rank: what they have, in no order of merit, and the reason."""
    return [
        [
            one.run.agent,
            f"{one.metric} {number(one.run.scores.metric(one.metric).value)}"
            if one.metric
            else "-",
            number(one.run.scores.metric(COVERAGE.metric).value),
            one.run.name,
            " ".join(one.why.split()),
        ]
        for one in board.unranked
    ]


def text(board: Leaderboard) -> str:
    lines: list[str] = []
    for table in board.tables:
        head = _head(table)
        shown = columns([head, *_rows(table)], left=(0, len(head) - 1))
        lines += [_title(table), *shown, *_facts(table), ""]
    if len(board.tables) > 1:
        lines += [f"{len(board.tables)} tables: {_SEVERAL}", ""]
    if apart := _apart(board):
        lines += [_APART.lower(), *columns([_APART_HEAD, *apart], left=(0, 3, 4)), ""]
    lines += [f"left out: {why}" for why in board.left_out]
    return "\n".join(lines).rstrip("\n") + "\n"


def markdown(board: Leaderboard) -> str:
    """For a pull request or a page of a repository."""
    lines: list[str] = []
    for table in board.tables:
        lines += [f"### {cell(_title(table))}", "", *markdown_table(_head(table), _rows(table)), ""]
        lines += [*(f"- {cell(fact)}" for fact in _facts(table)), ""]
    if len(board.tables) > 1:
        lines += [f"{len(board.tables)} tables: {_SEVERAL}", ""]
    if apart := _apart(board):
        lines += [f"### {_APART}", "", *markdown_table(_APART_HEAD, apart), ""]
    lines += [f"- left out: {cell(why)}" for why in board.left_out]
    return "\n".join(lines).rstrip("\n") + "\n"


def html(board: Leaderboard) -> str:
    notes = ["Runs in different tables cannot be compared."] if len(board.tables) > 1 else []
    notes += [f"left out: {why}" for why in board.left_out]
    tables = [
        {"title": _title(table), "head": _head(table), "rows": _rows(table), "facts": _facts(table)}
        for table in board.tables
    ]
    if apart := _apart(board):
        tables.append({"title": _APART, "head": _APART_HEAD, "rows": apart, "facts": []})
    return page.render(
        "leaderboard.html", title="agentbench leaderboard", tables=tables, notes=notes
    )


RENDERERS = {"text": text, "markdown": markdown, "html": html}
