"""The command ``agentbench``: everything that is not a run of pytest. May not import plugin/."""

from pytest_agentbench.cli.main import main

__all__ = ["main"]
