"""Lines, modules and import edges are counted as documented."""

from __future__ import annotations

from pathlib import Path

from tools.structure import structure_of


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


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
    assert (found.lines, found.modules, found.layers) == (10, 5, 3)


def test_a_cycle_has_no_layers(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"p/__init__.py": "", "p/a.py": "import p.b\n", "p/b.py": "import p.a\n"},
    )
    assert structure_of("p", tmp_path).layers == 0
