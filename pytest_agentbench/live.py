"""A run as the controller sees it: what is expected, what has come, where it is logged."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_agentbench import manifest, resume, runlog, saved, scores
from pytest_agentbench.benchmarks.protocol import BenchmarkError
from pytest_agentbench.records import Record
from pytest_agentbench.run import Question, Run
from pytest_agentbench.runlog import HOUSE


class LiveRun:
    """One run of this session."""

    def __init__(self, run: Run, config: pytest.Config, started: str) -> None:
        settings = run.settings
        house, start = config.rootpath / HOUSE, config.invocation_params.dir
        self.run = run
        self.agent = manifest.agent_in_force(run, config)
        self.baseline: scores.Baseline | None = None
        if settings.baseline is not None:
            folder = saved.find_run(settings.baseline, house, start, run.benchmark.name)
            self.baseline = scores.load_baseline(folder, settings, run.dataset)
        made = manifest.manifest(run, self.agent, config, started)
        self.records: dict[tuple[str, int], Record] = {}
        name = config.getoption("agentbench_resume")
        if name is not None:
            folder = saved.find_run(name, house, start, run.benchmark.name, runlog.RECORDS)
            self.log = runlog.RunLog(folder, made, "resumed")
            try:
                self._resume(config)
            except BaseException:
                self.log.close()
                raise
        elif settings.run_dir is not None:
            runlog.check_free(settings.run_dir)
            self.log = runlog.RunLog(settings.run_dir, made)
        else:
            named = runlog.folder_name(started, run.benchmark.name, self.agent["name"])
            folder = house / saved.RUNS / named
            runlog.check_free(folder.parent)
            self.log = runlog.RunLog(folder, made, "new")
        self.expected: set[Question] = set()
        self.usage: dict[str, float] = {}
        self.unlogged: str | None = None  # why records could not be logged
        self.scores: dict[str, Any] | None = None

    def _resume(self, config: pytest.Config) -> None:
        anyway, failed_only = (
            bool(config.getoption(f"agentbench_resume_{name}"))
            for name in ("anyway", "failed_only")
        )
        earlier = resume.load(self.log.folder, self.log.manifest, anyway)
        resume.take_up(self.run, earlier, failed_only)
        self.log.manifest = earlier.manifest
        self.records = {(record.sample, record.epoch): record for record in earlier.records}

    def add(self, line: str) -> Record:
        """Logs a record as it came, before anything is done with it."""
        try:
            self.log.append(line)
        except BenchmarkError as error:  # the folder is another session's
            self.unlogged = str(error)
        except OSError as error:  # the disk is full, or gone
            kept = "nothing was logged: when that is mended, start again"
            if self.log.started:
                kept = (
                    "what was logged before is kept: when that is mended, go on with "
                    f"--resume={self.log.folder}"
                )
            self.unlogged = f"{self.log.folder}: {error.strerror}; {kept}"
        record = Record.from_json(line)
        self.records[record.sample, record.epoch] = record
        for name, count in record.usage.items():
            self.usage[name] = self.usage.get(name, 0) + count
        return record

    def has_answer(self, record: Record) -> bool:
        """Whether there is a valid answer already to the question that this record is of."""
        known = self.records.get((record.sample, record.epoch))
        return known is not None and known.status == "ok"

    def overspent(self) -> str | None:
        """What the run has spent beyond its budget, if anything; workers know only their own share."""
        settings = self.run.settings
        cost = self.usage.get("cost", 0.0)
        tokens = self.usage.get("input_tokens", 0) + self.usage.get("output_tokens", 0)
        if settings.max_cost is not None and cost >= settings.max_cost:
            return f"the budget is spent: cost {cost:.4g} of {settings.max_cost:g}"
        if settings.max_tokens is not None and tokens >= settings.max_tokens:
            return f"the budget is spent: {tokens:.0f} of {settings.max_tokens} tokens"
        return None

    def answered(self) -> list[Question]:
        """The collected questions that left a record."""
        return [
            question for question in sorted(self.expected) if self.name(question) in self.records
        ]

    def logged(self) -> list[Record]:
        """The records of the collected questions, in the order of the data."""
        return [self.records[self.name(question)] for question in self.answered()]

    def missing(self) -> list[str]:
        """The names of samples that were collected and left no record."""
        names = (self.name(question) for question in sorted(self.expected))
        return [name[0] for name in names if name not in self.records]

    def name(self, question: Question) -> tuple[str, int]:
        return str(self.run.dataset.keys[question.sample]), question.epoch
