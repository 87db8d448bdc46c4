"""A comparison of two runs for people: plain text, Markdown, one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_agentbench.reports.html import page
from pytest_agentbench.reports.markdown import cell, markdown_table
from pytest_agentbench.reports.rows import DIFFERENCE_HEAD, by_reason, difference_cells
from pytest_agentbench.reports.text import columns, number, signed
from pytest_agentbench.runs.scores_file import SampleChanges
from pytest_agentbench.scoring.compare import Comparison, Difference

_COUNTS = ("metric", "better", "worse", "same")
_CHANGES = ("sample", "before", "after", "change")
_UNCLEAR = (
    "unclear: the interval of the paired difference holds 0, or there is none "
    "(one person, or a value that is absent)"
)


def text(comparison: Comparison) -> str:
    """For the terminal: the headline's reading in full, the others' differences below."""
    lines = _lines(comparison, comparison.readings)
    for difference, rows in _largest(comparison):
        lines += ["", f"largest changes in {difference.metric}", *columns([_CHANGES, *rows])]
    return "\n".join(lines) + "\n"


def first_lines(comparison: Comparison) -> list[str]:
    """The same without what is below the first reading, for the end of a longer output."""
    return _lines(comparison, [comparison.reading])


def line(comparison: Comparison) -> str:
    """``humob (test): a.py x → a.py y: final_score 60.1 → 62.3, +2.2 [+1.0, +3.4] better``"""
    found = next(
        one for one in comparison.readings[comparison.reading] if one.metric == comparison.headline
    )
    _, before, after, difference, ends, verdict = difference_cells(found)
    interval = f" [{ends}]" if ends else ""
    return (
        f"{_title(comparison)}: {found.metric} {before} → {after}, {difference}{interval} {verdict}"
    )


def _lines(comparison: Comparison, readings: Iterable[str]) -> list[str]:
    lines = [_title(comparison), *_facts(comparison)]
    for reading in readings:
        lines += ["", f"reading {reading}"]
        lines += columns([DIFFERENCE_HEAD, *_rows(comparison, reading)])
        lines += _absent(comparison, reading)
    lines += ["", _UNCLEAR]
    counts = _counts(comparison)
    if counts:
        lines += ["", f"samples, reading {comparison.reading}", *columns([_COUNTS, *counts])]
    return lines


def markdown(comparison: Comparison) -> str:
    """For a pull request: the same, with the other readings and the changes folded away."""
    lines = [f"### {cell(_title(comparison))}", ""]
    lines += [f"- {cell(fact)}" for fact in _facts(comparison)]
    for reading in comparison.readings:
        table = markdown_table(DIFFERENCE_HEAD, _rows(comparison, reading))
        rest = [f"- {cell(line)}" for line in _absent(comparison, reading)]
        if reading == comparison.reading:
            lines += ["", f"**reading {cell(reading)}**", "", *table, "", *rest]
        else:
            lines += ["", *_folded(f"reading {reading}", [*table, "", *rest])]
    lines += ["", _UNCLEAR]
    counts = _counts(comparison)
    if counts:
        lines += ["", *markdown_table(_COUNTS, counts)]
    for difference, rows in _largest(comparison):
        title = f"largest changes in {difference.metric}"
        lines += ["", *_folded(title, markdown_table(_CHANGES, rows))]
    return "\n".join(lines) + "\n"


def html(comparison: Comparison) -> str:
    """One page that needs no network; whatever a run said in it is escaped."""
    return page.render(
        "comparison.html",
        title=_title(comparison),
        benchmark=f"{comparison.benchmark} ({comparison.mode})",
        agents=f"{comparison.before.agent} → {comparison.after.agent}",
        facts=_facts(comparison),
        head=DIFFERENCE_HEAD,
        readings=[
            {"name": name, "rows": _rows(comparison, name), "absent": _absent(comparison, name)}
            for name in comparison.readings
        ],
        unclear=_UNCLEAR,
        counts_head=_COUNTS,
        counts=_counts(comparison),
        changes_head=_CHANGES,
        largest=[(found.metric, rows) for found, rows in _largest(comparison, every=True)],
    )


def _title(comparison: Comparison) -> str:
    return (
        f"{comparison.benchmark} ({comparison.mode}): {comparison.before.agent} → "
        f"{comparison.after.agent}"
    )


def _facts(comparison: Comparison) -> list[str]:
    facts = []
    for word, side in (("before", comparison.before), ("after", comparison.after)):
        cut = f", incomplete: {side.incomplete}" if side.incomplete else ""
        facts.append(f"{word}: {side.run}, {side.agent}, {side.samples} samples{cut}")
    facts.append(f"compared on {comparison.common_samples} common samples")
    return [*facts, *comparison.notes]


def _rows(comparison: Comparison, reading: str) -> list[list[str]]:
    return [difference_cells(difference) for difference in comparison.readings[reading]]


def _absent(comparison: Comparison, reading: str) -> list[str]:
    absent = ((d.metric, d.reason) for d in comparison.readings[reading] if d.value is None)
    return [f"no difference in {names}: {reason}" for reason, names in by_reason(absent).items()]


def _counts(comparison: Comparison) -> list[list[str]]:
    rows = []
    for difference in comparison.readings[comparison.reading]:
        found = difference.samples
        if found is not None:
            rows.append(
                [difference.metric, str(found.better), str(found.worse), str(found.same)]
            )  # fmt: skip
    return rows


def _largest(
    comparison: Comparison, every: bool = False
) -> list[tuple[Difference, list[list[str]]]]:
    shown = comparison.readings[comparison.reading] if every else comparison.leading()
    return [(d, _changes(d.samples)) for d in shown if d.samples and d.samples.largest]


def _changes(samples: SampleChanges) -> list[list[str]]:
    def side(value: float | None) -> str:
        return "no valid answer" if value is None else number(value)

    return [
        [
            change.sample,
            side(change.before),
            side(change.after),
            "-"
            if change.before is None or change.after is None
            else signed(change.after - change.before),
        ]
        for change in samples.largest
    ]


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{cell(title)}</summary>", "", *lines, "", "</details>"]


RENDERERS: dict[str, Callable[[Comparison], str]] = {
    "text": text,
    "markdown": markdown,
    "html": html,
}
