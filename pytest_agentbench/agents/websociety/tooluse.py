"""Tool use modules: the model chooses a tool and writes the call, which the agent makes."""

from __future__ import annotations

from typing import Any, ClassVar

# What ``tooluse_pool`` holds by the name of a task; there are none here, and agents may add their own.
tooluse_pool: dict[str, Any] = {}


class ToolUseBase:
    """``(task_description, tool_instruction, feedback_of_previous_tools) -> text``."""

    advice: ClassVar[str] = ""

    def __init__(self, llm: Any) -> None:
        self.llm = llm

    def format_prompt(
        self, tool_pool: Any, task_description: Any, tool_instruction: Any, feedback_of_previous_tools: Any
    ) -> str:  # fmt: skip
        """What the model is asked."""
        tools = f"The tools that you have:\n{tool_pool}\n" if tool_pool else ""
        earlier = f"What earlier tools gave: {feedback_of_previous_tools}\n"
        return (
            f"{tools}Choose the tool that this step needs, and write its call as name[argument, …]. "
            f"{self.advice}\nThe task: {task_description}\nThis step: {tool_instruction}\n"
            f"{earlier if feedback_of_previous_tools else ''}"
        )

    def __call__(
        self, task_description: Any, tool_instruction: Any, feedback_of_previous_tools: Any = ""
    ) -> str:
        pool = tooluse_pool.get(str(task_description))
        prompt = self.format_prompt(
            pool, task_description, tool_instruction, feedback_of_previous_tools
        )
        return str(self.llm(messages=[{"role": "user", "content": prompt}], temperature=0.1))


class ToolUseIO(ToolUseBase):
    """Asks once."""


class ToolUseAnyTool(ToolUseBase):
    """Names a kind of tool first."""

    advice = "Think of the kind of tool first, and then of the tool."


class ToolUseToolBench(ToolUseBase):
    """Looks for the tools that are nearest to the step."""

    advice = "Look for the tools whose description is nearest to the step."


class ToolUseToolBenchFormer(ToolUseToolBench):
    """The same, weighing several calls."""

    advice = "Look for the nearest tools, weigh several calls, and write the best one."


class ToolUseToolFormer(ToolUseBase):
    """Weighs several calls."""

    advice = "Weigh several calls, and write the best one."
