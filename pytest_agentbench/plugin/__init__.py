"""All that knows pytest, xdist and execnet; nothing else in the package may import them.

pytest loads this package by its entry point, so the hooks and fixtures of ``entry`` are named here.
"""

from pytest_agentbench.plugin.entry import (
    agent,
    pytest_addhooks,
    pytest_addoption,
    pytest_configure,
    pytest_configure_node,
    pytest_generate_tests,
    pytest_load_initial_conftests,
    pytest_runtestloop,
    pytest_xdist_node_collection_finished,
    sample,
)

__all__ = [
    "agent",
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_generate_tests",
    "pytest_load_initial_conftests",
    "pytest_runtestloop",
    "pytest_xdist_node_collection_finished",
    "sample",
]
