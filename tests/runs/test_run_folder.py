"""The folder of a run."""

from __future__ import annotations

import json
import os

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.record import Record


def record(sample="s[1]", **given):
    return Record("b", sample, given.pop("status", "ok"), **given)


@pytest.fixture
def folder(tmp_path):
    log = run_folder.RunLog(tmp_path / "run", {"schema": 1})
    for sample in ("s[1]", "s[2]", "s[3]"):
        log.append(record(sample, answer=sample).to_json())
    log.close()
    return tmp_path / "run"


def test_records_come_back_in_order(folder):
    assert [r.answer for r in run_folder.read_records(folder)] == ["s[1]", "s[2]", "s[3]"]
    assert run_folder.read_json(folder / "manifest.json", "a manifest") == {"schema": 1}


def test_nothing_is_created_before_the_first_record(tmp_path):
    log = run_folder.RunLog(tmp_path / "run", {})
    assert not log.started
    log.close()
    assert not (tmp_path / "run").exists()


def test_the_last_record_of_a_sample_counts(folder):
    log = run_folder.RunLog(folder, {"schema": 1}, "resumed")
    log.append(record("s[2]", status="error").to_json())
    log.close()
    assert [r.status for r in run_folder.read_records(folder)] == ["ok", "error", "ok"]


def test_a_torn_last_line_is_passed_over_at_any_point(folder):
    path = folder / "records.jsonl"
    whole = path.read_bytes()
    lengths = [len(line) + 1 for line in whole.splitlines()]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        complete = sum(cut >= sum(lengths[: n + 1]) - 1 for n in range(3))
        assert len(run_folder.read_records(folder)) == complete


def test_a_torn_log_is_healed_before_more_is_appended(folder):
    path = folder / "records.jsonl"
    whole = path.read_bytes()
    for torn in (b'{"benchmark": "b", "sam', whole.splitlines()[0], b""):
        path.write_bytes(whole + torn)
        log = run_folder.RunLog(folder, {"schema": 1}, "resumed")
        log.append(record("s[4]").to_json())
        log.close()
        assert [r.sample for r in run_folder.read_records(folder)] == [
            "s[1]",
            "s[2]",
            "s[3]",
            "s[4]",
        ]
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_broken_line_in_the_middle_is_named(folder):
    path = folder / "records.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:20]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(BenchmarkError, match=r"records.jsonl, line 2: expected a record"):
        run_folder.read_records(folder)


def test_bytes_that_are_no_text_are_named(folder):
    (folder / "records.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BenchmarkError, match="line 1: expected JSON in ASCII"):
        run_folder.read_records(folder)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("my_agent.py", "my_agent"),
        ("a b/../my agent.py", "my_agent"),
        ("/srv/ada/agents/my_agent.py:Careful", "my_agent_Careful"),
        ("C:\\agents\\my_agent.py", "my_agent"),
        ("package.module:Name", "package.module_Name"),
        ("builtin:mean", "mean"),
        ("cmd:./bin/agent --json", "cmd_agent_--json"),
        (f"cmd:agent {'x' * 300}", f"cmd_agent_{'x' * 70}"),
        ("http://ada:secret@localhost:80/a.py?key=1", "http_localhost_80_a.py"),
        ("submission:answers.csv.gz", "submission_answers.csv.gz"),
    ],
)
def test_a_folder_is_named_by_the_agents_own_name_in_plain_characters(agent, name):
    folder = run_folder.folder_name("20261116-120000", "humob", agent)
    assert folder == f"20261116-120000-humob-{name}"


@pytest.mark.parametrize(
    ("models", "name"),
    [
        (["gpt-4o-mini"], "gpt-4o-mini"),
        (["meta-llama/Llama-3-8B:free"], "meta-llama_Llama-3-8B_free"),
        (["a", "b", "a"], "a_b"),
        (["x" * 300], "x" * 60),
    ],
)
def test_models_end_the_name_of_a_folder(models, name):
    folder = run_folder.folder_name("20261116-120000", "humob", "my/llm_agent.py", models)
    assert folder == f"20261116-120000-humob-llm_agent-{name}"


def test_two_sessions_never_share_a_new_folder(tmp_path):
    first, second = (run_folder.RunLog(tmp_path / "run", {}, "new") for _ in range(2))
    first.append("{}")
    second.append("{}")
    assert (first.folder.name, second.folder.name) == ("run", "run-2")
    named = run_folder.RunLog(tmp_path / "run", {})
    with pytest.raises(BenchmarkError, match="another session writes its records there"):
        named.append("{}")
    for log in (first, second, named):
        log.close()


def test_json_files_are_written_whole(tmp_path):
    path = tmp_path / "x.json"
    run_folder.write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        run_folder.write_json(path, {"a": float("nan")})
    assert run_folder.read_json(path, "x") == {"a": 1}


@pytest.mark.parametrize(("text", "message"), [("[1]", "got a JSON list"), ("{", "in JSON, got")])
def test_a_json_file_that_is_none_of_ours_is_refused(tmp_path, text, message):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(BenchmarkError, match=message):
        run_folder.read_json(tmp_path / "x.json", "scores")


def test_a_record_is_read_back_from_where_it_was_appended(folder):
    log = run_folder.RunLog(folder, {"schema": 1}, "resumed")
    made = [record(f"s[{n}]").changed(answer=f"{n}" * 600) for n in range(4, 8)]
    lines = [one.to_json() for one in made]
    places = [*log.append(lines[0]), *log.append(*lines[1:3]), *log.append(lines[3])]
    log.close()
    assert [p.answer(r.sample, 1) for p, r in zip(places, made, strict=True)] == [
        r.answer for r in made
    ]
    assert [r.answer for r in run_folder.read_records(folder)[3:]] == [r.answer for r in made]


def test_a_log_that_was_cut_between_two_looks_is_not_taken_for_whole(folder):
    log = run_folder.RunLog(folder, {"schema": 1}, "resumed")
    log.append(record("s[4]").to_json())
    os.truncate(folder / "records.jsonl", 10)
    log.append(record("s[5]").to_json())  # before the next look
    assert "was cut while the run was under way" in log.lost
    log._look_again = 0.0
    with pytest.raises(run_folder.LogLost, match="was cut"):
        log.append(record("s[6]").to_json())
    log.close()
