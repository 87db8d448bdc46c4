"""Runs of the toy benchmark that asked a part of its samples, as a matrix of jobs leaves them."""

from __future__ import annotations

import dataclasses
import json

from toy_runs import make_run

from pytest_agentbench.runs import run_folder
from pytest_agentbench.settings.sharding import Shard

AGENT = {"name": "builtin:half", "digest": "d"}


def part(folder, only=range(12), agent="half", shard=None, manifest=(), settings=(), **made):
    """A finished run of these samples; ``shard`` is (number, of). The rest are changes."""
    make_run(folder, agent, only=only, **made)
    scores = read(folder, run_folder.SCORES)
    facts = {"shard": dataclasses.asdict(Shard(*shard, "pytest-split"))} if shard else {}
    described = read(folder, run_folder.MANIFEST)
    described |= {"agent": AGENT, "dataset": scores["dataset"], **facts, **dict(manifest)}
    described["settings"] |= dict(settings)
    run_folder.write_json(folder / run_folder.MANIFEST, described)
    rewrite(folder, **facts)
    return folder


def rewrite(folder, **changes):
    """Changes keys of scores.json, which then knows the records that are beside it."""
    log = {
        "count": len(run_folder.read_records(folder)),
        "digest": run_folder.records_digest(folder),
    }
    scores = {**read(folder, run_folder.SCORES), "records": log, **changes}
    run_folder.write_json(folder / run_folder.SCORES, scores)


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))
