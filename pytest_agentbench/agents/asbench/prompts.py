"""``FormatPrompt`` of agentsociety: a prompt with places that are filled in later."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACE = re.compile(r"\$\{([^}]+)\}|\{(\w+)\}|\{\{|\}\}")
_STEP = re.compile(r"\.(\w+)|\[(?:'([^']*)'|\"([^\"]*)\"|(\d+))\]")
_UNKNOWN = "Don't know"  # what agentsociety writes where a context lacks a value


class FormatPrompt:
    """``{name}`` is an argument of :meth:`format`; ``${status.x}`` a value of the agent's memory,
    ``${context.x}`` one of the context, both with ``.key`` and ``[0]`` behind them."""

    def __init__(
        self,
        template: str,
        format_prompt: str | None = None,
        system_prompt: str | None = None,
        memory: Any = None,
    ) -> None:
        self.template = template
        self.format_prompt = format_prompt
        self.system_prompt = system_prompt
        self.memory = memory
        self.variables = [match[2] for match in _PLACE.finditer(template) if match[2]]
        self.formatted_string = ""

    async def format(self, context: Mapping[str, Any] | None = None, **values: Any) -> str:
        """The prompt with all its places filled in; KeyError if an argument is missing."""
        parts: list[str] = []
        end = 0
        for match in _PLACE.finditer(self.template):
            parts.append(self.template[end : match.start()])
            end = match.end()
            if match[1]:
                parts.append(str(await self._value(match[1].strip(), context or {})))
            elif match[2]:
                if match[2] not in values:
                    raise KeyError(
                        f"prompt: expected a value for {match[2]}, got {', '.join(values)}"
                    )
                parts.append(str(values[match[2]]))
            else:
                parts.append(match[0][0])  # doubled braces stand for themselves
        self.formatted_string = "".join([*parts, self.template[end:]])
        return self.formatted_string

    def to_dialog(self) -> list[dict[str, str]]:
        """The messages for a model."""
        asked = "\n".join(filter(None, [self.formatted_string, self.format_prompt]))
        system = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        return [*system, {"role": "user", "content": asked}]

    async def _value(self, expression: str, context: Mapping[str, Any]) -> Any:
        root = re.match(r"\w+", expression)
        steps = [next(filter(None, step.groups()), "") for step in _STEP.finditer(expression)]
        if root is None or root[0] not in ("profile", "status", "context") or not steps:
            raise ValueError(
                f"prompt: expected ${{status.NAME}}, ${{profile.NAME}} or ${{context.NAME}}, got "
                f"${{{expression}}}"
            )
        if root[0] == "context":
            value = context.get(steps[0], _UNKNOWN)
        else:
            value = _UNKNOWN if self.memory is None else await self.memory.status.get(steps[0])
        for step in steps[1:]:
            value = value[int(step)] if isinstance(value, (list, tuple)) else value[step]
        return "" if value is None else value
