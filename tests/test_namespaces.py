"""The hosts that other tests stand on: they reach each other, can be cut off, and leave nothing behind."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import namespaces
import pytest

pytestmark = pytest.mark.skipif(namespaces.why_not() is not None, reason=namespaces.why_not() or "")

_ECHO = """
import socket
with socket.create_server(("", 7000)) as server:
    while True:
        connection, _ = server.accept()
        while got := connection.recv(100):
            connection.sendall(got)
"""
_ASK = """
import socket, sys
with socket.create_connection((sys.argv[1], 7000), timeout=5) as connection:
    connection.sendall(b"from another host")
    print(connection.recv(100).decode())
"""


def _connect(address: str) -> socket.socket:
    while True:
        try:
            return socket.create_connection((address, 7000), timeout=5)
        except ConnectionRefusedError:  # it does not listen yet
            time.sleep(0.01)


def _left() -> str:
    links = subprocess.run(["ip", "-o", "link"], check=True, capture_output=True, text=True)
    spaces = subprocess.run(["ip", "netns"], check=True, capture_output=True, text=True)
    return links.stdout + spaces.stdout


def test_hosts_reach_each_other_until_one_is_cut_off() -> None:
    with namespaces.hosts(2) as (one, two):
        one.start(sys.executable, "-c", _ECHO)
        with _connect(one.address) as connection:
            connection.sendall(b"from here")
            assert connection.recv(100) == b"from here"
        asked = two.run(sys.executable, "-c", _ASK, one.address)
        assert asked.stdout == "from another host\n"

        with _connect(one.address) as connection:
            one.cut_off()
            connection.sendall(b"hello?")
            connection.settimeout(0.5)
            with pytest.raises(TimeoutError):  # silence: neither an answer nor an end
                connection.recv(100)
            one.join_again()
            connection.settimeout(20)
            assert connection.recv(100) == b"hello?"


def _fail(seen: list[namespaces.Host]) -> None:
    with namespaces.hosts(2) as made:
        seen += made
        made[0].start("sleep", "60")
        assert made[1].name in _left()
        raise KeyError


def test_nothing_is_left_when_a_test_fails() -> None:
    seen: list[namespaces.Host] = []
    with pytest.raises(KeyError):
        _fail(seen)
    assert seen[0].started[0].poll() is not None
    assert seen[0].bridge not in _left()


def test_two_networks_at_once_are_apart() -> None:
    with namespaces.hosts(1) as (one,), namespaces.hosts(1) as (other,):
        assert one.address != other.address
        assert one.name != other.name
