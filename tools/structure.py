"""Measure a package tree: lines, modules, and the import graph of its direct children.

``python -m tools.structure solver verify`` prints one line per package. The nodes of
the graph are the package's subpackages and top-level modules (without ``__init__``); an
edge joins two nodes if any module of the first imports any module of the second, also
inside a function. The number of layers is that of nodes on the longest path.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a newcomer has to find their way through.

    Attributes
    ----------
    layers : int
        Nodes on the longest path of the import graph; 0 where it has a cycle.
    """

    package: str
    lines: int
    modules: int
    edges: frozenset[tuple[str, str]]
    layers: int

    def __str__(self) -> str:
        """Write it as one line of the report."""
        return (
            f"{self.package}: {self.lines} lines, {self.modules} modules, "
            f"{len(self.edges)} edges, {self.layers} layers"
        )


def structure_of(package: str, root: Path = ROOT) -> Structure:
    """Measure one package of the tree below ``root``."""
    paths = sorted((root / package).rglob("*.py"))
    edges = {
        (node, other)
        for path in paths
        if (node := _node_of(path.relative_to(root / package))) is not None
        for other in _imported_nodes(path, root / package)
        if other != node
    }
    return Structure(
        package=package,
        lines=sum(len(path.read_text("utf-8").splitlines()) for path in paths),
        modules=len(paths),
        edges=frozenset(edges),
        layers=_longest_path(edges),
    )


def _node_of(path: Path) -> str | None:
    """Return the direct child of the package that a module belongs to."""
    first = path.parts[0]
    return None if first == "__init__.py" else first.removesuffix(".py")


def _imported_nodes(path: Path, folder: Path) -> Iterator[str]:
    children = {path.name.removesuffix(".py") for path in folder.iterdir()}
    for name in _imported_names(ast.parse(path.read_text("utf-8"))):
        parts = name.split(".")
        if parts[0] == folder.name and len(parts) > 1 and parts[1] in children:
            yield parts[1]


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _longest_path(edges: set[tuple[str, str]]) -> int:
    @cache
    def below(node: str) -> int:
        if node in open_nodes:
            raise RecursionError(node)
        open_nodes.add(node)
        longest = 1 + max((below(b) for a, b in edges if a == node), default=0)
        open_nodes.discard(node)
        return longest

    open_nodes: set[str] = set()
    try:
        return max((below(node) for edge in edges for node in edge), default=1)
    except RecursionError:
        return 0


def main() -> None:
    """Print one line per package named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="+")
    for package in parser.parse_args().packages:
        print(structure_of(package))


if __name__ == "__main__":
    main()
