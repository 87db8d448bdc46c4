"""The wall clock jumps while a run goes on: by libfaketime, which every process of the run obeys."""

from __future__ import annotations

import email.utils
import time
from pathlib import Path

import pytest
from faults.sessions import write_agent

from pytest_agentbench.agents.retry import retry_after


@pytest.fixture
def clock(project, monkeypatch):
    """The file that says how far the clock is off; written again, the clock jumps."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    if not found:
        pytest.skip("libfaketime is not installed (apt-get install libfaketime)")
    file = project.path / "clock"
    file.write_text("+0")
    monkeypatch.setenv("LD_PRELOAD", str(found[0]))
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(file))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    return file


JUMPS = """
jumps = {{2: "-400d", 5: "+4000d", 8: "+0", 11: "-9000d"}}
if a in jumps:
    with open({file!r}, "w") as clock: clock.write(jumps[a])
    _note("years", time.gmtime().tm_year)
if a == 9:
    select.select([], [], [], 60)  # what libfaketime leaves alone
"""


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["-n2", "--concurrency=2"]], ids=["serial", "xdist"])
def test_jumps_change_no_duration_and_no_timeout(project, clock, extra):
    write_agent(project, JUMPS.format(file=str(clock)))
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=agent.py", "--agent-timeout=4", *extra
    )
    years = set((project.path / "years").read_text().split())
    assert len(years) >= 2, "the clock did not jump"  # workers may jump at the same moment
    assert result.ret == 1
    records = {record["sample"]: record for record in project.records()}
    assert records.pop("sum[s9]")["status"] == "timeout"
    assert {record["status"] for record in records.values()} == {"ok"}
    assert all(0 <= record["seconds"] < 4 for record in records.values())


@pytest.mark.slow
def test_a_run_of_the_past_neither_replaces_nor_hides_another(project, clock):
    write_agent(project)
    for offset in ("+0", "-400d", "-400d"):
        clock.write_text(offset)
        assert project.pytest_process("--benchmark=toysum", "--agent=agent.py").ret == 0
    assert [len(project.records(run)) for run in project.runs()] == [12, 12, 12]


def test_a_server_that_names_a_date_is_understood_by_its_own_clock():
    then = time.time() + 5e7  # our clock is years behind
    headers = {
        "retry-after": email.utils.formatdate(then + 7, usegmt=True),
        "date": email.utils.formatdate(then, usegmt=True),
    }
    assert retry_after(headers) == 7
    del headers["date"]
    assert retry_after(headers) == pytest.approx(5e7 + 7, abs=5)
