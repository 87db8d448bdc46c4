"""``agentbench exec``: a user's own script, in which published simulators are there and make runs."""

from __future__ import annotations

import argparse
import builtins
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from pytest_agentbench.agents.code_imports import Surroundings
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.websociety.society_modules import ROOT
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.cli.simulator import Session, Simulator, simulator_of
from pytest_agentbench.cli.terminal import add_option
from pytest_agentbench.settings import ini, scenario
from pytest_agentbench.settings.options import Option, of_parameter
from pytest_agentbench.settings.resolve import Layer
from pytest_agentbench.settings.settings import OPTIONS

_OURS = str(Path(__file__).parents[1])
_USAGE = "agentbench exec [--config FILE] [--benchmark NAME|FILE.yaml] [--OPTION VALUE ...] SCRIPT.py [ARGS ...]"
# What remains for the command line: the script decides about the agent, the tasks and how they are asked.
_OFFERED = (
    "config", "seed", "agent_timeout", "agent_retries", "max_cost", "max_tokens", "reading", "gates",
    "baseline", "run_dir",
)  # fmt: skip


def exec_script(arguments: Sequence[str]) -> int:
    """Runs a script as ``__main__``; ends with its exit code."""
    benchmark = registry.simulating(ROOT)
    if benchmark is None:
        raise BenchmarkError(f"exec: expected a benchmark with the tasks of {ROOT}, found none")
    options = _options(benchmark)
    given = vars(_parser(options).parse_args(arguments))
    script, words, name = Path(given.pop("script")), given.pop("args"), given.pop("benchmark")
    if not script.is_file():
        raise BenchmarkError(f"exec: expected a script that exists, got {str(script)!r}")
    session = _session(benchmark, name, options, given, ["exec", *arguments])
    session.settings()  # mistakes are told before the script begins
    simulator = simulator_of(session)
    provided = {"Simulator": simulator}
    provides = {ROOT: provided, f"{ROOT}.simulator": provided}
    around = Surroundings.of(script.resolve(), provides)
    return _run(script, words, around, simulator)


def _options(benchmark: Benchmark) -> dict[str, Option]:
    said = benchmark.simulations[ROOT].keys.values()
    own = (of_parameter(one, benchmark) for one in benchmark.parameters if one.name not in said)
    offered = (option for option in OPTIONS if option.key in _OFFERED)
    return {option.key: option for option in (*offered, *own) if option.command_line}


def _parser(options: dict[str, Option]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentbench exec", usage=_USAGE, allow_abbrev=False,
        description=f"Run a script of your own in which {ROOT} is there: each simulation is a run.",
    )  # fmt: skip
    parser.add_argument(
        "--benchmark", metavar="NAME|FILE.yaml",
        help="the benchmark that reads the tasks, or a scenario (default: the one that knows the simulator)",
    )  # fmt: skip
    for option in options.values():
        add_option(parser, option)
    parser.add_argument("script", metavar="SCRIPT.py", help="what `python SCRIPT.py` would run")
    parser.add_argument(
        "args", metavar="ARGS", nargs=argparse.REMAINDER, help="the arguments of the script"
    )
    return parser


def _session(
    benchmark: Benchmark,
    name: str | None,
    options: dict[str, Option],
    given: dict[str, object],
    arguments: Sequence[str],
) -> Session:
    here = Path.cwd()
    values = {key: value for key, value in given.items() if value is not None}
    typed = Layer(lambda key: f"--{options[key].name}", values, here, for_all=True)
    layers, bases = [typed], [here]
    chosen: str | None = name or benchmark.name
    if name is not None and Path(name).suffix.lower() in scenario.SUFFIXES:
        path = Path(name)
        layers.append(scenario.read(path))
        bases.append(path.resolve().parent)
        chosen, benchmark = None, registry.get(str(layers[1].values["benchmark"]))
    elif name is not None:
        benchmark = registry.get(name)
    if ROOT not in benchmark.simulations:
        raise BenchmarkError(
            f"exec --benchmark: expected a benchmark with the tasks of {ROOT}, got {benchmark.name}"
        )
    of_ini = ini.layer(here, options.values())
    bases.append(of_ini.base)
    places = list(dict.fromkeys(bases))
    return Session(chosen, benchmark.simulations[ROOT], [*layers, of_ini], places, arguments)


def _run(
    script: Path, words: Sequence[str], around: Surroundings, simulator: type[Simulator]
) -> int:
    try:
        with _as_main(script, words) as module:
            code = compile(script.read_bytes(), str(script), "exec")
            try:
                with around.importable():
                    exec(code, vars(module))  # noqa: S102 -- what the user typed
            except ImportError as error:
                # A simulation is not repeated for an import that comes after it.
                mended = None if simulator.has_run else around.without_broken(error)
                if mended is None:
                    raise
                print(f"agentbench exec: {mended.note}; the script starts again", file=sys.stderr)
            else:
                return 0
        with _as_main(script, words) as module, mended.importable():
            exec(code, vars(module))  # noqa: S102 -- the same
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except (Exception, NotProvided) as error:
        sys.stdout.flush()
        print("".join(_without_ours(error).format()), end="", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _as_main(script: Path, words: Sequence[str]) -> Iterator[ModuleType]:
    """A fresh module ``__main__``, and the script's own command line."""
    module = ModuleType("__main__")
    vars(module).update(__file__=str(script), __builtins__=builtins)
    main, typed = sys.modules.get("__main__"), sys.argv
    sys.modules["__main__"], sys.argv = module, [str(script), *words]
    try:
        yield module
    finally:
        sys.argv = typed
        if main is not None:
            sys.modules["__main__"] = main


def _without_ours(error: BaseException) -> traceback.TracebackException:
    """The error's traceback, and those of what caused it, without frames that say nothing to the author."""
    shown = traceback.TracebackException.from_exception(error)
    left, seen = [shown], set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        kept = [frame for frame in one.stack if not frame.filename.startswith(_OURS)]
        one.stack = traceback.StackSummary.from_list(kept)
        left += [other for other in (one.__cause__, one.__context__) if other is not None]
    return shown
