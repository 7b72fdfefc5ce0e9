from dataclasses import dataclass

from supersample.records.encoding.column_type import ColumnType, LeftOut, built_in
from supersample.records.encoding.values import is_text


@built_in("text", "Text")
@dataclass(frozen=True)
class Text(ColumnType):
    @classmethod
    def learn(cls, name, column, weight, *, forced):
        return LeftOut("looks like text")

    def takes(self, kind):
        return is_text(kind)

    def encode(self, column, out):
        out[...] = 0


def text_role(values, counts, name):
    n = int(counts.sum())
    length = sum(len(v) * c for v, c in zip(values, counts)) / n
    if length > 64:
        return "text"
    if n >= 20 and len(values) > 0.9 * n:
        return "text" if length > 40 else "id"
    return "category"
