"""Two import contracts that import-linter does not bring: see pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class _Strays(Contract):
    """A contract that is broken by single imports, each of them a stray."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Keep the contract if there is no stray; note each for the report."""
        strays = sorted(set(self.strays(graph)))
        return ContractCheck(kept=not strays, metadata={"strays": strays})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print who imports what."""
        for importer, imported in check.metadata["strays"]:
            output.print_error(f"{importer} imports {imported}", bold=False)

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield each import that should not be, importer first."""
        raise NotImplementedError


class StandardLibraryOnly(_Strays):
    """The package imports Python's own library and itself, nothing else."""

    type_name = "standard_library_only"

    package = fields.StringField()

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield the package's imports of anything else."""
        package = cast("str", self.package)
        allowed = sys.stdlib_module_names | {package}
        for importer in (package, *graph.find_descendants(package)):
            for imported in graph.find_modules_directly_imported_by(importer):
                if imported.partition(".")[0] not in allowed:
                    yield importer, imported


class OnlyImporter(_Strays):
    """A library is imported by one package alone, directly."""

    type_name = "only_importer"

    library = fields.StringField()
    importer = fields.StringField()

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield everybody else's imports of the library."""
        library, allowed = cast("str", self.library), cast("str", self.importer)
        if library not in graph.modules:
            return
        for importer in graph.find_modules_that_directly_import(library):
            if importer.partition(".")[0] != allowed:
                yield importer, library
