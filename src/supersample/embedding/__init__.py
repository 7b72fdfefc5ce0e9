"""Mean embeddings: the moments of phi that represent a data set, streamed and merged."""

from supersample.embedding.mean import MeanEmbedding

__all__ = ["MeanEmbedding"]
