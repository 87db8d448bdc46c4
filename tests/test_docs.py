"""What README and docs say is what the code does."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path

import lean
import pytest
from docs_blocks import PAGES, ROOT, Reader, blocks, unfenced
from json_handler import JsonHandler, serving

from pytest_agentbench.agents.llm.entries import Entry
from pytest_agentbench.agents.llm.providers import ADDRESSES
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.cli.main import _validate, main
from pytest_agentbench.plugin import fixtures, hookspecs
from pytest_agentbench.runs.record import STATUSES, Record
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.options import of_parameter
from pytest_agentbench.settings.settings import OPTIONS

README = ROOT / "README.md"
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
OURS = ("BehaviorModeling", "DailyMobility", "humob", "HurricaneMobility")


class Model(JsonHandler):
    """Stands in for every model that a page names."""

    def do_POST(self):
        self.body()
        message = {"role": "assistant", "content": "A fine place, I will come again."}
        usage = {"prompt_tokens": 10, "completion_tokens": 8, "total_tokens": 18}
        self.give(200, {"choices": [{"message": message}], "usage": usage})


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Model)) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1"


@pytest.fixture
def programs(monkeypatch):
    """``pytest`` and ``agentbench`` are those beside this Python, as in an activated environment.

    So is pytest-split, which docs/ci.md uses.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", lean.OPTIONS.replace("-p no:pytest-split", ""))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the pages are written for a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_everything_in_a_page_runs(project, programs, model, page):
    Reader(project, model).read(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_stands_in_blocks(page):
    assert not unfenced(page)


@pytest.mark.skipif(sys.platform == "win32", reason="the pages are written for a POSIX shell")
@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```",
        "```sh\ntrue  # exit code 1\n```",
        "```sh\necho 1\n```\n\n```text\n2\n```",
        "```python\n>>> 1 + 1\n3\n```",
        "```python\ndef used_by_no_command(): ...\n```",
        "```yaml\nneither: {a: scenario}\n```",
        "```sql\nselect 1\n```",
    ],
)
def test_a_wrong_block_is_found_and_may_be_marked(project, programs, model, text):
    page = project.path / "page.md"
    page.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md"):
        Reader(project, model).read(page)
    marked = re.sub(r"^```(?=\w)", "<!-- not run: a reason -->\n```", text, flags=re.MULTILINE)
    page.write_text(f"{marked}\n", encoding="utf-8")
    Reader(project, model).read(page)


def test_times_in_a_page_are_those_of_another_machine(project, programs, model):
    page = project.path / "page.md"
    printed, shown = "= 1 passed in 83.53s (0:01:23) =", "=== 1 passed in 3.10s ==="
    page.write_text(f"```sh\necho '{printed}'\n```\n\n```text\n{shown}\n```\n", encoding="utf-8")
    Reader(project, model).read(page)


def checked(text, name):
    """What stands between ``<!-- NAME: checked by … -->`` and ``<!-- end -->``."""
    pattern = rf"<!-- {name}: checked by tests/test_docs.py -->\n(.*?)<!-- end -->"
    (found,) = re.findall(pattern, text, re.DOTALL)
    return found.rstrip("\n")


