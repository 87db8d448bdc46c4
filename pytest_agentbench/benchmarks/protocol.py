"""What a benchmark is: the one small protocol that every benchmark, built in or not, follows.

Data flows one way: ``load`` gives a :class:`Dataset`; each of its samples gives the agent a context;
``check`` accepts or refuses the agent's answer; ``score_sample`` measures one accepted answer (in the
worker); ``score_run`` measures all of them together (once, on the controller).
"""

from __future__ import annotations

import abc
import functools
import hashlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pytest_agentbench.base import own_files, parse
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.sources import hub_cache, partitions
from pytest_agentbench.metrics.estimator import Estimator

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


# "zero": the nearer to 0 the better, on both sides; "none": it describes, and no value is better.
Better = Literal["higher", "lower", "zero", "none"]


@dataclass(frozen=True)
class Metric:
    """One row of a benchmark's metric table."""

    name: str
    better: Better
    low: float | None = None
    high: float | None = None
    unit: str = ""
    description: str = ""
    pooled: bool = False  # compares the records with each other: a group of them has no own value
    target: str = ""  # the kind of sample (``SampleKey.target``) that it is about; empty: all


def metric_named(metrics: Sequence[Metric], name: str) -> Metric:
    """The metric of a benchmark. Of one that the benchmark does not list, higher is taken as better."""
    return next((metric for metric in metrics if metric.name == name), Metric(name, "higher"))


@dataclass(frozen=True)
class Parameter:
    """A scenario key that only this benchmark has; with ``help`` also an option and an ini key."""

    name: str
    expected: str  # what the error message says a value must be
    parse: Callable[[Any], Any]  # raises ValueError or TypeError for anything else
    default: Any = None
    help: str | None = None  # for --NAME, --agentbench-NAME and agentbench_NAME
    metavar: str = "VALUE"  # stands for the value in the help
    flag: bool = False  # takes no value on the command line; true or false elsewhere
    # Names a file, a folder, a model or an address (as parse.path does): the manifest of a run, which
    # somebody else may have made, cannot give it, except these words.
    place: bool = False
    words: tuple[str, ...] = ()

    def is_place(self, value: Any) -> bool:
        """Whether this value would be opened or asked, and not only looked at."""
        if value is None or value == self.default or value in self.words:
            return False
        return self.place or self.parse is parse.path


class SampleKey(NamedTuple):
    """The name of a sample: ``uid[80012]`` has the target ``uid`` and the id ``80012``."""

    target: str
    id: str

    def __str__(self) -> str:
        return f"{self.target}[{self.id}]"


@dataclass(frozen=True)
class Sample:
    """One question. The agent is given ``context`` and never ``truth``."""

    key: SampleKey
    context: Any
    truth: Any = field(repr=False)


class Dataset(abc.ABC):
    """The samples of a benchmark. Keys are cheap; a sample is made when it is asked for."""

    keys: Sequence[SampleKey]
    digest: str  # of the data; scores are compared only where it is equal
    description: str  # one line for people; says "synthetic" where the data are
    notes: Sequence[str] = ()  # what people should know at the start: lines of the header
    samples_here: bool = True  # False where only workers read them: then no floor is computed

    def __len__(self) -> int:
        return len(self.keys)

    @functools.cached_property
    def index_of(self) -> Mapping[str, int]:
        """The index of each sample by its key as records have it, ``uid[80012]``."""
        return {str(key): index for index, key in enumerate(self.keys)}

    @abc.abstractmethod
    def sample(self, index: int) -> Sample:
        """The sample that ``keys[index]`` names."""

    def conditions(self) -> Mapping[str, str]:
        """What else must be equal for two scores to be compared: ``{"text models": "offline"}``."""
        return {}

    def cluster(self, index: int) -> str:
        """The person behind a sample, whom the bootstrap draws; by default each sample has its own."""
        return self.keys[index].id

    def groups(self, index: int) -> Mapping[str, str]:
        """What a sample belongs to, ``{"source": "yelp", "activity": "many"}``: scored by group."""
        return {}


class SampleList(Dataset):
    """A data set that fits into a list."""

    def __init__(self, samples: Iterable[Sample], description: str) -> None:
        self._samples = list(samples)
        self.keys = [sample.key for sample in self._samples]
        self.description = description
        plain = [[str(s.key), s.context, s.truth] for s in self._samples]
        self.digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def sample(self, index: int) -> Sample:
        return self._samples[index]


@dataclass(frozen=True)
class Submission:
    """Answers that exist already, by sample (``str(key)``), and the problems of the whole file."""

    answers: Mapping[str, Any]
    problems: tuple[str, ...] = ()  # such as extra users: each is listed, and the run fails
    described: str = ""  # one line: as what the file was read, where it may have several shapes


