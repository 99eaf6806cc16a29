"""Outcomes of recent rebalances, so that equal ones are evaluated once per process."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from pipeline.judging.canonical import Names, canonical_form, renamed
from pipeline.judging.outcomes import Outcome, Question, outcome_of
from pipeline.judging.templates import Template
from rebalance import rebalance_of

MOST_BYTES: Final = 128 << 20
"""Estimated bytes of keys and templates that a process keeps."""


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
        template = None if form is None else _template(plain, question, form.names)
        if form is None or template is None:
            document = rebalance_of(plain, max_partitions=question.max_partitions)
            return outcome_of(document, question)
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


def _template(
    plain: dict[str, Any], question: Question, names: Names
) -> Template | None:
    """Evaluate under canonical names; None if any part of that fails.

    The caller then evaluates under the rebalance's own names, which the errors name.
    """
    try:
        outcome = outcome_of(*renamed(plain, question, names))
        return None if outcome.failures else Template(outcome, names)
    except Exception:  # noqa: BLE001  # raised again under the rebalance's own names
        return None
