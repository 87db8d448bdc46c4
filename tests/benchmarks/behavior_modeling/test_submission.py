"""Answers that exist already, in the shapes that people and the published tools save."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import submission
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.tasks import Task
from pytest_agentbench.benchmarks.protocol import SampleKey
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.submissions import look_up

ITEMS = ["i0", "i1", "i2", "i3"]


def recommendation(number, user="u1", listed=ITEMS):
    fields = {"user_id": user, "candidate_category": "book", "candidate_list": listed}
    key = SampleKey("recommendation", str(number))
    return Task(key, user, tuple(dict.fromkeys(listed)), None, fields, listed[0])


def review(number, user="u1", item="i1"):
    fields = {"user_id": user, "item_id": item}
    key = SampleKey("review_writing", str(number))
    return Task(key, user, (), item, fields, {"stars": 4.0, "review": "Fine."})


TASKS = [recommendation(7), review(8), review(9, item="i2"), recommendation(10, "u2")]
ANSWERS = [
    {"item_list": ["i1", "i0"]},
    {"stars": 4, "review": "Good."},
    {"stars": 2.0, "review": "Bad."},
    {"item_list": ["i3"]},
]
BY_KEY = {str(task.key): answer for task, answer in zip(TASKS, ANSWERS, strict=True)}


def context(task):
    """The task as asbench keeps it beside a result: the keys of both targets."""
    nothing = {"candidate_category": None, "candidate_list": None, "item_id": None}
    return {**nothing, "assigned_agent_id": 3, **task.fields, "target": task.target}


def shapes():
    """The same answers in every shape, each with the line that says so."""
    pairs = list(zip(TASKS, ANSWERS, strict=True))
    rows = [{"task_id": int(task.key.id), **answer} for task, answer in pairs]
    results = [
        {"id": int(task.key.id), "agent_id": 1, "context": context(task), "ground_truth": {},
         "result": answer, "created_at": "2025-07-01 10:00:00"}
        for task, answer in pairs
    ]  # fmt: skip
    outputs = [
        {"task": {"description": "A task.", **task.fields}, "output": answer.get("item_list", answer)}
        for task, answer in reversed(pairs)
    ]  # fmt: skip
    records = [
        {"benchmark": "BehaviorModeling", "sample": str(task.key), "status": "ok", "epoch": 1,
         "error": None, "answer": answer}
        for task, answer in pairs
    ]  # fmt: skip
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    columns = {"item_list": None, "stars": None, "review": None}
    frame = [{**columns, **row, "task_id": float(row["task_id"])} for row in rows]
    return {
        "rows.json": (json.dumps(rows), "answers by task_id (JSON)"),
        "rows.jsonl": (lines, "answers by task_id (JSON Lines)"),
        "lines.json": ("\ufeff" + lines.replace("\n", "\r\n\r\n"), "answers by task_id (JSON Lines)"),
        "frame.json": (json.dumps(frame), "answers by task_id (JSON)"),
        "users.json": (
            json.dumps([{"user_id": t.user_id, "item_id": t.item_id, **a} for t, a in pairs]),
            "answers by user_id and item_id (JSON)",
        ),
        "asbench.json": (
            json.dumps({"results": results, "metadata": {"mode": "test"}}),
            "asbench's result rows (JSON)",
        ),
        "results.json": (json.dumps(results), "asbench's result rows (JSON)"),
        "outputs.json": (json.dumps(outputs), "WebSocietySimulator's outputs with their tasks (JSON)"),
        "report.json": (
            json.dumps({"evaluation": {"metrics": {}}, "errors": [], "per_task": outputs}),
            "WebSocietySimulator's outputs with their tasks (JSON)",
        ),
        "order.json": (
            json.dumps([answer.get("item_list", answer) for answer in ANSWERS]),
            "outputs in the order of the tasks (JSON)",
        ),
        "kept.jsonl": (
            "".join(f"{json.dumps(record)}\n" for record in records),
            "records of a run (JSON Lines)",
        ),
    }  # fmt: skip


def checked(found):
    """Answers as a run would keep them."""
    samples = {str(t.key): t for t in TASKS}
    return {
        key: BehaviorModeling().check(sample(samples[key]), answer)
        for key, answer in found.answers.items()
    }


def sample(task):
    from pytest_agentbench.benchmarks.protocol import Sample

    truth = {"candidates": list(task.candidates), "item": task.truth}
    return Sample(task.key, None, truth if task.candidates else task.truth)


@pytest.fixture
def read(tmp_path):
    def read(content, tasks=TASKS, name="answers.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8", newline="")
        return submission.read_submission(path, tasks)

    return read


@pytest.mark.parametrize("name", shapes())
@pytest.mark.parametrize("zipped", [False, True])
def test_every_shape_gives_the_same_answers_and_is_named(read, name, zipped):
    content, described = shapes()[name]
    data = content.encode()
    found = read(gzip.compress(data) if zipped else data, name=f"{name}{'.gz' * zipped}")
    wanted = {
        key: BehaviorModeling().check(sample(t), BY_KEY[key]) for t in TASKS for key in [str(t.key)]
    }
    assert checked(found) == wanted
    assert found.problems == ()
    assert found.described == f"{name}{'.gz' * zipped}: {described}, 4 of 4 tasks answered"


ROWS = [{"task_id": int(t.key.id), **a} for t, a in zip(TASKS, ANSWERS, strict=True)]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({**ROWS[0], "task_id": 99}, "expected task_id to be one of the 4 tasks, got 99"),
        ({**ROWS[0], "task_id": [7]}, "expected task_id to be a text or a whole number, got [7]"),
        ({**ROWS[0], "task_id": 7.5}, "expected task_id to be a text or a whole number, got 7.5"),
        (ROWS[1], "expected one answer to review_writing[8], got another (entry 0 counts)"),
        ({**ROWS[0], "task_id": 8}, "expected an answer to review_writing[8], got one to a recommendation"),
        ({**ROWS[1], "task_id": 7}, "expected an answer to recommendation[7], got one to a review_writing"),
        ({**ROWS[0], "user_id": "u2"}, "expected user_id 'u1', as recommendation[7] has it, got 'u2'"),
        ({**ROWS[0], "target": "review_writing"}, "expected target 'recommendation', as recommendation[7] has it, got 'review_writing'"),
        ({**ROWS[0], "candidate_list": ["i0"]}, "expected candidate_list ['i0', 'i1', 'i2', 'i3'], as recommendation[7] has it, got ['i0']"),
        ({"id": 7, "context": {**context(TASKS[0]), "user_id": "u9"}, "result": ANSWERS[0]}, "expected user_id 'u1', as recommendation[7] has it, got 'u9'"),
        (ANSWERS[0], "expected task_id, or user_id and item_id, got neither"),
        ({"user_id": "u1", "item_id": "i7", **ANSWERS[1]}, "expected one of the 4 tasks, got user_id 'u1' and item_id 'i7'"),
        ({"item_id": "i1", **ANSWERS[1]}, "expected task_id, or user_id and item_id, got neither"),
        ({"sample": "uid[7]", "answer": ANSWERS[0]}, "expected sample to be one of the 4 tasks, got 'uid[7]'"),
        ({"name": "x"}, "expected an answer, got {'name': 'x'}"),
        (5, "expected an answer, got 5"),
    ],
)  # fmt: skip
def test_an_entry_that_fits_no_task_is_a_problem_and_the_others_are_scored(
    read, entry, problem, tmp_path
):
    found = read([*ROWS[1:], entry])
    assert found.problems == (f"{tmp_path / 'answers.json'}, entry 3: {problem}",)
    assert set(found.answers) == {str(task.key) for task in TASKS[1:]}
    assert found.described.endswith("3 of 4 tasks answered")


def test_a_pair_of_two_tasks_is_refused_and_named(read, tmp_path):
    rows = [{"user_id": "u1", "item_id": "i1", **ANSWERS[1]}, {"task_id": 7, **ANSWERS[0]}]
    found = read(rows, [*TASKS, review(11)])
    assert found.problems == (
        f"{tmp_path / 'answers.json'}, entry 0: expected user_id 'u1' and item_id 'i1' to name one "
        "task, got 2 (review_writing[8], review_writing[11]); give task_id",
    )
    assert list(found.answers) == ["recommendation[7]"]


def test_unfinished_tasks_are_missing_and_no_problem_of_the_file(read):
    outputs = [
        {"task": TASKS[0].fields, "output": ["i0"]},
        {"error": "Task 1 timed out (300s)"},
        None,
        {"task": TASKS[3].fields, "error": "Forward method not implemented by participant."},
        {"task": {}, "output": {}},
    ]
    found = read(outputs)
    assert (dict(found.answers), found.problems) == ({"recommendation[7]": ["i0"]}, ())
    empty = {"id": 8, "context": context(TASKS[1]), "result": {}}
    found = read([{"id": 7, "context": context(TASKS[0]), "result": ANSWERS[0]}, empty])
    assert (list(found.answers), found.problems) == (["recommendation[7]"], ())
    assert list(read([ANSWERS[0], None, {"error": "x"}, ANSWERS[3]]).answers) == [
        "recommendation[7]",
        "recommendation[10]",
    ]


def test_a_damaged_line_is_a_problem_of_its_own(read, tmp_path):
    lines = [json.dumps(ROWS[0]), json.dumps(ROWS[1])[:-5], json.dumps(ROWS[2])]
    found = read("\n".join(lines), name="answers.jsonl")
    (problem,) = found.problems
    assert problem.startswith(f"{tmp_path / 'answers.jsonl'}, line 2: expected JSON, but ")
    assert list(found.answers) == ["recommendation[7]", "review_writing[9]"]


def test_a_candidate_that_the_task_names_twice_may_be_ranked_twice(read):
    listed = ["i0", "i1", "i0", "i2"]
    tasks = [recommendation(1, listed=listed), recommendation(2, "u2")]
    found = read([{"task": task.fields, "output": listed} for task in tasks], tasks)
    assert found.answers == {
        "recommendation[1]": {"item_list": ["i0", "i1", "i2"]},
        "recommendation[2]": listed,  # which check refuses: this task names each once
    }


def test_a_run_lists_some_problems_and_says_where_all_are(read):
    rows = [ROWS[0], *({"task_id": n, "item_list": ["i0"]} for n in range(100, 130))]
    problems = read(rows).problems
    assert len(problems) == submission.SHOWN + 1
    assert problems[-1].endswith("… and 10 more; `agentbench validate` lists them all")


EVALUATION = {"type": "recommendation", "metrics": {"top_1_hit_rate": 0.5}, "data_info": {}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected answers, got an empty file"),
        ("[", "expected JSON or JSON Lines, but Expecting value"),
        ("[" * 100_000, "expected JSON or JSON Lines, but "),
        (b"\xff\xfe[]", "got bytes that are no text"),
        (gzip.compress(b"[" + b" " * 1000, mtime=0)[:20], "cannot be unzipped to its end"),
        (b"\x1f\x8b", "cannot be unzipped to its end"),
        (b"\x80\x04]\x94.", "a pickle runs whatever code it holds when it is opened"),
        (gzip.compress(b"\x80\x04]\x94.", mtime=0), "a pickle runs whatever code"),
        ("7", "expected a list of answers, got 7"),
        ({"a": 1, "b": []}, "expected a list of answers, got an object with ['a', 'b']"),
        ({"a": ROWS, "b": ROWS}, "expected one list of answers, got several: 'a', 'b'"),
        (EVALUATION, "expected answers, got an evaluation of them with ['type', 'metrics', 'data_info']"),
        ([EVALUATION, []], "expected answers, got an evaluation of them"),
        (ANSWERS[:3], "expected 4 outputs, one a task in their order, got 3; else name the tasks"),
        ([], "expected 4 outputs, one a task in their order, got 0"),
        ([None] * 4, "expected answers to the 4 tasks, got none (is it of another --dataset or --mode?)"),
        ([{**ROWS[0], "task_id": 99}], "--mode?); "),
    ],
)  # fmt: skip
def test_a_file_of_no_known_shape_is_refused_by_name(read, content, message, tmp_path):
    with pytest.raises(BenchmarkError) as error:
        read(content)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'answers.json'}: ")


def test_a_pickle_is_refused_with_what_to_do_and_never_opened(read, tmp_path):
    with pytest.raises(BenchmarkError, match=r"json\.dump\(pickle\.load") as error:
        read("cos\nsystem\n(S'touch owned'\ntR.", name="BehaviorModeling_1_results.pkl")
    assert "FILE.pkl FILE.json" in str(error.value)


def test_validation_lists_everything_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [
        {"task_id": 10, "item_list": ["i9"]},
        "{",
        {"task_id": 99, "item_list": ["i0"]},
        {"task_id": 8, "stars": 0, "review": ""},
        {"task_id": 9, "error": "no reply"},
    ]
    path.write_text("\n".join(x if x == "{" else json.dumps(x) for x in lines))
    described, problems = submission.problems_of(path, TASKS)
    assert described == "answers.jsonl: answers by task_id (JSON Lines), 2 of 4 tasks answered"
    assert [problem.removeprefix(str(path)) for problem in problems] == [
        ", line 1: recommendation[10]: expected item_list with ids out of the 4 candidates (place 1), got 'i9'",
        ", line 2: expected JSON, but Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ", line 3: expected task_id to be one of the 4 tasks, got 99",
        ", line 4: review_writing[8]: expected stars to be a number from 1 to 5, got 0",
        ", line 5: review_writing[9]: expected an answer, got none but 'no reply'",
        ": recommendation[7]: expected an answer, got none",
    ]  # fmt: skip


# Values that damage a file of answers: of wrong kinds, hostile to comparisons, or out of range.
HOSTILE = st.sampled_from(
    [None, True, -1, 7, 8.0, 1e308, float("nan"), float("inf"), 10**400, "", "7", "i1", "\ud800", "\x00",
     [], [[]], ["i1", None], {}, {"task_id": 7}, {"item_list": [[1]]}, ROWS[1], {"": {"": []}}]
)  # fmt: skip


def places(value, path=()):
    """The paths to all values inside a JSON value."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inner:
        yield from places(part, (*path, key))


