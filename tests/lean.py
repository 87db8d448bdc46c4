"""What a pytest that tests start need not import: half of its processor time."""

from __future__ import annotations

_UNUSED = (
    "allure_pytest", "anyio", "benchmark", "flakefinder", "flaky", "html", "hypothesispytest", "metadata",
    "pytest-retry", "pytest-shard", "pytest-split", "pytest-teamcity", "pytest-testmon", "pytest_cov",
    "pytest_github_actions_annotate_failures", "pytest_jsonreport", "pytest_reportlog", "repeat", "rerunfailures", "timeout",
)  # fmt: skip
# For PYTEST_ADDOPTS; a test that needs one of these names it again (-p html). Plots are made in-process.
OPTIONS = " ".join(["-p without_plots", *(f"-p no:{name}" for name in _UNUSED)])
