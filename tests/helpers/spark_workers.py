"""Spark's starter of Python workers, with what they need imported before it forks them: tests start many short-lived ones."""

from pyspark.daemon import manager

import supersample.engines.herding_tasks
import supersample.engines.spark  # noqa: F401

if __name__ == "__main__":
    manager()
