"""Run all assignors on one case, Java's and ours alternately; one line per assignor."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.core_instances import SEED
from benchmarks.jvm_calls import Calls, OurCalls, TimedFunction, take_turns, warm
from benchmarks.jvm_process import CallTooSlowError, JavaCalls, JavaFailedError
from benchmarks.jvm_work import (
    TimedCase,
    answering,
    refusal,
    settling,
    with_lag,
    write_document,
)
from benchmarks.peers import OURS
from conformance.clients import KafkaClients
from heuristics import ASSIGNORS
from rebalance import Instance, assignment_of, parse_assignment

Line = dict[str, Any]

COMPARED: Final = ("range", "roundrobin", "server-range")
"""Kafka's deterministic assignors, whose assignments are compared with ours."""
MOST_COMPARED: Final = 100_000  # partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Time limits in seconds."""

    call: float  # one call of Java's, of CPU
    warming: float  # of each side
    turns: float  # of both together
    rounds: int


def machine() -> Line:
    """Describe the machine and the versions."""
    packages = ("numpy", "numba")
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages),
        "date": datetime.now(UTC).date().isoformat(),
        "seed": SEED,
    }


def timed(
    case: TimedCase,
    clients: KafkaClients,
    limits: CallLimits,
    *,
    skipped: frozenset[str] = frozenset(),
) -> Iterator[Line]:
    """Time every assignor on a case: first those with a Java peer, then the others.

    Peers in ``skipped`` are not run.
    """
    instance = case.build()
    about = {
        "case": case.name,
        "about": case.about,
        "members": len(instance.members),
        "partitions": instance.n_partitions,
        "kafka": clients.line.version,
    } | machine()
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "rebalance.json"
        write_document(instance, document)
        for java, ours in OURS.items():
            if java in skipped:
                row = {"java": java, "ours": ours, "java_not_run": True}
                yield about | row | _ours(ours, instance, limits)
                continue
            peer = JavaCalls(clients, java, document, seconds=limits.call)
            yield about | _beside(java, ours, instance, peer, limits)
    alone = [name for name in ASSIGNORS if name not in OURS.values()]
    lagging = with_lag(instance)
    for name in alone:
        given = lagging if name.startswith("lag") else instance
        reason = refusal(name, given)
        row = {"java": None, "ours": name}
        if reason is not None:
            yield about | row | {"refuses": reason}
            continue
        yield about | row | _ours(name, given, limits)


def _beside(
    java: str, ours: str, instance: Instance, peer: JavaCalls, limits: CallLimits
) -> Line:
    """Time a peer and ours alternately; only ours if the peer fails or is too slow."""
    row: Line = {"java": java, "ours": ours}
    with ExitStack() as stack:
        try:
            stack.enter_context(peer)
            row |= {"vm": peer.about["java"], "collector": peer.about["machine"]}
            warmed = warm(peer, seconds=limits.warming)
            row |= {"java_first_ms": warmed.first_ms, "java_warming": warmed.calls}
            times, found = _ours_in_turn(ours, instance, limits, peer, warmed.batch)
            row |= _times("java", times) | {"java_collected_ms": times.collected_ms}
            row |= found
            row |= {"same_plan": _is_same(java, ours, instance, peer)}
        except CallTooSlowError:
            row |= {"java_over_s": limits.call}
        except JavaFailedError as error:
            row |= {"java_error": str(error)}
    if "assign_cpu_ms" not in row:
        row |= _ours(ours, instance, limits)
    return row


def _ours_in_turn(
    name: str, instance: Instance, limits: CallLimits, peer: TimedFunction, batch: int
) -> tuple[Calls, Line]:
    ours, batches = _our_runners(name, instance, limits)
    java, *found = take_turns(
        [peer, *ours], [batch, *batches], rounds=limits.rounds, seconds=limits.turns
    )
    return java, _our_line(*found)


def _ours(name: str, instance: Instance, limits: CallLimits) -> Line:
    ours, batches = _our_runners(name, instance, limits)
    found = take_turns(ours, batches, rounds=limits.rounds, seconds=limits.turns)
    return _our_line(*found)


def _our_runners(
    name: str, instance: Instance, limits: CallLimits
) -> tuple[list[TimedFunction], list[int]]:
    """Return ``assign`` alone, and together with resolving the claims."""
    assign = answering(name)
    runners: list[TimedFunction] = [
        OurCalls(lambda: assign(instance)),
        OurCalls(lambda: assign(settling(instance))),
    ]
    # Kernels are compiled: the warm-up only fills memory and caches.
    warmed = [
        warm(runner, seconds=limits.warming, calm_seconds=0.1) for runner in runners
    ]
    return runners, [warm_up.batch for warm_up in warmed]


def _our_line(assign: Calls, whole: Calls) -> Line:
    return _times("assign", assign) | _times("whole", whole)


def _times(name: str, times: Calls) -> Line:
    return {
        f"{name}_cpu_ms": times.cpu_ms,
        f"{name}_wall_ms": times.wall_ms,
        f"{name}_calls": len(times.cpu_ns),
    }


def _is_same(java: str, ours: str, instance: Instance, peer: JavaCalls) -> bool | None:
    """Return whether both assignments are equal; None: not compared."""
    if java not in COMPARED or instance.n_partitions > MOST_COMPARED:
        return None
    theirs = assignment_of(instance, parse_assignment(peer.plan()))
    given = ASSIGNORS[ours].assign(instance)
    return bool((theirs.assignee == given.assignee).all())
