"""Prototypes and criticisms, in batch and on a stream: galleries, objectives, classification and rare groups.

The paper (Online Prototypes and Criticisms) is a draft without experiments of its own, so these are after those of the batch
method that it builds on (Kim, Khanna and Koyejo 2016).
"""

from pathlib import Path

from benchmarks.papers.criticisms_classes import classification
from benchmarks.papers.criticisms_data import image_sets, read_images
from benchmarks.papers.criticisms_gallery import gallery
from benchmarks.papers.criticisms_online import online_curves
from benchmarks.papers.criticisms_placement import placement
from benchmarks.papers.criticisms_rare import rare_groups
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

_ROWS = 10_000


def run(out: Path, data: Path, quick: bool) -> None:
    """Draw a gallery of each image set in the folder of data; the rest is for those with labels and a part held out.

    An image set is a Parquet file with a column `image`, a fixed-size list of grey values of a square picture, and perhaps a
    column `label`. NAME_test is summarised and NAME_train held out.
    """
    sets = image_sets(data)
    if not sets:
        print(f"skipped all but rare groups: no Parquet file in {data} has a fixed-size list column named image")
    count = 500 if quick else _ROWS
    with one_thread_workers() as pool:
        for name, path in sets.items():
            images = read_images(path, count, seed=0)
            other = path.with_stem(path.stem.removesuffix("_test") + "_train")
            held_out = read_images(other, count, seed=1) if other.exists() and other != path else None
            gallery(out, name, images, held_out, quick, pool)
            if held_out is not None and images.labels is not None:
                online_curves(out, name, images, quick, pool)
                placement(out, name, images, held_out, quick, pool)
                classification(out, name, images, held_out, quick, pool)
        rare_groups(out, quick, pool)
