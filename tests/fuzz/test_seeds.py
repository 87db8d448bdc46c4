"""The harnesses hold for their seeds, with atheris or without; fuzzing.py says how to really fuzz."""

from __future__ import annotations

import pytest
from fuzz import data_files, humob_tables, scenario_file


@pytest.mark.parametrize("harness", [data_files, humob_tables, scenario_file])
def test_a_harness_accepts_its_seeds(harness):
    for seed in harness.seeds():
        harness.check(seed)
