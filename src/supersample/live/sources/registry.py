"""The kinds of sources, by the name that a configuration gives them."""

from importlib import import_module

from supersample._text import did_you_mean
from supersample.errors import InputError
from supersample.live.batch import HTTP
from supersample.live.settings import SourceSettings
from supersample.live.sources.protocol import Context, Maker, Source

__all__ = ["SOURCES", "source_of"]

#: The module of each kind, which has a function `source(options, context)`; imported when it is used.
SOURCES = {
    "stdin": "supersample.live.sources.standard_input",
    "files": "supersample.live.sources.growing_files",
    "folder": "supersample.live.sources.folder",
    "kafka": "supersample.live.sources.kafka",
}


def source_of(settings: SourceSettings, context: Context) -> Source:
    """Return the source that settings describe."""
    if settings.name == HTTP:
        raise InputError(f"a source must have another name than {HTTP!r}, which is that of rows by POST; give it another name")
    if settings.kind not in SOURCES:
        raise InputError(
            f"kind must be one of {', '.join(SOURCES)}, got {settings.kind!r}{did_you_mean(settings.kind, list(SOURCES))}"
        )
    maker: Maker = import_module(SOURCES[settings.kind]).source
    return maker(settings.options, context)
