"""What a pytest that tests start need not import: half of its processor time."""

from __future__ import annotations

_UNUSED = (
    "anyio", "benchmark", "html", "hypothesispytest", "metadata", "pytest-shard", "pytest-split",
    "rerunfailures", "timeout",
)  # fmt: skip
# For PYTEST_ADDOPTS; a test that needs one of these names it again (-p html). Plots are made in-process.
OPTIONS = " ".join(["-p without_bokeh", *(f"-p no:{name}" for name in _UNUSED)])
