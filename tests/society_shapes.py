"""Agents in the shapes that participants of the AgentSociety Challenge published, written for these tests."""

from __future__ import annotations

IMPORTS = """
import json, logging, re, threading
from concurrent.futures import ThreadPoolExecutor
from websocietysimulator import Simulator
from websocietysimulator.simulator import logger
from websocietysimulator.agent import SimulationAgent, RecommendationAgent
from websocietysimulator.llm import LLMBase, InfinigenceLLM, OpenAILLM
from websocietysimulator.agent.modules.planning_modules import *
from websocietysimulator.agent.modules.reasoning_modules import *
from websocietysimulator.agent.modules.memory_modules import *
from websocietysimulator.agent.modules.tooluse_modules import ToolUseIO
from websocietysimulator.tools import CacheInteractionTool, InteractionTool
from websocietysimulator.tools.evaluation_tool import RecommendationEvaluator, SimulationEvaluator
from websocietysimulator.tasks import SimulationTask

def read(text):
    stars = next(line for line in text.split("\\n") if "stars:" in line)
    review = next(line for line in text.split("\\n") if "review:" in line)
    return {"stars": float(stars.split(":")[1]), "review": review.split(":", 1)[1].strip()}

def ask_to_rank(candidates):
    return f"RANK {candidates}"

def ranked(text):
    return eval(re.search(r"\\[.*\\]", text, re.DOTALL).group())
"""
MAIN = """
if __name__ == "__main__":
    simulator = Simulator(data_dir="data", device="auto", cache=True)
    raise RuntimeError("the block for scripts ran")
"""

# The first track's baseline: a plan, memory of reviews, one question to the model, a constant on failure.
BASELINE = f"""{IMPORTS}
class PlanningBaseline(PlanningBase):
    def __init__(self, llm):
        super().__init__(llm=llm)

    def __call__(self, task_description):
        self.plan = [
            {{"description": "user", "tool use instruction": {{task_description["user_id"]}}}},
            {{"description": "item", "tool use instruction": {{task_description["item_id"]}}}},
        ]
        return self.plan

class ReasoningBaseline(ReasoningBase):
    def __init__(self, profile_type_prompt, llm):
        super().__init__(profile_type_prompt=profile_type_prompt, memory=None, llm=llm)

    def __call__(self, task_description: str):
        messages = [{{"role": "user", "content": task_description}}]
        return self.llm(messages=messages, temperature=0.0, max_tokens=1000)

class MySimulationAgent(SimulationAgent):
    def __init__(self, llm: LLMBase):
        super().__init__(llm=llm)
        self.planning = PlanningBaseline(llm=self.llm)
        self.reasoning = ReasoningBaseline(profile_type_prompt="", llm=self.llm)
        self.memory = MemoryDILU(llm=self.llm)

    def workflow(self):
        try:
            for step in self.planning(task_description=self.task):
                if "user" in step["description"]:
                    user = str(self.interaction_tool.get_user(user_id=self.task["user_id"]))
                else:
                    item = str(self.interaction_tool.get_item(item_id=self.task["item_id"]))
            for review in self.interaction_tool.get_reviews(item_id=self.task["item_id"]):
                self.memory(f"review: {{review['text']}}")
            mine = self.interaction_tool.get_reviews(user_id=self.task["user_id"])
            similar = self.memory(mine[0]["text"] if mine else "nothing")
            return read(self.reasoning(f"{{user}} {{item}} {{similar}}"))
        except Exception as e:
            print(f"Error in workflow: {{e}}")
            return {{"stars": 3, "review": "System Error."}}
{MAIN}"""

IN_A_THREAD = f"""{IMPORTS}
class InAThread(SimulationAgent):
    def __init__(self, llm: LLMBase):
        super().__init__(llm=llm)
        self.reasoning = ReasoningIO(profile_type_prompt="", memory=None, llm=self.llm)

    def workflow(self):
        found = {{}}

        def work():
            try:
                found["result"] = read(self.reasoning("A review, please."))
            except:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(timeout=85)
        return found.get("result", {{"stars": 3, "review": "It meets basic expectations."}})
{MAIN}"""

IN_A_POOL = f"""{IMPORTS}
class InAPool(SimulationAgent):
    def workflow(self):
        prompts = ["one", "two"]
        try:
            with ThreadPoolExecutor(2) as pool:
                ask = lambda p: self.llm(messages=[{{"role": "user", "content": p}}])
                return read(list(pool.map(ask, prompts))[0])
        except BaseException:
            return {{"stars": 3, "review": "nothing"}}
"""

OWN_MODEL = f"""{IMPORTS}
llm = InfinigenceLLM(api_key="sk-their-own", model="qwen2.5-72b-instruct")

class OwnModel(SimulationAgent):
    def __init__(self, llm):
        super().__init__(llm=OpenAILLM(api_key="sk-another", model="gpt-4o"))
        self.memory = MemoryGenerative(llm=self.llm)

    def workflow(self):
        try:
            self.memory("review: it was good")
            assert "good" in self.memory.retriveMemory("was it?")
            first = self.llm(messages=[{{"role": "user", "content": "Hello"}}], model="gpt-4o")
            return read(llm(messages=[{{"role": "user", "content": first}}]))
        except Exception as e:
            return {{"stars": 3, "review": f"failed: {{e}}"}}
"""

