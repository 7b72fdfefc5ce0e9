"""The failure of a Spark job as one error that names the partition.

Spark's errors say why a task failed but not for which partition. That is in its status store, the source of its web pages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import PicklingError
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from supersample import errors
from supersample._text import one_line
from supersample.engines.partition_tasks import failed, stopped
from supersample.errors import SupersampleError

__all__ = ["is_remote", "spark_errors"]

_DESCRIPTION = "spark.job.description"
#: Milliseconds to wait for the status store.
_PATIENCE = 10_000


def is_remote(frame: Any) -> bool:
    """Return whether a frame is worked on through Spark Connect."""
    return "connect" in type(frame).__module__


@contextmanager
def spark_errors(frame: Any, what: str, *, parts: bool = False) -> Iterator[None]:
    """Label what runs in Spark's own displays, and turn its failure into one error.

    parts: the last stage has one task for each partition of the frame, so a task that fails there is named as a partition.
    """
    context = None if is_remote(frame) else frame.sparkSession.sparkContext
    description = f"supersample: {what} ({uuid4().hex[:8]})"  # unique: other threads may run jobs at the same time
    before = None if context is None else context.getLocalProperty(_DESCRIPTION)
    if context is not None:
        context.setJobDescription(description)
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _our_own(str(error))
        if ours is not None:
            raise ours from error
        index = _failed_part(context, description) if parts and context is not None else None
        cause = _cause(str(error))
        raise (stopped("Spark", what, cause) if index is None else failed(index, cause)) from error
    except PicklingError as error:
        raise stopped("Spark", what, f"{one_line(error)}: what is passed cannot be sent to the workers") from error
    finally:
        if context is not None:
            context.setJobDescription(before)


def _our_own(message: str) -> SupersampleError | None:
    """Return the error that our function raised in a worker, or None if something else failed."""
    found = re.search(r"supersample\.errors\.(\w+): (.+)", message)
    if found is None or found[1] not in errors.__all__:
        return None
    kind: type[SupersampleError] = getattr(errors, found[1])
    return kind(found[2])


def _cause(message: str) -> str:
    """Return the line of a failure that states the cause, without stack traces."""
    found = re.findall(r"^\s*:?\s*(?:\w+\.)*(\w+(?:Error|Exception): .+)$", message, re.MULTILINE)
    return str(found[-1] if found else message.strip().splitlines()[0])


def _failed_part(context: Any, description: str) -> int | None:
    """Return the partition whose task failed most often in the last stage of the failed job, or None if none did."""
    try:
        scala = context._jsc.sc()
        scala.listenerBus().waitUntilEmpty(_PATIENCE)  # the store is updated with a delay
        tracker, store = context.statusTracker(), scala.statusStore()
        jobs = tracker.getJobIdsForGroup(context.getLocalProperty("spark.jobGroup.id"))
        job = max(each for each in jobs if store.job(each).description().contains(description))
        stage = max(tracker.getJobInfo(job).stageIds)
        tasks = store.taskList(stage, tracker.getStageInfo(stage).currentAttemptId, 1 << 30)
        each = [tasks.apply(place) for place in range(tasks.size())]
        often = Counter(int(task.partitionId()) for task in each if task.status() == "FAILED")
        return min(often, key=lambda index: (-often[index], index), default=None)
    except (Py4JError, AttributeError, ValueError, TypeError):
        return None  # the store is not part of Spark's public interface: an error without the number is better than none
