"""What GitHub shows of a run: the summary of a step, and error lines."""

from __future__ import annotations

from pytest_agentbench.reports.github import MOST_BYTES, append_summary, github_errors, harmless
from pytest_agentbench.runs.scores_file import GateResult, Scores

GATES = (
    GateResult("accuracy >= 0.4", True, 0.5, 0.4),
    GateResult("accuracy >= 0.9", False, 0.5, 0.9),
    GateResult("x > 1", False, reason="no 50%,\nnone"),
    GateResult("y > 1", None, reason="cut short"),
)


def test_failed_gates_are_errors_and_escaped():
    scores = Scores(benchmark="toysum", primary="exact", readings={"exact": {}}, gates=GATES)
    assert github_errors(scores, "a,b.yaml: x") == [
        "::error title=gate failed%3A a%2Cb.yaml%3A x::accuracy >= 0.9: got 0.5 against 0.9",
        "::error title=gate failed%3A a%2Cb.yaml%3A x::x > 1: no 50%25,%0Anone",
    ]


def test_the_summary_is_appended_to(tmp_path):
    path = tmp_path / "summary.md"
    append_summary(path, "one\n")
    append_summary(path, "two\n")
    assert path.read_text() == "one\n\ntwo\n"


def test_the_summary_stays_below_what_github_takes(tmp_path):
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (MOST_BYTES // 2))
    append_summary(path, "é line\n" * MOST_BYTES)
    assert MOST_BYTES - 100 < path.stat().st_size <= MOST_BYTES
    text = path.read_text(encoding="utf-8")  # not cut within a character
    assert text.endswith("é line\n\n\n*The rest was cut: a summary may have 1 MiB.*\n")
    append_summary(path, "more\n" * 100)
    assert path.stat().st_size <= MOST_BYTES


def test_a_text_of_an_agents_gives_no_orders():
    text = "a :: b\n  ::stop-commands::x\r::add-mask::y ##[error]z\nx::y\n"
    assert harmless(text) == "a :: b\n  :\\:stop-commands::x\r:\\:add-mask::y #\\#[error]z\nx::y\n"


AGENT = """
import warnings
def agent(context):
    print("::stop-commands::mine")
    print("  ::error::forged")
    warnings.warn("\\n::add-mask::a")
    raise ValueError("x\\n::stop-commands::mine\\n##[error]forged" + "x" * 30_000 * (context["a"] == 1))
"""


def test_on_github_an_agent_neither_forges_nor_silences_error_lines(project, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    project.write(agent__py=AGENT)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--limit=4", "-rA", "--gate=accuracy > 0.5"
    )
    lines = [line.strip() for line in result.stdout.lines]
    assert [line[:25] for line in lines if line.startswith("::")] == [
        "::error title=gate failed"
    ] * 2
    assert not [line for line in lines if "##[" in line]
    assert ":\\:stop-commands::mine" in lines
    printed = [record["evidence"]["stdout"] for record in project.records()]
    assert printed[0].startswith("::stop-commands::mine\n")  # the record keeps what was said
