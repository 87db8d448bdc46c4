"""A small server on 127.0.0.1 that speaks the hub's protocol to the hub's own client."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "lab/some-data"


class Hub:
    """One data set repository at one commit, with the faults that a test asks for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.large: set[str] = set()  # files kept as LFS objects: their checksum is SHA-256
        self.requests: list[tuple[str, str, str | None]] = []  # method, path, Range
        self.broken: dict[str, int] = {}  # how often a file's connection is cut in the middle
        self.spoil: dict[str, int] = {}  # how often a file comes with a wrong byte
        self.url = ""

    def add(self, name: str, content: bytes, *, large: bool = False) -> None:
        self.files[name] = content
        if large:
            self.large.add(name)

    def entry(self, name: str) -> dict[str, object]:
        content = self.files[name]
        entry: dict[str, object] = {
            "rfilename": name, "path": name, "type": "file", "size": len(content),
            "blobId": self.git_sha1(name), "oid": self.git_sha1(name),
        }  # fmt: skip
        if name in self.large:
            sha256 = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {
                "sha256": sha256, "oid": sha256, "size": len(content), "pointerSize": 130,
            }  # fmt: skip
        return entry

    def git_sha1(self, name: str) -> str:
        content = self.files[name]
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()

    def etag(self, name: str) -> str:
        if name in self.large:
            return hashlib.sha256(self.files[name]).hexdigest()
        return self.git_sha1(name)

    def downloads(self) -> list[str]:
        return [
            path for method, path, _ in self.requests if method == "GET" and "/resolve/" in path
        ]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            state.requests.append((self.command, path, self.headers.get("Range")))
            known = [f"/api/datasets/{REPOSITORY}"]
            known += [f"{known[0]}/revision/{name}" for name in (COMMIT, "main", "v1")]
            if path in known:
                siblings = [state.entry(name) for name in state.files]
                self._json({"id": REPOSITORY, "sha": COMMIT, "siblings": siblings, "tags": [],
                            "private": False, "disabled": False, "gated": False,
                            "downloads": 0, "likes": 0}, body)  # fmt: skip
            elif path.startswith(f"/api/datasets/{REPOSITORY}/tree/"):
                self._json([state.entry(name) for name in state.files], body)
            elif path.startswith(f"/datasets/{REPOSITORY}/resolve/"):
                self._file(path.split("/resolve/", 1)[1].split("/", 1)[1], body)
            else:
                self._json({"error": "Repository not found"}, body, 404,
                           {"X-Error-Code": "RepoNotFound"})  # fmt: skip

        def _json(self, value: object, body: bool, status: int = 200, headers: dict[str, str] | None = None) -> None:  # fmt: skip
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def _file(self, name: str, body: bool) -> None:
            if name not in state.files:
                self._json({"error": "Entry not found"}, body, 404,
                           {"X-Error-Code": "EntryNotFound"})  # fmt: skip
                return
            content = state.files[name]
            start = 0
            wanted = self.headers.get("Range")
            if wanted and body:
                start = int(wanted.removeprefix("bytes=").split("-")[0])
            self.send_response(206 if start else 200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{state.etag(name)}"')
            if name in state.large:
                self.send_header("X-Linked-Etag", f'"{state.etag(name)}"')
                self.send_header("X-Linked-Size", str(len(content)))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(content) - start))
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.end_headers()
            if not body:
                return
            if state.spoil.get(name, 0) > 0:
                state.spoil[name] -= 1
                content = bytes([content[0] ^ 1]) + content[1:]
            if state.broken.get(name, 0) > 0:
                state.broken[name] -= 1
                self.wfile.write(content[start : start + (len(content) - start) // 2])
                self.wfile.flush()
                self.close_connection = True
                return
            self.wfile.write(content[start:])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", state.url)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    for name in ("HF_HUB_CACHE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield state
    server.shutdown()
    thread.join()
    server.server_close()
