"""GEO-BLEU and dynamic time warping written down as defined: slow, plain, the tests' oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = Sequence[float]


def distance(a: Point, b: Point) -> float:
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def precision(
    generated: Sequence[Point], reference: Sequence[Point], n: int, beta: float, edition: str
) -> float:
    rows, cols = len(generated) - n + 1, len(reference) - n + 1
    pairs = []
    for i in range(rows):
        for j in range(cols):
            proximity = 1.0
            for k in range(n):
                proximity *= math.exp(-beta * distance(generated[i + k], reference[j + k]))
            pairs.append((-proximity, i, j))
    pairs.sort()
    total, used_rows, used_cols = 0.0, set(), set()
    for negative, i, j in pairs:
        if i not in used_rows and j not in used_cols:
            used_rows.add(i)
            used_cols.add(j)
            total -= negative
    return total / (len(used_rows) if edition == "2023" else rows)


def geobleu(
    generated: Sequence[Point],
    reference: Sequence[Point],
    edition: str,
    max_n: int | None = None,
    beta: float = 0.5,
) -> float:
    longest = min(max_n or {"2023": 3, "2025": 5}[edition], len(generated), len(reference))
    precisions = [precision(generated, reference, n, beta, edition) for n in range(1, longest + 1)]
    if min(precisions) == 0:
        return 0.0
    mean = math.exp(sum(math.log(p) for p in precisions) / longest)
    if len(generated) > len(reference):
        return mean
    return math.exp(1 - len(reference) / len(generated)) * mean


def dtw(
    generated: Sequence[Point], reference: Sequence[Point], edition: str, scale: float = 2.0
) -> float:
    first_row = 0.0 if edition == "2023" else math.inf
    above = [0.0] + [first_row] * len(reference)
    for point in generated:
        row = [math.inf]
        for j, other in enumerate(reference):
            row.append(distance(point, other) / scale + min(above[j], above[j + 1], row[j]))
        above = row
    return above[-1]
