"""The plan of a run: its data, the questions, and what answers them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_agentbench.agents import ask, load, specs
from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.find import Found
from pytest_agentbench.agents.framework_calls import takes
from pytest_agentbench.agents.known_secrets import known_to
from pytest_agentbench.agents.llm import handed
from pytest_agentbench.agents.prefetch import Prefetch
from pytest_agentbench.agents.process.sandbox import IsolationOptions
from pytest_agentbench.base.errors import BenchmarkError, told
from pytest_agentbench.base.redaction import Secrets
from pytest_agentbench.benchmarks.protocol import Sample, Submission
from pytest_agentbench.runs import hidden, run_folder, samples
from pytest_agentbench.runs.alike import FirstFailures
from pytest_agentbench.runs.evaluate import Evaluation
from pytest_agentbench.runs.submissions import Submitted, evaluate_submitted, look_up, submitted
from pytest_agentbench.settings.settings import Settings

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.cache import Cache
    from pytest_agentbench.agents.llm.client import LLM
    from pytest_agentbench.agents.llm.proxy import Proxy
    from pytest_agentbench.agents.llm.proxy_keys import Keys

_MANY_ANSWERS, _LARGE_CHUNK = 5000, 1000


class Question(NamedTuple):
    """One sample in one epoch."""

    sample: int  # its index in the data
    epoch: int


class Plan:
    """One benchmark with one agent; the same in the controller and in every worker."""

    def __init__(
        self,
        settings: Settings,
        processes: int = 1,
        scored: Submitted | None = None,
        selecting: bool = False,
        agent: Found | None = None,
        asks: bool = True,
    ) -> None:
        """``selecting``: some samples will be deselected, and --limit and --first count the others.

        ``agent``: one that exists already; ``settings.agent`` is its name. A process that asks nothing
        (``asks=False``: xdist's controller) runs no code of the agent's.
        """
        if scored is None:
            _check_baseline(settings)
        self.settings = settings
        self.benchmark = settings.benchmark
        handed.use(None)  # keys are those of the user, and not those of another run's proxy
        has_agent = settings.submission is None and scored is None
        self._keys = _keys() if settings.llm_proxy and has_agent and asks else None
        self._proxy: Proxy | None = None
        self.llm = self._model(processes) if scored is None else None
        try:
            if has_agent:
                self._start_proxy()
                self.loaded_agent = self._load_agent(agent, asks)
            self.dataset = settings.benchmark.load(settings) if scored is None else scored.dataset
            samples.check_names(self.dataset)
        except BaseException:
            self.close_proxy()
            raise
        self.draws_late = selecting and (settings.limit or settings.first) is not None
        every = range(len(self.dataset.keys))
        self.indices = tuple(every) if self.draws_late else self.drawn
        self.submission: Submission | None = None
        if scored is not None:
            self.submission, self.loaded_agent = scored.submission, scored.agent
        elif settings.submission is not None:
            self.submission, self.loaded_agent = submitted(settings, self.dataset)
        if self.loaded_agent.lives:
            self._check_lives()
        self.answered: frozenset[Question] = frozenset()  # by the run that is resumed
        self.unasked: frozenset[Question] = frozenset()  # left alone by --resume-failed-only
        # Puts what came of a question on disk at once, where its record has to wait for other questions.
        self.keep: Callable[[Question, Outcome], None] | None = None
        self._prefetch: Prefetch[Question] | None = None
        self._first = FirstFailures(settings.max_identical_errors)
        # The benchmark as --benchmark takes it, where no option has named it: in a run of a user's marked tests.
        self.marked: str | None = None

    @cached_property
    def drawn(self) -> tuple[int, ...]:
        """The samples that --limit or --first takes where nothing is deselected."""
        settings = self.settings
        return samples.drawn(len(self.dataset.keys), settings.limit, settings.seed, settings.first)

    @property
    def most(self) -> int:
        """How many samples will be asked, if none is deselected."""
        return len(self.drawn)

    def kept(self, selected: Iterable[tuple[Question, ...]]) -> set[tuple[Question, ...]]:
        """The questions of those selected items that are asked: all, unless --limit or --first counts them."""
        if not self.draws_late:
            return set(selected)
        groups = {questions: tuple(one.sample for one in questions) for questions in selected}
        settings = self.settings
        kept = samples.kept(set(groups.values()), settings.limit, settings.seed, settings.first)
        return {questions for questions, group in groups.items() if group in kept}

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The kinds of sample (``uid``; ``recommendation`` and ``review_writing``), in data order."""
        return tuple(dict.fromkeys(self.dataset.keys[index].target for index in self.indices))

    @cached_property
    def chunk(self) -> int:
        """Samples in one item: more where answers are looked up, which is far faster than an item."""
        if self.settings.chunk is not None:
            return self.settings.chunk
        many = self.submission is not None and self.most > _MANY_ANSWERS
        return _LARGE_CHUNK if many else 1

    @cached_property
    def items(self) -> dict[str, tuple[Question, ...]]:
        """The items to collect: name in the node id -> questions, several of them in a chunk."""
        keys = self.dataset.keys
        size, epochs = self.chunk, self.settings.epochs
        found = {}
        for target in self.targets:
            own = [index for index in self.indices if keys[index].target == target]
            for start in range(0, len(own), size):
                chunk = own[start : start + size]
                first, last = keys[chunk[0]].id, keys[chunk[-1]].id
                label = first if len(chunk) == 1 else f"{first}..{last}"
                for epoch in range(1, epochs + 1):
                    suffix = f"-e{epoch}" if epochs > 1 else ""
                    questions = tuple(Question(index, epoch) for index in chunk)
                    found[f"{target}[{label}{suffix}]"] = questions
        return found

    def _model(self, processes: int) -> LLM | None:
        """The model for agents that want one, if the scenario names any."""
        settings = self.settings
        if not settings.llm or settings.submission is not None:
            return None
        from pytest_agentbench.agents.llm.client import LLM

        return LLM(
            settings.llm,
            max_cost=settings.max_cost,
            max_tokens=settings.max_tokens,
            processes=processes,
            cache=self._cache(),
        )

    def _cache(self) -> Cache | None:
        from pytest_agentbench.agents.llm.cache import OFF, Cache, folder_name

        mode = self.settings.llm_cache
        if mode == OFF:
            return None
        *_, rootdir = self.settings.bases or (Path.cwd(),)
        house = self.settings.house or rootdir / run_folder.HOUSE
        cache = Cache(
            house / run_folder.LLM_CACHE / folder_name(self.benchmark.name),
            mode,
            self.secrets.cleaned_json,
            lambda: run_folder.ignore_in_git(house),
        )
        cache.check()
        return cache

    def _load_agent(self, made: Found | None, asks: bool) -> load.LoadedAgent:
        settings = self.settings
        if made is not None:
            return load.of_code(made, settings.agent, settings.agent_timeout, self.llm)
        options = None
        if settings.agent_isolation == "process":
            memory = settings.agent_memory
            options = IsolationOptions(
                memory=None if memory is None else memory << 20,
                environment=settings.agent_envs,
                readable=hidden.exceptions(settings),
                hidden=hidden.places(settings),
            )
        return load.load(
            settings.agent,
            settings.bases,
            settings.benchmark,
            settings.agent_timeout,
            options,
            self.llm,
            settings.agent_params,
            run_code=asks,
            proxy=self._proxy,
        )

    def _start_proxy(self) -> None:
        if self._keys is None or self.llm is None:
            return
        from pytest_agentbench.agents.llm.proxy import Proxy  # imports http

        _ = self.secrets  # found while the environment is the user's
        self._proxy = Proxy(self.llm, self._keys)
        self._hand_over()

    def _hand_over(self) -> None:
        """Lets clients that code in this process makes from here on ask this run's model."""
        if self._proxy is None:
            handed.use(None)
        else:
            self._proxy.hand_over()

    def _check_lives(self) -> None:
        from pytest_agentbench.agents.tick_days import check_lives  # the city, which few need

        contexts = (self.dataset.sample(index).context for index in self.indices)
        try:
            check_lives(contexts, self.loaded_agent.name)
        except BaseException:
            self.close()
            raise

    def check_reachable(self) -> None:
        """:class:`BenchmarkError` if a server that will be asked cannot be: an endpoint, or one of the model's."""
        if self.submission is not None or not self._asks_anything:
            return
        spec = self.settings.agent
        if specs.is_endpoint(spec):
            from pytest_agentbench.agents.http_agent import HttpAgent

            assert isinstance(self.agent, HttpAgent)
            self.agent.check()
        name = specs.baseline_of(spec)
        asks_model = (
            specs.asks_ours(spec, self.settings.llm_proxy)
            if name is None
            else takes(self.benchmark.baselines[name], "llm")
        )
        if self.llm is None or not asks_model or self.settings.llm_cache == "replay":
            return
        if not self.llm.is_warm():
            self.llm.check()

    @property
    def _asks_anything(self) -> bool:
        if not self.answered and not self.unasked:
            return True
        return any(self.is_asked(one) for questions in self.items.values() for one in questions)

    @cached_property
    def secrets(self) -> Secrets:
        """What no text that an agent gives may bring into records and reports."""
        settings = self.settings
        isolated = settings.agent_isolation == "process"
        passed_on = settings.agent_envs if isolated or specs.is_endpoint(settings.agent) else None
        own = () if self._keys is None else (self._keys.secret,)
        return known_to(settings.agent, settings.llm or (), settings.agent_params, passed_on, own)

    @cached_property
    def agent(self) -> load.Agent:
        """What the fixture ``agent`` gives, unless a conftest has its own."""
        return self.loaded_agent.agent

    def is_asked(self, question: Question) -> bool:
        """Whether this session asks it; one that it leaves alone has no record, and the run says so."""
        return question not in self.answered and question not in self.unasked

    def ask(self, sample: Sample, epoch: int, agent: Any = None) -> Outcome:
        """What the submission answers, or else the agent, which sees the context alone."""
        if self.submission is not None:
            return look_up(self.submission.answers, sample, epoch)
        self._hand_over()
        call = load.ready(agent, self.settings.agent_timeout, self.llm)
        asked = (str(sample.key), epoch)
        retries = self.settings.agent_retries
        return ask.ask(call, sample.context, retries, self.secrets, asked)

    def look_up(self, questions: Sequence[Question], evaluation: Evaluation) -> None:
        """Makes the records of what the submission answers to these questions, all of one epoch."""
        assert self.submission is not None
        answers = self.submission.answers
        evaluate_submitted(evaluation, self.benchmark, self.dataset, answers, questions)

    def to_resume(self, folder: object) -> str:
        """The options that go on with the run in a folder. They are none of a command that runs marked tests."""
        resume, model = f"--resume={folder}", self.settings.of_model
        if model is not None and self.settings.run_dir is None:
            resume = "--resume"  # which goes on with the last run of each model
        elif model is not None:
            resume = f"--model {model} alone and {resume}"
        return resume if self.marked is None else f"pytest --benchmark {self.marked} {resume}"

    def ask_ahead(self, questions: Iterable[Question]) -> None:
        """Starts to ask these questions in their order, ``concurrency`` at a time."""
        asked = {one: one.sample for one in questions if self.is_asked(one)}
        settings = self.settings
        self._hand_over()
        self._prefetch = Prefetch(
            self.agent, self.dataset, asked, settings.agent_retries, settings.concurrency,
            self.secrets, self._arrived,
        )  # fmt: skip

    def _arrived(self, question: Question, outcome: Outcome) -> bool:
        """Takes what came of a question that was asked ahead; whether the first ones have all failed alike."""
        if self.keep is not None:
            self.keep(question, outcome)
        failed = outcome.error is not None
        text = f"{type(outcome.error).__name__}: {told(outcome.error)}" if outcome.error else None
        self._first.add("error" if failed else "ok", str(self.dataset.keys[question.sample]), text)
        return self._first.reached

    @property
    def asks_ahead(self) -> bool:
        """Whether this process has begun to ask questions ahead of their turn."""
        return self._prefetch is not None

    def outcome(self, question: Question, sample: Sample, agent: Any) -> Outcome:
        """What came of a question that was asked ahead; any other is asked now."""
        ahead = None
        if self._prefetch is not None and agent is self.agent:
            ahead = self._prefetch.take(question)
        if ahead is not None:
            return ahead
        outcome = self.ask(sample, question.epoch, agent)
        if self.keep is not None and self.submission is None:
            self.keep(question, outcome)
        return outcome

    def stop_asking(self) -> None:
        """Asks nothing more ahead of its turn."""
        if self._prefetch is not None:
            self._prefetch.stop()

    def close(self) -> None:
        """Ends what this process started for the agent."""
        self.agent.close()
        self.close_proxy()
        if self.llm is not None:
            self.llm.close()

    def close_proxy(self) -> None:
        """Ends the proxy, and gives the environment back; also where the run never began."""
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None


def _keys() -> Keys:
    from pytest_agentbench.agents.llm.proxy_keys import Keys

    return Keys()


def _check_baseline(settings: Settings) -> None:
    """Refuses a gate that needs a run to compare with, where this session decides it and none is named."""
    for gate in settings.decided_gates:
        if gate.needs_baseline and settings.baseline is None:
            raise BenchmarkError(
                f"--gate: expected a run to compare with, because of {gate.text!r}, got none; give "
                "--baseline RUN (a folder, 'last' or a saved name)"
            )
