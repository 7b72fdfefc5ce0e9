"""Bodies and files become tables in processes of their own, so that nothing that is sent can end the service."""

from supersample.live.decoding.pool import Decoders, DecodingError

__all__ = ["Decoders", "DecodingError"]