def damaged(draw, value):
    """A JSON value in which one thing is replaced, removed or repeated."""
    path = draw(st.sampled_from(list(places(value))))
    if not path:
        return draw(HOSTILE)
    copied = json.loads(json.dumps(value))
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    how = draw(st.sampled_from(["replace", "remove", "repeat"]))
    if how == "replace":
        holder[path[-1]] = draw(HOSTILE)
    elif how == "remove":
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(holder[path[-1]])
    else:
        holder[draw(st.sampled_from(["task_id", "id", "sample", "result", "task"]))] = holder[
            path[-1]
        ]
    return copied


@st.composite
def files(draw):
    """The bytes of a file of answers that was damaged once or more, as a value or as text."""
    name = draw(st.sampled_from(sorted(shapes())))
    text = shapes()[name][0].removeprefix("\ufeff")
    lines = "jsonl" in name or name == "lines.json"
    value = (
        [json.loads(line) for line in text.split("\n") if line.strip()]
        if lines
        else json.loads(text)
    )
    for _ in range(draw(st.integers(1, 3))):
        try:
            value = damaged(draw, value)
        except (TypeError, ValueError):  # 10**400 is no JSON that can be read back
            break
    try:
        data = json.dumps(value).encode()
    except ValueError:
        data = text.encode()
    if lines and isinstance(value, list):
        data = b"\n".join(json.dumps(row).encode() for row in value if row != 10**400)
    if draw(st.booleans()):
        cut = draw(st.integers(0, len(data)))
        data = data[:cut] + draw(st.binary(max_size=3)) + data[cut + draw(st.integers(0, 4)) :]
    if draw(st.integers(0, 4)) == 0:
        data = gzip.compress(data)[: draw(st.integers(0, len(data) + 30))]
    return name, data


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_a_damaged_file_is_refused_by_name_or_scored(tmp_path, file):
    name, data = file
    path = tmp_path / name
    path.write_bytes(data)
    found, refusal = None, ""
    try:
        found = submission.read_submission(path, TASKS)
    except BenchmarkError as error:
        refusal = str(error)
    if found is None:
        assert str(path) in refusal
        return
    assert all(problem.startswith(str(path)) for problem in found.problems)
    assert set(found.answers) <= set(BY_KEY)
    assert 1 <= len(found.answers) <= 4
    samples = [sample(task) for task in TASKS]
    outcomes = [look_up(found.answers, one) for one in samples]
    records, failure = evaluate(BehaviorModeling(), samples, outcomes)
    assert failure is None
    assert [record.status for record in records].count("error") == 4 - len(found.answers)
    for record in records:
        record.to_json()
    _, listed = submission.problems_of(path, TASKS)
    bad = sum(record.status != "ok" for record in records)
    assert len(listed) >= bad
    assert bool(listed) >= bool(found.problems)
    for line in listed:
        line.encode()
