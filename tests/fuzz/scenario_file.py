"""Fuzzes the reader of scenario files and the settings made of them; see fuzzing.py for how to run it.

A file is refused with a message that names it, or every key of it has arrived.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fuzz.fuzzing import fuzz

ROOT = Path(__file__).parents[2]
_FOLDER = tempfile.TemporaryDirectory(prefix="agentbench-fuzz-")


def seeds() -> list[bytes]:
    texts = [
        *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "scenarios").glob("*.yaml"))),
        "benchmark: humob\nlimit: 50\nseed: 7\nedition: 2025\ncity: B\nusers: 0-99\n"
        "predict_days: [60, 74]\nweekend: 0,6\nteam: x\ngates:\n  - geobleu >= 0.05\n  - 2025:dtw.low <= 1\n",
        "benchmark: BehaviorModeling\nagent: a.py\nmax_cost: 2.5\nmax_tokens: 1e3\ndevice: cpu\n"
        "text_models: none\nkeep_candidate_order: yes\n"
        "llm: [{model: m, base_url: 'http://x/v1', api_key: k, parameters: {top_p: 0.9}}]\n",
        "benchmark: DailyMobility\nagent_timeout: 1.5\nagent_isolation: process\nagent_memory: 64\n"
        "agent_envs: [A, B]\nchunk: 3\nepochs: 2\nconcurrency: 4\nrun_dir: ~/x\n",
        "benchmark: HurricaneMobility\nitems: population\nsubmission: .\nbaseline: last\ndataset: ~nobody/x\n",
        "benchmark: humob\nlimit: 1\nlimit: 2\n",
        "benchmark: &a [1, *a]\n? [x]\n: !!python/object:os.system y\n",
        "a: &a [1, 2]\nb: &b [*a, *a]\nbenchmark: humob\nlimit: [*b, *b]\n<<: {limit: 3}\n",
        "benchmark: humob\nlimit: 2001-02-30\nseed: .nan\nmode: !!binary aGk=\n",
        "",
    ]
    return [text.encode() for text in texts]


def check(data: bytes) -> None:
    import yaml

    from pytest_agentbench.base.errors import BenchmarkError
    from pytest_agentbench.settings import scenario
    from pytest_agentbench.settings.resolve import resolve

    path = Path(_FOLDER.name) / "s.yaml"
    path.write_bytes(data)
    try:
        layer = scenario.read(path)
    except BenchmarkError as error:
        assert str(path) in str(error)
        return
    assert repr(dict(layer.values)) == repr(yaml.safe_load(data.decode("utf-8-sig")))
    try:
        settings = resolve(None, "s.yaml", [layer], [path.parent])
    except BenchmarkError as error:
        assert len(str(error)) < 10_000
        return
    assert settings.benchmark.name.lower() == str(layer.values["benchmark"]).strip().lower()
    for key in ("limit", "chunk", "epochs", "concurrency", "agent_retries"):
        if layer.values.get(key) is not None:
            assert getattr(settings, key) == float(layer.values[key])


if __name__ == "__main__":
    import functools

    from pytest_agentbench.benchmarks import registry

    registry.available = functools.cache(registry.available)  # else most of the time goes there
    fuzz(seeds, check, "yaml")
