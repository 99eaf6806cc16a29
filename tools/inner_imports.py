"""List the imports by which tests reach into inner modules, past the public names.

A name is public if the ``__init__`` of a package or of a subpackage lists it in
``__all__``; a subpackage itself is public, and so are the names of `DOCUMENTED`. A test
may import anything else only if its docstring states the purpose, in a sentence that
starts with `SAYS_SO`: to compare an inner module with its slow reference, mostly.
Folders of `REASONS` share one reason.

``python -m tools.inner_imports`` prints each inner import, then their number, and ends
with exit code 1 if a file has no such sentence and no reason.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = frozenset(
    ("solver", "verify", "rebalance", "heuristics", "conformance", "pipeline", "oracle")
)
DOCUMENTED = frozenset(
    ("oracle.plugins.aiokafka", "oracle.plugins.kafka_python", "oracle.pytest_plugin")
)
"""Modules that users import (docs/plugins.md, docs/pytest.md)."""
SAYS_SO = "Reaches into"
REASONS: Mapping[str, str] = {
    "tests/benchmarks/": "the first round of an assignor is no public name",
    "tests/oracle/cli/": "replaces what would take long or fail on purpose",
    "tests/conformance/": "stand-ins for Java, the network, and a mirror of jars",
    "tests/docs/": "what the pages list: kinds, functions of the judge, the command",
    "tests/pipeline/": "stages of the audit, each without Spark or a cluster",
    "tests/oracle/plugins/": "one module per client, named by its entry point",
    "tests/proofs/": "instances as the audit states them, without Spark",
    "tests/rebalance/test_reading.py": "a file that changes while it is read",
    "tests/oracle/report/": "the rules by which the page counts, one by one",
    "tests/studies/": "members and commands of the studies, without a broker",
    "tests/solver/cpsat/test_endings.py": "limits, and faults of CP-SAT on purpose",
    "tests/solver/cpsat/test_exact.py": "the largest numbers CP-SAT is trusted with",
    "tests/solver/flow_policies/test_limits.py": "limits, and processes that end",
    "tests/solver/milp/test_distrust.py": "faults of HiGHS on purpose",
    "tests/solver/milp/test_limits.py": "limits of all sorts",
    "tests/solver/test_solving.py": "engines that miscount on purpose",
    "tests/test_extras.py": "the modules of each extra, which it blocks",
    "tests/oracle/test_other_user.py": "the list of all subcommands",
    "tests/tools/test_clients.py": "declarations of clients, which set-up builds",
}
"""Files and folders whose tests compare no kernel with a reference, and why not."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class InnerImport:
    """An import of names that their package does not make public."""

    file: str
    line: int
    module: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.module}: {', '.join(self.names)}"


@cache
def public_names(module: str, root: Path = ROOT) -> frozenset[str] | None:
    """Return the public names of a package: its list and its subpackages.

    None stands for a module that is not a package.
    """
    folder = root / Path(*module.split("."))
    init = folder / "__init__.py"
    if not init.exists():
        return None
    listed = {path.parent.name for path in folder.glob("*/__init__.py")}
    for node in ast.parse(init.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed |= set(ast.literal_eval(node.value))
    return frozenset(listed)


def _imported(node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the modules that a statement imports, and the names it takes from each."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module, tuple(name.name for name in node.names)
    elif isinstance(node, ast.Import):
        yield from ((name.name, ()) for name in node.names)
    elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
        yield from ((ast.literal_eval(argument), ()) for argument in node.args[:1])


def imports(root: Path = ROOT) -> Iterator[tuple[InnerImport, bool]]:
    """Yield every import of our packages in tests, and whether it is an inner one."""
    for path in sorted((root / "tests").rglob("*.py")):
        file = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for module, names in _imported(node):
                if module.partition(".")[0] in PACKAGES:
                    public = public_names(module, root)
                    if module in DOCUMENTED:
                        public = frozenset(names)
                    inner = tuple(n for n in names if n not in (public or ()))
                    line = getattr(node, "lineno", 0)
                    yield (
                        InnerImport(file=file, line=line, module=module, names=inner),
                        public is None or bool(inner),
                    )


def unexplained(found: list[InnerImport], root: Path = ROOT) -> list[str]:
    """Return the files with inner imports that neither say why nor have a reason."""
    return sorted(
        file
        for file in {imported.file for imported in found}
        if not file.startswith(tuple(REASONS))
        and SAYS_SO not in (ast.get_docstring(_tree(root / file)) or "")
    )


def unused_reasons(found: list[InnerImport]) -> list[str]:
    """Return the entries of `REASONS` that no inner import needs."""
    files = {imported.file for imported in found}
    return [name for name in REASONS if not any(f.startswith(name) for f in files)]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def main() -> int:
    """Print the inner imports, and the files that do not say why."""
    every = list(imports())
    found = sorted(imported for imported, is_inner in every if is_inner)
    silent = unexplained(found)
    print(*found, sep="\n")
    print(f"{len(found)} of {len(every)} imports in tests are of inner modules")
    for file in silent:
        print(f"{file}: say in the docstring what for (“{SAYS_SO} …”)")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
