"""Runs of agents in the shapes that participants published, against a model's server on this machine."""

from __future__ import annotations

import json
import re

import pytest
from llm_server import reply


def answer(handler):
    """A model that writes reviews, ranks what it is shown, scores and plans; and one that embeds."""
    asked = handler.asked
    if "input" in asked:
        rows = [
            {"index": n, "embedding": [float(text.count(letter)) for letter in "aeiou"]}
            for n, text in enumerate(asked["input"])
        ]
        body = {"data": rows, "usage": {"prompt_tokens": 4}}
        handler.send(200, json.dumps(body).encode())
        return
    prompt = asked["messages"][-1]["content"]
    if "RANK" in prompt:
        ids = re.findall(r"'([^']+)'", prompt[prompt.index("RANK") :])
        said = f"Here it is: {sorted(ids)}"
    elif "Python dictionary" in prompt:
        said = (
            "{'description': 'look', 'reasoning instruction': 'None', 'tool use instruction': 'u'}"
        )
    elif "number alone" in prompt:
        said = "7"
    else:
        said = f"stars: 4.0\nreview: I was told {len(prompt)} characters."
    handler.send(200, reply(*[said] * asked.get("n", 1)))


@pytest.fixture
def run(project, server):
    """``run(files, track, *options)``: the result and the records of a real run."""
    server.usual = answer

    def run(files, track, *options, agent="agent.py", llm=True):
        for name, text in files.items():
            path = project.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        lines = ["benchmark: BehaviorModeling", f"agent: {agent}", "limit: 6", "text_models: none"]
        if llm:
            entry = {"model": "m", "base_url": server.url, "embedding_model": "e"}
            lines.append(f"llm: [{json.dumps(entry)}]")
        (project.path / "s.yaml").write_text("\n".join(lines), encoding="utf-8")
        result = project.pytest("s.yaml", "-k", track, *options)
        return result, project.records()

    return run
