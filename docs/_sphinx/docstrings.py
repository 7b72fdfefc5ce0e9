"""Docstrings and signatures of this package as the site shows them.

A docstring here is plain text: `names` in backticks, formulas as they are typed, `argument: what it means` in lines of their
own. This extension reads just that and writes reStructuredText, with every character that would mean something there escaped,
so that no formula can break the build. Signatures are shown as they stand in the source: an alias such as PointsLike says
more than the union that it stands for.
"""

import ast
import dataclasses
import inspect
import re
import textwrap
from typing import Any

import supersample

#: Classes that users get and do not make: their constructors are nobody's business.
RESULTS = ("Alarm", "Comparison", "Critique", "Integral", "Period", "Progress", "Selection", "Summary", "TestResult")

_ITEM = re.compile(r"^(?P<names>[A-Za-z_][\w-]*(?:, [A-Za-z_][\w-]*)*)(?: \((?P<aside>[^)]*)\))?:(?: (?P<text>.*)|$)")
_CODE = re.compile(r"`([^`]+)`")
_UNDERLINE = re.compile(r"^-{3,}$")


def public_names() -> dict[str, str]:
    """Return every name that may stand in backticks, short and long, with the full name that it is documented under."""
    found = {}
    for prefix in ("", ".kernels", ".features", ".measures", ".errors"):
        module = supersample
        for part in prefix.split(".")[1:]:
            module = getattr(module, part)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            full = f"supersample{prefix}.{name}"
            for short in (name, f"ss{prefix}.{name}", full):
                found[short] = full
            if inspect.isclass(value):
                methods = [each for each, member in vars(value).items() if callable(member) or isinstance(member, property)]
                found |= {f"{name}.{each}": f"{full}.{each}" for each in methods if not each.startswith("_")}
    return found


def inline(text: str, names: dict[str, str]) -> str:
    """Escape a line of plain text; turn names in backticks into links, or into code."""

    def shown(match: re.Match[str]) -> str:
        code = match.group(1)
        return f":py:obj:`{code} <{names[code]}>`" if code in names else f"``{code}``"

    parts = _CODE.split(text)
    plain = [re.sub(r"([\\*_|])", r"\\\1", part) for part in parts[::2]]
    spans = [shown(match) for match in _CODE.finditer(text)]
    out = plain[0]
    for span, after in zip(spans, plain[1:], strict=True):
        # Markup must be set off from letters on both sides; an escaped space leaves no trace.
        before = "\\ " if out and not out[-1].isspace() and out[-1] not in "([\"'" else ""
        out += before + span + ("\\ " if after and (after[0].isalnum() or after[0] == "(") else "") + after
    return out


def converted(lines: list[str], names: dict[str, str]) -> list[str]:
    """Return a docstring in reStructuredText."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = block.splitlines()
        if not rows:
            continue
        if rows[0].startswith(">>>"):
            out += [*rows, ""]
            continue
        if len(rows) > 1 and _UNDERLINE.match(rows[1]):
            out += [f".. rubric:: {rows[0]}", ""]
            rows = rows[2:]
        if rows and all(row.startswith("    ") for row in rows):
            out += ["::", "", *rows, ""]
            continue
        out += _paragraphs(rows, names, "")
    return out


def _paragraphs(rows: list[str], names: dict[str, str], margin: str) -> list[str]:
    """Write lines of prose and items, and what is indented under each of them."""
    out: list[str] = []
    place = 0
    while place < len(rows):
        under = place + 1
        item = _ITEM.match(rows[place])
        while under < len(rows) and (rows[under].startswith(" ") or not _ITEM.match(rows[under])):
            under += 1
        head, nested = _nested(rows[place + 1 : under])
        text = " ".join([(item.group("text") or "") if item else rows[place], *head]).strip()
        inner = margin
        if item:
            aside = f" ({inline(item.group('aside'), names)})" if item.group("aside") else ""
            out.append(margin + ", ".join(f"``{each}``" for each in item.group("names").split(", ")) + aside)
            inner += "    "
        out += [inner + inline(text, names), ""] if text else []
        if nested:
            out += _paragraphs(nested, names, inner)
        place = under
    return out


def _nested(rows: list[str]) -> tuple[list[str], list[str]]:
    """Tell lines that go on with the text from items that are indented under it."""
    for place, row in enumerate(rows):
        if row.startswith("    ") and _ITEM.match(row.strip()) and not row.startswith("     "):
            return [each.strip() for each in rows[:place]], textwrap.dedent("\n".join(rows[place:])).splitlines()
    return [each.strip() for each in rows], []


def as_written(value: Any) -> tuple[str, str | None]:
    """Return the arguments and the return annotation of a function or class as they stand in the source."""
    if dataclasses.is_dataclass(value):
        parameters = inspect.signature(value).parameters.values()
        return f"({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})", None
    function = inspect.unwrap(value.__init__ if inspect.isclass(value) else value)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    first = node.args.args[0].arg if node.args.args else ""
    if first in ("self", "cls"):
        node.args.args.pop(0)
    for each in ast.walk(node.args):  # a class that is not there yet is named by a string
        if isinstance(each, ast.arg) and isinstance(each.annotation, ast.Constant):
            each.annotation = ast.parse(str(each.annotation.value), mode="eval").body
    returns = None if node.returns is None or inspect.isclass(value) else ast.unparse(node.returns).strip("'")
    return f"({ast.unparse(node.args)})", returns


def _docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = converted(lines, app.env.public_names)


def _signature(app: Any, what: str, name: str, obj: Any, options: Any, *_: Any) -> tuple[str, str | None] | None:
    if what == "class":
        hidden = obj.__name__ in RESULTS or inspect.isabstract(obj) or issubclass(obj, BaseException)
        return ("", None) if hidden or "__init__" not in dir(obj) else as_written(obj)
    return as_written(obj) if what in ("function", "method") else None


def _bases(app: Any, name: str, obj: Any, options: Any, bases: list[Any]) -> None:
    """Show the nearest public ancestors in place of classes that only the code shares."""
    public = [each for each in obj.__mro__[1:] if each.__name__ in app.env.public_names or each.__module__ == "builtins"]
    bases[:] = [each for each in public if not any(each in other.__mro__[1:] for other in public)] or [object]


def _begin(app: Any) -> None:
    app.env.public_names = public_names()


def _short(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Resolve the short names that annotations have in the source."""
    full = env.public_names.get(node.get("reftarget", "").removeprefix("measures."))
    if full is None or node.get("refdomain") != "py":
        return None
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("builder-inited", _begin)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-bases", _bases)
    app.connect("missing-reference", _short)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
