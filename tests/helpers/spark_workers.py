"""Spark's starter of Python workers: what they need is imported and compiled before it forks them, as tests start many."""

from pyspark.daemon import manager

from engine_parts import OPTIONS, SIZES, mixed
from supersample.engines import local

if __name__ == "__main__":
    local.summarize([mixed(SIZES[0], 0), mixed(100, 1)], **OPTIONS)
    manager()
