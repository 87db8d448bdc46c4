"""Loads the models through their own libraries and runs them on batches of similar length.

On a CPU every core has a batch of its own. The libraries' way, every operation shared by all cores, makes
them wait for each other some hundred times a batch: when another process has one of the cores, reading
takes several times as long. The rest is multiplication near the speed that the cores have for 32-bit
numbers: other runtimes do not gain enough (docs/performance.md has figures).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

# Of a batch, padding included. On a CPU larger batches leave its caches, and are fewer to share out.
CPU_TOKENS = 512
GPU_TOKENS = 32_768
_CHARACTERS_A_TOKEN = 4  # about; only the size of batches depends on it
# RoBERTa counts positions from behind its padding token, so two of its rows hold no token.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert")
_NO_LIMIT = 1_000_000  # tokenizers without a limit state an absurd one


class Encoder(Protocol):
    """One vector for every text."""

    def encode(self, texts: Sequence[str]) -> Matrix: ...


class TopicEncoder:
    """A sentence-transformer: the embedding of a text."""

    def __init__(self, folder: Path, device: str | None = None) -> None:
        with quiet():
            library: Any = importlib.import_module("sentence_transformers")
            self._model = library.SentenceTransformer(
                str(folder), device=device, local_files_only=True
            )
        # A tokenizer keeps settings that a call may change: it takes one thread at a time.
        lock = threading.RLock()
        for name in ("preprocess", "tokenize"):  # the first in the library's newer versions
            if hasattr(self._model, name):
                setattr(self._model, name, _locked(lock, getattr(self._model, name)))

    def encode(self, texts: Sequence[str]) -> Matrix:
        limit = self._model.max_seq_length or 512
        lengths = [min(len(text) // _CHARACTERS_A_TOKEN + 2, limit) for text in texts]

        def vectors(batch: list[int]) -> Matrix:
            found: Matrix = self._model.encode(
                [encodable(texts[n]) for n in batch], batch_size=len(batch),
                convert_to_numpy=True, show_progress_bar=False,
            )  # fmt: skip
            return found

        with quiet():
            return _in_batches(vectors, lengths, self._model.device)


class EmotionEncoder:
    """A text classifier: the probability of each of its labels, in the order of the labels."""

    def __init__(self, folder: Path, device: str | None = None) -> None:
        with quiet():
            torch: Any = importlib.import_module("torch")
            library: Any = importlib.import_module("transformers")
            self._torch = torch
            self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
            self._tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = library.AutoModelForSequenceClassification.from_pretrained(
                folder, local_files_only=True, weights_only=True
            )
            self._model = model.to(self._device).eval()
        config = model.config
        self.labels = [str(config.id2label[n]) for n in range(config.num_labels)]
        self._limit = token_limit(self._tokenizer, config)
        # As the library's own pipeline decides it.
        self._independent = config.problem_type == "multi_label_classification" or (
            config.num_labels == 1
        )

    def encode(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        with quiet():
            tokens = self._tokenizer(
                [encodable(text) for text in texts], truncation=True, max_length=self._limit
            )

            def shares(batch: list[int]) -> Matrix:
                part = {name: [values[n] for n in batch] for name, values in tokens.items()}
                padded = self._tokenizer.pad(part, return_tensors="pt").to(self._device)
                with self._torch.inference_mode():
                    logits = self._model(**padded).logits.float()
                    found = logits.sigmoid() if self._independent else logits.softmax(dim=-1)
                probabilities: Matrix = found.cpu().numpy()
                return probabilities

            return _in_batches(shares, [len(ids) for ids in tokens["input_ids"]], self._device)


def token_limit(tokenizer: Any, config: Any) -> int:
    """The most tokens a model has positions for; longer texts are cut there."""
    limits = [512]
    if 0 < tokenizer.model_max_length < _NO_LIMIT:
        limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        offset = config.pad_token_id + 1 if config.model_type in _OFFSET_POSITIONS else 0
        limits.append(int(positions) - offset)
    return min(limits)


def _in_batches(
    encode: Callable[[list[int]], Matrix], lengths: Sequence[int], device: Any
) -> Matrix:
    """One row a text, of batches that are encoded as many at a time as there are threads for."""
    torch: Any = importlib.import_module("torch")
    cpu = str(device).startswith("cpu")
    made = list(batches(lengths, CPU_TOKENS if cpu else GPU_TOKENS))
    threads = torch.get_num_threads()  # of an operation: all cores, or OMP_NUM_THREADS
    if cpu and 1 < threads <= len(made):
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(threads, initializer=lambda: torch.set_num_threads(1)) as pool:
                parts = list(pool.map(encode, made))
        finally:
            torch.set_num_threads(threads)
    else:
        parts = [encode(batch) for batch in made]
    rows: list[Any] = [None] * len(lengths)
    for batch, part in zip(made, parts, strict=True):
        for n, row in zip(batch, part, strict=True):
            rows[n] = row
    matrix: Matrix = np.asarray(rows, dtype=np.float32)
    return matrix


def _locked(lock: threading.RLock, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def one_at_a_time(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return call(*args, **kwargs)

    return one_at_a_time


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices of texts of similar length, so that little of a batch is padding.

    >>> list(batches([3, 9, 4], tokens=10))
    [[0, 2], [1]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        # In ascending order the newcomer is the longest: all are padded to it.
        if batch and (len(batch) + 1) * lengths[index] > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: tokenizers refuse them.

    >>> encodable("fine"), encodable("broken \\ud800")
    ('fine', 'broken �')
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps the libraries' warnings and bars from a user's terminal, and from ``pytest -W error``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging: Any = importlib.import_module("transformers.utils.logging")
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()
