"""Build the site of the documents: pages, generated pages, and notebooks."""
