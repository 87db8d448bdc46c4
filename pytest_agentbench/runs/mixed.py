"""Runs that --resume-anyway has put together: whose answers are in them, as the manifest says.

An answer that another agent gave, or that was given to another question, does not count for this one. The
manifest keeps what was taken over, so that no later session forgets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.agents.specs import labelled

KEY = "mixed"  # in the manifest
SOURCE = "agent source"  # the agent's code has changed, and its name has not


def part(manifest: Mapping[str, Any], changed: Sequence[str]) -> dict[str, Any]:
    """What is taken over from a run that was made otherwise; it is not counted yet."""
    return {"agent": _agent(manifest), "answers": None, "changed": list(changed)}


def counted(manifest: Mapping[str, Any], answers: int) -> dict[str, Any]:
    """The manifest with the number of answers that were taken over now; nothing is mixed without any.

    >>> counted({"mixed": [part({}, ["data"])]}, 0)
    {'mixed': []}
    """
    found = parts(manifest)
    if found and found[-1]["answers"] is None:
        found[-1:] = [{**found[-1], "answers": answers}] if answers else []
    return {**manifest, KEY: found} if KEY in manifest else dict(manifest)


def parts(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a run has taken over; whatever else stands there counts, too, as something unknown."""
    found = manifest.get(KEY) or []
    return [_read(one) for one in (found if isinstance(found, list) else [found])]


def _read(one: Any) -> dict[str, Any]:
    given = one if isinstance(one, dict) else {}
    changed = given.get("changed")
    return {
        "agent": str(given.get("agent")),
        "answers": given.get("answers"),
        "changed": [str(text) for text in changed] if isinstance(changed, list) else ["settings"],
    }


def mixture(manifest: Mapping[str, Any]) -> str | None:
    """What was put together in a run, in words; None where all of it is of one agent.

    >>> mixture({"mixed": [{"agent": "a.py", "answers": 9, "changed": ["agent ('a.py', now 'b.py')"]}]})
    "9 answers were given with other agent ('a.py', now 'b.py')"
    """
    found = [
        f"{one['answers']} answers were given with other {', '.join(one['changed'])}"
        for one in parts(manifest)
    ]
    return "; ".join(found) or None


def answering(manifest: Mapping[str, Any]) -> str:
    """The name of the agent that answered; the names of all of them, with models, where there were several.

    >>> answering({"agent": {"name": "b.py"}, "mixed": [{"agent": "a.py", "changed": []}]})
    'a.py, then b.py'
    """
    earlier = parts(manifest)
    if not earlier:
        agent = manifest.get("agent")
        return str(agent.get("name")) if isinstance(agent, dict) else "None"
    names = [one["agent"] for one in earlier] + [_agent(manifest)]
    different = ", then ".join(dict.fromkeys(names))
    versions = sum(SOURCE in one["changed"] for one in earlier)
    if versions and len(set(names)) == 1:
        return f"{different} (in {versions + 1} versions)"
    return different


def label(manifest: Mapping[str, Any]) -> str:
    """The same, with the models that were asked."""
    return answering(manifest) if parts(manifest) else _agent(manifest)


def _agent(manifest: Mapping[str, Any]) -> str:
    agent = manifest.get("agent")
    if not isinstance(agent, dict):
        return "None"
    models = agent.get("models")
    return labelled(str(agent.get("name")), map(str, models) if isinstance(models, list) else ())
