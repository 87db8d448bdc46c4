"""The loops over days of points, as plain Python that numba compiles (see :mod:`.kernel_loading`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from pytest_agentbench.metrics.trajectory_days import Floats, Ints

Cells = NDArray[np.int32]


def taken_sums(
    gen: Cells,
    ref: Cells,
    gen_at: Ints,
    ref_at: Ints,
    proximity: Floats,
    orders: int,
    first: int,
    last: int,
    sums: Floats,
) -> None:
    """Write the sum of greedily taken n-gram proximities, per day (row) and order (column).

    ``proximity[k]`` belongs to the squared distance k, must lie in [0, 1] and fall with k.
    """
    tall = wide = 0
    for day in range(first, last):
        tall = max(tall, gen_at[day + 1] - gen_at[day])
        wide = max(wide, ref_at[day + 1] - ref_at[day])
    near = np.empty((tall, wide), np.float64)
    product = np.empty((tall, wide), np.float64)
    # Non-negative doubles sort like their bit patterns, and only integer maxima vectorise.
    bits = product.view(np.int64)
    place = np.empty(tall, np.int64)
    same = np.empty(tall, np.uint64)
    alike = np.empty(tall, np.uint64)
    rest = np.empty(tall, np.int64)
    at = np.empty(tall, np.int64)
    free = np.empty(wide, np.int64)
    bound = np.empty(tall, np.int64)
    owner = np.empty(tall, np.int64)
    none = np.uint64(0)
    one = np.uint64(1)
    for day in range(first, last):
        g = gen_at[day]
        r = ref_at[day]
        n = gen_at[day + 1] - g
        m = ref_at[day + 1] - r
        # Equal n-grams are found as bits, one a reference point, where these fit in a word and
        # nothing but an equal cell has proximity 1; elsewhere the search below finds them too.
        by_bits = m <= 64 and proximity[1] < 1.0
        for i in range(n):
            x = gen[g + i, 0]
            y = gen[g + i, 1]
            k = 0
            while gen[g + k, 0] != x or gen[g + k, 1] != y:
                k += 1
            place[i] = k
            if k == i:  # the first point here: people return to few places
                equal = none
                for j in range(m):
                    dx = ref[r + j, 0] - x
                    dy = ref[r + j, 1] - y
                    square = np.uint32(dx * dx + dy * dy)
                    near[i, j] = proximity[square]
                    equal |= (one if square == 0 else none) << np.uint64(j)
                same[i] = equal if by_bits else none
            alike[i] = same[k]
        for order in range(min(orders, n, m)):
            rows = n - order
            cols = m - order
            for i in range(rows):
                k = place[i + order]
                if order == 0:
                    for j in range(cols):
                        product[i, j] = near[k, j]
                else:
                    later = near[k, order:]
                    for j in range(cols):
                        product[i, j] *= later[j]
                    alike[i] &= same[k] >> np.uint64(min(order, 63))
            # Nothing beats proximity 1, so equal n-grams pair off first-fit, and the rest waits.
            still_open = ~none >> np.uint64(max(0, 64 - cols))
            waiting = 0
            for i in range(rows):
                equal = alike[i] & still_open
                if equal != none:
                    still_open &= ~equal | (equal - one)  # without the lowest bit of equal
                else:
                    rest[waiting] = i
                    waiting += 1
            total = float(rows - waiting)
            left = min(rows, cols) - (rows - waiting)
            if left == 0:
                sums[day, order] = total
                continue
            for j in range(cols):
                free[j] = -np.int64((still_open >> np.uint64(j)) & one) if by_bits else np.int64(-1)
            # Rows wait ordered by their best open pair (ties: lower row), which is sought anew when
            # the row is reached and its column is taken. Searching every column is faster than
            # stopping at the right one: it has no branch to guess.
            for w in range(waiting):
                i = rest[w]
                best = np.int64(0)
                for j in range(cols):
                    seen = bits[i, j] & free[j]
                    best = seen if seen > best else best
                column = np.int64(cols)
                for j in range(cols):
                    here = np.int64(j) if (bits[i, j] & free[j]) == best else np.int64(cols)
                    column = here if here < column else column
                at[i] = column
                slot = w
                while slot > 0 and bound[slot - 1] < best:
                    bound[slot] = bound[slot - 1]
                    owner[slot] = owner[slot - 1]
                    slot -= 1
                bound[slot] = best
                owner[slot] = i
            head = 0
            # A zero bound means every pair still open adds zero: the sum is final.
            while left > 0 and bound[head] != 0:
                i = owner[head]
                column = at[i]
                if free[column] != 0:
                    value = product[i, column]
                    if total + value == total:  # nor does what follows, which is smaller
                        break
                    total += value
                    free[column] = 0
                    left -= 1
                    head += 1
                else:
                    best = np.int64(0)
                    for j in range(cols):
                        seen = bits[i, j] & free[j]
                        best = seen if seen > best else best
                    column = np.int64(cols)
                    for j in range(cols):
                        here = np.int64(j) if (bits[i, j] & free[j]) == best else np.int64(cols)
                        column = here if here < column else column
                    at[i] = column
                    slot = head
                    while slot + 1 < waiting and (
                        bound[slot + 1] > best or (bound[slot + 1] == best and owner[slot + 1] < i)
                    ):
                        bound[slot] = bound[slot + 1]
                        owner[slot] = owner[slot + 1]
                        slot += 1
                    bound[slot] = best
                    owner[slot] = i
            sums[day, order] = total


def warp_cost(gen: Cells, ref: Cells, distance: Floats, edge: float) -> float:
    """Return a day's dynamic time warping cost; NaN for points that are not (x, y) in the table.

    ``distance[k]`` belongs to the squared distance k. ``edge`` is what it costs to start later in the
    reference: nothing, or infinity where that is not allowed.
    """
    n = len(gen)
    m = len(ref)
    if n == 0 or m == 0 or gen.shape[1] != 2 or ref.shape[1] != 2:
        return np.nan
    least = most = gen[0, 0]
    for i in range(n):
        least = min(least, gen[i, 0], gen[i, 1])
        most = max(most, gen[i, 0], gen[i, 1])
    for j in range(m):
        least = min(least, ref[j, 0], ref[j, 1])
        most = max(most, ref[j, 0], ref[j, 1])
    # Bounded first, so that the square cannot overflow.
    if least < -(2**30) or most > 2**30 or 2 * (int(most) - int(least)) ** 2 >= len(distance):
        return np.nan
    row = np.empty(m + 1, np.float64)
    row[0] = 0.0
    row[1:] = edge
    # Two rows a sweep: each is a chain of dependent additions, two chains overlap. The second row
    # of an odd last sweep repeats the first and is dropped.
    for i in range(0, n, 2):
        second = min(i + 1, n - 1)
        x = gen[i, 0]
        y = gen[i, 1]
        x2 = gen[second, 0]
        y2 = gen[second, 1]
        a = np.inf
        b = np.inf
        corner = row[0]
        row[0] = np.inf
        for j in range(m):
            above = row[j + 1]
            low = above if above < corner else corner
            corner = above
            dx = ref[j, 0] - x
            dy = ref[j, 1] - y
            before = a
            a = (low if low < a else a) + distance[np.uint32(dx * dx + dy * dy)]
            low = a if a < before else before
            dx = ref[j, 0] - x2
            dy = ref[j, 1] - y2
            b = (low if low < b else b) + distance[np.uint32(dx * dx + dy * dy)]
            row[j + 1] = b
        if second == i:
            row[m] = a
    return row[m]  # type: ignore[no-any-return]  # an element of an array


def warp_costs(
    gen: Cells,
    ref: Cells,
    gen_at: Ints,
    ref_at: Ints,
    distance: Floats,
    edge: float,
    first: int,
    last: int,
    costs: Floats,
) -> None:
    """Write :func:`warp_cost` of each day."""
    for day in range(first, last):
        generated = gen[gen_at[day] : gen_at[day + 1]]
        reference = ref[ref_at[day] : ref_at[day + 1]]
        costs[day] = warp_cost(generated, reference, distance, edge)


def over_days(run: Callable[[int, int], None], days: int, threads: int) -> None:
    """Call ``run(first, last)`` over all days, in pieces on ``threads`` threads."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    # A piece allocates its own scratch rows: below some hundred days a thread costs more than it
    # saves; several pieces a thread even out days of different lengths.
    pieces = min(threads * 4, days // 200)
    if threads == 1 or pieces < 2:
        run(0, days)
        return
    cuts = [days * piece // pieces for piece in range(pieces + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(run, cuts[p], cuts[p + 1]) for p in range(pieces)]:
            done.result()
