"""Pairs of a rebalance and an answer, honest and forged, for both judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count
from random import Random

import pyarrow as pa

from benchmarks.judging import recorded
from conformance import corpus, play
from pipeline.case_table import case_at
from pipeline.judging.instance_batch import instance_of_case
from pipeline.table_bytes import from_bytes
from pipeline.topic_names import with_names
from rebalance import AssignmentDocument, Rebalance, instance_of, to_json
from solver import parse_policy, solve
from tests.solver.routes import instance
from tests.support import last_drawn
from tests.support.shapes import Document
from tests.support.strategies import SMALL, TINY, draw_any_assignment, draw_assignment
from tests.verify.policy.drawn_terms import drawn, drawn_sum_term, drawn_term
from tests.verify.test_certificate import likely_certificate

Pair = tuple[Document, Document]

ANSWERS = 8
"""Pairs with the same rebalance, one after another."""

POLICIES = (
    "dec-min; stickiness",
    "dec-min; stickiness",
    "dec-min",
    "dec-min; rack",
    "dec-min; rack, stickiness",
    "dec-min; 2*stickiness + rack",
    "dec-min; rack, stickiness; max-moves=1",
    "dec-min; load, rack, peak-lag",
    "per-topic",
    "per-topic; stickiness",
    "per-topic; stickiness, rack",
    "per-topic; rack, stickiness",
    "per-topic; stickiness + 3*rack",
    "per-topic; rack, stickiness; max-moves=1",
    "per-topic; rack, peak-lag",
    "none; stickiness, rack",
    "none; rack, stickiness",
    "none; 2*rack + stickiness, stickiness",
    "none; peak-lag, load",
    "none; load, rack, stickiness",
    "none; stickiness, load",
    "none; stickiness, load, rack",
    "none; rack, load, stickiness",
    "none; 2*rack + stickiness, stickiness, load",
    "none; stickiness, peak-lag, load",
    "kip54; rack, stickiness, load, 2*stickiness + rack",
    "dec-min; peak-lag, stickiness",
    "dec-min; stickiness, peak-lag",
    "per-topic; peak-lag",
    "per-topic; peak-lag, stickiness",
    "per-topic; topic-peak-lag",
    "per-topic; topic-peak-lag, stickiness",
    "none; peak-lag",
    "none; topic-peak-lag",
    "none; 2*topic-peak-lag, rack",
    "kip54; stickiness, rack",
    "spread=1; stickiness",
    "spread=0; lag-spread",
    "spread=2; peak-lag, lag-spread",
    "none; lag-spread, peak-lag",
    "kip54; 2*lag-spread, peak-lag",
)
"""Policies of every balance, with levels that the checker judges and others."""

WORDS = ("optimal", "feasible", "infeasible", "unknown")


def drawn_pairs(seed: int) -> Iterator[Pair]:
    """Yield pairs without end; the draws of a seed are the same on every machine."""
    for place in count(seed):
        rng = Random(place)  # noqa: S311
        document = drawn(rng, rng.choice((TINY, TINY, SMALL)), seed=place)
        columns = instance(document)
        policy = parse_policy(rng.choice(POLICIES))
        best = written(solve(columns, policy).to_document(columns))
        yield document, best
        yield document, draw_any_assignment(rng, document)
        for _ in range(ANSWERS - 2):
            yield document, forged(rng, document, best)


def note_pair(pair: Pair, seed: object = None) -> None:
    """Note both documents for a failure."""
    last_drawn.note(dict(zip(("rebalance", "answer"), pair, strict=True)), seed)


def forged(rng: Random, document: Document, best: Document) -> Document:
    """Return an answer of which some part is not the engine's."""
    answer = deepcopy(best)
    answer.pop("figures", None)
    if "members" not in best or rng.randrange(2):
        answer["members"] = draw_assignment(rng, document)["members"]
    if "certificate" in answer or rng.randrange(4) == 0:
        forge_certificate(rng, document, answer)
    if rng.randrange(4) == 0:
        answer["policy"] = rng.choice(POLICIES)
    if rng.randrange(4) == 0 and "max-moves" not in answer["policy"]:
        answer["policy"] += f"; max-moves={rng.randrange(3)}"
    if rng.randrange(8) == 0:
        del answer["policy"]
    for stated in answer.get("objectives", ()):
        if rng.randrange(3):
            forge_objective(rng, document, stated)
    if rng.randrange(20) == 0 and answer.get("objectives"):
        answer["objectives"].pop()
    if rng.randrange(8) == 0:
        answer["status"] = rng.choice(WORDS)
    return answer


