"""Formulas as pure functions on numbers, one idea a file, and the bootstrap.

Nothing here reads data or knows a benchmark.
"""
