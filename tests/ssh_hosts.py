"""Hosts with a real ssh server each, keys made on the spot, and a home of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lean
import namespaces

_SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
_TOY = Path(__file__).parent / "toy"


@dataclass(frozen=True)
class Machine:
    """A host with a home, a cache and a copy of the project; the controller's files it does not see."""

    host: namespaces.Host
    home: Path
    hidden: Path
    client: Path  # the configuration of ssh

    @property
    def address(self) -> str:
        return self.host.address

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "agentbench"

    def ssh(self, *options: str) -> str:
        """For ``--tx``: a worker on this host, in its copy of the project."""
        words = " ".join([*options, self.address])
        return f"--tx=ssh={words}//ssh_config={self.client}//chdir={self.project}"

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "PYTHONPATH": str(_TOY),
            "PYTEST_ADDOPTS": lean.OPTIONS,
        }

    def serve(self, port: int, *command: str) -> None:
        """Starts a server on this host and waits until it listens."""
        hide = f"mount -t tmpfs none '{self.hidden}' && cd '{self.home}' && exec \"$@\""
        log = self.home / f"{port}.log"
        with log.open("w") as file:
            process = self.host.start(
                "sh", "-c", hide, "sh", *command, env=self.environment(), stdout=file, stderr=file
            )
        while True:
            try:
                socket.create_connection((self.address, port), timeout=1).close()
                return
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"{command} has ended: {log.read_text()}") from None
                time.sleep(0.02)


def why_not() -> str | None:
    """Why there can be no such hosts on this machine; None where there can."""
    for command in ("ssh", "ssh-keygen"):
        if shutil.which(command) is None:
            return f"needs {command} (Debian: openssh-client)"
    if _SSHD is None:
        return "needs sshd (Debian: openssh-server)"
    return namespaces.why_not()


@contextlib.contextmanager
def machines(count: int, hidden: Path) -> Iterator[list[Machine]]:
    """So many hosts, none of which sees what is in the folder ``hidden``."""
    assert _SSHD is not None
    Path("/run/sshd").mkdir(exist_ok=True)  # made by its service, where that runs
    with tempfile.TemporaryDirectory(prefix="hosts-") as name, namespaces.hosts(count) as hosts:
        folder = Path(name)
        key = folder / "key"
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
        subprocess.run(command, check=True)
        client = folder / "ssh_config"
        client.write_text(
            f"IdentityFile {key}\nIdentitiesOnly yes\nUser root\nBatchMode yes\nLogLevel ERROR\n"
            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nConnectTimeout 2\n"
        )
        made = []
        for host in hosts:
            machine = Machine(host, folder / host.name, hidden, client)
            machine.project.mkdir(parents=True)
            config = machine.home / "sshd_config"
            variables = " ".join(f'"{k}={v}"' for k, v in machine.environment().items())
            config.write_text(
                f"HostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\n"
                f"PermitRootLogin yes\nPidFile none\nSetEnv {variables}\n"
                # All hosts have the same accounts: each says where its own home is.
                'ForceCommand cd "$HOME" && exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
            )
            machine.serve(22, _SSHD, "-D", "-e", "-f", str(config))
            made.append(machine)
        yield made
