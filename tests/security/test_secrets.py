"""Keys and passwords reach those they are for, and no file, no terminal and no other process."""

from __future__ import annotations

import base64
import http.server
import sys
from collections import Counter

import pytest
from json_handler import JsonHandler, serving

PARTS = ("hunter2word", "qs-key-in-the-query", "ev-key-in-the-environment")


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
        assert not [part for part in PARTS if part[:7] in said]
        for path in project.path.rglob("*"):
            assert not [part for part in PARTS if part in str(path)], path
            if path.is_file() and path.name not in but:
                text = path.read_bytes()
                assert not [part for part in PARTS if part[:7].encode() in text], path

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
    assert "('SOME_API_KEY', '***')" in listed.stdout.str()  # it was given, and printed
    untold(listed)


class Echo(Endpoint):
    """Says to everybody what it was sent: headers and query, in good and bad replies."""

    def __init__(self) -> None:
        http.server.ThreadingHTTPServer.__init__(self, ("127.0.0.1", 0), EchoHandler)
        self.asked = []


class EchoHandler(JsonHandler):
    def do_POST(self):
        number = self.body()["a"]
        said = f"{self.headers['Authorization']} {self.path}"
        decoded = base64.b64decode(self.headers["Authorization"].split()[1]).decode()
        replies = [
            (200, {"answer": said, decoded: [decoded]}),
            (200, f"no JSON: {said}".encode()),
            (500, said),
            (403, {"why": ["x" * 450, said, decoded]}),  # quoted in part
            (302, said),
            (200, number * 2),
        ]
        status, body = replies[number % len(replies)]
        self.give(status, body, Location=f"http://{decoded}@elsewhere{self.path}", X_Echo=said)


BASIC = base64.b64encode(f"me:{PARTS[0]}".encode()).decode()


@pytest.mark.parametrize("mode", [[], ["-n2"], ["--concurrency=2"]], ids=" ".join)
def test_what_a_server_echoes_reaches_no_file_and_no_terminal(project, monkeypatch, untold, mode):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    with serving(Echo()) as server:
        result = project.pytest(
            "--benchmark=toysum", "--agent", server.url, "--run-dir=out", "-rA", "-v", "--showlocals", "--tb=long",
            "--junitxml=junit.xml", "--agentbench-json=all.json", "--agentbench-csv=all.csv", *mode,
        )  # fmt: skip
    records = project.records(project.path / "out")
    assert Counter(record["status"] for record in records) == {"ok": 2, "invalid": 2, "error": 8}
    assert "Basic *** /answer?*" in next(r for r in records if r["sample"] == "sum[s3]")["error"]
    kept = next(record for record in records if record["sample"] == "sum[s6]")["answer"]
    assert kept == {"answer": "Basic *** /answer?***", "***": ["***"]}
    exported = project.agentbench("export", "out", "--format=submission", "-o", "submission.txt")
    written = project.agentbench("export", "out", "--format=inspect", "-o", "inspect.json")
    for said in (result, exported, written):
        untold(said)
        assert BASIC not in said.stdout.str()
    for path in project.path.rglob("*"):
        assert not path.is_file() or BASIC.rstrip("=").encode() not in path.read_bytes(), path


TELLS = """
import logging, os, sys, warnings
key = {key}
def agent(context):
    print("printed", key)
    print("printed", key, file=sys.stderr)
    logging.getLogger("agent").warning("logged %s", key)
    warnings.warn("warned of " + key)
    if context["a"] % 3 == 0:
        raise ValueError("raised " + key)
    if context["a"] % 3 == 1:
        try:
            raise KeyError(key)
        except KeyError:
            raise RuntimeError("beside it")
    return {{"answer": key, key: 1}}
"""


@pytest.mark.parametrize(
    "mode",
    [
        [],
        pytest.param(["-n2"], marks=pytest.mark.slow),
        ["--agent-isolation=process", "--agent-env=SOME_API_KEY"],
    ],
)
def test_a_key_that_an_agent_tells_is_hidden(project, monkeypatch, untold, mode):
    monkeypatch.setenv("SOME_API_KEY", PARTS[2])
    project.write(agent__py=TELLS.format(key="os.environ['SOME_API_KEY']"))
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--run-dir=out", "-rA", "--showlocals", "--junitxml=junit.xml", *mode
    )  # fmt: skip
    assert "printed ***" in result.stdout.str()
    if not mode:
        assert "warned of ***" in result.stdout.str()
    errors = {record["error"] for record in project.records(project.path / "out")}
    assert "ValueError: raised ***" in errors
    untold(result)


COMMAND = """
import json, sys
key = sys.argv[2]
for line in sys.stdin:
    number = json.loads(line)["a"]
    print("told", key, file=sys.stderr, flush=True)
    if number == 5:
        sys.exit(key)
    print(json.dumps({"answer": key} if number % 2 else number * 2), flush=True)
"""


def test_a_key_in_a_command_is_hidden(project, untold):
    project.write(agent__py=COMMAND)
    command = f"cmd:{sys.executable} agent.py --api-key {PARTS[2]}"
    result = project.pytest("--benchmark=toysum", "--agent", command, "-rA", "--junitxml=junit.xml")
    name = project.scores()["agent"]["name"]
    assert name == f"cmd:{sys.executable} agent.py --api-key ***"
    assert "told ***" in result.stdout.str()
    assert {record["status"] for record in project.records()} == {"ok", "invalid", "error"}
    untold(result)
    refused = project.pytest(
        "--benchmark=toysum", "--agent", f"cmd:no-such-program --token={PARTS[2]}"
    )
    assert "--agent cmd:no-such-program --token=***: expected" in refused.stderr.str()
    untold(refused)
