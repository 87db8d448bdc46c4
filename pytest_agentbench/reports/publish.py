"""The end of a run: score it, decide its gates, write its files. Every report format is called from here.

Whatever fails here, no answer is lost: the records were logged as they came.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports import github, markdown, mlflow, rows, session_files, summary
from pytest_agentbench.reports.html import report
from pytest_agentbench.runs import data_places, evaluate, model_use, run_folder
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.scores_file import (
    EVERY_SAMPLE,
    ONE_AGENT,
    BaselineScores,
    GateResult,
    LogFacts,
    Scores,
)
from pytest_agentbench.scoring import compare, floor, judge, scores
from pytest_agentbench.settings.model_options import parted
from pytest_agentbench.settings.settings import Settings

# The name of a gate and why it failed; None where it passed.
Gate = tuple[str, str | None]


@evaluate.held_off()
def finish(
    collector: Collector,
    incomplete: str | None,
    tell: Callable[[Scores], None] | None = None,
    to_mlflow: bool = False,
) -> list[Gate]:
    """Scores one run and writes its files; returns the gates to report.

    ``tell`` gets the scores after scores.json was written. A gate that was asked for and cannot be decided has failed;
    of a run that addopts or the ini file ask for with every command, a line of the summary says so.
    """
    questions = collector.answered() if incomplete else sorted(collector.expected)
    if not questions and not incomplete and not collector.plan.settings.typed:
        return []
    if not questions:
        return undecided(collector.plan.settings, incomplete or "no sample was selected")
    try:
        result = _scored(collector, questions, incomplete)
    except Exception as error:
        return [("gate[scored]", _unscored(collector, error))]
    collector.scores = result
    lost = collector.log.lost
    if lost is not None:
        return [("gate[records kept]", lost)]
    try:
        if collector.log.started:  # else nothing was logged, or the folder is another session's
            _write_files(collector, result)
            _write_scores(collector, result)
            if tell is not None:
                tell(result)
            if to_mlflow:
                mlflow.log_run(result, collector.log.folder)
    except Exception as error:  # a hook or a figure may do anything; the scores stand
        again = f"when that is mended, write the files again with --resume={collector.log.folder}"
        failure = f"{type(error).__name__}: {error}\nno answer is lost: {again}"
        gate = GateResult("files written", False, reason=failure)
        collector.scores = result = dataclasses.replace(result, gates=(*result.gates, gate))
        with contextlib.suppress(OSError):
            _write_scores(collector, result)
    requested = {gate.text for gate in collector.plan.settings.requested_gates}
    return [
        (f"gate[{one.gate}]", f"not decided: {one.reason}" if one.passed is None else one.failure)
        for one in result.gates
        if one.passed is not None or one.gate in requested
    ]


def undecided(settings: Settings, why: str) -> list[Gate]:
    """The gates that somebody asked for, failed because they could not be decided."""
    return [(f"gate[{gate.text}]", f"not decided: {why}") for gate in settings.requested_gates]


def _beside(collector: Collector) -> Iterator[GateResult]:
    """What fails a run beside its own gates."""
    submission = collector.plan.submission
    if submission is not None and submission.problems:
        reason = "\n".join(submission.problems)
        yield GateResult("submission fits the data", False, reason=reason)
    yield from collector.beside
    missing = collector.missing()
    if missing:
        shown = ", ".join(missing[:20]) + (", …" if len(missing) > 20 else "")
        why = ", as --resume-failed-only asks nothing new" if collector.plan.unasked else ""
        reason = f"{len(missing)} samples left no record{why}: {shown}"
        yield GateResult(EVERY_SAMPLE, False, reason=reason)


def failures_beside(collector: Collector, gates: Sequence[Gate]) -> list[str]:
    """Lines for failed gates that the summary does not have: it has those of the scores."""
    own = {f"gate[{gate.gate}]" for gate in collector.scores.gates} if collector.scores else set()
    return [
        f"{name.removesuffix(']').replace('[', ' failed: ')}: {failure}"
        for name, failure in gates
        if failure is not None and name not in own
    ]


def _scored(collector: Collector, questions: Sequence[Question], incomplete: str | None) -> Scores:
    settings, dataset = collector.plan.settings, collector.plan.dataset
    result = scores.score(
        settings, dataset, questions, list(collector.records.values()), collector.baseline
    )
    details, found = dict(result.details), None
    found_out = [collector.attempts_note(), collector.models_note()]
    if beside := [*collector.notes, *filter(None, found_out)]:
        details["notes"] = [*details.get("notes", ()), *beside]
    if lack := rows.missing_note(collector.logged()):
        details["notes"] = [*details.get("notes", ()), lack]
    if incomplete is None and dataset.samples_here:
        samples = sorted({question.sample for question in questions})
        found = tuple(floor.floors(settings, dataset, samples, collector.agent["name"]))
        headline = result.headline(settings.benchmark.headlines)
        note = rows.floor_note(found, settings.reading, headline)
        if note is not None:
            details["notes"] = [*details.get("notes", ()), note]
    failing, agent = () if incomplete else _beside(collector), collector.credited
    return dataclasses.replace(
        result,
        details=details,
        model_use=model_use.model_use(agent.models, collector.logged()),
        baseline=_with_changes(collector, result.baseline),
        agent=agent,
        partial=len(questions) < len(dataset.keys) * settings.epochs,
        shard=settings.shard,
        incomplete=incomplete,
        gates=(
            *judge.judge(settings, result, incomplete),
            *_one_agent(collector, incomplete),
            *failing,
        ),
        floor=found,
    )


def _one_agent(collector: Collector, incomplete: str | None) -> list[GateResult]:
    """A gate that fails for answers of another agent, or to other questions, in the run."""
    if collector.mixture is None:
        return []
    why = incomplete or f"{collector.mixture}: start a new run to measure this agent"
    return [GateResult(ONE_AGENT, None if incomplete else False, reason=why)]


def _with_changes(collector: Collector, compared: BaselineScores | None) -> BaselineScores | None:
    """How many samples got better, worse or stayed, for each metric that samples have."""
    if collector.baseline is None or compared is None:
        return None
    reading, before, after = (
        collector.plan.settings.reading,
        collector.baseline.records,
        collector.logged(),
    )
    found = {
        metric.name: compare.changes(metric, reading, before, after)
        for metric in collector.plan.benchmark.metrics
    }
    samples = {name: one for name, one in found.items() if one is not None}
    return dataclasses.replace(compared, samples=samples)


def _unscored(collector: Collector, error: Exception) -> str:
    where = collector.log.folder
    return (
        f"scoring failed: {type(error).__name__}: {error}\nwhat is logged is kept: when that is mended, "
        f"score the run again with --benchmark {parted(collector.plan.settings.nodeid)[0]} --submission {where}"
    )


def _write_scores(collector: Collector, result: Scores) -> None:
    """scores.json, last of all files: where it is there, the run is finished."""
    folder = collector.log.folder
    log = LogFacts(len(collector.records), run_folder.records_digest(folder))
    scores = dataclasses.replace(result, records=log)
    run_folder.write_json(folder / run_folder.SCORES, scores.as_json())
    collector.written = True


def _write_files(collector: Collector, result: Scores) -> None:
    """The other files of the run, and its section in GitHub's summary."""
    folder, plan = collector.log.folder, collector.plan
    data_places.remember(plan.settings, plan.dataset.digest)
    records = collector.logged()
    first = [record for record in records if record.epoch == 1]
    plan.benchmark.write_files(folder, plan.dataset, first)
    report.write_html(folder / "report.html", plan.settings, plan.dataset, result, records)
    step_summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if step_summary:
        metrics, headline = plan.benchmark.metrics, result.headline(plan.benchmark.headlines)
        text = markdown.markdown(result, metrics, headline, plan.settings.nodeid, str(folder))
        github.append_summary(Path(step_summary), text)


def write_session(
    collectors: Sequence[Collector], json_path: Path | None, csv_path: Path | None
) -> str | None:
    """The files that hold all runs of a session; returns what went wrong, if anything did."""
    scored = [(c.scores, c.logged()) for c in collectors if c.scores is not None]
    try:
        if json_path is not None:
            session_files.write_json(json_path, [result for result, _ in scored])
        if csv_path is not None:
            session_files.write_csv(csv_path, scored)
    except (OSError, BenchmarkError) as error:
        return str(error)
    return None


def show(
    writer: summary.Writer, collector: Collector, brief: bool = False, on_github: bool = False
) -> None:
    """The summary of a run in the terminal; nothing for a run that could not be scored."""
    settings = collector.plan.settings
    if collector.scores is None:
        if not collector.expected and settings.requested_gates and not settings.typed:
            writer.write_line(
                f"{settings.nodeid}: no sample was selected; its gates are not decided"
            )
        return
    folder = collector.log.folder
    there = collector.written and (folder / run_folder.SCORES).exists()
    written = folder if there else None
    summary.summary(writer, collector.plan, collector.scores, written, brief)
    if on_github:
        for line in github.github_errors(collector.scores, collector.plan.settings.nodeid):
            writer.write_line(line)
