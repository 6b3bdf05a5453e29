"""Which file a test means by the name of a module. A guess by names: no tree is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, normpath

_ROOTS = ("src", "lib", "source", "python", "app")
"""Folders that are no part of a module's name; so is any one folder at the top."""

_SUFFIX = re.compile(r"(\.d)?\.(pyi?|pyw|[cm]?[jt]sx?)$")

_MEMBER = re.compile(r"[A-Za-z_$][\w$]*|\*")
_MOST_MEMBERS = 8

_NAMES = """
__future__ abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar
cmath cmd code codecs collections colorsys compileall concurrent configparser contextlib
contextvars copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis doctest
email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools
gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib importlib
inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math
mimetypes mmap multiprocessing netrc numbers operator os pathlib pdb pickle pkgutil platform
plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile queue quopri random re
readline reprlib resource sched secrets select selectors shelve shlex shutil signal site smtplib
socket socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys
sysconfig syslog tarfile tempfile termios textwrap threading time timeit tkinter token tokenize
tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uuid venv
warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
pytest _pytest hypothesis mock nose freezegun faker responses respx vcr tox nox typing_extensions
numpy np pandas pd scipy sklearn torch tensorflow jax matplotlib requests httpx aiohttp attr attrs
pydantic yaml toml dateutil pytz sqlalchemy django flask fastapi starlette click rich jinja2
markupsafe lxml bs4 PIL redis boto3 botocore celery pygit2 psycopg psycopg2 cryptography
google grpc six setuptools packaging
"""
_LIBRARIES = frozenset(_NAMES.split())
"""Top names of modules that are nobody's own. What is not listed is taken for the project's."""

_HELPERS = ("tests", "test", "conftest", "testing")


def is_library(use: str, at: str) -> bool:
    """Whether a module, as the file `at` names it, is no file of the source zone."""
    if _is_python(at):
        return use.startswith(".") or use.split(".")[0] in (*_HELPERS, *_LIBRARIES)
    return not use.startswith((".", "/")) or _resolved(use, at).split("/")[0] == at.split("/")[0]


def is_at(use: str, path: str, at: str) -> bool:
    """Whether the file `at` means the file `path` by a module, or by something in it."""
    parts = _parts(path)
    if not _is_python(at):
        resolved = _resolved(use, at)
        return any(parts == _parts(one) for one in (
            resolved, _SUFFIX.sub("", resolved), *_without_members(resolved)))
    wanted = tuple(filter(None, use.split(".")))
    is_package = path.rpartition("/")[2].startswith("__init__.")
    for start in range(len(parts)):
        module = parts[start:]
        if start > 1 and parts[start - 1] not in _ROOTS:
            continue
        if wanted == module or (wanted[:len(module)] == module and not is_package):
            return True
    return False


def place_of(use: str, at: str) -> str:
    """Where a module stands that the file `at` names, without its suffix; "" outside, unknown.

    A dotted one is looked for at the root; one of a library that is called by name is not told
    apart from it.
    """
    if _is_python(at):
        dots = len(use) - len(use.lstrip("."))
        name = use[dots:].replace(".", "/")
        place = normpath("/".join([dirname(at), *[".."] * (dots - 1), name])) if dots else name
    else:
        place = _SUFFIX.sub("", _resolved(use, at)) if use.startswith((".", "/")) else ""
    return "" if place.startswith(("..", "/")) else place


def _parts(path: str) -> tuple[str, ...]:
    names = _SUFFIX.sub("", path).split("/")
    return tuple(names[:-1] if names[-1] in ("__init__", "index") else names)


def _without_members(path: str) -> Iterator[str]:
    """`src/cart.Cart.total` is something in `src/cart`."""
    folder, slash, name = path.rpartition("/")
    members = name.split(".")
    for end in range(min(len(members), _MOST_MEMBERS) - 1, 0, -1):
        if members[0] and _MEMBER.fullmatch(members[end]):
            yield folder + slash + ".".join(members[:end])


def _resolved(use: str, at: str) -> str:
    return use.lstrip("/") if use.startswith("/") else normpath(f"{dirname(at)}/{use}")


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".pyw"))
