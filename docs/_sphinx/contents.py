"""The pages of the site: in which order they stand, and which of them show a file of the repository's root."""

from pathlib import Path

#: The order of the pages, below the page that they belong to.
contents = {
    "index": {
        "Your question": [
            "Summarise <guides/summarise>",
            "Tables as they come <guides/tables>",
            "Compare <guides/compare>",
            "When did it change? <guides/history>",
            "Watch a stream in production <guides/watch>",
            "Thin <guides/thin>",
            "Choose rows to label or train on <guides/choose>",
            "Integrate <guides/integrate>",
            "Distil <guides/distil>",
            "Dask and Spark <guides/cluster>",
            "Kafka and Spark streaming <guides/kafka>",
            "On a GPU <guides/gpu>",
            "The report <guides/report>",
            "Extend <guides/extend>",
        ],
        "Worked examples": ["Gallery <gallery/index>"],
        "Choosing": [
            "Which method? <which-method>",
            "limits",
            "reliability",
            "Benchmarks <project/benchmarks>",
            "All benchmark tables <project/benchmark-tables>",
            "Benchmark of changes <project/benchmark-changes>",
        ],
        "How it works": [
            "Embeddings and MMD <concepts/embedding>",
            "The stream <concepts/stream>",
            "Herding and quadrature <concepts/quadrature>",
            "Criticisms <concepts/criticisms>",
            "Tests and their nulls <concepts/tests>",
            "Changes along time <concepts/changes>",
            "papers/index",
        ],
        "Reference": [
            "reference/summaries",
            "reference/time",
            "reference/selection",
            "reference/discrepancy",
            "reference/kernels",
            "reference/features",
            "reference/columns",
            "reference/measures",
            "reference/errors",
            "reference/types",
            "reference/command-line",
            "reference/live",
        ],
        "The project": ["project/contributing", "decisions/index", "project/changelog"],
    },
    "guides/thin": {"More": ["Draws of a Markov chain <thin-mcmc>"]},
    "gallery/index": {"Notebooks": ["digits", "two-weeks", "chain", "integral", "training-set", "everything"]},
    "papers/index": {"The papers": ["reservoir", "herding", "geometric", "criticisms", "fastmmd"]},
    "decisions/index": {"Decisions": sorted(path.stem for path in Path(__file__).parents[1].glob("decisions/0*.md"))},
}
#: Pages of the site that show a file at the root of the repository, where the code host shows it too.
root_pages = {
    "index": "README.md",
    "project/benchmarks": "BENCHMARKS.md",
    "project/changelog": "CHANGELOG.md",
    "project/contributing": "CONTRIBUTING.md",
}
