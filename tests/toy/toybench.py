"""A third party's benchmark, the smallest that uses the whole protocol: add two numbers."""

from pytest_agentbench import (
    Absent,
    Benchmark,
    BenchmarkError,
    InvalidAnswer,
    Metric,
    Parameter,
    Sample,
    SampleKey,
    SampleList,
    Submission,
    mean,
)


def right(context):
    return context["a"] + context["b"]


def wrong(context):
    return -1


def half(context):
    """Right for even a."""
    return context["a"] + context["b"] if context["a"] % 2 == 0 else -1


class Sums(SampleList):
    def conditions(self):
        return {"candidate order": f"seed {self.seed}"}

    def groups(self, index):
        return {"parity": "even" if index % 2 == 0 else "odd"}


class ToySum(Benchmark):
    name = "toysum"
    description = "add two numbers"
    modes = ("test", "inference")
    readings = ("exact", "lenient")
    lists_all_metrics = True
    metrics = (
        Metric("accuracy", "higher", 0.0, 1.0),
        Metric("distance", "lower", 0.0, None, "units"),
        Metric("style", "higher", 0.0, 1.0),
    )
    headline = "accuracy"
    baselines = {"right": right, "wrong": wrong, "half": half}
    default_baseline = "right"
    parameters = (Parameter("shift", "a whole number", int, 0),)

    def load(self, settings):
        if settings.dataset != "demo":
            raise BenchmarkError(f"{settings.dataset}: expected demo")
        shift = settings.parameters["shift"]
        dataset = Sums(
            (
                Sample(
                    SampleKey("sum" if n % 4 else "double", f"s{n}"),
                    {"a": n, "b": n + shift},
                    2 * n + shift,
                )
                for n in range(12)
            ),
            "toy data",
        )
        dataset.seed = settings.seed
        return dataset

    def check(self, sample, answer):
        if isinstance(answer, bool) or not isinstance(answer, int):
            raise InvalidAnswer("a whole number", answer)
        return answer

    def score_sample(self, sample, answer):
        off = abs(answer - sample.truth)
        return {
            "exact": {"accuracy": float(off == 0), "distance": float(off)},
            "lenient": {"accuracy": float(off <= 1), "distance": float(off)},
        }

    def read_submission(self, path, dataset, settings):
        rows = dict(line.split(",") for line in path.read_text().split())
        known = {str(key) for key in dataset.keys}
        extra = sorted(set(rows) - known)
        problems = (
            (f"{len(extra)} samples are not in the data: {', '.join(extra)}",) if extra else ()
        )
        return Submission({name: int(value) for name, value in rows.items()}, problems)

    def score_run(self, dataset, records):
        def estimate(reading, weights):
            found = [r.metrics.get(reading, {}) for r in records]
            distance = Absent("a sample has no valid answer")
            if all(found):
                distance = mean([f["distance"] for f in found], weights)
            return {
                "accuracy": mean([f.get("accuracy", 0.0) for f in found], weights),
                "distance": distance,
                "style": Absent("numbers have no style"),
            }

        return estimate

    def agent_template(self):
        return "def agent(context):\n    return context['a'] + context['b']\n"