class Measured(dict[str, Mapping[str, float]]):
    """The metrics of one answer, ``{reading: {metric: value}}``, and what they were made of.

    ``basis`` is for the tables and plots of the run (``Record.basis``), which then measure nothing again.
    """

    def __init__(self, metrics: Mapping[str, Mapping[str, float]], basis: bytes = b"") -> None:
        super().__init__(metrics)
        self.basis = basis


class Accepted(NamedTuple):
    """A valid answer of a submission: in its checked form, as compact ASCII JSON, with its metrics."""

    answer: str
    metrics: Measured


# Calls a function on each of many arguments, on a cluster or here; results come in any order.
Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Scored:
    """Samples with a valid answer and their metrics, in columns: many of them travel as a few arrays."""

    samples: Sequence[str]  # str(key)
    metrics: Mapping[str, Mapping[str, Sequence[float]]]  # in the order of the samples


@dataclass(frozen=True)
class Portion:
    """Some samples and the submission's answers to them, as read by the task that scores them."""

    scored: Scored  # those that the benchmark has checked and measured all at once
    samples: Iterable[Sequence[Sample]]  # the others, in batches that are measured together
    answers: Mapping[str, Any]  # by sample, as in Submission
    wrong: Mapping[int, str]  # what does not fit; the keys give the order in which it is listed


class Partitioned(abc.ABC):
    """A submission and its data in many files, each read by the task that scores it."""

    dataset: Dataset  # without its samples; known after count()
    digest: str  # of the submission, likewise

    @abc.abstractmethod
    def count(self, each: Each, cores: int) -> None:
        """Reads every file once, to learn which samples there are and where they lie."""

    @abc.abstractmethod
    def portions(
        self, indices: Sequence[int], cores: int
    ) -> tuple[Callable[[Any], Portion], Sequence[Any]]:
        """A function that reads a portion, and its argument for each portion of these samples.

        Both travel to other hosts with pickle.
        """

    @abc.abstractmethod
    def problems(self, wrong: Mapping[int, str]) -> tuple[str, ...]:
        """The problems of the submission as a whole, with what was wrong in all portions."""


@dataclass(frozen=True)
class Simulation:
    """How a script that drives a published simulator becomes a run of the benchmark.

    ``keys``: the setting or parameter that each of the simulator's arguments gives. ``results`` makes what
    its evaluation returns of the target of the agent, ``{reading: {metric: value or None}}`` and the number
    of valid answers.
    """

    keys: Mapping[str, str]
    results: Callable[[str, Mapping[str, Mapping[str, float | None]], int], dict[str, Any]]


