"""Runs whose files name code, paths, commands and addresses of a stranger's, given to every command.

    cd $(mktemp -d) && PYTHONPATH=$TESTS/toy python $TESTS/security/baited_runs.py grouped | single | every

A process of its own: what is imported, opened, listed, looked at, started or connected to is heard by an
audit hook, which cannot be removed. ``grouped`` puts bait into all texts at once and runs every command;
``single`` puts it into one text after another, for two commands; ``every`` does both with each kind of bait.
Prints what was bitten.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import shutil
import sys
from pathlib import Path

BAIT = "bait"  # in every text that is put into a run, and in no other path
CODE = "bait:Trap"  # a class in a module that lies in the current folder, and a file there
KINDS = [CODE, "/ABS/bait.json", "//127.0.0.1/bait", "http://127.0.0.1:9/bait", "cmd:touch bait"]
HEARD = {
    "open", "import", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "os.posix_spawn",
    "os.system", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname",
}  # fmt: skip
BASES = {
    "toysum": [],
    "humob": ["--first=2"],
    "BehaviorModeling": ["--first=2", "--text-models=none"],
}
# Without these a run is refused before anything else of it is looked at.
STRUCTURE = {"schema", "benchmark", "mode", "primary", "status", "sample", "digest", "conditions"}
PLACES = {"dataset", "store", "groundtruth", "text_models", "revision"}

bitten: list[str] = []
asked = 0
listening = False


def hear(event: str, arguments: tuple[object, ...]) -> None:
    if listening and event in HEARD:
        note(event, *arguments[:2])


def note(event: str, *what: object) -> None:
    text = " ".join(map(str, what))
    if BAIT in text:
        bitten.append(f"{event}: {text[:200]}")


def watch_looks() -> None:
    """A look at a path is no audit event, and reaches another machine where the path names one."""
    for name in ("stat", "lstat"):
        real = getattr(os, name)

        def looked(path, *args, _real=real, _name=name, **options):
            if listening:
                note(_name, path)
            return _real(path, *args, **options)

        setattr(os, name, looked)


def command(program: str, *arguments: str) -> int:
    global listening, asked
    asked += 1
    import pytest

    from pytest_agentbench.cli import main

    out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace", write_through=True)
    listening = True
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            if program == "pytest":
                return int(pytest.main([*arguments, "-q", "-p", "no:cacheprovider"]))
            try:
                return main(list(arguments))
            except SystemExit as ended:
                return int(ended.code or 0)
    finally:
        listening = False


def texts(data, path=()):
    """The places of all texts and of what may be one; keys stay."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, (dict, list)):
            yield from texts(value, (*path, key))
        if value is None or isinstance(value, str):
            yield (*path, key)


def put(data, place, bait):
    for key in place[:-1]:
        data = data[key]
    data[place[-1]] = bait


def read(run):
    files = {
        name: json.loads((run / name).read_text()) for name in ("manifest.json", "scores.json")
    }
    lines = (run / "records.jsonl").read_text().splitlines()
    return {**files, "records.jsonl": [json.loads(line) for line in lines]}


def write(run, files):
    for name, data in files.items():
        rows = data if isinstance(data, list) else [data]
        (run / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def commands(name, few=False):
    options = BASES.get(name, [])
    yield "agentbench", "leaderboard", "below"
    yield "agentbench", "report", "below/other", "-o", "out.html"
    if few:
        return
    yield "agentbench", "runs", "below"
    for kind in ("inspect", "submission"):
        yield "agentbench", "export", "below/other", f"--format={kind}", "-o", "out.json"
    yield "agentbench", "compare", "below/good", "below/other"
    yield "agentbench", "compare", "below/other", "below/good", "--html", "-o", "out.html"
    yield "agentbench", "merge", "below/other", "--out=new"
    yield "agentbench", "merge", "below/good", "below/other", "--out=new"
    yield "agentbench", "save", "kept", "below/other", "--replace"
    if name in BASES:
        yield "agentbench", "validate", name, "below/other/records.jsonl"
        yield "agentbench", "score", name, "--submission=below/other", "--run-dir=new", *options
        for how in ("--submission=below/other", "--baseline=below/other"):
            yield "pytest", f"--benchmark={name}", how, "--run-dir=new", *options
        resume = f"--benchmark={name}", "--resume=below/other", *options
        yield "pytest", *resume
        yield "pytest", *resume, "--resume-anyway"


def attack(name, good, baited, few=False):
    """All commands on a run with bait, beside a good one."""
    for words in commands(name, few):
        for place in ("below", "new"):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(good, "below/good")
        shutil.copytree(good, "below/other")
        write(Path("below/other"), baited)
        before = len(bitten)
        code = command(*words)
        if code not in (0, 1, 2, 4):
            bitten.append(f"exit code {code}")
        bitten[before:] = [f"{' '.join(words)}: {one}" for one in bitten[before:]]


def grouped(name, good, bait):
    """Bait in all texts at once: with and without the places of data, which are looked at first."""
    for kept in (STRUCTURE, STRUCTURE | PLACES):
        files = read(good)
        for file in files.values():
            for place in list(texts(file)):
                if not kept & set(map(str, place)):
                    put(file, place, bait)
        attack(name, good, files)


def single(name, good, baits):
    """Bait in one text after another: of the records, in those of the first."""
    files = read(good)
    for file, data in files.items():
        for place in list(texts(data)):
            if file == "records.jsonl" and place[0] != 0:
                continue
            for bait in baits:
                baited = copy.deepcopy(files)
                put(baited[file], place, bait)
                attack(name, good, baited, few=True)


def main() -> None:
    way = sys.argv[1]
    here = Path.cwd()
    Path("pytest.ini").write_text("[pytest]\n")
    Path("bait.py").write_text("import pathlib\npathlib.Path('sprung').touch()\nclass Trap: pass\n")
    Path(CODE).write_text("{}")
    Path("bait.json").write_text("{}")
    os.environ["AGENTBENCH_CACHE"] = str(here / "cache")
    sys.addaudithook(hear)
    watch_looks()
    kinds = [kind.replace("/ABS", str(here)) for kind in KINDS]
    for name, options in BASES.items():
        command("pytest", f"--benchmark={name}", *options, f"--run-dir=good-{name}")
        good = here / f"good-{name}"
        assert (good / "scores.json").exists(), name
        baits = kinds if way == "every" else [CODE]
        if way != "single":
            for bait in baits:
                grouped(name, good, bait)
        if way != "grouped" and name == "toysum":
            single(name, good, baits)
    # A benchmark that nobody registered: its class is in the manifest.
    unknown = read(here / "good-toysum")
    unknown["scores.json"]["benchmark"] = unknown["manifest.json"]["settings"]["benchmark"] = "its"
    shutil.copytree(here / "good-toysum", here / "good-its")
    for bait in kinds if way == "every" else [CODE]:
        unknown["manifest.json"]["settings"]["benchmark_class"] = bait
        write(here / "good-its", unknown)
        attack("its", here / "good-its", unknown)
    if Path("sprung").exists():
        bitten.append("the module was imported")
    sys.stdout.write(
        "".join(f"{line}\n" for line in dict.fromkeys(bitten))
        or f"nothing bitten in {asked} commands\n"
    )


if __name__ == "__main__":
    main()
