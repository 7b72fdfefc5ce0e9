"""The documentation site: `make docs` builds it, and every warning ends the build."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

from contents import contents, root_pages  # noqa: F401  they are settings of the site, read from here

project = "supersample"
release = version = metadata.version("supersample")
extensions = ["myst_nb", "docstrings", "mathml", "notebooks", "pages"]
exclude_patterns = ["_sphinx"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # `make gallery` runs the notebooks, and _sphinx/notebooks.py takes their outputs

autodoc_typehints = "none"  # signatures come from the source, by _sphinx/docstrings.py
autodoc_member_order = "bysource"
nitpick_ignore_regex = [
    ("py:.*", r"(np|npt|pa|os|abc|collections|numpy|sklearn)\..*"),
    ("py:.*", "GreedyBound"),  # its fields are in the docstring of the method that returns it
    ("py:.*", r"Any|Callable|Iterator|Literal|Mapping|Self|Sequence|Path|BaseEstimator|ABC|PairChange|type|timedelta|[CKM]"),
]

html_theme = "furo"
html_title = "supersample"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0a6a94", "color-brand-content": "#0a6a94"},
    "dark_css_variables": {"color-brand-primary": "#58bbe6", "color-brand-content": "#58bbe6"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
