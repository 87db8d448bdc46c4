"""WebSocietySimulator's ``Simulator``, for scripts that ``agentbench exec`` runs: each simulation is a run."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from pytest_agentbench.agents.code_imports import Surroundings
from pytest_agentbench.agents.find import Found
from pytest_agentbench.agents.framework_calls import question as fields_of
from pytest_agentbench.agents.websociety import society_agents
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks.protocol import Simulation
from pytest_agentbench.cli.simulated_run import SimulatedRun, simulate
from pytest_agentbench.runs import names
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.resolve import Layer, resolve
from pytest_agentbench.settings.settings import Settings

_MOST_WORKERS = 32  # where a script names no number, as published


@dataclass(frozen=True)
class Session:
    """What ``agentbench exec`` was given, for every simulation of the script."""

    benchmark: str | None  # None where a layer names it
    simulation: Simulation
    layers: Sequence[Layer]
    bases: Sequence[Path]
    arguments: Sequence[str]

    def settings(self, of_the_script: Layer | None = None) -> Settings:
        layers = list(self.layers) if of_the_script is None else [of_the_script, *self.layers]
        settings = resolve(self.benchmark, None, layers, self.bases)
        return replace(settings, house=names.find_house(Path.cwd()))


class Simulator:
    """The published methods; the tasks are asked, logged and scored as a run."""

    session: ClassVar[Session]
    has_run: ClassVar[bool] = False  # whether the script has started a simulation

    def __init__(self, data_dir: Any = None, device: str = "auto", cache: bool = False) -> None:
        self._arguments: dict[str, Any] = {"data_dir": data_dir, "device": device}
        self.agent_class: type | None = None
        self.llm: Any = None
        self.simulation_outputs: list[dict[str, Any]] = []
        self.evaluation_results: list[dict[str, Any]] = []
        self._run: SimulatedRun | None = None

    def set_task_and_groundtruth(self, task_dir: Any, groundtruth_dir: Any) -> None:
        self._arguments.update(task_dir=task_dir, groundtruth_dir=groundtruth_dir)

    def set_interaction_tool(self, interaction_tool: Any) -> None:
        raise BenchmarkError(
            "set_interaction_tool: expected Simulator(data_dir=…): agents get the tool of the run, which "
            f"hides the reviews in question; got {shown(interaction_tool)}"
        )

    def set_agent(self, agent_class: Any) -> None:
        if not isinstance(agent_class, type) or society_agents.track_of(agent_class) is None:
            bases = " or ".join(society_agents.TRACKS)
            raise ValueError(f"set_agent: expected a subclass of {bases}, got {shown(agent_class)}")
        self.agent_class = agent_class

    def set_llm(self, llm: Any) -> None:
        """A model, or a list of them that are used in turn."""
        self.llm = llm

    def run_simulation(
        self,
        number_of_tasks: int | None = None,
        enable_threading: bool = False,
        max_workers: int | None = None,
        time_limitation: float | None = None,
    ) -> list[dict[str, Any]]:
        """The answers in the order of the tasks: ``{"task": …, "output": …}``, or ``"error"``.

        ``time_limitation`` in minutes: tasks that were not answered by then are not in the list.
        """
        if self.agent_class is None:
            raise RuntimeError(
                "run_simulation: expected an agent, got none; call set_agent() first"
            )
        if "task_dir" not in self._arguments:
            raise RuntimeError(
                "run_simulation: expected tasks, got none; call set_task_and_groundtruth() first"
            )
        workers = (max_workers or _MOST_WORKERS) if enable_threading else 1
        agent, name = _found(self.agent_class, self.llm)
        settings = self.session.settings(self._layer(name, number_of_tasks, workers))
        plan = Plan(settings, agent=agent)
        self._run = None
        type(self).has_run = True
        self._run = simulate(plan, self.session.arguments, enable_threading, time_limitation)
        self.simulation_outputs = _outputs(plan, self._run)
        return self.simulation_outputs

    def evaluate(self) -> dict[str, Any]:
        """``{"type": …, "metrics": {…}, "data_info": {…}}`` of the last simulation."""
        if self._run is None or self.agent_class is None:
            raise RuntimeError("evaluate: expected a simulation, got none; call run_simulation()")
        collector = self._run.collector
        scores = collector.scores
        if scores is None:
            raise BenchmarkError(
                f"evaluate: expected a run that was scored, got none ({collector.log.folder})"
            )
        target = society_agents.track_of(self.agent_class)
        assert target is not None  # set_agent has seen to it
        valid = sum(
            record.status == "ok" and record.sample.startswith(f"{target}[")
            for record in collector.logged()
        )
        readings = {
            reading: {name: score.value for name, score in metrics.items()}
            for reading, metrics in scores.readings.items()
        }
        result = self.session.simulation.results(target, readings, valid)
        result["data_info"] = {
            "evaluated_count": valid,
            "original_simulation_count": len(self.simulation_outputs),
            "original_ground_truth_count": len(collector.plan.dataset.keys),
        }
        self.evaluation_results.append(result)
        return result

    def get_evaluation_history(self) -> list[dict[str, Any]]:
        return self.evaluation_results

    def _layer(self, agent: str, first: int | None, workers: int) -> Layer:
        """What the script says, which is stronger than all else."""
        keys = self.session.simulation.keys
        said = {keys[name]: str(value) for name, value in self._arguments.items() if value}
        values = {"agent": agent, "first": first, "concurrency": workers, **said}
        # The agent lives in the script's process, and each task is asked once.
        values |= {"agent_isolation": "none", "epochs": 1, "chunk": 1}
        names = {ours: theirs for theirs, ours in keys.items()}
        names |= {"first": "number_of_tasks", "concurrency": "max_workers", "agent": "set_agent"}
        return Layer(lambda key: f"Simulator: {names.get(key, key)}", values, Path.cwd())


def simulator_of(session: Session) -> type[Simulator]:
    """The class that a script imports."""
    return type("Simulator", (Simulator,), {"session": session, "__module__": __name__})


def _found(owner: type, llm: Any) -> tuple[Found, str]:
    """The agent of a script, and its name: the file and the class."""
    models = list(llm) if isinstance(llm, (list, tuple)) else [] if llm is None else [llm]
    try:
        file = Path(inspect.getfile(owner))
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        shown_file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        name = f"{shown_file.as_posix()}:{owner.__name__}"
    except (OSError, TypeError):  # made in no file
        digest, name = "", owner.__name__
    return Found(society_agents.in_turn(owner, models), digest, Surroundings()), name


def _outputs(plan: Plan, run: SimulatedRun) -> list[dict[str, Any]]:
    """What the agent returned, task by task; where that is no valid answer, the error says why."""
    found = []
    for question in sorted(run.outcomes):
        record = run.collector.records[run.collector.name(question)]
        entry: dict[str, Any] = {"task": _task(plan.dataset.sample(question.sample).context)}
        if record.status in ("ok", "invalid"):
            entry["output"] = run.outcomes[question].answer
        if record.status != "ok":
            entry["error"] = record.error
        found.append(entry)
    return found


def _task(context: Mapping[str, Any]) -> dict[str, Any]:
    """The task as the agent was given it, without keys that hold nothing."""
    fields, _ = fields_of(context)
    given = society_agents.task_of(fields)
    return {key: value for key, value in given.items() if value is not None}