ALL_MODULES = f"""{IMPORTS}
class AllModules(SimulationAgent):
    def workflow(self):
        for planning in (PlanningIO, PlanningDEPS, PlanningTD, PlanningVoyager, PlanningOPENAGI, PlanningHUGGINGGPT):
            plan = planning(llm=self.llm)("review", "write one", feedback="", few_shot="")
            assert plan == [{{"description": "look", "reasoning instruction": "None", "tool use instruction": "u"}}]
        for reasoning in (ReasoningIO, ReasoningCOT, ReasoningCOTSC, ReasoningTOT, ReasoningDILU, ReasoningSelfRefine, ReasoningStepBack):
            result = read(reasoning(profile_type_prompt="", memory=None, llm=self.llm)("Write."))
        for memory in (MemoryDILU, MemoryGenerative, MemoryTP, MemoryVoyager):
            kept = memory(llm=self.llm)
            assert kept("nothing yet") == ""
            kept("review: aaa was fine")
            kept("review: ooo was bad")
            assert kept.scenario_memory._collection.count() == 2
            assert kept("aaa?")
        assert ToolUseIO(self.llm)("task", "look up the user", "")
        return result
"""

VIEWS = f"""{IMPORTS}
class Views(SimulationAgent):
    prepared = False

    def workflow(self):
        tool = self.interaction_tool
        for user in tool.user_data.values():
            user.pop("friends", None)
        for review in tool.review_data.values():
            review["text"] = "Title: " + review["text"]
        pair = (self.task["user_id"], self.task["item_id"])
        shown = {{(r["user_id"], r["item_id"]) for r in tool.review_data.values()}}
        by_item = {{(r["user_id"], r["item_id"]) for r in tool.item_reviews[pair[1]]}}
        by_user = {{(r["user_id"], r["item_id"]) for r in tool.user_reviews.get(pair[0], [])}}
        own = CacheInteractionTool("data")
        assert own.get_item(pair[1]) == tool.item_data[pair[1]] == InteractionTool("x").get_item(pair[1])
        assert pair not in shown | by_item | by_user
        assert len(tool.item_data) == len(list(tool.item_data)) > 10 and "nobody" not in tool.user_data
        return {{"stars": 4.0, "review": f"{{len(shown)}} reviews"}}
"""

RECOMMENDER = f"""{IMPORTS}
def count_tokens(text):
    import tokens_of_this_agent
    return tokens_of_this_agent.count(text)

class ReasoningRec(ReasoningBase):
    def __init__(self, profile_type_prompt, llm):
        super().__init__(profile_type_prompt=profile_type_prompt, memory=None, llm=llm)

    def __call__(self, task_description):
        examples, task = self.process_task_description(task_description)
        return self.llm(messages=[{{"role": "user", "content": examples + task}}], max_tokens=1000)

class MyRecommendationAgent(RecommendationAgent):
    def __init__(self, llm: LLMBase):
        super().__init__(llm=llm)
        self.reasoning = ReasoningRec("", self.llm)

    def workflow(self):
        history = str(self.interaction_tool.get_reviews(user_id=self.task["user_id"]))
        if count_tokens(history) > 100:
            history = history[:400]
        candidates = list(self.task["candidate_list"])
        try:
            return ranked(self.reasoning(history.replace("'", "") + ask_to_rank(candidates)))
        except Exception as e:
            print("format error", e)
            return [""]
{MAIN}"""

ASYNC = f"""{IMPORTS}
import asyncio

class Async(SimulationAgent):
    async def workflow(self):
        try:
            texts = await asyncio.gather(*(self.llm.atext_request(f"p{{n}}") for n in range(3)))
            return read(texts[0])
        except Exception:
            return {{"stars": 3, "review": "nothing"}}
"""

LEAF = f"""{IMPORTS}
class BaseAgent(SimulationAgent):
    def prompt(self):
        raise NotImplementedError

    def workflow(self):
        return read(self.llm(messages=[{{"role": "user", "content": self.prompt()}}]))

class Network:
    def forward(self, x):
        return x

class Formatter:
    def __call__(self, text):
        return text

class FinalAgent(BaseAgent):
    def prompt(self):
        return Formatter()("Write.")
"""

FAILING = f"""{IMPORTS}
class Failing(SimulationAgent):
    def workflow(self):
        self.llm(messages=[{{"role": "user", "content": "RANK 'b' 'a'"}}])
        return {{"stars": 0, "review": ""}}
"""

IN_A_PACKAGE = {
    "repo/pyproject.toml": "",
    "repo/shared_prompts.py": "PROMPT = 'Write.'\n",
    "repo/solution/__init__.py": "",
    "repo/solution/reading.py": "from .deeper import NAME\nfrom ..solution import reading\n",
    "repo/solution/deeper.py": "NAME = 'x'\n",
    "repo/solution/agents/__init__.py": "",
    "repo/solution/agents/parts.py": "WORD = 'Please. '\n",
    "repo/solution/agents/agent.py": f"""{IMPORTS}
from .parts import WORD
from ..deeper import NAME
from shared_prompts import PROMPT

class Packaged(SimulationAgent):
    def workflow(self):
        from .parts import WORD as later
        import shared_prompts
        return read(self.llm(messages=[{{"role": "user", "content": later + shared_prompts.PROMPT}}]))
""",
}
