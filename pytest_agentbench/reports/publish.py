"""The end of a run: scored, gated, written. Whatever fails here, the answers are in the log."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_agentbench.reports import github, markdown, rows
from pytest_agentbench.reports.html import report
from pytest_agentbench.runs import evaluate, run_folder
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.scores_file import AgentFacts, BaselineScores, Scores
from pytest_agentbench.scoring import compare, floor, judge, scores

# The name of a gate and why it failed; None where it passed.
Gate = tuple[str, str | None]


@evaluate.held_off()
def finish(
    live: Collector,
    incomplete: str | None,
    publish: Callable[[Scores], None] | None = None,
) -> list[Gate]:
    """Scores one run, writes its files and publishes its scores; the gates to report."""
    questions = live.answered() if incomplete else sorted(live.expected)
    if not questions:
        return []
    try:
        result = _scored(live, questions, incomplete)
    except Exception as error:
        return [("gate[scored]", _unscored(live, error))]
    live.scores = result
    gates: list[Gate] = []
    try:
        _write(live, result, publish)
    except Exception as error:  # a hook or a figure may do anything; the scores stand
        again = f"when that is mended, write the files again with --resume={live.log.folder}"
        failure = f"{type(error).__name__}: {error}\nno answer is lost: {again}"
        gates.append(("gate[files written]", failure))
    if incomplete:
        return gates
    gates += [(f"gate[{gate.gate}]", gate.failure) for gate in result.gates]
    submission = live.run.submission
    if submission is not None and submission.problems:
        gates.append(("gate[submission fits the data]", "\n".join(submission.problems)))
    missing = live.missing()
    if missing:
        shown = ", ".join(missing[:20]) + (", …" if len(missing) > 20 else "")
        failure = f"{len(missing)} samples left no record: {shown}"
        gates.append(("gate[every sample recorded]", failure))
    return gates


def _scored(live: Collector, questions: Sequence[Question], incomplete: str | None) -> Scores:
    settings, dataset = live.run.settings, live.run.dataset
    result = scores.score(settings, dataset, questions, list(live.records.values()), live.baseline)
    details, found = dict(result.details), None
    if incomplete is None and dataset.samples_here:
        samples = sorted({question.sample for question in questions})
        found = tuple(floor.floors(settings, dataset, samples, live.agent["name"]))
        note = rows.floor_note(found, settings.reading, live.run.benchmark.headline)
        if note is not None:
            details["notes"] = [*details.get("notes", ()), note]
    return dataclasses.replace(
        result,
        details=details,
        baseline=_with_changes(live, result.baseline),
        agent=AgentFacts(**live.agent),
        partial=len(questions) < len(dataset.keys) * settings.epochs,
        incomplete=incomplete,
        gates=judge.judge(settings, result, incomplete),
        floor=found,
    )


def _with_changes(live: Collector, compared: BaselineScores | None) -> BaselineScores | None:
    """How many samples got better, worse or stayed, for each metric that samples have."""
    if live.baseline is None or compared is None:
        return None
    reading, before, after = live.run.settings.reading, live.baseline.records, live.logged()
    found = {
        metric.name: compare.changes(metric, reading, before, after)
        for metric in live.run.benchmark.metrics
    }
    samples = {name: one for name, one in found.items() if one is not None}
    return dataclasses.replace(compared, samples=samples)


def _unscored(live: Collector, error: Exception) -> str:
    where = live.log.folder
    return (
        f"scoring failed: {type(error).__name__}: {error}\nno answer is lost: when that is mended, "
        f"score the run again with --benchmark {live.run.settings.nodeid} --submission {where}"
    )


def _write(live: Collector, result: Scores, publish: Callable[[Scores], None] | None) -> None:
    folder, run = live.log.folder, live.run
    if not live.log.started:
        return  # nothing was logged, or in a folder that is another session's
    run_folder.write_json(folder / run_folder.SCORES, result.as_json())
    records = live.logged()
    first = [record for record in records if record.epoch == 1]
    run.benchmark.write_files(folder, run.dataset, first)
    report.write_html(folder / "report.html", run.settings, run.dataset, result, records)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        text = markdown.markdown(
            result, run.benchmark.metrics, run.benchmark.headline, run.settings.nodeid, str(folder)
        )
        github.append_summary(Path(summary), text)
    if publish is not None:
        publish(result)
