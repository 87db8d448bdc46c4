"""The command ``agentbench``: everything that is not a run of pytest. Nothing here imports plugin/."""

from pytest_agentbench.cli.main import main

__all__ = ["main"]
