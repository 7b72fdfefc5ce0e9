"""The documentation site: `make docs` builds it, and every warning ends the build."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

project = "supersample"
release = version = metadata.version("supersample")
extensions = ["myst_parser", "docstrings", "mathml", "pages"]
exclude_patterns = ["_sphinx"]

#: The order of the pages, below the page that they belong to.
contents = {
    "index": {
        "Your question": [
            "Summarise <guides/summarise>",
            "Compare <guides/compare>",
            "Thin <guides/thin>",
            "Integrate <guides/integrate>",
            "Distil <guides/distil>",
            "Dask and Spark <guides/cluster>",
            "The report <guides/report>",
        ],
        "Choosing": ["Which method? <which-method>", "limits", "reliability", "Benchmarks <project/benchmarks>"],
        "How it works": [
            "Embeddings and MMD <concepts/embedding>",
            "The stream <concepts/stream>",
            "Herding and quadrature <concepts/quadrature>",
            "Criticisms <concepts/criticisms>",
            "Tests and their nulls <concepts/tests>",
            "papers/index",
        ],
        "Reference": [
            "reference/summaries",
            "reference/selection",
            "reference/discrepancy",
            "reference/kernels",
            "reference/features",
            "reference/measures",
            "reference/errors",
            "reference/types",
            "reference/command-line",
        ],
        "The project": ["project/contributing", "decisions/index", "project/changelog"],
    },
    "guides/thin": {"More": ["Draws of a Markov chain <thin-mcmc>"]},
    "papers/index": {"The papers": ["reservoir", "herding", "geometric", "criticisms", "fastmmd"]},
    "decisions/index": {"Decisions": sorted(path.stem for path in Path(__file__).parent.glob("decisions/0*.md"))},
}
#: Pages of the site that show a file at the root of the repository, where the code host shows it too.
root_pages = {
    "index": "README.md",
    "project/benchmarks": "BENCHMARKS.md",
    "project/changelog": "CHANGELOG.md",
    "project/contributing": "CONTRIBUTING.md",
}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # signatures come from the source, by _sphinx/docstrings.py
autodoc_member_order = "bysource"
nitpick_ignore_regex = [
    ("py:.*", r"(np|npt|pa|os|abc|collections|numpy|sklearn)\..*"),
    ("py:.*", r"Any|Callable|Iterator|Literal|Mapping|Self|Sequence|Path|BaseEstimator|ABC"),
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
