"""What README and docs say is what the code does."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from docs_blocks import PAGES, ROOT, Reader, blocks, unfenced

from pytest_agentbench.options import OPTIONS

README = ROOT / "README.md"
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


class Model(BaseHTTPRequestHandler):
    """Stands in for every model that a page names."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "A fine place, I will come again."}
        usage = {"prompt_tokens": 10, "completion_tokens": 8, "total_tokens": 18}
        body = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def programs(monkeypatch):
    """``pytest`` and ``agentbench`` are those beside this Python, as in an activated environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)


@pytest.mark.skipif(sys.platform == "win32", reason="the pages are written for a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_everything_in_a_page_runs(project, programs, model, page):
    Reader(project, model).read(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_stands_in_blocks(page):
    assert not unfenced(page)


def options_table():
    lines = ["| option | ini key | scenario key | meaning |", "|---|---|---|---|"]
    for option in OPTIONS:
        name = option.name if option.short else f"agentbench-{option.name}"
        given = f"`--{name}`" if option.flag else f"`--{name} {option.metavar}`"
        given = given if option.command_line else ""
        ini = f"`{option.dest}`" if option.ini else ""
        key = f"`{option.key}`" if option.scenario else ""
        lines.append(f"| {given.replace('|', '&#124;')} | {ini} | {key} | {option.help} |")
    return "\n".join(lines)


def test_the_reference_lists_every_option():
    (table,) = re.findall(r"<!-- options: .*? -->\n(.*?)\n<!-- end -->", REFERENCE, re.DOTALL)
    assert table == options_table()


def test_ci_installs_and_tests_as_the_readme_says():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install, test = re.search(r"(pip install .*?) && (pytest .*)", blocks(README)[1].text).groups()
    assert f"\n{install}\n" in run
    assert f"\n{test}\n" in run


def test_every_local_link_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.yaml")), ids=lambda p: p.name)
def test_every_scenario_of_the_repository_passes(project, path):
    result = project.pytest("--benchmark", str(path), "-q")
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
