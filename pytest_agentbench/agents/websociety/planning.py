"""Planning modules: each asks the model once for a plan, by a prompt of its own."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, ClassVar

_SHAPE = (
    "Write every step as one Python dictionary on its own line, with the keys 'description', "
    "'reasoning instruction' and 'tool use instruction', and texts as their values, 'None' where a step "
    "needs none. Write nothing else.\n"
)


class PlanningBase:
    """A planning module: asks the model for a plan, which it writes as Python dicts."""

    def __init__(self, llm: Any) -> None:
        self.llm = llm
        self.plan: list[Any] = []

    def create_prompt(self, task_type: Any, task_description: Any, feedback: Any, few_shot: Any) -> str:  # fmt: skip
        raise NotImplementedError(f"expected create_prompt in {type(self).__name__}")

    def __call__(
        self, task_type: Any, task_description: Any, feedback: Any = "", few_shot: Any = "few_shot"
    ) -> list[Any]:
        prompt = self.create_prompt(task_type, task_description, feedback, few_shot)
        reply = self.llm(messages=[{"role": "user", "content": prompt}], temperature=0.1)
        self.plan = [step for part in re.findall(r"\{[^{}]*\}", reply) for step in _literal(part)]
        return self.plan


def _literal(text: str) -> list[Any]:
    """The dict that a text is, as Python or as JSON; nothing where it is neither."""
    for read in (ast.literal_eval, json.loads):
        try:
            return [read(text)]
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return []


class _Prompted(PlanningBase):
    """A module that differs from the others by its advice alone."""

    advice: ClassVar[str] = ""

    def create_prompt(self, task_type: Any, task_description: Any, feedback: Any, few_shot: Any) -> str:  # fmt: skip
        example = "" if few_shot in (None, "", "few_shot") else f"An example:\n{few_shot}\n"
        earlier = f"What was said of the last plan: {feedback}\n" if feedback else ""
        return (
            f"Make a plan for a task of this kind: {task_type}.\n{self.advice}\n{_SHAPE}{example}"
            f"{earlier}The task: {task_description}\n"
        )


class PlanningIO(_Prompted):
    """The plan at once."""

    advice = "Divide it into a few steps that follow each other."


class PlanningDEPS(_Prompted):
    """Steps by their preconditions."""

    advice = (
        "Divide it into steps. Say for each which earlier step it needs, explain to yourself what may go "
        "wrong, and choose the steps that are nearest to being possible."
    )


class PlanningTD(_Prompted):
    """Steps in the order of time."""

    advice = "Divide it into steps in the order of time. No step may need what a later one finds."


class PlanningVoyager(_Prompted):
    """Small steps, each of which can be checked."""

    advice = "Divide it into the smallest steps whose success can be checked, easy ones first."


class PlanningOPENAGI(_Prompted):
    """As few steps as will do."""

    advice = "Make a to-do list with as few steps as will do, each a whole piece of work."


class PlanningHUGGINGGPT(_Prompted):
    """Steps that name what they depend on."""

    advice = "Divide it into steps, and think about which depend on the result of another one."
