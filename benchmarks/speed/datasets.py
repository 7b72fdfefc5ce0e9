"""Real data sets in their file order, scaled as they are used."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

from supersample._typing import Floats

__all__ = ["covtype", "electricity", "mnist"]


def mnist(folder: Path, n: int | None = None) -> Floats:
    """Return the training digits, 784 grey values in [0, 1]; the file's order is shuffled already."""
    column = parquet.read_table(folder / "mnist_train.parquet")["image"].combine_chunks().flatten()
    images: Floats = column.to_numpy().reshape(-1, 784)[:n].astype(np.float64)
    return images / 255.0


def covtype(folder: Path, step: int = 10) -> Floats:
    """Return every tenth row of CovType, or every step-th: 54 columns, standardised; the file is sorted by region."""
    return _standardised(_columns(folder / "covtype.parquet", 54)[::step])


def electricity(folder: Path) -> Floats:
    """Return the six columns of the electricity market, standardised, in the order of time."""
    return _standardised(_columns(folder / "electricity.parquet", 6))


def _columns(path: Path, count: int) -> Floats:
    table = parquet.read_table(path)
    return np.column_stack([table.column(index).to_numpy().astype(np.float64) for index in range(count)])


def _standardised(rows: Floats) -> Floats:
    spread = rows.std(axis=0)
    scaled: Floats = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled
