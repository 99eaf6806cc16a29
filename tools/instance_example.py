"""One case as arrays, made by hand: it compiles the kernels that state instances."""

from __future__ import annotations

import numpy as np

from pipeline.judging.case_arrays import Cases, Evidence, Lists, Names, Sizes, Steps
from pipeline.judging.case_instances import instances_of_cases, member_lags, read_logs
from pipeline.judging.encoding import Questions, encode_cases
from pipeline.judging.instance_texts import QuotedNames, instance_texts
from rebalance import ABSENT, Int32, Int64, Texts


def instance_example() -> bytes:
    """State, encode, and write the instance of two members that share a topic."""
    cases, names = _cases(), Names(rank=_int32(0), is_id=np.zeros(1, np.bool_))
    instances = instances_of_cases(cases, names, _evidence(), 10)
    lags, _, _ = read_logs(cases, names, _evidence(), instances)
    no = np.zeros(1, np.bool_)
    questions = Questions(_int64(0), no, no, no)
    encode_cases(cases, names, instances, lags, questions, 10)
    member_lags(cases, names, instances, lags)
    no_names = Texts.of([])
    quoted = QuotedNames(
        heads=Texts.of([b'{"members":{']),
        members=Texts.of([b'"a":', b'"b":']),
        topics=Texts.of([b'"t"']),
        racks=no_names,
        instances=no_names,
    )
    text, _ = instance_texts(cases, names, instances, lags, questions, quoted)
    return text.tobytes()


def _cases() -> Cases:
    held = Lists(_int64(0, 1, 2), _int32(0, 0), _int64(0, 1, 2), _int32(0, 1))
    none = Lists(_int64(0), _int32(), _int64(0), _int32())
    sizes = Sizes(_int64(0, 0), _int32(), _int64())
    no, yes = np.zeros(1, np.bool_), np.ones(1, np.bool_)
    return Cases(
        member_at=_int64(0, 2),
        topic_at=_int64(0, 1, 2),
        topic=_int32(0, 0),
        owned=held,
        assigned=held,
        claimed=held,
        generation=_int64(1, 1),
        rack=_int64(ABSENT, ABSENT),
        instance=_int64(ABSENT, ABSENT),
        has_unnamed_rack=False,
        before=none,
        before_of=_int64(ABSENT, ABSENT),
        at=_int64(0),
        is_dated=yes,
        counted_at=_int64(0),
        is_counted=yes,
        is_document=no,
        commits=Lists(_int64(0, 1), _int32(0), _int64(0, 1), _int32(0)),
        offset=_int64(3),
        has_commits=yes,
        lags=Lists(_int64(0, 0), _int32(), _int64(0), _int32()),
        behind=_int64(),
        has_lags=no,
        has_least=no,
        recorded=sizes,
        undated=sizes,
        least=sizes,
    )


def _evidence() -> Evidence:
    steps = Steps(_int64(0, 0), _int64(), _int64())
    return Evidence(
        at_end=_int64(2),
        dated=steps,
        shown=steps,
        log_at=_int64(0, 2),
        log_first=_int64(0, 0),
        log_end=_int64(5, 7),
        logs_read_at=1,
        metadata_max_age=1,
        most_partitions=10,
    )


def _int64(*values: int) -> Int64:
    return np.array(values, np.int64)


def _int32(*values: int) -> Int32:
    return np.array(values, np.int32)
