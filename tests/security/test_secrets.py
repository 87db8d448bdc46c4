"""Keys and passwords reach those they are for, and no file, no terminal and no other process."""

from __future__ import annotations

import http.server

import pytest
from json_handler import JsonHandler, serving

PARTS = ("hunter2word", "sk-in-the-query", "sk-in-the-environment")


class Endpoint(http.server.ThreadingHTTPServer):
    """Answers some samples, and refuses the others with what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://me:{PARTS[0]}@127.0.0.1:{self.server_port}/answer?key={PARTS[1]}"


class Handler(JsonHandler):
    def do_POST(self):
        context = self.body()
        self.server.asked.append((self.path, self.headers["Authorization"]))
        good = context["a"] % 2 == 0
        self.give(200 if good else 403, context["a"] + context["b"] if good else "refused")


@pytest.fixture
def endpoint():
    with serving(Endpoint()) as server:
        yield server


@pytest.fixture
def untold(project):
    """Fails where one of the secrets stands in a file of the project or in the output."""

    def untold(result, but=()):
        said = result.stdout.str() + result.stderr.str()
        assert not [part for part in PARTS if part in said]
        for path in project.path.rglob("*"):
            assert not [part for part in PARTS if part in str(path)], path
            if path.is_file() and path.name not in but:
                text = path.read_bytes()
                assert not [part for part in PARTS if part.encode() in text], path

    return untold


@pytest.mark.parametrize("given", ["option", "scenario"])
def test_an_address_with_keys_is_asked_and_nowhere_shown(project, endpoint, untold, given):
    project.write(s__yaml=f"benchmark: toysum\nagent: {endpoint.url!r}\n")
    arguments = {
        "option": ["--benchmark=toysum", "--agent", endpoint.url],
        "scenario": ["s.yaml"],
    }[given]
    result = project.pytest(
        *arguments,
        "-v",
        "--showlocals",
        "--tb=long",
        "--junitxml=junit.xml",
        "--agentbench-json=all.json",
    )
    path, authorization = endpoint.asked[0]
    assert path.endswith(PARTS[1])
    assert authorization.startswith("Basic ")
    statuses = {record["status"] for record in project.records()}
    assert statuses == {"ok", "error"}
    result.stdout.fnmatch_lines([f"agentbench: *http://127.0.0.1:{endpoint.server_port}/answer"])
    untold(result, but=("s.yaml",))


def test_a_wrong_address_is_told_without_its_keys(project, untold):
    result = project.pytest(
        "--benchmark=toysum", f"--agent=http://me:{PARTS[0]}@host:port/?key={PARTS[1]}"
    )
    assert result.ret != 0
    result.stderr.fnmatch_lines(
        ["*expected an address such as http://localhost:8000/answer, got 'http://host:port/'"]
    )
    untold(result)


SHOWS = """
import os
def agent(context):
    print(sorted(os.environ.items()))
    raise ValueError(dict(os.environ))
"""


def test_the_environment_of_the_run_is_not_in_its_files(project, monkeypatch, untold):
    """An isolated agent can print all that it is given: the keys of others are not."""
    monkeypatch.setenv("SOME_API_KEY", PARTS[2])
    project.write(agent__py=SHOWS)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process", "--limit=2", "-rA"
    )
    assert result.ret == 1
    untold(result)
    listed = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process", "--limit=2", "-rA",
        "--agent-env=SOME_API_KEY",
    )  # fmt: skip
    assert PARTS[2] in listed.stdout.str()  # what is given to an agent is the agent's to show
