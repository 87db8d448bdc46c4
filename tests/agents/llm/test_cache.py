"""Calls of models that were made before, recorded and given again."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from llm_server import HELLO, KEY, delta, error, events, raw, text

from pytest_agentbench.agents.llm.cache import READ_WRITE, REPLAY, Cache, folder_name
from pytest_agentbench.agents.llm.client import LLMError
from pytest_agentbench.agents.usage import Usage, counting
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.redaction import Secrets

CHAT = "/chat/completions"
REPLY = {"choices": [{"message": {"content": "Hi"}}]}
ONE = ("uid[1]", 1)


def record(cache, *bodies, question=ONE, data=REPLY):
    for body in bodies:
        cache.record(CHAT, body, question, data, {"input_tokens": 7, "cost": 0.5})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "llm-cache" / "toy"


@pytest.fixture
def asked(make, server, folder):
    """Asks as one sample does, in a session of its own: the texts, the usage, and what was sent."""

    def ask(*messages, mode=READ_WRITE, question=ONE, entries=(), use=None, **options):
        llm = make(*entries, cache=Cache(folder, mode), **options)
        server.seen.clear()
        usage = Usage(question=question)
        with counting(usage):
            found = [(use or llm.text_request)(one) for one in messages]
        return found, usage.counts, [one["body"] for one in server.seen]

    return ask


def test_a_second_session_sends_nothing_and_gets_the_same(server, asked):
    server.script = [text(str(n)) for n in range(3)]
    priced = [{"price_input": 1.0, "price_output": 2.0}]
    first, counts, sent = asked("a", "a", "b", entries=priced)
    assert (first, len(sent)) == (["0", "1", "2"], 3)
    assert counts == {
        "llm_calls": 3, "input_tokens": 21, "output_tokens": 9, "cost": pytest.approx(39e-6),
    }  # fmt: skip
    again, counts, sent = asked("a", "a", "b", entries=priced)
    assert (again, sent) == (first, [])
    assert counts == {
        "llm_cache_hits": 3, "replayed_input_tokens": 21, "replayed_output_tokens": 9,
        "replayed_cost": pytest.approx(39e-6),
    }  # fmt: skip


def test_only_what_changed_is_asked(server, asked):
    asked("a", "b")
    _, counts, sent = asked("a", "c", "a")
    assert [one["messages"][0]["content"] for one in sent] == ["c", "a"]
    assert (counts["llm_calls"], counts["llm_cache_hits"]) == (2, 1)


@pytest.mark.parametrize("question", [("uid[1]", 2), ("uid[2]", 1), None])
def test_samples_and_epochs_have_replies_of_their_own(asked, question):
    asked("a")
    assert len(asked("a", question=question)[2]) == 1
    assert len(asked("a", question=question)[2]) == 0


def test_the_address_and_the_key_are_no_part_of_it(server, asked):
    asked("a")
    elsewhere = [{"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-another-key"}]
    assert asked("a", entries=elsewhere)[0] == ["Hi"]


def test_model_and_parameters_are(asked):
    asked("a")
    for entry in ({"model": "m2"}, {"temperature": 0.5}, {"parameters": {"top_p": 0.1}}):
        assert len(asked("a", entries=[entry])[2]) == 1


def test_a_reply_of_any_entry_is_found(server, asked):
    two = [{"model": "a"}, {"model": "b"}]
    server.script = [text("of a"), text("of b"), text("of a again")]
    first, _, sent = asked("x", "x", "x", entries=two)
    assert [one["model"] for one in sent] == ["a", "b", "a"]
    again, _, sent = asked("x", "x", "x", entries=two)
    assert (sorted(again), sent) == (sorted(first), [])


def test_only_good_replies_are_recorded(server, asked):
    server.script = [error(400), raw(b'{"choices": []}'), text("good")]
    with pytest.raises(LLMError):
        asked("a")
    assert asked("a")[0] == ["good"]
    assert asked("a")[0::2] == (["good"], [])


def test_a_hit_takes_neither_turn_nor_budget(server, asked):
    asked("a")
    slow = [{"requests_per_minute": 0.001, "concurrency": 1}]
    found, counts, _ = asked("a", entries=slow, max_tokens=0)
    assert (found, counts["llm_cache_hits"]) == (["Hi"], 1)


def test_identical_calls_at_once_are_several(server, make, folder):
    async def together(llm):
        with counting(Usage(question=ONE)):
            return await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(5)))

    server.script = [text(str(n)) for n in range(5)]
    first = asyncio.run(together(make(cache=Cache(folder))))
    assert sorted(first) == list("01234")
    server.seen.clear()
    assert sorted(asyncio.run(together(make(cache=Cache(folder))))) == sorted(first)
    assert not server.seen


def test_streams_and_embeddings_are_recorded_too(server, make, folder):
    rows = raw(json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}).encode())
    server.script = [events(delta("a"), delta(finish="stop")), rows]
    entry = {"embedding_model": "e"}
    with counting(Usage(question=ONE)):
        llm = make(entry, cache=Cache(folder))
        streamed = llm.exchange(CHAT, {"messages": HELLO, "stream": True})
        vectors = llm.embeddings(["x"])
    usage = Usage(question=ONE)
    with counting(usage):
        llm = make(entry, cache=Cache(folder, REPLAY))
        assert llm.exchange(CHAT, {"messages": HELLO, "stream": True}).chunks == streamed.chunks
        assert llm.embeddings(["x"]) == vectors == [[1.0, 2.0]]
    assert len(server.seen) == 2
    assert usage.counts == {
        "llm_cache_hits": 1, "replayed_input_tokens": 7, "replayed_output_tokens": 3,
        "embedding_cache_hits": 1,
    }  # fmt: skip


def test_a_replay_of_what_is_missing_fails_and_shows_the_nearest(server, asked):
    asked("Where is 7?\nAnswer.", "something else")
    with pytest.raises(LLMError) as caught:
        asked("Where is 8?\nAnswer.", mode=REPLAY)
    assert not caught.value.transient
    assert not server.seen
    told = str(caught.value)
    assert (
        "--llm-cache replay has no recorded reply for this request of sample uid[1], epoch 1"
        in told
    )
    assert told.splitlines()[1:] == [
        "- messages[0] user: Where is 7?", "+ messages[0] user: Where is 8?",
    ]  # fmt: skip


def test_a_replay_says_that_a_call_was_made_less_often_or_nothing_of_a_sample(asked):
    asked("a")
    with pytest.raises(LLMError, match="recorded 1 times, and this is call 2"):
        asked("a", "a", mode=REPLAY)
    with pytest.raises(LLMError, match="nothing of that sample and epoch is recorded"):
        asked("a", mode=REPLAY, question=("uid[9]", 1))


def test_a_replay_marks_the_call_whatever_the_agent_does(make, folder):
    usage = Usage(question=ONE)
    with counting(usage), pytest.raises(LLMError):
        make(cache=Cache(folder, REPLAY)).text_request(HELLO)
    assert "no recorded reply" in usage.unrecorded
    assert usage.counts == {"llm_errors": 1}


def test_a_line_has_what_it_takes_to_read_it(folder):
    cache = Cache(folder, clean=Secrets([KEY]).cleaned_json)
    record(cache, {"model": "m", "messages": [{"role": "user", "content": f"my {KEY}"}]})
    (path,) = folder.iterdir()
    (line,) = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert KEY not in path.read_text(encoding="utf-8")
    assert line.keys() == {
        "key", "n", "sample", "epoch", "path", "request", "reply", "usage", "model", "recorded",
    }  # fmt: skip
    assert (line["n"], line["sample"], line["epoch"], line["model"]) == (0, "uid[1]", 1, "m")
    assert line["request"]["messages"][0]["content"] == "my ***"
    again = Cache(folder, clean=Secrets([KEY]).cleaned_json)
    body = {"messages": [{"role": "user", "content": f"my {KEY}"}], "model": "m"}
    assert again.find(CHAT, [body], ONE).reply == REPLY


def test_torn_and_foreign_lines_are_passed_over(folder):
    record(Cache(folder), {"model": "m", "n": 1})
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(b'\xff\n[1]\n{"key": 1}\n{"key": "x", "model": 1}\n' + whole + whole[:40])
    cache = Cache(folder)
    record(cache, {"model": "m", "n": 2})
    again = Cache(folder)
    assert again.find(CHAT, [{"model": "m", "n": 1}], ONE) is not None
    assert again.find(CHAT, [{"model": "m", "n": 2}], ONE) is not None


def test_many_samples_do_not_stay_in_memory_and_are_given_once(folder):
    cache = Cache(folder)
    for number in range(100):
        record(cache, {"model": "m"}, question=(f"uid[{number}]", 1))
    assert len(cache._lines) <= 32
    assert cache.find(CHAT, [{"model": "m"}], ("uid[0]", 1)) is None  # recorded in this session
    again = Cache(folder)
    assert again.find(CHAT, [{"model": "m"}], ("uid[0]", 1)) is not None
    for number in range(1, 100):
        again.find(CHAT, [{"model": "m"}], (f"uid[{number}]", 1))
    assert again.find(CHAT, [{"model": "m"}], ("uid[0]", 1)) is None


def test_threads_and_processes_write_whole_lines(folder):
    def work(number):
        cache = Cache(folder)  # as another process has it
        for n in range(50):
            record(cache, {"model": "m", "by": number, "n": n, "long": "x" * 5000})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (path,) = folder.iterdir()
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 200


def test_the_folder_is_made_with_the_first_line(folder):
    prepared = []
    cache = Cache(folder, prepare=lambda: prepared.append(1))
    assert cache.find(CHAT, [{"model": "m"}], ONE) is None
    assert not folder.exists()
    record(cache, {"model": "m"}, {"model": "m"})
    assert prepared == [1]


def test_a_file_in_the_place_of_the_folder_is_said_in_the_end(make, folder):
    folder.parent.mkdir()
    folder.write_text("")
    with pytest.raises(
        BenchmarkError, match=f"expected a folder that can be written, got {folder}"
    ):
        Cache(folder).check()
    Cache(folder, "replay").check()
    Cache(folder.with_name("another")).check()
    llm = make(cache=Cache(folder))
    assert llm.text_request(HELLO) == "Hi"
    with pytest.warns(UserWarning, match="could not be recorded .FileExistsError.*asks them again"):
        llm.close()


def test_it_is_warm_once_a_model_was_asked(make, folder):
    llm = make(cache=Cache(folder))
    assert not llm.is_warm()
    llm.text_request(HELLO)
    assert llm.is_warm()
    assert make(cache=Cache(folder)).is_warm()
    assert not make({"model": "another"}, cache=Cache(folder)).is_warm()
    assert not make().is_warm()


def test_folders_are_named_after_benchmarks():
    assert folder_name("humob") == "humob"
    assert folder_name("..") == "benchmark"
