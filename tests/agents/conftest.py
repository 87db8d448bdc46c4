"""A model's server, for the client and for the models that it serves."""

from __future__ import annotations

import pytest
from llm_server import serving


@pytest.fixture
def server():
    with serving() as server:
        yield server
