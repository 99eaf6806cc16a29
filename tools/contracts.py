"""Three import contracts that import-linter lacks; see pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class _Strays(Contract):
    """A contract that single imports can violate."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Check the contract, and record the violations for the report."""
        strays = sorted(set(self.strays(graph)))
        return ContractCheck(kept=not strays, metadata={"strays": strays})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the violating imports."""
        for importer, imported in check.metadata["strays"]:
            output.print_error(f"{importer} imports {imported}", bold=False)

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield each violating import, importer first."""
        raise NotImplementedError


class StandardLibraryOnly(_Strays):
    """The package imports only the standard library and itself."""

    type_name = "standard_library_only"

    package = fields.StringField()

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield the package's other imports."""
        package = cast("str", self.package)
        allowed = sys.stdlib_module_names | {package}
        for importer in (package, *graph.find_descendants(package)):
            for imported in graph.find_modules_directly_imported_by(importer):
                if imported.partition(".")[0] not in allowed:
                    yield importer, imported


class OnlyImporter(_Strays):
    """Only one package imports a library directly."""

    type_name = "only_importer"

    library = fields.StringField()
    importer = fields.StringField()

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield other packages' imports of the library."""
        library, allowed = cast("str", self.library), cast("str", self.importer)
        if library not in graph.modules:
            return
        for importer in graph.find_modules_that_directly_import(library):
            if importer.partition(".")[0] != allowed:
                yield importer, library


class ThroughInit(_Strays):
    """A package imports from another only what its ``__init__`` exports.

    Attributes
    ----------
    public_subpackages
        Packages within a package whose ``__init__`` others may import from as well.
    unchecked_importers
        Packages whose own imports are not checked.
    """

    type_name = "through_init"

    public_subpackages = fields.ListField(subfield=fields.StringField())
    unchecked_importers = fields.ListField(
        subfield=fields.StringField(), required=False, default=[]
    )

    def strays(self, graph: ImportGraph) -> Iterator[tuple[str, str]]:
        """Yield the imports of another package's inner modules."""
        roots = {name for name in graph.modules if "." not in name}
        public = roots | set(cast("list[str]", self.public_subpackages))
        unchecked = set(cast("list[str]", self.unchecked_importers))
        for importer in graph.modules:
            package = importer.partition(".")[0]
            if graph.is_module_squashed(importer) or package in unchecked:
                continue
            for imported in graph.find_modules_directly_imported_by(importer):
                is_own = imported.partition(".")[0] == package
                if not is_own and imported not in public:
                    yield importer, imported
