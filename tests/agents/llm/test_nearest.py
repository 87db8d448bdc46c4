"""How a request differs from the nearest one that was recorded."""

from __future__ import annotations

from pytest_agentbench.agents.llm.nearest import difference


def body(*contents, **more):
    messages = [{"role": "user", "content": content} for content in contents]
    return {"model": "m", "messages": messages, **more}


def test_the_nearest_is_compared_and_only_what_differs_is_shown():
    recorded = [body("tell me a story"), body("a\nb\nc", "and now?", temperature=0.3)]
    assert difference(body("a\nB\nc", "and now?", temperature=0.5), recorded).splitlines() == [
        "- temperature: 0.3",
        "+ temperature: 0.5",
        "- messages[0] user: b",
        "+ messages[0] user: B",
    ]


def test_another_model_and_another_number_of_messages():
    found = difference(body("a", "b", tools=[{"x": 1}]), [{**body("a"), "model": "old"}])
    assert found.splitlines() == [
        '- model: "old"', '+ model: "m"', '+ tools: [{"x": 1}]', "+ messages[1] user: b",
    ]  # fmt: skip


def test_a_long_line_is_cut_around_the_difference():
    long = "word " * 200
    lines = difference(body(f"{long}seven{long}"), [body(f"{long}eight{long}")]).splitlines()
    assert all(len(line) < 250 for line in lines)
    assert "eight" in lines[0]
    assert "seven" in lines[1]
    assert all("messages[0] user: …" in line for line in lines)


def test_many_lines_are_cut():
    lines = difference(body("\n".join(map(str, range(100)))), [body("x")]).splitlines()
    assert len(lines) == 13
    assert lines[-1] == "… (89 more lines)"
