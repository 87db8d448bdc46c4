"""Which scores may be compared: those of the same question, asked and measured in the same way."""

from __future__ import annotations

from collections.abc import Mapping
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


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """What differs between two identities.

    >>> differences({"mode": "test"}, {"mode": "inference"})
    ["mode is 'test' and 'inference'"]
    """
    unequal = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if "benchmark" in unequal:  # then all else differs, too
        unequal = ["benchmark"]
    return [f"{key} is {_shown(first.get(key))} and {_shown(second.get(key))}" for key in unequal]


def refuse_unlike(
    first: Mapping[str, str], second: Mapping[str, str], first_name: str, second_name: str
) -> None:
    """Raises :class:`BenchmarkError` that names every difference, in the order of the two names."""
    found = differences(first, second)
    if not found:
        return
    advice = "run both on the same data in the same way"
    if len(found) == 1 and found[0].startswith("reading is"):
        advice = "name the reading to compare with --reading NAME"
    raise BenchmarkError(
        f"{first_name} and {second_name} cannot be compared: {'; '.join(found)}; {advice}"
    )


def _shown(value: str | None) -> str:
    """Digests are cut: the first digits tell them apart."""
    if value is None:
        return "not set"
    return f"{value[:12]}…" if len(value) == 64 and value.isalnum() else repr(value)
