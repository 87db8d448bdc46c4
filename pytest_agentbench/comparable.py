"""Which scores may be compared: those of the same question, asked and measured in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.benchmarks.protocol import BenchmarkError


def identity(scores: Mapping[str, Any], reading: str | None = None) -> dict[str, str]:
    """All that must be equal for two scores to be compared, by name, from scores.json.

    ``reading`` is the one that is compared, where it is not the primary one.

    >>> identity({"schema": 1, "benchmark": "humob", "primary": "2023", "readings": {"2023": {}}})
    {'schema': '1', 'benchmark': 'humob', 'mode': 'None', 'reading': '2023', 'readings': '2023', 'data digest': 'None'}
    """
    readings = scores.get("readings") or {}
    return {
        "schema": str(scores.get("schema")),
        "benchmark": str(scores.get("benchmark")),
        "mode": str(scores.get("mode")),
        "reading": str(reading or scores.get("primary")),
        "readings": ", ".join(readings),
        "data digest": str((scores.get("dataset") or {}).get("digest")),
        **{str(key): str(value) for key, value in (scores.get("conditions") or {}).items()},
    }


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """What differs between two identities, each as ``mode is 'test' there, 'inference' here``."""
    return [
        f"{key} is {_shown(theirs.get(key))} there, {_shown(ours.get(key))} here"
        for key in dict.fromkeys([*ours, *theirs])
        if ours.get(key) != theirs.get(key)
    ]


def refuse_unlike(
    ours: Mapping[str, str], theirs: Mapping[str, str], here: str, there: str
) -> None:
    """Raises :class:`BenchmarkError` that names every difference."""
    found = differences(ours, theirs)
    if found:
        raise BenchmarkError(
            f"{there} and {here} cannot be compared: {'; '.join(found)}{_advice(ours, theirs)}"
        )


def _advice(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    unequal: Sequence[str] = [key for key in ours if ours[key] != theirs.get(key)]
    if unequal == ["reading"]:
        return "; name the reading to compare with --reading NAME"
    return "; run both on the same data in the same way"


def _shown(value: str | None) -> str:
    """Digests are cut: the first digits tell them apart."""
    if value is None:
        return "not set"
    return f"{value[:12]}…" if len(value) == 64 and value.isalnum() else repr(value)
