"""``self.toolbox`` of an asbench agent: the model, and the tools that its benchmark has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CustomTool:
    """A named tool. Agents call it, ask it for the tool, or use it as if it were the tool."""

    def __init__(self, name: str, tool: Any, description: str = "") -> None:
        self.name = name
        self.tool = tool
        self.description = description

    def get_tool(self) -> Any:
        return self.tool

    def get_info(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "type": type(self.tool).__name__,
            "callable": callable(self.tool),
        }

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.tool(*args, **options) if callable(self.tool) else self.tool

    def __getattr__(self, name: str) -> Any:
        if name == "tool":  # before __init__, when a copy is made
            raise AttributeError(name)
        return getattr(self.tool, name)


class Toolbox:
    """The model, and tools by name (``uir``)."""

    environment: Any = None
    messager = embedding = database_writer = None

    def __init__(self, llm: Any = None, tools: Mapping[str, Any] | None = None) -> None:
        self.llm = llm
        self.custom_tools: dict[str, CustomTool] = {}
        for name, tool in (tools or {}).items():
            self.set_tool(name, tool)

    def set_tool(self, name: str, tool: Any) -> None:
        """Offers a tool under a name, or takes the name away (None)."""
        self.custom_tools.pop(name, None)
        if tool is not None:
            self.custom_tools[name] = CustomTool(name, tool)

    def add_tool(self, tool: CustomTool) -> None:
        self.custom_tools[tool.name] = tool

    add_custom_tool = add_tool

    def remove_tool(self, name: str) -> bool:
        return self.custom_tools.pop(name, None) is not None

    def get_tool(self, name: str) -> CustomTool | None:
        return self.custom_tools.get(name)

    def get_tool_object(self, name: str) -> Any:
        tool = self.get_tool(name)
        return None if tool is None else tool.tool

    def list_tools(self) -> dict[str, CustomTool]:
        return dict(self.custom_tools)

    def get_tool_info(self, name: str) -> dict[str, Any] | None:
        tool = self.get_tool(name)
        return None if tool is None else tool.get_info()

    def get_all_tools_info(self) -> dict[str, dict[str, Any]]:
        return {name: tool.get_info() for name, tool in self.custom_tools.items()}

    def has_tool(self, name: str) -> bool:
        return name in self.custom_tools

    __contains__ = has_tool

    def __len__(self) -> int:
        return len(self.custom_tools)

    def __bool__(self) -> bool:
        return True  # without tools, too: `if self.toolbox` asks whether there is one

    def __getattr__(self, name: str) -> Any:
        tools = vars(self).get("custom_tools", {})
        if name in tools:
            return tools[name].tool
        known = ", ".join(tools) or "none"
        raise AttributeError(
            f"toolbox: expected a tool that this benchmark has ({known}), got {name!r}"
        )
