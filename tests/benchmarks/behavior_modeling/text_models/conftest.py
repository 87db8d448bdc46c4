"""Tiny models made on the spot, saved and loaded through the real libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models import sets
from pytest_agentbench.benchmarks.behavior_modeling.text_models.reader import Reader

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'"


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a RoBERTa classifier of four labels and a sentence-transformer."""
    for package in ("torch", "transformers", "sentence_transformers"):
        pytest.importorskip(package, reason="needs pip install 'pytest-agentbench[text]'")
    folder = tmp_path_factory.mktemp("models")
    _emotion(folder / "emotion")
    _topic(folder / "topic")
    return folder


def _emotion(folder: Path) -> None:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["a small text to learn from, good and bad"], vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False,
    )  # fmt: skip
    folder.mkdir(parents=True)
    trained.save_model(str(folder))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    # No limit is stated, as in the published model's tokenizer.
    tokenizer = RobertaTokenizerFast.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = RobertaConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=514, num_labels=4, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, type_vocab_size=1, initializer_range=0.6,
        id2label=dict(enumerate(["joy", "optimism", "anger", "sadness"])),
    )  # fmt: skip
    RobertaForSequenceClassification(config).save_pretrained(folder)


def _topic(folder: Path) -> None:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = folder.parent / "words"
    words.mkdir()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS]
    pieces += [f"##{letter}" for letter in LETTERS]
    (words / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    tokenizer = BertTokenizerFast.from_pretrained(words)
    tokenizer.save_pretrained(words)
    torch.manual_seed(2)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, initializer_range=0.6,
    )  # fmt: skip
    BertModel(config).save_pretrained(words)
    SentenceTransformer(str(words), device="cpu").save(str(folder))  # with mean pooling


@pytest.fixture
def offline():
    for package in ("sentence_transformers", sets.OFFLINE_PACKAGE):
        pytest.importorskip(package, reason="needs pip install 'pytest-agentbench[text]'")
    found = sets.find("offline")
    assert found is not None
    return Reader(found, "cpu")
