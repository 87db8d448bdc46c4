"""When the kernels are loaded, what several processes compile, and what happens without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from pytest_agentbench.metrics import dtw, geobleu, kernel_loading
from pytest_agentbench.metrics.trajectory_days import day_pairs

DAY = "import numpy as np; day = np.random.default_rng(1).integers(1, 200, (330, 2)); "
ENDS = "ends = np.arange(0, 331, 22); "


def python(code, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process):
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return out.strip()


def user_folders(path):
    """Point every platform's idea of the user's cache to a folder of the test's."""
    return dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"), str(path))


@pytest.fixture
def fresh(monkeypatch):
    """Give this process a loader that has loaded nothing."""
    monkeypatch.setattr(kernel_loading, "_loader", kernel_loading._Loader())
    return monkeypatch


def test_importing_the_metrics_imports_neither_numba_nor_pytest():
    code = (
        "import sys, pytest_agentbench.geobleu, pytest_agentbench.metrics.dtw;"
        "print([name for name in ('numba', 'pytest', 'pandas', 'polars') if name in sys.modules])"
    )
    assert output(python(code)) == "[]"


def test_one_user_is_scored_without_waiting_for_numba():
    code = (
        DAY
        + ENDS
        + "from pytest_agentbench.metrics import dtw, geobleu, trajectory_days; import sys;"
        + "days = trajectory_days.day_pairs(day, day[::-1], ends, ends); geobleu.score_pairs(days, '2025');"
        + "dtw.score_pairs(days);"
        + "print('numba' in sys.modules)"
    )
    assert output(python(code)) == "False"


@pytest.mark.parametrize(("pairs", "jobs_without"), [(20_000_000, 2), (1, 8333), (10**9, 0)])
def test_many_small_jobs_get_the_kernels_like_a_large_one(fresh, pairs, jobs_without):
    kernels = kernel_loading.Kernels(None, None, None)
    fresh.setattr(kernel_loading, "load", lambda: kernels)
    answers = [kernel_loading.kernels_for("auto", pairs) for _ in range(jobs_without + 1)]
    assert answers == [None] * jobs_without + [kernels]


def test_numpy_stays_numpy_however_large_the_job(fresh):
    fresh.setattr(kernel_loading, "load", pytest.fail)
    assert kernel_loading.kernels_for("numpy", 10**12) is None


def test_without_numba_numpy_scores_and_says_so_once(fresh, recwarn):
    fresh.setitem(sys.modules, "numba", None)
    with pytest.warns(RuntimeWarning, match="numba cannot be imported .* goes on with NumPy"):
        assert kernel_loading.kernels_for("auto", 10**9) is None
    recwarn.clear()
    assert kernel_loading.kernels_for("auto", 10**9) is None
    assert geobleu.geobleu_score([(1, 1)], [(1, 1)]) == 1.0
    assert not recwarn.list
    with pytest.raises(ImportError, match="numba"):
        dtw.score_pairs(day_pairs([(1, 1)], [(1, 1)], [0, 1], [0, 1]), backend="numba")


@pytest.mark.slow
def test_processes_that_compile_at_the_same_time_leave_code_for_the_next(tmp_path):
    code = (
        "import json; from pytest_agentbench.metrics import kernel_loading as t;"
        "k = t.load(); print(json.dumps([sum(s.cache_misses.values()) for s in"
        " (k.taken_sums.stats, k.warp_cost.stats, k.warp_costs.stats)]))"
    )
    folders = user_folders(tmp_path) | {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    for process in [python(code, **folders) for _ in range(2)]:
        output(process)
    assert json.loads(output(python(code, **folders))) == [0, 0, 0]


def test_without_compiling_the_loops_run_as_python():
    code = (
        "from pytest_agentbench.metrics import dtw, geobleu, kernel_loading as t, trajectory_days;"
        "pairs = trajectory_days.day_pairs([(1, 1)], [(1, 3)], [0, 1], [0, 1]); t.load();"
        "print(dtw.score_pairs(pairs).tolist(), geobleu.score_pairs(pairs).tolist())"
    )
    assert output(python(code, NUMBA_DISABLE_JIT="1")) == "[1.0] [0.36787944117144233]"


def test_without_a_writable_cache_the_kernels_are_compiled_in_memory(tmp_path):
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    code = (
        "from pytest_agentbench.metrics import dtw, trajectory_days;"
        "pairs = trajectory_days.day_pairs([(1, 1)], [(1, 3)], [0, 1], [0, 1]);"
        "print(dtw.score_pairs(pairs, backend='numba').tolist())"
    )
    folders = user_folders(blocked) | {"NUMBA_CACHE_DIR": str(blocked / "numba")}
    assert output(python(code, **folders)) == "[1.0]"
