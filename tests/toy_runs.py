"""Finished runs of the toy benchmark, made by the package's own parts without a session of pytest."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from pytest_agentbench.agents import ask
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.scores_file import AgentFacts
from pytest_agentbench.scoring import judge, scores
from pytest_agentbench.settings.settings import Settings

sys.path.append(str(Path(__file__).parent / "toy"))
from toybench import ToySum, half, right, wrong

AGENTS = {"right": right, "wrong": wrong, "half": half}


def make_run(
    folder,
    agent,
    *,
    seed=0,
    shift=0,
    mode="test",
    reading="exact",
    only=range(12),
    epochs=1,
    name=None,
    **changes,
):
    """A run of an agent (a function or a baseline's name) in ``folder``; changes are of scores.json."""
    answer = AGENTS.get(agent, agent)
    settings = Settings(
        benchmark=ToySum(), nodeid="toysum", mode=mode, dataset="demo", agent=f"builtin:{agent}",
        reading=reading, seed=seed, epochs=epochs, parameters={"shift": shift},
    )  # fmt: skip
    dataset = settings.benchmark.load(settings)
    folder.mkdir(parents=True)
    manifest = {
        "schema": 1,
        "started": "20260102-030405",
        "settings": settings.as_json(),
        "versions": {},
    }
    if "benchmark" in changes:  # of a package that is not installed here
        manifest["settings"].pop("benchmark_class")
    run_folder.write_json(folder / run_folder.MANIFEST, manifest)
    samples = [dataset.sample(index) for index in only]
    made = []
    for epoch in range(1, epochs + 1):
        made += evaluate(ToySum(), samples, [ask.ask(answer, s.context) for s in samples], epoch)[0]
    lines = "".join(f"{record.to_json()}\n" for record in made)
    (folder / run_folder.RECORDS).write_text(lines, encoding="ascii")
    questions = [(index, epoch) for epoch in range(1, epochs + 1) for index in only]
    result = scores.score(settings, dataset, questions, made)
    result = dataclasses.replace(
        result,
        agent=AgentFacts(name or f"builtin:{agent}", "d"),
        partial=len(only) < 12,
        gates=judge.judge(settings, result, None),
    )
    run_folder.write_json(folder / run_folder.SCORES, {**result.as_json(), **changes})
    return folder
