"""Secrets are found where they are given, and taken out in every form in which a text may hold them."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from pytest_agentbench.base import redaction
from pytest_agentbench.base.redaction import HIDDEN, NO_SECRETS, Secrets

SECRET = 'p\u00e4ss/w+rd "x'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        urllib.parse.quote(SECRET),
        urllib.parse.quote(SECRET, safe=""),
        urllib.parse.quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    ],
)
def test_a_secret_is_hidden_in_every_form(form):
    assert Secrets([SECRET]).cleaned(f"<{form}>") == f"<{HIDDEN}>"


def test_a_short_one_is_left_alone():
    """Else every "me" in every "name" would be hidden."""
    secrets = Secrets(["me", "", "abcde"])
    assert not secrets
    assert secrets.cleaned("name abcde") == "name abcde"
    assert not NO_SECRETS


def test_the_longest_is_hidden_first():
    assert Secrets(["secret", "secret-and-more"]).cleaned("secret-and-more secret") == "*** ***"


def test_plain_values_are_cleaned_with_their_keys_and_otherwise_untouched():
    secrets = Secrets(["sesame-open"])
    value = {"a": [1, None, 0.5, "x"], "b": {"c": True}}
    assert secrets.cleaned_json(value) is value
    told = {"sesame-open": ["say sesame-open", 1], "b": value}
    assert secrets.cleaned_json(told) == {"***": ["say ***", 1], "b": value}
    assert secrets.cleaned_json(7) == 7


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://host/answer", set()),
        ("http://me:hunter2word@host/", {"hunter2word", "me:hunter2word"}),
        ("http://me:a%2Fb-c-d@host/", {"a%2Fb-c-d", "a/b-c-d", "me:a%2Fb-c-d", "me:a/b-c-d"}),
        ("http://tok-en-1@host/", {"tok-en-1"}),
        ("http://host/?mode=review&api_key=abc", {"abc", "mode=review&api_key=abc"}),
        ("http://host/?v=a8f5f167f44f4964", {"a8f5f167f44f4964", "v=a8f5f167f44f4964"}),
        ("http://[broken", set()),
    ],
)
def test_secrets_in_an_address(url, found):
    assert redaction.in_address(url) == found


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("", ""),
        ("./agent --fast data.json", "./agent --fast data.json"),
        ("./agent --api-key sesame-open --fast", "./agent --api-key *** --fast"),
        ("./agent --token=sesame-open", "./agent --token=***"),
        ("env OPENAI_API_KEY=sesame-open ./agent", "env OPENAI_API_KEY=*** ./agent"),
        ("curl -H 'Authorization: Bearer sesame-open' x", "curl -H 'Authorization: Bearer ***' x"),
        ("./agent https://me:sesame-open@host/a", "./agent https://***@host/a"),
        ("./agent sk-abcdefghijklmnop", "./agent ***"),
        ("./agent --password --fast", "./agent --password --fast"),
        ("./agent 'broken --api-key sesame-open", "./agent 'broken --api-key ***"),
    ],
)
def test_a_command_is_shown_without_secrets(command, shown):
    assert redaction.command_shown(command) == shown


def test_secrets_in_the_environment_and_in_parameters():
    environment = {
        "MY_API_KEY": "k-12345678", "DB_PASSWORD": "password", "TOKEN_FILE": "/run/token", "LANG": "en_GB-12345",
    }  # fmt: skip
    assert redaction.in_environment(environment) == {"k-12345678"}
    given = {"model": "m", "nested": [{"api_key": "k-1", "key_count": 3}]}
    assert redaction.in_parameters(given) == {"k-1"}


def test_a_secret_in_other_letters_is_one():
    assert Secrets(["Key-0f-Mine"]).cleaned("KEY-0F-MINE and key-0f-mine") == "*** and ***"
