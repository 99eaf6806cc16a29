"""Mutants of a file by Cosmic Ray, except those that no test can detect."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

KILLED = "killed"
SURVIVED = "survived"

Position = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change: the ``occurrence``-th that ``operator`` can make."""

    file: Path
    line: int
    operator: str
    occurrence: int

    def code(self, source: str) -> str:
        """Return the file's text with the change."""
        changed = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        if changed is None:
            raise ValueError(f"{self.file} changed under way: {self}")
        return str(changed)

    def change(self, before: str, after: str) -> str:
        """Return the lines that differ."""
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), lineterm="", n=0
        )
        return "\n".join(f"    {line}" for line in list(lines)[3:])


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantVerdict:
    """Result of the tests on a mutant."""

    mutant: Mutant
    outcome: str
    change: str


@cache
def _operators() -> dict[str, Operator]:
    """Return the operators that need no arguments, without the one for decorators.

    Removing ``@njit`` or ``@cache`` changes speed, not results.
    """
    names = [name for name in operator_names() if not name.endswith("Decorator")]
    classes = {name: get_operator(name) for name in names}
    return {name: kind() for name, kind in classes.items() if not kind.arguments()}


def mutants_of(file: Path, source: str) -> list[list[Mutant]]:
    """Return all possible changes per place in the file."""
    nodes = list(ast_nodes(get_ast(source)))
    unseen = list(_unseen(ast.parse(source)))
    places: dict[Position, list[Mutant]] = {}
    for name, operator in _operators().items():
        starts = [start for n in nodes for start, _ in operator.mutation_positions(n)]
        for occurrence, start in enumerate(starts):
            if not any(first <= start < last for first, last in unseen):
                mutant = Mutant(
                    file=file, line=start[0], operator=name, occurrence=occurrence
                )
                places.setdefault(start, []).append(mutant)
    return [places[start] for start in sorted(places)]


def _unseen(tree: ast.Module) -> Iterator[tuple[Position, Position]]:
    """Yield undetectable changes: annotations, decorators, ``__name__`` guards."""
    for node in ast.walk(tree):
        for part in _silent_parts(node):
            last = (part.end_lineno or 0, part.end_col_offset or 0)
            yield (part.lineno, part.col_offset), last


def _silent_parts(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
        yield node.annotation
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield from node.decorator_list
        if isinstance(node, ast.FunctionDef) and node.returns:
            yield node.returns
    elif isinstance(node, ast.If) and ast.unparse(node.test).startswith("__name__ "):
        yield node.test