def rows(table):
    """The cells of a table, without its head."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.strip().splitlines()[2:]
    ]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def options_table():
    head = ["| option | ini key | scenario key | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *(option.row for option in OPTIONS), *parameter_rows()])


def parameter_rows():
    for name, entry in registry.available().items():
        if entry.value.startswith("pytest_agentbench."):
            benchmark = registry.get(name)
            options = [of_parameter(parameter, benchmark) for parameter in benchmark.parameters]
            yield from (option.row for option in options if option.command_line)


def test_the_reference_lists_every_option():
    assert checked(REFERENCE, "options") == options_table()


def test_the_reference_lists_the_fields_of_a_record():
    table = dict(rows(checked(REFERENCE, "record")))
    assert list(table) == [f"`{field.name}`" for field in dataclasses.fields(Record)]
    assert tuple(quoted(table["`status`"])) == STATUSES


def test_the_reference_lists_the_files_and_the_keys_of_scores(project):
    assert project.pytest("--benchmark=toysum").ret == 0
    shard = ["-p", "pytest-split", "--splits=2", "--group=1"]
    options = ["--baseline=last", "--epochs=2", "--run-dir=run", *shard]
    result = project.pytest("--benchmark=toysum", *options)
    assert result.ret == 0
    folder = project.path / "run"
    files = [quoted(row[0])[0] for row in rows(checked(REFERENCE, "files"))]
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    scores = project.scores(folder)
    table = rows(checked(REFERENCE, "scores"))
    keys = [key for row in table for key in quoted(row[0])]
    assert sorted(keys) == sorted(scores)
    inside = {quoted(key)[0]: quoted(meaning) for key, meaning in table}
    assert set(inside["agent"]) == {*scores["agent"], "models"}  # this one asked none
    assert set(inside["dataset"]) == set(scores["dataset"])
    assert set(inside["gates"]) == set(scores["gates"][0])
    assert set(inside["shard"]) == set(scores["shard"])
    assert set(inside["groups"]) == set(scores["groups"][0])
    assert set(inside["floor"]) == set(scores["floor"][0])
    assert set(inside["baseline"]) - {"--baseline"} == set(scores["baseline"])
    assert set(scores["samples"]) == {"total", *STATUSES}


def test_the_reference_lists_every_fixture_mark_and_hook():
    names = [quoted(row[0])[0] for row in rows(checked(REFERENCE, "fixtures, marks and hooks"))]
    hooks = [
        f"{name}({', '.join(inspect.signature(function).parameters)})"
        for name, function in vars(hookspecs).items()
        if name.startswith("pytest_")
    ]
    fixture = type(fixtures.agent)
    ours = dict.fromkeys(one.name for one in vars(fixtures).values() if isinstance(one, fixture))
    assert names == [*ours, '@pytest.mark.agentbench("humob")', *hooks]


def commands_table(capsys, monkeypatch):
    """What ``agentbench --help`` says of each command, and how ``agentbench COMMAND --help`` says it is used."""

    def said(*arguments):
        with pytest.raises(SystemExit):
            main([*arguments, "--help"])
        return capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "300")
    commands = re.findall(r"^    ([a-z-]+)\s+(.+)$", said(), re.MULTILINE)
    lines = ["| command | what it does |", "|---|---|"]
    for name, meaning in commands:
        if name == "validate":
            _validate("--help", [])
            usage = capsys.readouterr().out
        else:
            usage = said(name)
        used = usage.splitlines()[0].removeprefix("usage: ").replace(" [-h]", "")
        lines.append(f"| `{used.replace('|', '&#124;')}` | {meaning} |")
    return "\n".join(lines)


def test_the_reference_lists_every_command(capsys, monkeypatch):
    assert checked(REFERENCE, "commands") == commands_table(capsys, monkeypatch)


def test_the_gates_in_the_reference_can_be_read():
    (table,) = re.findall(r"^\| gate \|.*?\n\n", REFERENCE, re.DOTALL | re.MULTILINE)
    for row in rows(table):
        assert gates.parse(quoted(row[0])[0])


def range_of(metric):
    if metric.high is not None:
        return f"{metric.low:g} to {metric.high:g}"
    if metric.low is None:
        return "any number"
    return " ".join([f"{metric.low:g}", *([metric.unit] if metric.unit else []), "and more"])


def test_the_metrics_page_lists_every_reading_and_metric():
    ours = [registry.get(name) for name in OURS]
    readings = {
        quoted(name)[0]: tuple(quoted(primary) + quoted(other))
        for name, primary, other in rows(checked(METRICS, "readings"))
    }
    assert readings == {benchmark.name: benchmark.readings for benchmark in ours}
    for benchmark in ours:
        table = rows(checked(METRICS, f"metrics of {benchmark.name}"))
        assert [(quoted(row[0])[0], row[2]) for row in table] == [
            (metric.name, metric.better) for metric in benchmark.metrics
        ]
        for row, metric in zip(table, benchmark.metrics, strict=True):
            assert row[1] == range_of(metric)


def test_the_numbers_beside_each_other_are_those_of_the_examples():
    compared = 0
    for section in METRICS.split("\n## "):
        for table in re.findall(r"^\| difference \|.*?\n\n", section, re.DOTALL | re.MULTILINE):
            printed = [
                tuple(map(float, pair))
                for pair in re.findall(r"^[\[(]([\d.]+), ([\d.]+)[\])]$", section, re.MULTILINE)
            ]
            for _, *values in rows(table):
                if all(re.fullmatch(r"[\d.]+", value) for value in values):
                    assert tuple(map(float, values)) in printed, values
                    compared += 1
    assert compared == 16


@pytest.mark.parametrize(
    ("page", "name"),
    [("humob", "humob"), ("behavior-modeling", "BehaviorModeling"), ("daily-mobility", "HurricaneMobility")],
)  # fmt: skip
def test_the_page_of_a_benchmark_names_its_keys_and_baselines(page, name):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    benchmark = registry.get(name)
    for word in [*(parameter.name for parameter in benchmark.parameters), *benchmark.baselines]:
        assert re.search(rf"`{word}\b", text), word


def test_the_keys_of_a_model_are_listed():
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| key of an entry \|.*?\n\n", text, re.DOTALL | re.MULTILINE)
    keys = [key for row in rows(table) for key in quoted(row[0])]
    assert keys == [field.name for field in dataclasses.fields(Entry)]


def test_the_addresses_of_providers_are_listed():
    table = checked((ROOT / "docs" / "agents.md").read_text(encoding="utf-8"), "providers")
    listed = {quoted(name)[0]: address for name, address in rows(table)}
    assert list(listed) == list(ADDRESSES)
    assert all(listed[name] == address for name, address in ADDRESSES.items() if address)


def test_ci_installs_and_tests_as_the_readme_says():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install, test = re.search(r"(pip install .*?) && (pytest .*)", blocks(README)[1].text).groups()
    assert f"\n{install}\n" in run
    everything = test.removesuffix(' -m "not slow"')  # CI runs the slow tests, too
    assert everything != test
    balanced = everything.replace("-n 2", "-n 3 --dist worksteal")
    assert f"\n{balanced} --hypothesis-profile=ci\n" in run


def test_the_promises_of_reliability_have_their_tests():
    named = re.findall(
        r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "reliability.md").read_text("utf-8")
    )
    assert len(named) > 40
    missing = [
        f"{file}::{name}"
        for file, name in named
        if f"def {name}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert not missing


def test_every_local_link_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


def test_every_path_in_the_architecture_page_exists():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "pytest_agentbench"
    prose = re.sub(r"\]\([^)]*\)", "]", text)
    named = set(re.findall(r"\b\w+(?:/\w+)*(?:/(?!\w)|\.(?:py|md|toml)\b)", prose))
    missing = [n for n in sorted(named) if not ((ROOT / n).exists() or (package / n).exists())]
    assert not missing
    rooms = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()}
    assert rooms <= named


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.yaml")), ids=lambda p: p.name)
def test_every_scenario_of_the_repository_passes(project, path):
    result = project.pytest(f"--benchmark={path}", "-q")
    assert result.ret == 0


def test_nothing_names_a_machine():
    # Paths are joined here so that this file does not match itself.
    forbidden = ["/ro" + "ot/", "/ho" + "me/", "/wo" + "rk/", "pypi" + ".org"]
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if (
            path.suffix in (".py", ".md", ".toml", ".yaml", ".txt")
            and not inside[0].startswith(".")
            and "site-packages" not in inside
        ):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [word for word in forbidden if word in text], path
