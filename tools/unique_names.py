"""List class names and module names that occur twice in one package tree.

``python -m tools.unique_names oracle pipeline`` prints one line per name and ends with
exit code 1 if there is any. A leading underscore is not a difference; a package counts
as a module by the name of its folder, and ``__main__`` does not count.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUBCOMMANDS = Path("oracle/cli")
"""Its subpackages have a module per subcommand, by the name of the subcommand, which is
that of a function in ``app.py``: options, run, and tables are found by one name."""


def repeated_names(package: str, root: Path = ROOT) -> Iterator[str]:
    """Yield one line per name that occurs twice in a package tree below ``root``."""
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted((root / package).rglob("*.py")):
        shown = str(path.relative_to(root))
        if path.stem != "__main__":
            places["module", _module_name(path).lstrip("_")].append(shown)
        for name in _names(path, ast.ClassDef):
            places["class", name.lstrip("_")].append(shown)
    subcommands = set(_names(root / SUBCOMMANDS / "app.py", ast.FunctionDef))
    for (kind, name), found in sorted(places.items()):
        is_subcommand = kind == "module" and name in subcommands
        allowed = SUBCOMMANDS.as_posix() if is_subcommand else "-"
        if len(found) > 1 and not all(path.startswith(allowed) for path in found):
            yield f"{kind} {name}: {', '.join(found)}"


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
    found = [
        line for name in parser.parse_args().packages for line in repeated_names(name)
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
