"""The protocol of a benchmark, the registry, and one folder for each built-in benchmark.

A benchmark knows its data, its answers and its scores. It knows no other benchmark and no run.
"""
