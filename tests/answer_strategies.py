"""Hypothesis strategies over answers: any value at all, and good answers with something wrong in them."""

from __future__ import annotations

import copy
from typing import Any

import hostile
from hypothesis import strategies as st

from pytest_agentbench.base.plain import jsonable


class Boxed:
    """An answer that Hypothesis can print: some raise when they are."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __repr__(self) -> str:
        return repr(jsonable(self.answer))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-2, 60)
    | st.floats()
    | st.text(max_size=20)
    | st.text(st.characters(categories=["Cs", "Cc", "Nd"]), max_size=5)
    | st.binary(max_size=5)
    | st.sampled_from(range(len(hostile.scalars()))).map(lambda n: hostile.scalars()[n])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def spoiled(draw: Any, good: Any) -> Any:
    """A good answer in which some places hold anything, or are missing, or are there twice."""
    answer = copy.deepcopy(good)
    for _ in range(draw(st.integers(0, 3))):
        holder, place = None, None
        value = answer
        while type(value) in (list, dict) and value and (holder is None or draw(st.booleans())):
            holder = value
            keys = list(value) if isinstance(value, dict) else range(len(value))
            place = draw(st.sampled_from(keys))
            value = holder[place]
        if holder is None:
            continue
        action = draw(st.sampled_from(["put", "put", "put", "remove", "repeat"]))
        if action == "put":
            holder[place] = draw(ANYTHING)
        elif action == "remove":
            del holder[place]
        elif isinstance(holder, list):
            holder.insert(place, holder[place])
    return answer
