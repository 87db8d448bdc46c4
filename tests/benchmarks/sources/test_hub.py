"""Fetching with the hub's real client from a server that speaks the hub's protocol."""

from __future__ import annotations

import socket
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.sources import hub as hub_module
from pytest_agentbench.benchmarks.sources.hub import RemoteFile, fetch, intact
from pytest_agentbench.cli.main import main

REPOSITORY = "lab/some-data"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BIG = bytes(range(256)) * 12_000  # 3 MB

needs_client = pytest.mark.skipif(
    find_spec("huggingface_hub") is None,
    reason="needs the hub's client: pip install 'pytest-agentbench[hub]'",
)
# The client's own warnings (about symlinks, tokens, its future) are not ours to turn into errors.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def stocked(hub):
    hub.add("user.json", b'{"user_id": "u"}\n')
    hub.add("tasks/test.json", b"[]")
    hub.add("review.json", BIG, large=True)
    return hub


@needs_client
def test_files_are_fetched_at_one_commit_and_verified(stocked):
    folder = fetch(REPOSITORY, "main")
    assert folder.name == COMMIT
    assert (folder / "review.json").read_bytes() == BIG
    assert (folder / "tasks" / "test.json").read_bytes() == b"[]"
    assert all(COMMIT in path for path in stocked.downloads())


@needs_client
def test_a_second_run_asks_nobody(stocked, monkeypatch):
    first = fetch(REPOSITORY)
    stocked.requests.clear()
    monkeypatch.setattr(hub_module, "find_spec", lambda name: None)  # nor the client
    assert fetch(REPOSITORY) == first
    assert stocked.requests == []


@needs_client
def test_a_file_that_went_missing_is_fetched_again(stocked):
    folder = fetch(REPOSITORY)
    (folder / "user.json").unlink()
    assert (fetch(REPOSITORY) / "user.json").read_bytes() == stocked.files["user.json"]


@needs_client
def test_only_the_files_asked_for_come(stocked):
    folder = fetch(REPOSITORY, files=["user.json", "tasks/*"])
    assert (folder / "user.json").exists()
    assert (folder / "tasks" / "test.json").exists()
    assert not (folder / "review.json").exists()
    with pytest.raises(BenchmarkError, match=r"expected files like \['\*\.csv'\]"):
        fetch(REPOSITORY, files=["*.csv"])


@needs_client
def test_a_broken_download_goes_on_where_it_stopped(stocked, monkeypatch):
    # The client counts what came in chunks; a smaller one stands for a larger file.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 16)
    stocked.broken["review.json"] = 1
    folder = fetch(REPOSITORY)
    assert (folder / "review.json").read_bytes() == BIG
    ranges = [wanted for _, path, wanted in stocked.requests if path.endswith("review.json")]
    rest = [int(wanted[len("bytes=") :].split("-")[0]) for wanted in ranges if wanted]
    assert len(BIG) // 4 < max(rest) < len(BIG), "expected a request for the rest of the file"


@pytest.mark.slow
@needs_client
def test_after_a_failure_only_what_is_missing_is_fetched(stocked):
    stocked.broken["review.json"] = 100
    with pytest.raises(BenchmarkError, match=r"failed: .* Finished files are kept"):
        fetch(REPOSITORY)
    stocked.broken.clear()
    stocked.requests.clear()
    assert (fetch(REPOSITORY) / "review.json").read_bytes() == BIG
    assert {path.rpartition("/")[2] for path in stocked.downloads()} == {"review.json"}


@needs_client
@pytest.mark.parametrize("name", ["user.json", "review.json"])
def test_a_damaged_file_is_fetched_once_more(stocked, name):
    stocked.spoil[name] = 1
    folder = fetch(REPOSITORY)
    assert (folder / name).read_bytes() == stocked.files[name]


@needs_client
def test_a_file_that_stays_damaged_is_refused(stocked):
    stocked.spoil["review.json"] = 2
    with pytest.raises(BenchmarkError, match=r"review\.json came twice .* checksum"):
        fetch(REPOSITORY)


@needs_client
def test_a_repository_that_is_not_there_is_named(stocked):
    with pytest.raises(BenchmarkError, match=r"lab/nothing at its newest commit: .*failed"):
        fetch("lab/nothing")


@needs_client
def test_a_hub_out_of_reach_is_found_out_fast(hub, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        started = time.perf_counter()
        with pytest.raises(BenchmarkError, match=r"out of reach .*--dataset PATH"):
            fetch(REPOSITORY)
    assert time.perf_counter() - started < 5


@needs_client
@pytest.mark.parametrize("repository", [REPOSITORY, "lab/nothing"])
def test_a_password_in_the_hubs_address_is_not_shown(stocked, monkeypatch, repository):
    where = (
        stocked.url.replace("//", "//me:secret@")
        if repository != REPOSITORY
        else "http://me:secret@127.0.0.1:9"
    )
    monkeypatch.setenv("HF_ENDPOINT", where)
    with pytest.raises(BenchmarkError) as caught:
        fetch(repository)
    assert "http://127.0.0.1:" in str(caught.value)
    assert "secret" not in str(caught.value)


@needs_client
def test_what_other_tools_left_in_the_clients_cache_serves_without_a_network(stocked, monkeypatch):
    folder = fetch(REPOSITORY, COMMIT)
    monkeypatch.setenv("AGENTBENCH_CACHE", str(folder.parent / "other-cache"))  # no note of it
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fetch(REPOSITORY, COMMIT) == folder


def test_a_missing_client_is_named_with_the_command_that_mends_it(hub, monkeypatch):
    monkeypatch.setattr(hub_module, "find_spec", lambda name: None)
    with pytest.raises(BenchmarkError, match=r"huggingface_hub.*pip install .*\[hub\]"):
        fetch(REPOSITORY)


def test_files_are_compared_by_size_and_by_either_checksum(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"hello\n")
    git = "ce013625030ba8dba906f756967f9e9ca394464a"
    sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    assert intact(path, RemoteFile("file", 6, None, git))
    assert intact(path, RemoteFile("file", 6, sha256, None))
    assert not intact(path, RemoteFile("file", 7, None, git))
    assert not intact(path, RemoteFile("file", 6, None, sha256))
    assert not intact(path, RemoteFile("file", 6, git, None))
    assert not intact(tmp_path / "nothing", RemoteFile("nothing", 0, None, None))


@needs_client
def test_the_command_fetches_ahead_of_time(stocked, monkeypatch, capsys):
    monkeypatch.setattr(BehaviorModeling, "hub_repository", REPOSITORY)
    assert main(["fetch", "BehaviorModeling", "--revision", "main"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert (folder / "user.json").read_bytes() == b'{"user_id": "u"}\n'


def test_a_benchmark_without_data_on_the_hub_says_so(capsys):
    assert main(["fetch", "humob"]) == 2
    assert "humob: has no data on the hub" in capsys.readouterr().err
