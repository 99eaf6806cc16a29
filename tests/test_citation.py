"""``CITATION.cff`` is valid (Citation File Format 1.2.0), and states this version."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]
TEXT = {"type": "string", "minLength": 1}
SCHEMA = {
    "type": "object",
    "required": ["authors", "cff-version", "message", "title"],
    "additionalProperties": False,
    "properties": {
        "abstract": TEXT,
        "authors": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": TEXT},
            },
        },
        "cff-version": {"const": "1.2.0"},
        "keywords": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": TEXT,
        },
        "license": {"const": PROJECT["license"]},
        "message": TEXT,
        "title": TEXT,
        "type": {"enum": ["dataset", "software"]},
        "version": TEXT,
    },
}
"""What version 1.2.0 of the format requires of the keys that the file has."""


def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    return found


def test_it_is_valid() -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(citation())
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_it_states_this_project() -> None:
    stated = citation()
    assert stated["version"] == PROJECT["version"]
    assert stated["license"] == PROJECT["license"]
    assert stated["keywords"] == PROJECT["keywords"]
    assert " ".join(stated["abstract"].split()) == f"{PROJECT['description']}."
