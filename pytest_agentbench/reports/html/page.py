"""A small self-contained HTML page: one style, tables, everything that comes from a run escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c6303e; --soft: #777; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff7b82; --soft: #999; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; }
.better { color: var(--good); } .worse { color: var(--bad); } .same, .unclear, .note { color: var(--soft); }
"""


def page(title: str, body: Sequence[str]) -> str:
    """The whole page; ``body`` is HTML made with the functions below."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{escape(kind)}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[str] | None = None
) -> str:
    """A table of text; ``kinds`` gives each row's last cell a class (better, worse, same, unclear)."""
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = [f'<div class="table"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>']
    for number, row in enumerate(rows):
        parts = [f"<td>{escape(cell)}</td>" for cell in row]
        if kinds is not None:
            parts[-1] = f'<td class="{escape(kinds[number])}">{escape(row[-1])}</td>'
        lines.append(f"<tr>{''.join(parts)}</tr>")
    lines.append("</tbody>\n</table></div>")
    return "\n".join(lines)
