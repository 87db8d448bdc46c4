"""What ``--agent`` may say, as text: the only place that knows its prefixes.

Nothing is imported here, because a session without agents reads the options, too.
:mod:`pytest_agentbench.agents.load` says what stands behind each form.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pytest_agentbench.base.errors import without_secrets
from pytest_agentbench.base.redaction import command_shown

EXPECTED = "file.py, file.py:Name, package.module:Name, builtin:NAME, cmd:COMMAND or http://…"

_BUILTIN, _COMMAND, _ENDPOINT = "builtin:", "cmd:", ("http://", "https://")
_FILE = re.compile(r"((?:.*[/\\])?([^/\\]+)\.py)(:\w+)?", re.DOTALL)


def builtin(name: str) -> str:
    """What ``--agent`` says for a baseline of the benchmark."""
    return f"{_BUILTIN}{name}"


def baseline_of(spec: str) -> str | None:
    """The name in ``builtin:NAME``."""
    return spec.removeprefix(_BUILTIN) if spec.startswith(_BUILTIN) else None


def command_of(spec: str) -> str | None:
    """The command in ``cmd:COMMAND``."""
    return spec.removeprefix(_COMMAND).strip() if spec.startswith(_COMMAND) else None


def is_endpoint(spec: str) -> bool:
    return spec.startswith(_ENDPOINT)


def is_address(url: str) -> bool:
    """Whether it is http or https, with a host and a port that is a number."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def is_code(spec: str) -> bool:
    """Whether it names Python code, as far as its prefix tells."""
    return not spec.startswith((_BUILTIN, _COMMAND, *_ENDPOINT))


def file_in(spec: str) -> str | None:
    """The file in ``file.py`` and ``file.py:Name``."""
    file = _FILE.fullmatch(spec) if is_code(spec) else None
    return file and file[1]


def shown(spec: str) -> str:
    """``spec`` for people and files: the address of an endpoint, or a command, may hold keys.

    >>> shown("cmd:./agent --api-key sesame-open")
    'cmd:./agent --api-key ***'
    """
    if (command := command_of(spec)) is not None:
        return _COMMAND + command_shown(command)
    return without_secrets(spec) if is_endpoint(spec) else spec


def short(spec: str) -> str:
    """``spec`` for the name of a file: the agent's own name, without the folders it lies in.

    >>> short("agents/my_agent.py"), short("agents/my_agent.py:Careful"), short("builtin:mean")
    ('my_agent', 'my_agent:Careful', 'mean')
    >>> short("cmd:python /srv/ada/agent.py --fast")
    'cmd:python agent.py --fast'
    """
    if (program := command_of(shown(spec))) is not None:
        return _COMMAND + " ".join(word.rpartition("/")[2] or word for word in program.split())
    if is_code(spec) and (file := _FILE.fullmatch(spec)):
        return file[2] + (file[3] or "")
    return baseline_of(spec) or shown(spec)
