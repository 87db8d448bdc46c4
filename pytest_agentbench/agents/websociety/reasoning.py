"""Reasoning modules: each answers a task in its own way, ``(task_description, feedback="") -> text``."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

_TEMPERATURE = 0.1


class ReasoningBase:
    """A reasoning module; what it does is up to the class that derives from it."""

    def __init__(self, profile_type_prompt: Any, memory: Any, llm: Any) -> None:
        self.profile_type_prompt = profile_type_prompt
        self.memory = memory
        self.llm = llm

    def process_task_description(self, task_description: Any) -> tuple[str, Any]:
        """Examples, of which there are none, and the task."""
        return "", task_description

    def _asked(self, text: str, system: str = "", n: int = 1) -> Any:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": text})
        return self.llm(messages=messages, temperature=_TEMPERATURE, **({"n": n} if n > 1 else {}))

    def _prompt(self, advice: str, task_description: Any, feedback: Any) -> str:
        examples, task = self.process_task_description(task_description)
        parts = [advice, examples, str(self.profile_type_prompt or ""), str(task)]
        parts.append(f"What was said of the last answer: {feedback}" if feedback else "")
        return "\n".join(part for part in parts if part)


class ReasoningIO(ReasoningBase):
    """Asks once."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        prompt = self._prompt("Do this task.", task_description, feedback)
        return str(self._asked(prompt))


class ReasoningCOT(ReasoningBase):
    """Asks once, to think step by step."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        advice = "Do this task. Think step by step before you answer."
        return str(self._asked(self._prompt(advice, task_description, feedback)))


class ReasoningCOTSC(ReasoningBase):
    """Asks for five answers and takes the one that comes most often."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        advice = "Do this task. Think step by step before you answer."
        texts = _listed(self._asked(self._prompt(advice, task_description, feedback), n=5))
        return Counter(texts).most_common(1)[0][0]


class ReasoningTOT(ReasoningBase):
    """Asks for three answers and lets the model choose."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        advice = "Do this task. Look at it from several sides before you answer."
        texts = _listed(self._asked(self._prompt(advice, task_description, feedback), n=3))
        return self.get_votes(task_description, texts, "")

    def get_votes(self, task_description: Any, reasoning_results: list[str], examples: Any) -> str:
        """The answer that the model finds best; the first where it names none."""
        shown = "\n\n".join(f"Answer {n}:\n{text}" for n, text in enumerate(reasoning_results, 1))
        reply = self._asked(
            f"Which answer does this task best? End with its number alone.\n{examples}\n"
            f"The task: {task_description}\n\n{shown}"
        )
        numbers = [int(text) for text in re.findall(r"\d+", str(reply))]
        chosen = next((n for n in reversed(numbers) if 1 <= n <= len(reasoning_results)), 1)
        return reasoning_results[chosen - 1]


class ReasoningDILU(ReasoningBase):
    """Asks once, with a system text that sets the role."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        system = (
            "You act in the place of a person. Weigh what is known of them and of the situation, learn from "
            "the examples if there are some, and give your decision at the end."
        )
        return str(self._asked(self._prompt("", task_description, feedback), system))


class ReasoningSelfRefine(ReasoningBase):
    """Asks, and then asks once to improve the answer."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        prompt = self._prompt(
            "Do this task. Think step by step before you answer.", task_description, feedback
        )
        return self.refine(str(self._asked(prompt)))

    def refine(self, reasoning_result: str) -> str:
        """The improved answer."""
        return str(
            self._asked(
                "Look for mistakes in this answer and write it again without them, in the same form. "
                f"If there are none, repeat it unchanged.\n{reasoning_result}"
            )
        )


class ReasoningStepBack(ReasoningBase):
    """Asks for the principle behind the task first."""

    def __call__(self, task_description: Any, feedback: Any = "") -> str:
        principle = self.stepback(task_description)
        advice = f"Do this task. Keep this in mind: {principle}"
        return str(self._asked(self._prompt(advice, task_description, feedback)))

    def stepback(self, task_description: Any) -> str:
        """The general principle that the task is a case of."""
        return str(
            self._asked(
                f"Which general principle helps with this task? Name it.\n{task_description}"
            )
        )


def _listed(replies: Any) -> list[str]:
    return [str(text) for text in replies] if isinstance(replies, list) else [str(replies)]
