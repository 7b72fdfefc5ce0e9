"""Mean embeddings: the moments of phi that stand for a data set, streamed and merged."""

from supersample.embedding.mean import MeanEmbedding

__all__ = ["MeanEmbedding"]
