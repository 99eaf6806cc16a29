"""List class names and module names that occur twice in the tree.

``python -m tools.unique_names oracle pipeline`` prints one line per name that occurs
twice in these packages together, and ends with exit code 1 if there is any. A leading
underscore is not a difference; a package counts as a module by the name of its folder,
and ``__main__`` does not count.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
SUBCOMMANDS = Path("oracle/cli")
"""Its subpackages have a module per subcommand, by the name of the subcommand, which is
that of a function in ``app.py``: options, run, and tables are found by one name."""

APART: Final = ("verify",)
"""Packages whose names are compared only within each: the judge counts and checks the
same things as the code that it judges, by code of its own."""

TIMED: Final = "a program in benchmarks/ has the name of the part that it times"
KERNELS: Final = "types of compiled kernels, each of one package's own"

EXCEPTIONS: Final[Mapping[str, str]] = {
    "class EligibleMembers": KERNELS,
    "class Member": "of rebalance/1, and of a simulated group; both are public",
    "class Names": KERNELS,
    "class State": KERNELS,
    "class Step": "of scenario/1, of a simulated group, of a program of kernels",
    "class Subscriptions": KERNELS,
    "module audit": "the subcommand, the package that it runs, and " + TIMED,
    "module clients": "tools/clients builds the programs that conformance/clients runs",
    "module corpus": "the subcommand prints the corpus that the module reads",
    "module documents": TIMED,
    "module explanation": "oracle/explanation words solver/explanation",
    "module findings": "studies/findings writes pages of conformance/findings",
    "module heuristics": TIMED,
    "module judging": TIMED,
    "module kip54": TIMED,
    "module lag": TIMED,
    "module ownership": "owners from claims, and how owners are known from a history",
    "module reading": TIMED,
    "module runs": "runs of subcommands, and differential runs; both have documents",
}
"""Names that occur more than once, and why."""


def repeated_names(
    packages: Iterable[str],
    root: Path = ROOT,
    exceptions: Mapping[str, str] = EXCEPTIONS,
) -> Iterator[str]:
    """Yield one line per name that occurs twice in packages below ``root``."""
    subcommands = set(_names(root / SUBCOMMANDS / "app.py", ast.FunctionDef))
    together = [package for package in packages if package not in APART]
    for names in [together, *([package] for package in packages if package in APART)]:
        for name, found in sorted(_places(names, root).items()):
            is_subcommand = name[0] == "module" and name[1] in subcommands
            allowed = SUBCOMMANDS.as_posix() if is_subcommand else "-"
            is_known = all(path.startswith(allowed) for path in found)
            if len(found) > 1 and not is_known and " ".join(name) not in exceptions:
                yield f"{' '.join(name)}: {', '.join(found)}"


def _places(packages: Iterable[str], root: Path) -> Mapping[tuple[str, str], list[str]]:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            shown = str(path.relative_to(root))
            if path.stem != "__main__":
                places["module", _module_name(path).lstrip("_")].append(shown)
            for name in _names(path, ast.ClassDef):
                places["class", name.lstrip("_")].append(shown)
    return places


def _module_name(path: Path) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


def _names(path: Path, kind: type[ast.ClassDef | ast.FunctionDef]) -> Iterator[str]:
    """Yield the names of all classes, or functions, of a module, if it exists."""
    text = path.read_text("utf-8") if path.exists() else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kind):
            yield node.name


def main() -> int:
    """Print the repeated names of the packages named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="+")
    found = [*repeated_names(parser.parse_args().packages)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
