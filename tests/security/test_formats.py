"""Nothing that is read can run: no pickle, no YAML tag, no shell, no archive."""

from __future__ import annotations

import ast
import gzip
import io
import json
import pickle
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

import pytest_agentbench
from pytest_agentbench.agents.process import wire
from pytest_agentbench.base import files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import data as behavior
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sets
from pytest_agentbench.benchmarks.behavior_modeling.text_models.vector_cache import (
    VectorCache,
    key_of,
)
from pytest_agentbench.benchmarks.daily_mobility import population
from pytest_agentbench.benchmarks.daily_mobility import submission as daily_submission
from pytest_agentbench.benchmarks.humob import data as humob
from pytest_agentbench.benchmarks.humob import table_cache as humob_cache
from pytest_agentbench.benchmarks.humob import tables
from pytest_agentbench.benchmarks.sources import hub
from pytest_agentbench.runs import run_folder
from pytest_agentbench.scoring import floor
from pytest_agentbench.settings import scenario

PACKAGE = Path(pytest_agentbench.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

RUN_WHAT_THEY_READ = {
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "copyreg", "jsonpickle",
}  # fmt: skip
ARCHIVES = {"zipfile", "tarfile", "zipimport"}
# Calls that run text, unpickle or unpack, by their last names.
CALLS = {
    "eval", "exec", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell",
    "read_pickle", "to_pickle", "unpack_archive", "extractall", "full_load", "unsafe_load", "load_all",
}  # fmt: skip


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            yield from (a.value for a in node.args if isinstance(a, ast.Constant))


def problems(source):
    """What in a source could run what it reads."""
    tree = ast.parse(source)
    found = [name for name in imported(tree) if name.split(".")[0] in RUN_WHAT_THEY_READ | ARCHIVES]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        owner = ast.unparse(node.func)
        name = owner.split(".")[-1]
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        # `model.eval()` is torch's word for "no longer training".
        if (
            (name in CALLS and not (name == "eval" and "." in owner))
            or (owner in ("np.load", "numpy.load") and given.get("allow_pickle") != "False")
            or owner in ("yaml.load", "os.system")
            or owner.endswith("torch.load")
            or (
                name == "from_pretrained"
                and "Model" in owner
                and given.get("weights_only") != "True"
            )
        ):
            found.append(owner)
        if (
            given.get("shell", "False") != "False"
            or given.get("trust_remote_code", "False") != "False"
        ):
            found.append(owner)
    return found


def test_no_source_can_run_what_it_reads():
    """No unpickling, no shell, no unsafe YAML, no code of models, and no archive is unpacked at all."""
    found = {path.name: problems(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(found) > 60
    # `agentbench exec` runs the script that the user names, and nothing else.
    assert found.pop("exec_script.py") == ["exec", "exec"]
    assert {name: problem for name, problem in found.items() if problem} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "from joblib import load", "import importlib; importlib.import_module('dill')",
        "np.load(path)", "np.load(path, allow_pickle=True)", "torch.load(path)", "yaml.load(text, Loader)",
        "subprocess.run(command, shell=True)", "os.system(command)", "import tarfile", "eval(text)",
        "pandas.read_pickle(path)", "AutoModel.from_pretrained(folder)",
        "AutoModel.from_pretrained(folder, weights_only=True, trust_remote_code=True)",
    ],
)  # fmt: skip
def test_the_search_finds_what_it_is_for(source):
    assert problems(source)


def test_marshal_is_read_from_our_own_parent_alone():
    users = [p.name for p in SOURCES if "marshal" in imported(ast.parse(p.read_text("utf-8")))]
    assert users == ["wire.py"]
    with pytest.raises(wire.Garbled):  # what a child says is JSON or nothing
        wire.decoded(b"\0" + __import__("marshal").dumps([1]))


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.write_text, (self.path, "boom"))


@pytest.fixture
def bomb(tmp_path):
    """A pickle, and the proof after the test that nobody opened it."""
    fuse = tmp_path / "went-off"
    raw = pickle.dumps(Bomb(fuse))
    pickle.loads(raw)
    assert fuse.exists(), "the bomb does not work, so the tests prove nothing"
    fuse.unlink()
    yield raw
    assert not fuse.exists()


