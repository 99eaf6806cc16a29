"""The check that one word has one meaning within a package tree."""

from __future__ import annotations

from pathlib import Path

from tools.unique_names import repeated_names


def write(root: Path, **modules: str) -> Path:
    """Write modules; ``__`` in a name stands for a folder."""
    for name, text in modules.items():
        path = root / "package" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_repeated_class_is_found(tmp_path: Path) -> None:
    write(tmp_path, a="class Limits: ...", b__c="class Outer:\n    class Limits: ...")
    assert list(repeated_names("package", tmp_path)) == [
        "class Limits: package/a.py, package/b/c.py"
    ]


def test_a_repeated_module_is_found(tmp_path: Path) -> None:
    write(tmp_path, levels="", a__levels="", b__a="")
    (tmp_path / "package" / "a" / "__init__.py").touch()
    assert list(repeated_names("package", tmp_path)) == [
        "module a: package/a/__init__.py, package/b/a.py",
        "module levels: package/a/levels.py, package/levels.py",
    ]


def test_an_underscore_makes_no_other_name(tmp_path: Path) -> None:
    write(tmp_path, a="class _Part: ...", b="class Part: ...")
    assert list(repeated_names("package", tmp_path)) == [
        "class Part: package/a.py, package/b.py"
    ]


def test_special_modules_do_not_count(tmp_path: Path) -> None:
    for folder in ("a", "c"):
        write(tmp_path, **{f"{folder}__one_{folder}": ""})
        (tmp_path / "package" / folder / "__init__.py").touch()
        (tmp_path / "package" / folder / "__main__.py").touch()
    assert list(repeated_names("package", tmp_path)) == []


def test_modules_of_one_subcommand_have_its_name(tmp_path: Path) -> None:
    cli = tmp_path / "oracle" / "cli"
    for name in ("options/solve", "runs/solve", "runs/limits", "options/limits"):
        (cli / name).parent.mkdir(parents=True, exist_ok=True)
        (cli / f"{name}.py").touch()
    (cli / "app.py").write_text("def solve(): ...")
    assert list(repeated_names("oracle", tmp_path)) == [
        "module limits: oracle/cli/options/limits.py, oracle/cli/runs/limits.py"
    ]
    (tmp_path / "oracle" / "solve.py").touch()
    assert any("oracle/solve.py" in line for line in repeated_names("oracle", tmp_path))
