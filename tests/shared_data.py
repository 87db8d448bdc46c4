"""Real public data beside the checkout, where it is at hand."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("AGENTBENCH_SHARED") or Path(__file__).parents[2] / "shared")
needs_real_data = pytest.mark.skipif(
    not (SHARED / "real").is_dir(), reason="../shared/real is not here"
)