def npy(bomb):
    """A .npy file of objects, in which the pickle stands."""
    array = np.empty(1, dtype=object)
    array[0] = b""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "|O", "fortran_order": False, "shape": (1,)}
    )
    return buffer.getvalue() + bomb


FORMS = {"bare": lambda bomb: bomb, "gzip": gzip.compress, "npy": npy}


@pytest.fixture(params=FORMS)
def content(request, bomb):
    return FORMS[request.param](bomb)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))


READERS = {
    "humob table (.csv)": lambda path: tables.read_table(path.rename(path.with_suffix(".csv"))),
    "humob table (.csv.gz)": lambda path: tables.read_table(
        path.rename(path.with_suffix(".csv.gz"))
    ),
    "humob table (.parquet)": lambda path: tables.read_table(
        path.rename(path.with_suffix(".parquet"))
    ),
    "DailyMobility truth": lambda path: population._checked(path, "gyration_radius"),
    "DailyMobility submission": lambda path: daily_submission._four_lists(path),
    "DailyMobility submission (.pkl)": lambda path: daily_submission.read_submission(
        path.rename(path.with_suffix(".pkl")), None
    ),
    "manifest, scores": lambda path: run_folder.read_json(path, "a manifest"),
    "scenario": lambda path: scenario.read(path.rename(path.with_suffix(".yaml"))),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_pickle_is_refused_where_a_file_of_the_user_is_read(read, content, tmp_path):
    path = tmp_path / "given"
    path.write_bytes(content)
    with pytest.raises(BenchmarkError):
        read(path)


def test_a_pickle_among_the_records_is_refused(content, tmp_path):
    (tmp_path / run_folder.RECORDS).write_bytes(content + b"\n")
    with pytest.raises(BenchmarkError, match="expected"):
        run_folder.read_records(tmp_path)


@pytest.mark.parametrize("name", ["test_tasks.json", "user.json", "item.json", "review.json"])
def test_a_pickle_in_the_tasks_or_tables_is_refused(content, tmp_path, name):
    folder = tmp_path / "data"
    folder.mkdir()
    for file in behavior.DEMO_FOLDER.iterdir():
        with gzip.open(file) as packed:
            (folder / file.name.removesuffix(".gz")).write_bytes(packed.read())
    assert (folder / name).exists()
    (folder / name).write_bytes(content)
    with pytest.raises(BenchmarkError):
        behavior.load(_settings("BehaviorModeling", folder))


def _settings(benchmark, dataset):
    from pytest_agentbench.settings.resolve import Layer, resolve

    layer = Layer(lambda key: key, {"dataset": str(dataset), "text_models": "none"})
    return resolve(benchmark, None, [layer], [Path.cwd()])


@pytest.mark.parametrize("name", [f"{name}.npy" for name in humob_cache.ARRAYS])
def test_a_pickle_in_the_cache_of_tables_is_passed_over(content, name):
    before = humob_cache.load_table(humob.DEMO_FILE)
    (place,) = [p.parent for p in (files.cache_folder() / "humob").rglob("digests.json")]
    del before
    (place / name).write_bytes(content)
    again = humob_cache.load_table(humob.DEMO_FILE)
    assert len(again.table.uids) == 300


def test_a_pickle_in_other_caches_is_passed_over(content, tmp_path):
    digest = files.file_digest(humob.DEMO_FILE)
    notes = [p for p in files.cache_folder().rglob("*") if p.is_file()]
    for note in notes:
        note.write_bytes(content)
    assert files.file_digest(humob.DEMO_FILE) == digest
    (tmp_path / "note").write_bytes(content)
    assert hub._kept(tmp_path / "note") is None
    assert floor._cached(tmp_path / "note", 1.0) is None


def test_a_pickle_among_the_vectors_is_a_row_of_numbers_or_nothing(content, tmp_path):
    vectors = VectorCache("0" * 32, tmp_path)
    vectors.write({"text": np.zeros(3, np.float32)})
    (path,) = tmp_path.glob("*.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE vectors SET vector = ?", (content,))
    database.close()
    for vector in vectors.read(["text"]).values():
        assert vector.dtype == np.float32
    path.write_bytes(content)
    assert vectors.read(["text"]) == {}
    assert len(key_of("text")) == 32


def test_a_pickle_as_the_weights_of_a_model_is_refused(bomb, tmp_path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from pytest_agentbench.benchmarks.behavior_modeling.text_models.encoders import (
        EmotionEncoder,
        TopicEncoder,
    )

    config = transformers.BertConfig(
        vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    for folder in (tmp_path / "emotion", tmp_path / "topic"):
        config.save_pretrained(folder)
        (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
        (folder / "pytorch_model.bin").write_bytes(bomb)
    (tmp_path / "topic" / "modules.json").write_text(
        json.dumps(
            [
                {
                    "idx": 0,
                    "name": "0",
                    "path": "",
                    "type": "sentence_transformers.models.Transformer",
                }
            ]
        )
    )
    for encoder, name in ((EmotionEncoder, "emotion"), (TopicEncoder, "topic")):
        with pytest.raises(Exception, match=r"(?i)weights.only|unpickl|pickle"):
            encoder(tmp_path / name)


def test_a_model_with_code_of_its_own_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "_not_installed", lambda packages: None)
    for name in ("topic", "emotion"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_bytes(b"")
    modules = tmp_path / "topic" / "modules.json"
    modules.write_text(json.dumps([{"type": "sentence_transformers.models.Transformer"}]))
    assert sets.find(str(tmp_path)) is not None
    modules.write_text(json.dumps([{"type": "evil.Evil"}]))
    with pytest.raises(
        BenchmarkError, match=r"would run code of its own \(evil.Evil in modules.json"
    ):
        sets.find(str(tmp_path))


# YAML.


TAGS = [
    "!!python/object/apply:os.system ['touch hacked']",
    "!!python/object/new:subprocess.Popen [['touch', 'hacked']]",
    "!!python/name:os.system",
    "!!python/module:antigravity",
]


@pytest.mark.parametrize("value", TAGS)
def test_a_tag_of_python_in_a_scenario_is_refused(tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(f"benchmark: toysum\nagent: {value}\n")
    with pytest.raises(BenchmarkError, match="could not determine a constructor for the tag"):
        scenario.read(tmp_path / "s.yaml")
    assert not (tmp_path / "hacked").exists()
    assert "antigravity" not in sys.modules


def test_a_tag_is_told_to_the_user_as_a_mistake_in_the_file(project):
    project.write(s__yaml=f"benchmark: toysum\nagent: {TAGS[0]}\n")
    result = project.pytest("--benchmark=s.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *s.yaml*could not determine a constructor for the tag*"])
    assert "Traceback" not in result.stderr.str()


# The shell.

HOSTILE = "; touch hacked; $(touch hacked) `touch hacked` | touch hacked && touch hacked > hacked"


def test_a_command_meets_no_shell(project):
    project.write(
        echo__py="import json, sys\n"
        "for line in sys.stdin:\n"
        "    context = json.loads(line)\n"
        "    assert sys.argv[1:] == json.load(open('expected.json')), sys.argv\n"
        "    print(context['a'] + context['b'], flush=True)\n",
        expected__json=json.dumps(HOSTILE.split()),
    )
    result = project.pytest("--benchmark=toysum", f"--agent=cmd:{sys.executable} echo.py {HOSTILE}")
    assert result.ret == 0
    assert {record["status"] for record in project.records()} == {"ok"}
    assert not (project.path / "hacked").exists()


@pytest.mark.parametrize(
    "arguments",
    [[f"--agent={HOSTILE}"], [f"--dataset={HOSTILE}"], ["--run-dir=runs/$(touch hacked)"]],
    ids=["agent", "dataset", "run-dir"],
)
def test_no_option_meets_a_shell(project, arguments):
    project.pytest("--benchmark=toysum", "--limit=1", *arguments)
    assert not list(project.path.rglob("hacked"))
