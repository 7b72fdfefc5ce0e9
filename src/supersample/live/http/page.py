"""The page at `/`, and the form to log in; neither holds anything of the data."""

__all__ = ["login", "page"]

_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>supersample</title></head>"
)


def page() -> str:
    """Return the page."""
    return f'{_HEAD}<body><main><h1>supersample</h1><p><a href="/streams">Streams, as JSON</a></p></main></body></html>'


def login(*, wrong: bool = False) -> str:
    """Return the form to log in."""
    told = '<p role="alert">That is no token for reading.</p>' if wrong else ""
    return (
        f'{_HEAD}<body><main><h1>supersample</h1>{told}<form method="post" action="/login"><label>Token for reading '
        '<input name="token" type="password" autocomplete="current-password" required></label> <button>Log in</button></form>'
        "</main></body></html>"
    )
