"""The files that JavaScript source opens, as far as their names can be told from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath

from policyd.core.sheet import Opened
from policyd.core.values import dataclass
from policyd.languages.javascript_names import arguments, callee, member
from policyd.languages.javascript_tests import File
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import is_text_piece, text_of, unescaped

_READS = frozenset({
    "readFile", "readFileSync", "createReadStream", "open", "openSync", "readdir", "readdirSync",
    "opendir", "opendirSync", "readJson", "readJsonSync", "readJSON", "readJSONSync",
    "readTextFile", "readTextFileSync", "watch", "watchFile", "openAsBlob", "glob", "globSync",
    "readlink", "readlinkSync", "loadJsonFile", "loadFixture"})  # fmt: skip
_WRITES = frozenset({
    "writeFile", "writeFileSync", "appendFile", "appendFileSync", "createWriteStream", "writeJson",
    "writeJsonSync", "outputFile", "outputFileSync", "outputJson", "unlink", "unlinkSync", "rm",
    "rmSync", "rename", "renameSync", "copyFile", "copyFileSync", "cp", "cpSync", "mkdir",
    "mkdirSync", "symlink", "symlinkSync", "truncate", "truncateSync", "writeTextFile",
    "writeTextFileSync", "chmod", "chmodSync", "ensureDir", "remove", "emptyDir"})  # fmt: skip
_TWO = frozenset({"rename", "renameSync", "copyFile", "copyFileSync", "cp", "cpSync", "symlink",
                  "symlinkSync"})
_HOLDERS = re.compile(r"(?:^|\.)(?:fs|fsp|fse|fsPromises|promises|Deno|Bun|fsExtra)$|^$|^vol$")
_JOINS = frozenset({"join", "resolve", "normalize"})
_FOLDERS = frozenset({"__dirname", "import.meta.dirname"})
_FILES = frozenset({"__filename", "import.meta.filename", "import.meta.url"})
_MOST = 20_000
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class _Path:
    """Text with `**` for what is not known; `base` as `Opened.base`."""

    text: str
    base: str = ""




def opened(file: File) -> tuple[Opened, ...]:
    found: set[Opened] = set()
    for node in file.nodes:
        if len(found) < _MOST:
            found.update(_of(file, node))
    return tuple(sorted(found, key=lambda one: (one.line, one.path, one.base, one.writes)))


def _of(file: File, node: Node) -> Iterator[Opened]:
    source = node.get("source") if node.kind == "import_statement" else None
    if source is not None:
        yield from _data(text_of(source) or "", node.line)
    if node.kind not in ("call_expression", "new_expression"):
        return
    name, given = callee(node), arguments(node)
    holder, _, last = name.rpartition(".")
    if name in ("require", "import") and given:
        known = text_of(given[0])
        if known is not None:
            yield from _data(known, node.line)
        else:
            yield _opened(_path(file, given[0]), node.line, "file")
    elif (last in _READS or last in _WRITES) and given and _is_file_call(file, holder, last):
        for one in given[: 2 if last in _TWO else 1]:
            yield _opened(_path(file, one), node.line, "", writes=last in _WRITES)
    elif name == "Bun.file" and given:
        yield _opened(_path(file, given[0]), node.line, "")


def _is_file_call(file: File, holder: str, last: str) -> bool:
    """`fs.open`, and `open` only where it comes from such a module."""
    if holder:
        module = file.bindings.modules.get(holder.split(".")[0], "")
        return bool(_HOLDERS.search(holder)) or "fs" in re.split(r"[/\-]", module)
    module = file.bindings.modules.get(last, "")
    return module.startswith(("fs", "graceful-fs")) or last in (
        "readFileSync", "writeFileSync", "loadFixture", "loadJsonFile", "globSync", "glob")


def _data(written: str, line: int) -> Iterator[Opened]:
    """Data that is imported; modules are in `Sheet.imports`."""
    plain = written.partition("?")[0]
    if plain.startswith(("./", "../", "/")) and re.search(r"\.(?!([cm]?[jt]sx?|vue|s?css)$)\w+$",
                                                         plain):
        yield _opened(_Path(plain, "file"), line, "file")


def _opened(path: _Path, line: int, base: str, *, writes: bool = False) -> Opened:
    text = path.text.replace("\\", "/")
    parts = ["**" if "\0" in part else part for part in text.split("/")]
    whole = normpath("/".join(parts)) if text else "**"
    whole = re.sub(r"^//+", "/", whole)
    where = path.base or base
    if whole.startswith("/") and where != "file":
        where = ""
    return Opened(line, ascii(whole)[1:-1][:500], where, writes)


def _path(file: File, node: Node, depth: int = 0) -> _Path:
    """What an expression is as a path; a NUL stands for what is not known."""
    node = file.bindings.value(node)
    if depth > _DEEPEST:
        return _Path("\0", "unknown")
    known = file.constants.of(node)
    if known is not None and isinstance(known.value, str):
        return _Path(known.value)
    name = _plain(node)
    if name in _FOLDERS or name in _FILES:
        return _Path("." if name in _FOLDERS else "./\0", "file")
    if node.kind == "template_string":
        return _glued([_piece(file, one, depth) for one in node.children])
    if node.kind == "binary_expression" and node.op == "+":
        sides = [side for field in ("left", "right") for side in node.each(field)]
        return _glued([_path(file, side, depth + 1) for side in sides])
    if node.kind in ("call_expression", "new_expression"):
        return _of_call(file, node, depth)
    return _Path("\0", "unknown")


def _plain(node: Node) -> str:
    if node.kind == "identifier":
        return node.text
    inner = node.get("object")
    if inner is not None and inner.kind == "meta_property":
        return f"import.meta.{member(node)}"
    return ""


def _of_call(file: File, node: Node, depth: int) -> _Path:
    name, given = callee(node), arguments(node)
    last = name.rpartition(".")[2]
    if name == "process.cwd":
        return _Path(".", "root")
    if name == "URL" and len(given) == 2 and _plain(given[1]) == "import.meta.url":
        inner = _path(file, given[0], depth + 1)
        return _Path(inner.text, "file")
    if last in ("fileURLToPath", "pathToFileURL", "String") and given:
        return _path(file, given[0], depth + 1)
    if last == "dirname" and given:
        inner = _path(file, given[0], depth + 1)
        return _Path(".", "file") if inner.text == "./\0" else _Path(
            f"{inner.text}/..", inner.base)
    if last in _JOINS and (name != last or last in file.bindings.modules) and given:
        return _joined([_path(file, one, depth + 1) for one in given[:30]])
    return _Path("\0", "unknown")


def _piece(file: File, node: Node, depth: int) -> _Path:
    if is_text_piece(node):
        return _Path(unescaped(node.text))
    return _path(file, node, depth + 1)


def _joined(parts: Sequence[_Path]) -> _Path:
    """The last absolute one counts, as `path.resolve` has it."""
    start = max((index for index, part in enumerate(parts) if part.text.startswith("/")), default=0)
    if start and parts[0].base == "file":
        start = 0
    kept = parts[start:]
    return _Path("/".join(part.text for part in kept)[:2000], kept[0].base)


def _glued(parts: Sequence[_Path]) -> _Path:
    if not parts:
        return _Path("")
    text = "".join(part.text for part in parts)[:2000]
    return _Path(text, parts[0].base)


