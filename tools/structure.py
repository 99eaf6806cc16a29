"""Measure the tree: lines, modules, long functions, public names, and import graphs.

``python -m tools.structure`` prints one line per top-level folder with Python modules,
and a line for all of them; ``python -m tools.structure oracle/cli`` one per named
folder. The nodes of a graph are the folder's subfolders and modules (without
``__init__``); an edge joins two nodes if any module of the first imports any module of
the second, also inside a function. The number of layers is that of nodes on the longest
path. It is a measure, not a check: no number fails a run.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONG = 40
"""Lines; CONTRIBUTING asks to split a function before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of some modules; sizes of disjoint folders add up."""

    lines: int = 0
    modules: int = 0
    long_functions: int = 0
    """Functions of more than `LONG` lines, from ``def`` on, with their docstrings."""
    public_names: int = 0
    """Entries of all lists ``__all__``."""

    def __add__(self, other: Size) -> Size:
        return Size(
            lines=self.lines + other.lines,
            modules=self.modules + other.modules,
            long_functions=self.long_functions + other.long_functions,
            public_names=self.public_names + other.public_names,
        )

    def __str__(self) -> str:
        """Write it as a part of a line of the report."""
        return (
            f"{self.lines} lines, {self.modules} modules, "
            f"{self.long_functions} functions of more than {LONG} lines, "
            f"{self.public_names} public names"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The size of a folder, and the import graph of its direct children."""

    folder: str
    size: Size
    edges: frozenset[tuple[str, str]]
    layers: int
    """Nodes on the longest path of the graph; 0 where it has a cycle."""

    def __str__(self) -> str:
        """Write it as one line of the report."""
        layers = f"{self.layers} layers" if self.layers else "a circle of imports"
        return f"{self.folder}: {self.size}, {len(self.edges)} edges, {layers}"


def structure_of(folder: str, root: Path = ROOT) -> Structure:
    """Measure one folder of the tree below ``root``, named from there."""
    paths = _modules(root / folder)
    edges = {
        (node, other)
        for path in paths
        if (node := _node_of(path.relative_to(root / folder))) is not None
        for other in _imported_nodes(path, root / folder, folder.replace("/", "."))
        if other != node
    }
    return Structure(
        folder=folder,
        size=sum(map(size_of, paths), Size()),
        edges=frozenset(edges),
        layers=_longest_path(edges),
    )


def size_of(path: Path) -> Size:
    """Measure one module."""
    text = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    return Size(
        lines=len(text.splitlines()),
        modules=1,
        long_functions=sum(_is_long(node) for node in nodes),
        public_names=sum(map(_listed_names, nodes)),
    )


def top_folders(root: Path = ROOT) -> list[str]:
    """Return the folders of a checkout that hold Python modules, without hidden ones.

    Folders that runs make (build, out) have no ``__init__.py`` and do not count.
    """
    return sorted(path.parent.name for path in root.glob("[!.]*/__init__.py"))


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _is_long(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return (node.end_lineno or node.lineno) - node.lineno >= LONG


def _listed_names(node: ast.AST) -> int:
    """Return the number of names that a statement ``__all__ = [...]`` lists."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return len(ast.literal_eval(node.value))
    return 0


def _node_of(path: Path) -> str | None:
    """Return the direct child of the folder that a module belongs to."""
    first = path.parts[0]
    return None if first == "__init__.py" else first.removesuffix(".py")


def _imported_nodes(path: Path, folder: Path, package: str) -> Iterator[str]:
    children = {path.name.removesuffix(".py") for path in folder.iterdir()}
    for name in _imported_names(ast.parse(path.read_text("utf-8"))):
        child = name.removeprefix(f"{package}.").partition(".")[0]
        if name.startswith(f"{package}.") and child in children:
            yield child


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
    """Print one line per folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", help="default: all with modules, summed")
    folders: list[str] = parser.parse_args().folders
    found = [structure_of(folder) for folder in folders or top_folders()]
    print(*found, sep="\n")
    if not folders:
        total = sum((structure.size for structure in found), Size())
        print(f"all: {total}")


if __name__ == "__main__":
    main()
