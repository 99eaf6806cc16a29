"""Lines, modules and import edges are counted as documented."""

from __future__ import annotations

from pathlib import Path

from tests.tools.repositories import write
from tools.structure import LONG, Size, size_of, structure_of, top_folders


def test_a_small_tree_is_measured(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "p/__init__.py": "from p.top import x\n",
            "p/top.py": "from p.middle import inner\n\n\ndef f() -> None:\n"
            "    import p.bottom\n",
            "p/middle/__init__.py": "from p.middle.inner import y\n",
            "p/middle/inner.py": "from p import bottom\nimport json\n",
            "p/bottom.py": "x = 1\n",
        },
    )
    found = structure_of("p", tmp_path)
    assert found.edges == {("top", "middle"), ("top", "bottom"), ("middle", "bottom")}
    assert (found.size.lines, found.size.modules, found.layers) == (10, 5, 3)


def test_a_cycle_has_no_layers(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"p/__init__.py": "", "p/a.py": "import p.b\n", "p/b.py": "import p.a\n"},
    )
    assert structure_of("p", tmp_path).layers == 0


def test_children_of_a_nested_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "p/q/__init__.py": "",
            "p/q/a.py": "from p.q import b\nfrom p.a import c\n",
            "p/q/b.py": "import q.c\n",
            "p/q/c.py": "",
        },
    )
    assert structure_of("p/q", tmp_path).edges == {("a", "b")}


def test_long_functions_and_public_names(tmp_path: Path) -> None:
    body = "    x = 1\n"
    text = "__all__ = ['f', 'g', 'h']\n"
    text += f"def f():\n{body * (LONG - 1)}"
    text += f"async def g():\n{body * LONG}"
    write(tmp_path, {"m.py": text})
    found = size_of(tmp_path / "m.py")
    assert found == Size(
        lines=2 * LONG + 2, modules=1, long_functions=1, public_names=3
    )
    assert found + found == Size(
        lines=4 * LONG + 4, modules=2, long_functions=2, public_names=6
    )


def test_folders_of_a_checkout(tmp_path: Path) -> None:
    files = ("p/__init__.py", "build/m.py", ".venv/__init__.py", "docs/x.md")
    write(tmp_path, dict.fromkeys(files, ""))
    assert top_folders(tmp_path) == ["p"]
