"""Mean embeddings: the moments of phi that stand for a data set, streamed and merged; and target measures."""

from supersample.embedding import measures
from supersample.embedding.mean import MeanEmbedding

__all__ = ["MeanEmbedding", "measures"]