class Benchmark(abc.ABC):
    """One benchmark. Third parties register a subclass in the entry-point group ``agentbench.benchmarks``."""

    name: ClassVar[str]
    description: ClassVar[str]
    modes: ClassVar[tuple[str, ...]]  # the first is the default
    readings: ClassVar[tuple[str, ...]]  # the first is primary
    metrics: ClassVar[tuple[Metric, ...]]
    lists_all_metrics: ClassVar[bool] = False  # then a gate on any other one is refused at once
    headline: ClassVar[str]  # the metric of the progress line and of `agentbench runs`
    other_headlines: ClassVar[tuple[str, ...]] = ()  # the first that a run has, where it lacks it
    baselines: ClassVar[Mapping[str, Callable[..., Any]]]  # built-in agents, `--agent builtin:NAME`
    default_baseline: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reads_partitions: ClassVar[bool] = False  # whether data and submissions may lie in many files
    hub_repository: ClassVar[str | None] = None  # what `--dataset hub` and `agentbench fetch` get
    corpus_options: ClassVar[tuple[Parameter, ...]] = ()  # of `agentbench make-dataset`
    simulations: ClassVar[Mapping[str, Simulation]] = {}  # by package, for `agentbench exec`

    @property
    def headlines(self) -> tuple[str, ...]:
        """The metrics that may stand for a run, best first: reports show the first that it has."""
        return (self.headline, *self.other_headlines)

    @abc.abstractmethod
    def load(self, settings: Settings) -> Dataset:
        """The data that ``settings.dataset`` names; :class:`BenchmarkError` where it cannot be read."""

    def truth_places(self, settings: Settings) -> Sequence[Path]:
        """Files and folders with the truth, which isolated agents must not read.

        By default the file or folder that ``settings.dataset`` names, the hub's copies, or what is called
        ``demo``, ``demo.*`` and ``make_demo*`` beside the benchmark's module; the whole zip file, if it lies in one.
        """
        if isinstance(settings.dataset, Path):
            if settings.dataset.exists():
                return [settings.dataset]
            return partitions.files_of(settings.dataset)  # a pattern
        if settings.dataset == "hub" and self.hub_repository is not None:
            return list(hub_cache.copies(self.hub_repository))
        folder = self._folder()
        if (archive := own_files.archive_of(folder)) is not None:
            return [archive]
        names = ("demo", "demo.*", "make_demo*", "__pycache__/make_demo*")
        return [path for name in names for path in folder.glob(name)]

    @abc.abstractmethod
    def check(self, sample: Sample, answer: Any) -> Any:
        """The answer in its plain form (lists, numbers, strings), or :class:`InvalidAnswer`."""

    def score_sample(self, sample: Sample, answer: Any) -> Mapping[str, Mapping[str, float]]:
        """The metrics of one checked answer, ``{reading: {metric: value}}``, where it has its own."""
        return {}

    def score_samples(
        self, samples: Sequence[Sample], answers: Sequence[Any]
    ) -> Sequence[Mapping[str, Mapping[str, float]]]:
        """:meth:`score_sample` for many samples at once; override it where that is faster."""
        return [self.score_sample(s, a) for s, a in zip(samples, answers, strict=True)]

    def score_submitted(
        self, dataset: Dataset, answers: Mapping[str, Any], indices: Sequence[int]
    ) -> Sequence[Accepted | None]:
        """Submitted answers to these samples, checked and measured many at once; override it where that is faster.

        None where an answer must be looked up, checked and measured by itself: a missing or invalid one.
        """
        return [None] * len(indices)

    def read_submission(self, path: Path, dataset: Dataset, settings: Settings) -> Submission:
        """The answers in a file of the benchmark's own submission format."""
        raise BenchmarkError(
            f"{path}: {self.name} has no submission format of its own; expected the folder of a run"
        )

    def submission_text(self, records: Sequence[Record]) -> str:
        """The answers of a run as a file that :meth:`read_submission` reads."""
        raise BenchmarkError(
            f"--format submission: {self.name} has no such format for a run; --submission takes the "
            "run itself, by its folder or name"
        )

    def partitioned(self, settings: Settings) -> Partitioned:
        """The submission and the data of the settings, to be read portion by portion."""
        raise BenchmarkError(
            f"--engine: {self.name} cannot be scored on a cluster, only here (--engine local)"
        )

    @classmethod
    def fingerprint(cls) -> str:
        """A digest of what this benchmark's arithmetic gives on this machine.

        Hosts whose fingerprints differ would not compute the same bits, and do not work together.
        """
        return ""

    def validate(
        self, path: Path, parameters: Mapping[str, Any], dataset: Path | None
    ) -> Sequence[str]:
        """The problems of a file that is about to be submitted; none means it can be sent.

        ``parameters`` are the benchmark's own, and ``mode``.
        """
        raise BenchmarkError(f"{path}: {self.name} has no submission format of its own")

    def make_dataset(self, out: Path, seed: int, options: Mapping[str, Any]) -> Iterable[str]:
        """Makes a data set of the user's own data: a folder that ``load`` reads, whole or not at all.

        ``options`` has a value for each of ``corpus_options``. The lines that come are printed.
        """
        raise BenchmarkError(f"{self.name} cannot make data sets of other data")

    @abc.abstractmethod
    def score_run(self, dataset: Dataset, records: Sequence[Record]) -> Estimator:
        """Prepares these records once, and returns the function that scores them.

        The function is called as ``estimate(reading, None)`` for the values and as
        ``estimate(reading, weights)`` for the bootstrap, where row ``i`` of ``weights`` says how often
        each record was drawn in resample ``i``; :func:`pytest_agentbench.mean` serves both.
        Records without a valid answer are among ``records``: they count as the worst answer.
        """

    def describe(self, dataset: Dataset, records: Sequence[Record]) -> Mapping[str, Any]:
        """What belongs beside the scores, as plain JSON: breakdowns, ceilings, diagnostics.

        It stands in scores.json under ``details``; the lines of its key ``notes`` are printed under
        the table.
        """
        return {}

    def figures(
        self, dataset: Dataset, records: Sequence[Record], scores: Mapping[str, Any]
    ) -> Sequence[Figure]:
        """The benchmark's own plots in report.html, made of data and Vega-Lite specifications."""
        return ()

    def write_files(self, folder: Path, dataset: Dataset, records: Sequence[Record]) -> None:
        """Writes the benchmark's own files (tables, submissions) into the run's folder, if it has any."""

    def agent_template(self, ticks: bool = False) -> str:
        """The source of a small, commented, runnable agent for ``agentbench new-agent``; with ``ticks``, of one
        that lives tick by tick.

        By default a file beside the benchmark's module: ``agent_template.py.txt``, ``agent_template_ticks.py.txt``.
        """
        name = f"agent_template{'_ticks' if ticks else ''}.py.txt"
        try:
            found = pkgutil.get_data(type(self).__module__, name)
        except (OSError, ValueError):  # not there; no module that could be found again
            found = None
        if found is None and ticks:
            raise BenchmarkError(
                f"--ticks: {self.name} has no city to live in; its agents answer a context "
                f"(`agentbench new-agent {self.name}`)"
            )
        if found is None:
            path = self._folder() / name
            raise BenchmarkError(f"{self.name} has no template of an agent: {path} is not there")
        return found.decode("utf-8")

    def _folder(self) -> Path:
        return Path(sys.modules[type(self).__module__].__file__ or ".").parent