def forge_certificate(rng: Random, document: Document, answer: Document) -> None:
    """Change numbers and names of a certificate, or show another one."""
    if "certificate" not in answer or rng.randrange(3) == 0:
        answer["certificate"] = likely_certificate(rng, document, answer)
    certificate = answer["certificate"]
    for name in certificate["level"]:
        if rng.randrange(8) == 0:
            level = certificate["level"][name] + rng.randint(-2, 2)
            certificate["level"][name] = max(0, level)
        if rng.randrange(8) == 0:
            certificate["price"][name] += rng.randint(-2, 2)
        if rng.randrange(30) == 0 and "threshold" in certificate:
            certificate["threshold"][name] = [rng.randint(1, 3), rng.randint(1, 3)]
    if rng.randrange(4) == 0:
        names = ("stickiness", "rack")
        certificate["weights"] = {name: rng.randrange(4) for name in names}
    for part in ("level", "price", "threshold"):
        if rng.randrange(40) == 0 and certificate.get(part):
            del certificate[part][rng.choice(sorted(certificate[part]))]


def forge_objective(rng: Random, document: Document, stated: Document) -> None:
    """Change what a level claims, or what its bound rests on."""
    value = stated["value"] if isinstance(stated["value"], int) else 0
    terms = stated.get("proof", {}).get("terms", [])
    for term in terms:
        if rng.randrange(3) == 0:
            term["bound"] += rng.randint(-1, 2)
        for prices in term.get("price", {}).values():
            for name in prices:
                prices[name] += rng.choice((0, 0, 0, -1, 1))
    choice = rng.randrange(6)
    if choice < 3:
        draw = drawn_term if "peak-lag" in stated["of"] else drawn_sum_term
        more = [drawn_bound(rng, document, draw, value) for _ in range(1 + choice)]
        kept = terms if rng.randrange(2) else []
        stated["proof"] = {"by": "terms", "terms": [*kept, *more]}
    elif choice == 3:
        proofs = ({"by": "certificate"}, {"by": "search", "engine": "cp-sat"}, None)
        proof: Document | None = rng.choice(proofs)
        stated["proof"] = proof
        if proof is None:
            del stated["proof"]
    elif choice == 4 and isinstance(stated["bound"], int):
        stated["bound"] += rng.randint(-1, 1)


def drawn_bound(
    rng: Random,
    document: Document,
    draw: Callable[[Random, Document], Document],
    value: int,
) -> Document:
    """Return a term with a bound that it may prove, now and then of another sort."""
    sort = rng.randrange(8)
    if sort == 0:
        return {"kind": "zero", "bound": rng.randint(-1, 1)}
    if sort == 1:
        draw = rng.choice((drawn_term, drawn_sum_term))
    term = draw(rng, document)
    if draw is drawn_term and rng.randrange(3) == 0 and document["topics"]:
        term["topics"] = [rng.choice(sorted(document["topics"]))]
    return term | {"bound": value + rng.choice((-2, -1, 0, 0, 0, 1))}


def kept_pairs() -> Iterator[Pair]:
    """Yield the corpus, and what was recorded: best assignments, and actual ones."""
    for scenario in corpus():
        for scene in play(scenario, best_assignment):
            if scene.assignment is not None:
                yield written(scene.rebalance), written(scene.assignment)
    rows, facts = recorded(1)
    table = pa.concat_tables(from_bytes(row["value"]) for row in rows).combine_chunks()
    for place in range(len(table)):
        case = with_names(case_at(table, place), facts.names)
        instance = instance_of_case(case, facts).document
        yield written(instance), written(best_assignment(instance))
        held = {
            name: member.assigned or {} for name, member in (case.members or {}).items()
        }
        members = {
            name: {topic: list(numbers) for topic, numbers in topics.items()}
            for name, topics in held.items()
        }
        yield written(instance), {"format": "assignment/1", "members": members}


def best_assignment(rebalance: Rebalance) -> AssignmentDocument:
    columns = instance_of(rebalance)
    return solve(columns).to_document(columns)


def written(document: Rebalance | AssignmentDocument) -> Document:
    found: Document = json.loads(to_json(document))
    return found
