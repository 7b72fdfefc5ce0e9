"""What is fuzzed. An execution ends in a result or in one of our errors; anything else is a finding."""

from fuzz.loader import Loader
from fuzz.readers import Readers

__all__ = ["TARGETS", "Loader", "Readers"]

TARGETS = {"loader": Loader, "readers": Readers}
