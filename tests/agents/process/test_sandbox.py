"""How an agent gets into its process, and what it finds there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_agentbench.agents.errors import AgentCrashed
from pytest_agentbench.agents.process.sandbox import allowed
from pytest_agentbench.base.errors import BenchmarkError


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def agent(context: return 1", r"importing .*agent.py failed: SyntaxError"),
        (
            "import no_such_module\ndef agent(c): ...",
            r"importing .*agent.py failed: ModuleNotFoundError",
        ),
        ("x = 1", "expected a function .* in agent.py, got none"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_why_before_any_question(isolated, source, message):
    with pytest.raises(BenchmarkError, match=message):
        isolated(source).start()


def test_a_crash_while_importing_is_told_as_such(isolated):
    agent = isolated("import os, sys\nprint('no luck', file=sys.stderr)\nos._exit(4)")
    with pytest.raises(
        AgentCrashed, match=r"ended with exit code 4 while it imported agent.py[\s\S]*no luck"
    ):
        agent(0)


def test_an_import_without_end_is_given_up(isolated):
    agent = isolated("import time\ntime.sleep(600)", start_timeout=0.5)
    with pytest.raises(AgentCrashed, match=r"importing agent.py took longer than 0.5 s"):
        agent(0)


def test_the_time_of_imports_is_not_the_agents(isolated):
    agent = isolated("import time\ntime.sleep(2.4)\ndef agent(context): return 1", timeout=2.0)
    assert agent(0) == 1


def test_a_module_is_found_as_it_is_here(isolated, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mod_of_agent.py").write_text("def answer(context): return 'mod'\n")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    assert isolated("", spec="mod_of_agent:answer")(0) == "mod"


def test_the_digest_comes_from_the_child_and_the_agent_is_not_imported_here(isolated, tmp_path):
    import hashlib

    agent = isolated("def agent(context): return 1")
    assert agent.digest == hashlib.sha256((tmp_path / "agent.py").read_bytes()).hexdigest()
    assert not [
        name
        for name in sys.modules
        if name.startswith("agentbench_agent_agent_") and str(tmp_path) in str(sys.modules[name])
    ]


def test_the_working_directory_is_empty_its_own_and_removed(isolated):
    agent = isolated(
        """
        import os
        def agent(context):
            before = os.listdir()
            open("left", "w").close()
            return [os.getcwd(), before]
        """
    )
    place, before = agent(0)
    assert before == []
    assert Path(place) != Path.cwd()
    agent.close()
    assert not Path(place).exists()


def test_a_working_directory_of_the_users_stays(isolated, tmp_path):
    agent = isolated("import os\ndef agent(context): return os.getcwd()", cwd=tmp_path)
    assert agent(0) == str(tmp_path.resolve())
    agent.close()
    assert tmp_path.exists()


def test_the_environment_is_what_is_allowed(isolated, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OTHER_TOKEN", "secret")
    monkeypatch.setenv("LC_TIME", "C")
    agent = isolated(
        "import os\ndef agent(context): return dict(os.environ)", environment=("OPENAI_API_KEY",)
    )
    environment = agent(0)
    assert environment["OPENAI_API_KEY"] == "sk-secret"
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["LC_TIME"] == "C"
    assert "OTHER_TOKEN" not in environment
    assert "PYTEST_CURRENT_TEST" not in environment


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"]
)
def test_keys_are_not_given_unless_listed(name):
    assert allowed({name: "x", "PATH": "p"}) == {"PATH": "p"}
    assert allowed({name: "x"}, [name]) == {name: "x"}
