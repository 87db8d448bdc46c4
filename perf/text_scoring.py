"""Time of reading review texts: one by one, in batches, and again with a few changed answers.

Run as ``python perf/text_scoring.py [--pairs N]``. The topic model is the offline set's. The emotion
classifier is a RoBERTa of the published size with random weights: time does not depend on them. The
first comparison is the best of three alternating rounds, so that a busy moment does not decide it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import tempfile
import time
from pathlib import Path

from pytest_agentbench.benchmarks.behavior_modeling.data import DEMO_FOLDER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--no-roberta", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGENTBENCH_CACHE"] = f"{folder}/cache"
        from pytest_agentbench.text_models import sets

        offline = sets.find("offline")
        assert offline is not None
        measure("offline (MiniLM, prototypes)", offline, options.pairs)
        if not options.no_roberta:
            emotion = big_roberta(Path(folder) / "emotion")
            models = sets.ModelSet("published size", offline.topic, emotion)
            measure("published size (MiniLM, RoBERTa base)", models, options.pairs)


def measure(name: str, models, pairs: int) -> None:
    from pytest_agentbench.text_models.loading import EmotionEncoder, TopicEncoder
    from pytest_agentbench.text_models.reading import Reader

    answers, truths = texts(pairs, 1), texts(pairs, 2)
    everything = [*answers, *truths]
    topic = TopicEncoder(models.topic, "cpu")
    emotion = EmotionEncoder(models.emotion, "cpu") if models.emotion else topic
    topic.encode(["warm up"])
    emotion.encode(["warm up"])
    sample = everything[:: max(1, len(everything) // 60)]
    rounds = [
        (one_by_one(topic, emotion, sample), in_batches(topic, emotion, sample)) for _ in range(3)
    ]
    alone, batched = (min(times) for times in zip(*rounds, strict=True))
    print(f"{name}, {pairs} pairs of texts")
    print(
        f"    {len(sample)} of the texts: one by one {alone:.1f} s, in batches {batched:.1f} s: {alone / batched:.1f} x"
    )
    first, _ = timed(lambda: Reader(models, "cpu"), everything)
    changed = [*texts(pairs // 50, 3), *everything[pairs // 50 :]]
    second, _ = timed(lambda: Reader(models, "cpu"), changed)
    print(f"    a first run {first:.1f} s (models loaded, texts read once), a second run with "
          f"{pairs // 50} changed answers {second:.2f} s: {first / second:.0f} x")  # fmt: skip
    same, _ = timed(lambda: Reader(models, "cpu"), changed)
    print(f"    the same texts again {same:.2f} s: {first / same:.0f} x")


def one_by_one(topic, emotion, sample) -> float:
    start = time.perf_counter()
    for text in sample:
        topic.encode([text])
        emotion.encode([text[:300]])
    return time.perf_counter() - start


def in_batches(topic, emotion, sample) -> float:
    start = time.perf_counter()
    topic.encode(sample)
    emotion.encode([text[:300] for text in sample])
    return time.perf_counter() - start


def timed(make, everything):
    start = time.perf_counter()
    reader = make()
    reader.prepare(everything)
    reader.topics(everything)
    reader.emotions(everything)
    return time.perf_counter() - start, reader


def texts(count: int, seed: int) -> list[str]:
    """Reviews of 100 to 1500 characters, put together from sentences of the demo data."""
    lines = gzip.decompress((DEMO_FOLDER / "review.json.gz").read_bytes()).decode().splitlines()
    known = [json.loads(line)["text"] for line in lines]
    rng = random.Random(seed)
    return [" ".join(rng.choices(known, k=rng.randint(1, 8))) for _ in range(count)]


def big_roberta(folder: Path) -> Path:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizerFast

    folder.mkdir()
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(texts(500, 9), vocab_size=2000, special_tokens=special, show_progress=False)  # fmt: skip
    trained.save_model(str(folder))
    RobertaTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    config = RobertaConfig(num_labels=4, max_position_embeddings=514, type_vocab_size=1)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
