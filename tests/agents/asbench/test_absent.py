"""What is missing is said by name, with what to do instead."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.asbench import absent


def test_it_names_the_part_and_what_to_do():
    with pytest.raises(
        BaseException, match=r"agentsociety\.x: it is not part of .*; use self\.llm"
    ):
        absent.not_here("agentsociety.x", "use self.llm")
