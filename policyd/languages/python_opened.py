"""Which files and folders Python source opens, lists or asks for, and which paths it names.

Tables of what opens in the standard library and beside it; a parser's `load(path)` and a method
that is called like one of a path, on something unknown, are left out where most uses are not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from policyd.core.sheet import Opened, Suspect, Trick
from policyd.languages.python_names import Names, Scope, called
from policyd.languages.python_places import Places
from policyd.languages.python_spots import ANY, ROOT, UNKNOWN, Place

_WITH_MODE = frozenset([
    "open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "tokenize.open",
    "zipfile.ZipFile", "tarfile.open", "aiofiles.open", "builtins.open", "_io.open", "h5py.File",
    "gzip.GzipFile", "io.FileIO", "anyio.open_file"
])  # fmt: skip
_READS = frozenset([
    "os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.stat", "os.lstat", "os.access",
    "os.readlink", "os.chdir", "os.path.exists", "os.path.lexists", "os.path.isfile",
    "os.path.isdir", "os.path.getsize", "os.path.getmtime", "glob.glob", "glob.iglob",
    "linecache.getline", "linecache.getlines", "runpy.run_path", "numpy.load", "numpy.loadtxt",
    "numpy.genfromtxt", "numpy.fromfile", "numpy.memmap", "sqlite3.connect", "shelve.open",
    "dbm.open", "fileinput.input", "filecmp.cmp", "toml.load", "xml.etree.ElementTree.parse",
    "lxml.etree.parse", "PIL.Image.open", "cv2.imread", "imageio.imread", "joblib.load",
    "torch.load", "soundfile.read", "zipfile.is_zipfile", "numpy.lib.npyio.load"
])  # fmt: skip
_READS_SECOND = frozenset([
    "importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader",
    "imp.load_source", "filecmp.cmp"
])  # fmt: skip
_WRITES = frozenset([
    "os.remove", "os.unlink", "os.rmdir", "os.mkdir", "os.makedirs", "os.removedirs",
    "os.truncate", "os.utime", "os.chmod", "shutil.rmtree", "numpy.save", "numpy.savetxt",
    "numpy.savez", "numpy.savez_compressed", "joblib.dump", "torch.save", "os.rename",
    "os.replace", "shutil.move"
])  # fmt: skip
_READS_THEN_WRITES = frozenset([
    "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move", "os.rename",
    "os.replace", "os.link", "os.symlink"
])  # fmt: skip
_RESOURCES = re.compile(
    r"importlib[._]resources\.(?:open_text|open_binary|read_text|read_binary|path|is_resource"
    r"|contents)|pkgutil\.get_data|pkg_resources\.resource_\w+")
_TABLES = re.compile(r"(?:pandas|polars|geopandas|dask\.dataframe)\.(?:read|scan)_\w+")
_RUNS = re.compile(r"(?:subprocess\.\w+|os\.(?:system|popen|exec\w+|spawn\w+)"
                   r"|asyncio\.create_subprocess_\w+)")
_PRINTERS = frozenset(["cat", "head", "tail", "less", "more", "ls", "find", "cp", "mv", "dd",
                       "tac", "type", "xxd", "od", "strings", "base64", "sort", "jq", "source"])
_READ_METHODS = frozenset(["read_text", "read_bytes", "iterdir", "rglob"])
_WRITE_METHODS = frozenset(["write_text", "write_bytes"])
_MAYBE_READ = frozenset(["glob", "exists", "is_file", "is_dir", "stat", "lstat", "readlink", "walk",
                         "listdir", "samefile"])
_MAYBE_WRITE = frozenset(["unlink", "mkdir", "touch", "rename", "rmdir", "symlink_to",
                          "hardlink_to", "ensure"])
_GIVEN_TOO = frozenset(["rename", "symlink_to", "hardlink_to"])
_DUMPS = frozenset(["to_csv", "to_json", "to_parquet", "to_pickle", "to_excel", "savefig",
                    "tofile", "to_hdf", "to_feather"])
_MODE = re.compile(r"[rwaxbtU+:|gz2*]{1,6}")
_FLAGS = frozenset(["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"])

_SHORT = 256
_PATH_TEXT = re.compile(
    r"(?:[.~]{0,2}/)?[\w.@+-]+(?:/[\w.*?@+\[\]{}-]+)+/?|[\w.@+-]+/|\.\.?/[\w.-]+")
_TEXTS: Sequence[type[ast.expr]] = (
    ast.Constant, ast.BinOp, ast.JoinedStr, ast.FormattedValue, ast.Call)
"""What may be worth a text."""
_LETTER = re.compile(r"[^\W\d_]")


def opened(names: Names, places: Places) -> tuple[Opened, ...]:
    """By line, each once."""
    found: set[Opened] = set()
    for node, scope in names.of(ast.Call):
        opening = _Opening(names, places, node, scope)
        found.update(Opened(node.lineno, path, base, writes)
                     for place, writes in opening.all() if not place.is_scratch()
                     for base, path in [place.shown()])
    return tuple(sorted(found, key=lambda one: (one.line, one.path, one.base, one.writes)))


class _Opening:
    """One call, and what it opens."""

    def __init__(self, names: Names, places: Places, node: ast.Call, scope: Scope) -> None:
        self._names, self._places, self._node, self._scope = names, places, node, scope
        self._name = called(node)
        self._dotted = names.dotted(node.func, scope)

    def all(self) -> Iterator[tuple[Place, bool]]:
        """Each place, and whether it is written to."""
        dotted = self._dotted
        if dotted in _WITH_MODE:
            yield from self._at(0, self._mode_writes(1))
        elif dotted == "os.open":
            yield from self._at(0, self._flags_write())
        elif _RESOURCES.fullmatch(dotted):
            yield from self._resource()
        elif _RUNS.fullmatch(dotted):
            yield from self._command()
        elif dotted in _WRITES | _READS_THEN_WRITES or dotted in _READS | _READS_SECOND:
            yield from self._tabled()
        elif _TABLES.fullmatch(dotted):
            yield from self._at(0, False)
        elif isinstance(self._node.func, ast.Attribute):
            yield from self._method(self._node.func.value)

    def _tabled(self) -> Iterator[tuple[Place, bool]]:
        dotted = self._dotted
        if dotted in _READS:
            yield from self._at(0, False, masked=dotted.startswith("glob."))
        if dotted in _READS_SECOND:
            yield from self._at(1, False)
        if dotted in _READS_THEN_WRITES:
            yield from self._at(0, dotted in _WRITES)
            yield from self._at(1, True)
        elif dotted in _WRITES:
            yield from self._at(0, True)

    def _given(self, index: int) -> ast.expr | None:
        """An argument by its place, or by one of the names that paths are given by."""
        args = self._node.args
        if index < len(args):
            return args[index]
        usual = ("file", "filename", "path", "fname", "filepath_or_buffer", "src", "name",
                 "database", "location", "pathname", "top") if index == 0 else ("dst", "location")
        return next((each.value for each in self._node.keywords if each.arg in usual), None)

    def _at(self, index: int, writes: bool, masked: bool = False) -> Iterator[tuple[Place, bool]]:
        node = self._given(index)
        if node is None:
            if index == 0 and self._dotted in ("os.listdir", "os.scandir"):
                yield ROOT, writes
            return
        if isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes):
            return  # a file descriptor
        for place in self._places.of(node, self._scope):
            yield place.globbed() if masked else place, writes

    def _mode_writes(self, index: int) -> bool:
        args = self._node.args
        mode = args[index] if index < len(args) else next(
            (each.value for each in self._node.keywords if each.arg == "mode"), None)
        said = self._names.text(mode) if mode is not None else None
        return said is not None and bool(set("wax+") & set(said))

    def _flags_write(self) -> bool:
        flags = self._node.args[1:2]
        return any(isinstance(each, ast.Attribute) and each.attr in _FLAGS
                   for flag in flags for each in ast.walk(flag))

    def _resource(self) -> Iterator[tuple[Place, bool]]:
        args = self._node.args
        if args:
            folder = self._places.resource(args[0], self._scope)
            inside = self._places.of(args[1], self._scope) if len(args) > 1 else [ROOT]
            yield from ((folder.join(each), False) for each in inside)

    def _method(self, of: ast.expr) -> Iterator[tuple[Place, bool]]:
        name, args = self._name, self._node.args
        if name in _READ_METHODS | _WRITE_METHODS:
            yield from ((each, name in _WRITE_METHODS) for each in self._receiver(of))
        elif name in _DUMPS and args:
            yield from (one for one in self._at(0, True) if one[0] != UNKNOWN)
        elif name == "open" and self._is_mode():
            yield from ((each, self._mode_writes(0)) for each in self._receiver(of)
                        if each != UNKNOWN or self._is_local(of))
        elif name in _MAYBE_READ | _MAYBE_WRITE:
            yield from ((each, name in _MAYBE_WRITE) for each in self._receiver(of)
                        if each not in (UNKNOWN, ROOT))
            if name in _GIVEN_TOO and args and self._receiver(of) != [UNKNOWN]:
                yield from ((each, name == "rename")
                            for each in self._places.of(args[0], self._scope))

    def _receiver(self, of: ast.expr) -> Sequence[Place]:
        """With what a mask adds to it."""
        found = self._places.of(of, self._scope)
        if self._name in ("glob", "rglob", "iterdir", "listdir"):
            whole = self._places.of(self._node, self._scope)
            return whole if whole != [UNKNOWN] and self._name.endswith("glob") else found
        return found

    def _is_mode(self) -> bool:
        """Whether the first argument can be a mode, as in `path.open("rb")`."""
        said = self._names.text(self._node.args[0]) if self._node.args else "r"
        return said is not None and bool(_MODE.fullmatch(said))

    def _is_local(self, of: ast.expr) -> bool:
        return not isinstance(of, ast.Name) or of.id not in self._names.imported

    def _command(self) -> Iterator[tuple[Place, bool]]:
        words = self._words()
        prints = bool(words) and words[0].text.rpartition("/")[2] in _PRINTERS
        for word in words[1:]:
            is_path = "/" in word.text and "://" not in word.text and not word.text.startswith("-")
            if is_path or (prints and not word.text.startswith("-") and word != UNKNOWN):
                yield word, False

    def _words(self) -> list[Place]:
        """Of a list of arguments, or of a line for the shell."""
        args = self._node.args
        first = self._names.aim(args[0], self._scope) if args else None
        if isinstance(first, ast.List | ast.Tuple):
            given: Sequence[ast.expr] = first.elts
        elif first is not None and (line := self._names.text(first)) is not None:
            return [Place("", word) for word in re.split(r"[\s<>|;&'\"()]+", line) if word]
        else:
            given = args
        return [place for each in given for place in self._places.of(each, self._scope)]


def named_paths(names: Names, places: Places, opens: Sequence[Opened]) -> Iterator[Suspect]:
    """What is opened, what is text that looks like a path, and what is made of paths."""
    yield from (Suspect(Trick.READS, each.line, each.path) for each in opens
                if each.path not in ("", "**"))
    for kind in _TEXTS:
        for node, _ in names.of(kind):
            text = names.text(node)
            if text is not None and len(text) <= _SHORT and _PATH_TEXT.fullmatch(text) and (
                    not _is_said(node, names)):
                below = ANY if text.endswith("/") else ""
                yield Suspect(Trick.READS, node.lineno, Place("", text + below).shown()[1])
    for made, scope in (*names.of(ast.BinOp), *names.of(ast.Call)):
        if _makes_path(made) and names.text(made) is None and not _makes_path(
                names.parent.get(made)):
            for place in places.of(made, scope):
                if _LETTER.search(place.text) and not place.is_scratch():  # else a division
                    yield Suspect(Trick.READS, made.lineno, place.shown()[1])


def _is_said(node: ast.expr, names: Names) -> bool:
    """Whether it is a statement of its own, as a docstring is."""
    return isinstance(names.parent.get(node), ast.Expr)


def _makes_path(node: ast.AST | None) -> bool:
    match node:
        case ast.BinOp(op=ast.Div()):
            return True
        case ast.Call(func=ast.Name(id="Path" | "PurePath" | "PosixPath")):
            return True
        case ast.Call(func=ast.Attribute(attr="Path" | "joinpath" | "PurePath")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path"), attr="join")):
            return True
    return False


