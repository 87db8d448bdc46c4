"""A model's server, for the client and for the models that it serves."""

from __future__ import annotations

import threading

import pytest
from llm_server import Server


@pytest.fixture
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
