"""Which part of the samples a session asks, where several sessions share them (a matrix of CI jobs)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """One of several sessions that ask the samples of one run together.

    >>> print(Shard(1, 4, "pytest-split"))
    shard 1 of 4
    """

    number: int  # from 1
    of: int
    by: str  # what has divided the samples

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"expected a shard from 1 to {self.of}, got {self.number}")

    def __str__(self) -> str:
        return f"shard {self.number} of {self.of}"

    @property
    def undecided(self) -> str:
        """Why a gate is not decided on this part of the samples."""
        return f"{self}: agentbench merge decides it"
