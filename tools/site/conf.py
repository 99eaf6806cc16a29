"""Settings of Sphinx: Markdown and notebooks by MyST-NB, theme Furo, all local."""

from importlib.metadata import version as version_of

project = "Assignor oracle"
author = "the authors of assignor-oracle"
release = version = version_of("assignor-oracle")
root_doc = "index"

extensions = ["myst_nb"]
exclude_patterns = ["docs/findings/reproducers"]
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # `...` in the output of commands
templates_path: list[str] = []

myst_heading_anchors = 6  # as GitHub's
myst_enable_extensions: list[str] = []

nb_execution_mode = "force"
nb_execution_show_tb = True  # with the warning, which is an error
nb_execution_timeout = 300  # seconds per cell
nb_merge_streams = True

html_theme = "furo"
html_title = "Assignor oracle"
html_static_path = ["theme"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # would need a server
html_last_updated_fmt = None  # equal pages have equal bytes
