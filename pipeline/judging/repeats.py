"""Outcomes of recent rebalances, so that equal ones are evaluated once per process."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any, Final

from pipeline.judging.canonical import Canonical, canonical_form, renamed
from pipeline.judging.outcome import Outcome, Question, outcome_of
from pipeline.judging.templates import Template
from rebalance import rebalance_of

MOST_BYTES: Final = 128 << 20
"""Estimated bytes of keys and templates that a process keeps."""


SAMPLE: Final = 16
"""The judge checks all answers to one of so many rebalances."""


def is_sampled(form: Canonical | None) -> bool:
    """Return whether the judge checks every answer to a rebalance.

    This depends on nothing but the canonical form, so that it is the same in every
    audit. A rebalance without canonical form is always checked.
    """
    if form is None:
        return True
    digest = blake2b(form.key, digest_size=8).digest()
    return int.from_bytes(digest, "big") % SAMPLE == 0


class Repeats:
    """Templates by canonical form; the least recently used are dropped first.

    What it contains affects time only: an outcome is the same with and without it.
    Rebalances with failures are not kept, and are evaluated under their own names.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self.bytes = 0
        self._templates: OrderedDict[bytes, Template] = OrderedDict()
        self.found = 0
        self.evaluated = 0

    def outcome_of(self, plain: dict[str, Any], question: Question) -> Outcome:
        """Return the outcome of a rebalance, evaluated now or before.

        Raises
        ------
        DocumentError, InstanceError
            If the value is no rebalance/1, or contradicts itself.
        """
        form = canonical_form(plain, question)
        if form is not None:
            template = self._templates.get(form.key)
            if template is not None:
                self._templates.move_to_end(form.key)
                self.found += 1
                return template.filled(form.names)
        self.evaluated += 1
        template = None if form is None else _template(plain, question, form)
        if form is None or template is None:
            document = rebalance_of(plain, max_partitions=question.max_partitions)
            return outcome_of(document, question, is_sampled=is_sampled(form))
        self._keep(form.key, template)
        return template.filled(form.names)

    def _keep(self, key: bytes, template: Template) -> None:
        size = len(key) + template.size
        if size > self._most_bytes:
            return
        self._templates[key] = template
        self.bytes += size
        while self.bytes > self._most_bytes:
            dropped, old = self._templates.popitem(last=False)
            self.bytes -= len(dropped) + old.size


_OF_PROCESS: Final = Repeats()


def repeats_of_process() -> Repeats:
    """Return what this process keeps: Spark gives many tasks to one Python worker.

    Spark sends a function with copies of the values that it refers to, also of those of
    its module. This one is sent as the name of a function of this module.
    """
    return _OF_PROCESS


def _template(
    plain: dict[str, Any], question: Question, form: Canonical
) -> Template | None:
    """Evaluate under canonical names; None if any part of that fails.

    The caller then evaluates under the rebalance's own names, which the errors name.
    """
    try:
        document, canonical = renamed(plain, question, form.names)
        outcome = outcome_of(document, canonical, is_sampled=is_sampled(form))
        return None if outcome.failures else Template(outcome, form.names)
    except Exception:  # noqa: BLE001  # raised again under the rebalance's own names
        return None
