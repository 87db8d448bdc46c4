"""Data sets from the hub: fetched once at one commit, verified, and then used without a network.

The hub's own client does the transfer (progress, resuming, ``HF_ENDPOINT``, ``HF_HOME``, tokens). What
is added here: an unreachable hub is found out in seconds, every file is compared with the hub's
checksum, and a note of the verified commit lets later runs start without the client.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import importlib
import json
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError, without_secrets
from pytest_agentbench.base.files import one_at_a_time, write_whole
from pytest_agentbench.benchmarks.sources import hub_cache

INSTALL = 'pip install "pytest-agentbench[hub]"'
CONNECT_SECONDS = 3.0
REQUEST_SECONDS = 10.0


@dataclass(frozen=True)
class RemoteFile:
    """A file of a commit: its size and checksum as the hub states them."""

    name: str
    size: int | None
    sha256: str | None  # the hub states it for large files
    git_sha1: str | None  # and this for the others: of a header and the content


def fetch(
    repo_id: str,
    revision: str | None = None,
    files: Sequence[str] | None = None,
    *,
    repo_type: str = "dataset",
) -> Path:
    """The folder with a repository's files at one commit, downloaded and verified if necessary.

    ``revision`` is a commit, a tag or a branch. Without one, the commit found by the first fetch stays
    in use, so that runs remain comparable until its note in the cache is removed. ``files`` are names
    or patterns such as ``*.json``.
    """
    note = hub_cache.note(repo_id, revision, files, repo_type)
    kept = _kept(note)
    if kept is not None:
        return kept
    if find_spec("huggingface_hub") is None:
        raise BenchmarkError(
            f"{repo_id}: fetching from the hub needs the package huggingface_hub, which is not "
            f"installed; install it with: {INSTALL}"
        )
    with one_at_a_time(note):
        return _kept(note) or _fetch(repo_id, revision, files, repo_type, note)


def is_here(repo_id: str) -> bool:
    """Whether a data set was fetched and verified before, so that no network is needed."""
    return _kept(hub_cache.note(repo_id, None, None, "dataset")) is not None


def _fetch(
    repo_id: str, revision: str | None, files: Sequence[str] | None, repo_type: str, note: Path
) -> Path:
    huggingface_hub = _client()

    constants: Any = importlib.import_module("huggingface_hub.constants")
    endpoint = (os.environ.get("HF_ENDPOINT") or str(constants.ENDPOINT)).rstrip("/")
    shown = without_secrets(endpoint)
    where = f"{repo_id} at {revision or 'its newest commit'}"
    options: dict[str, Any] = {
        "repo_type": repo_type,
        "cache_dir": hub_cache.folder(),
        "allow_patterns": None if files is None else list(files),
    }
    if constants.HF_HUB_OFFLINE:
        return _local(repo_id, revision, options, "HF_HUB_OFFLINE is set")
    unreachable = _unreachable(endpoint)
    if unreachable is not None:
        return _local(repo_id, revision, options, unreachable)
    try:
        api = huggingface_hub.HfApi(endpoint=endpoint)
        info = api.repo_info(
            repo_id, repo_type=repo_type, revision=revision, files_metadata=True,
            timeout=REQUEST_SECONDS,
        )  # fmt: skip
        remote = _remote_files(info, files)
        if not remote:
            raise BenchmarkError(f"{where}: expected files like {files}, the hub has none of them")
        folder = Path(
            huggingface_hub.snapshot_download(
                repo_id, revision=info.sha, endpoint=endpoint, etag_timeout=REQUEST_SECONDS,
                **options,
            )
        )  # fmt: skip
        damaged = [file for file in remote if not intact(folder / file.name, file)]
        for file in damaged:  # by a disk or a proxy: once more, from the first byte
            huggingface_hub.hf_hub_download(
                repo_id, file.name, repo_type=repo_type, revision=info.sha, endpoint=endpoint,
                cache_dir=options["cache_dir"], force_download=True,
            )  # fmt: skip
    except BenchmarkError:
        raise
    except Exception as error:  # of the client, its HTTP library or the system
        raise BenchmarkError(
            f"{where}: fetching from {shown} failed: {type(error).__name__}: "
            f"{_first_line(error).replace(endpoint, shown)}. "
            f"Finished files are kept: run the same command again to go on"
        ) from error
    for file in damaged:
        if not intact(folder / file.name, file):
            raise BenchmarkError(
                f"{where}: {file.name} came twice from {shown} and both times its checksum was not "
                f"the one that the hub states; is a proxy changing it?"
            )
    sizes = {file.name: (folder / file.name).stat().st_size for file in remote}
    with contextlib.suppress(OSError):
        write_whole(
            note, json.dumps({"commit": info.sha, "folder": str(folder), "files": sizes}, indent=1)
        )
    return folder


def _client() -> Any:
    return importlib.import_module("huggingface_hub")


def intact(path: Path, file: RemoteFile) -> bool:
    """Whether a downloaded file is what the hub says it is."""
    if not path.is_file() or (file.size is not None and path.stat().st_size != file.size):
        return False
    if file.sha256 is not None:
        digest, expected = hashlib.sha256(), file.sha256
    elif file.git_sha1 is not None:
        digest, expected = hashlib.sha1(usedforsecurity=False), file.git_sha1
        digest.update(f"blob {path.stat().st_size}\0".encode())
    else:
        return True
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == expected


def _remote_files(info: Any, patterns: Sequence[str] | None) -> list[RemoteFile]:
    files = []
    for sibling in info.siblings or ():
        name = sibling.rfilename
        if patterns is not None and not any(fnmatch.fnmatch(name, p) for p in patterns):
            continue
        lfs = getattr(sibling, "lfs", None)
        sha256 = lfs.get("sha256") if isinstance(lfs, dict) else getattr(lfs, "sha256", None)
        git = None if lfs else getattr(sibling, "blob_id", None)
        files.append(RemoteFile(name, getattr(sibling, "size", None), sha256, git))
    return files


def _kept(note: Path) -> Path | None:
    """The folder that a note promises, if all its files are still there."""
    try:
        kept = json.loads(note.read_text(encoding="utf-8"))
        folder = Path(kept["folder"])
        whole = all((folder / n).stat().st_size == size for n, size in kept["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return folder if whole else None


def _local(repo_id: str, revision: str | None, options: dict[str, Any], why: str) -> Path:
    """What an earlier download by other means left in the client's cache."""
    huggingface_hub = _client()

    with contextlib.suppress(Exception):  # whatever the client raises: it is not there
        return Path(
            huggingface_hub.snapshot_download(
                repo_id, revision=revision, local_files_only=True, **options
            )
        )
    raise BenchmarkError(
        f"{repo_id}: it is not on this machine and cannot be fetched: {why}. Fetch it where there is "
        f"a network and set HF_HOME to that cache, or give the folder itself: --dataset PATH"
    )


def _unreachable(endpoint: str) -> str | None:
    """Why the hub cannot be reached, found out before the client starts its retries."""
    import urllib.request  # imports http and ssl

    url = urllib.parse.urlsplit(endpoint)
    host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy and not urllib.request.proxy_bypass(host):
        through = urllib.parse.urlsplit(proxy if "//" in proxy else f"//{proxy}")
        host, port = through.hostname or host, through.port or 80
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return f"{without_secrets(endpoint)} is out of reach ({_first_line(error) or type(error).__name__})"
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [""])[0]
