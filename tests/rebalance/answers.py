"""Random assignment/1 documents with any fields, meaningful or not."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.shapes import Document
from tests.support.strategies import HOSTILE, INT64_MAX

COUNT = st.integers(0, 3) | st.integers(0, INT64_MAX)
SIGNED = st.integers(-3, 3) | st.integers(-INT64_MAX, INT64_MAX)
NAME = st.sampled_from((*HOSTILE, "", "number", "numbers"))
VALUE = SIGNED | st.lists(SIGNED, max_size=3)


def mapped(item: st.SearchStrategy[object]) -> st.SearchStrategy[Document]:
    return st.dictionaries(NAME, item, max_size=2)


def some(**fields: st.SearchStrategy[object]) -> dict[str, st.SearchStrategy[object]]:
    return fields


PAIR = st.tuples(COUNT, COUNT).map(list)
KEY = st.lists(st.integers(1, INT64_MAX), min_size=2, max_size=2)
WEIGHTS = st.fixed_dictionaries({}, optional=some(stickiness=COUNT, rack=COUNT))
CERTIFICATE = st.fixed_dictionaries(
    some(level=mapped(COUNT), price=mapped(SIGNED)),
    optional=some(threshold=mapped(KEY), weights=WEIGHTS),
)
TERM = st.fixed_dictionaries(
    some(kind=NAME, bound=SIGNED),
    optional=some(
        members=st.lists(NAME, max_size=2),
        topics=st.lists(NAME, max_size=2),
        at_least=COUNT,
        weight=mapped(COUNT),
        price=mapped(mapped(SIGNED)),
        steps=st.lists(PAIR, max_size=2),
    ),
)
TERMS = st.lists(TERM, max_size=2)
PROOF = st.one_of(
    st.just({"by": "certificate"}),
    st.fixed_dictionaries(
        some(by=st.just("terms"), terms=st.lists(TERM, min_size=1, max_size=2))
    ),
    st.fixed_dictionaries(
        some(by=st.just("search"), engine=NAME), optional=some(terms=TERMS)
    ),
)
OBJECTIVE = st.fixed_dictionaries(
    some(of=NAME, value=VALUE, bound=VALUE),
    optional=some(scale=st.integers(1, INT64_MAX), proof=PROOF),
)
FIGURES = st.fixed_dictionaries(
    {},
    optional=some(
        loads=st.lists(COUNT, max_size=2),
        kept=COUNT,
        moves=COUNT,
        withheld=COUNT,
        kip54_score=COUNT,
        kip54_balanced=st.booleans(),
        dec_min_balanced=st.booleans(),
        peak_lag=COUNT,
        lag_spread=COUNT,
        rack_mismatches=COUNT,
    ),
)
ANSWERS = st.fixed_dictionaries(
    some(
        format=st.just("assignment/1"),
        members=mapped(mapped(st.lists(COUNT, max_size=2))),
    ),
    optional=some(
        group=NAME,
        id=NAME,
        assignor=NAME,
        status=st.sampled_from(("optimal", "feasible", "infeasible", "unknown")),
        policy=NAME,
        objectives=st.lists(OBJECTIVE, max_size=2),
        reason=NAME,
        figures=FIGURES,
        certificate=CERTIFICATE,
    ),
)
"""Any assignment/1 document, as plain values."""
