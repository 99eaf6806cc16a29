"""Both judges accept the same terms of bounds on peak lag, and no others.

Reaches into `verify.policy`: regions are those of the Python judge, and each term is
drawn with bounds about the largest that it accepts.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import verify
from solver import solve
from tests.proofs.conftest import linked
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.amount import FIRST_SEED, share
from tests.support.shapes import LAG, Document
from tests.support.strategies import SMALL, TINY
from tests.verify.policy.drawn_terms import drawn, drawn_term
from verify import Case
from verify.policy.feasible_region import Region, region_of
from verify.policy.notation import PEAK_LAG, TOPIC_PEAK_LAG, Level
from verify.policy.objectives import Value, common_capacity
from verify.policy.terms import term_fails, together
from verify.policy.work import Work

pytestmark = pytest.mark.heavy

GROUPS = share(2, 10)
BALANCES = ("dec-min", "per-topic", "none")
LEVELS: dict[str, Level] = {"peak-lag": PEAK_LAG, "topic-peak-lag": TOPIC_PEAK_LAG}


class Question(NamedTuple):
    """Terms of one level, and what the Python judge says of them."""

    line: Document  # as the other judge reads it
    accepted: list[bool]
    bound: Value | None
    scale: int


@pytest.fixture(scope="module")
def program(compiled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("judge_terms.ml")
    return linked(compiled, source, tmp_path_factory.mktemp("terms"))


def answers(program: Path, lines: Sequence[Document]) -> list[Document]:
    """Return what the other judge says of each line."""
    path = program.with_name("lines")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ran = subprocess.run([str(program), str(path)], capture_output=True, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def drawn_questions(seed: int) -> Iterator[Question]:
    """Yield questions without end."""
    rng = Random(seed)  # noqa: S311
    while True:
        yield drawn_question(rng)


def drawn_question(rng: Random) -> Question:
    """Return terms for a group and a balance, with bounds that hold or nearly do."""
    document = drawn(rng, rng.choice((TINY, SMALL)))
    if rng.randrange(2):
        for member in document["members"].values():
            member["capacity"] = rng.randint(1, 4)
    case, of = verify.case_of(document), rng.choice(sorted(LEVELS))
    region = drawn_region(rng, document, case)
    topics = sorted(document["topics"])
    terms: list[Document] = []
    for _ in range(rng.randint(1, 6)):
        term = drawn_term(rng, document)
        if of == "topic-peak-lag" and topics and rng.randrange(10):
            term["topics"] = [rng.choice(topics)]
        if rng.randrange(10) == 0:
            term["kind"] = rng.choice(("zero", "unknown"))
        largest = largest_bound(case, region, LEVELS[of], term)
        bounds = (largest, largest, largest + 1, largest + rng.randint(-9, 9))
        terms.append(term | {"bound": rng.choice(bounds)})
    return question(document, region, of, terms)


def drawn_region(rng: Random, document: Document, case: Case) -> Region:
    columns = instance(document)
    proof = solve(columns).require_certificate().to_document(columns)
    certificate: Any = proof.model_dump(exclude_none=True)
    return region_of(case, rng.choice(BALANCES), certificate)


def largest_bound(case: Case, region: Region, level: Level, term: Document) -> int:
    """Return the largest bound that the Python judge accepts, or -1 for none."""

    def holds(bound: int) -> bool:
        bounded = term | {"bound": bound}
        return term_fails(case, region, level, bounded, Work()) is None

    if not holds(0):
        return -1
    low, high = 0, 1
    while holds(high) and high < 2**62:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def question(
    document: Document, region: Region, of: str, terms: Sequence[Document]
) -> Question:
    case, work = verify.case_of(document), Work()
    failures = [term_fails(case, region, LEVELS[of], term, work) for term in terms]
    accepted = [reason is None for reason in failures]
    held = [term for term, holds in zip(terms, accepted, strict=True) if holds]
    pools = [{"topics": p.topics, "limits": p.limits} for p in region.pools]
    line = {"rebalance": document, "pools": pools, "of": of, "terms": terms}
    bound = together(case, LEVELS[of], held)
    return Question(line, accepted, bound, common_capacity(case))


def test_drawn_terms(program: Path) -> None:
    seed = FIRST_SEED + 1
    questions = list(islice(drawn_questions(seed), GROUPS))
    counted: Counter[tuple[str, bool]] = Counter()
    found = answers(program, [stated.line for stated in questions])
    for place, (stated, failures) in enumerate(zip(questions, found, strict=True)):
        last_drawn.note(stated.line, f"{seed}, draw {place}")
        expected = (stated.accepted, stated.bound, stated.scale)
        assert (failures["accepted"], failures["bound"], failures["scale"]) == expected
        kinds = (term["kind"] for term in stated.line["terms"])
        counted.update(zip(kinds, stated.accepted, strict=True))
    for kind in ("average", "packing", "crowd", "topic-crowd"):
        for holds in (True, False):
            assert counted[kind, holds] > GROUPS // 20, counted


def test_work_is_limited_alike(program: Path) -> None:
    """Three terms of 75,000,000 and 15,000,000 steps, and one that is refused."""
    case = verify.case_of(LAG)
    few: Document = {"kind": "packing", "steps": [[0, 1000]], "bound": 1}
    many: Document = {"kind": "packing", "steps": [[0, 50_000_000]], "bound": 1}
    one = question(LAG, region_of(case, "none"), "peak-lag", [many, few, few])
    assert one.accepted == [False, True, True]
    (failures,) = answers(program, [one.line])
    assert (failures["accepted"], failures["bound"]) == (one.accepted, 1)
