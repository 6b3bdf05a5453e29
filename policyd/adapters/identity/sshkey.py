"""The key that sshd let in, from the file that SSH_USER_AUTH names; as a fingerprint."""

from __future__ import annotations

import os
import re
import stat
from binascii import a2b_base64, b2a_base64
from hashlib import sha256

from policyd.core.errors import CannotJudge

MAX_BYTES = 65_536
PUBLIC_KEY = "publickey"

_CERTIFICATE = "-cert-v01@openssh.com"
_LINE = re.compile(r"publickey ([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?: [^\n]*)?")
_FIELDS = {"ssh-ed25519": 1, "ssh-rsa": 2, "ecdsa-sha2-nistp256": 2, "ecdsa-sha2-nistp384": 2,
           "ecdsa-sha2-nistp521": 2, "sk-ssh-ed25519@openssh.com": 2,
           "sk-ecdsa-sha2-nistp256@openssh.com": 3}
"""How many fields a key of a type has; in a certificate they stand behind a nonce."""


def fingerprint(file: str) -> str | None:
    """`SHA256:...` as ssh-keygen prints it; of a certificate, that of the key in it.

    None where no key was shown, or a certificate of a type that is not known here. Raises
    CannotJudge where the file is not sshd's, cannot be read, or names several keys.
    """
    keys = {line for line in _read(file).splitlines() if line.split(" ")[0] == PUBLIC_KEY}
    if not keys:
        return None
    if len(keys) > 1:
        raise CannotJudge("sshd asked for several keys, and it is not told whose push it is; the "
                          "operator lets AuthenticationMethods name one publickey")
    match = _LINE.fullmatch(keys.pop())
    if match is None:
        raise _unreadable(file, "its key cannot be read")
    blob = _blob(file, match[1], match[2])
    if blob is None:
        return None
    return "SHA256:" + b2a_base64(sha256(blob).digest(), newline=False).decode().rstrip("=")


def _read(file: str) -> str:
    """Raises CannotJudge for a file that anybody but root and this user could have written."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = os.open(file, flags)
    except (OSError, ValueError) as error:
        raise _unreadable(file, getattr(error, "strerror", None) or "no file") from error
    try:
        status = os.fstat(fd)
        if not os.path.isabs(file) or not stat.S_ISREG(status.st_mode) \
                or status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            raise _unreadable(file, "it is not sshd's: an ordinary file of root or of this user, "
                                    "which nobody else may write")
        data = os.read(fd, MAX_BYTES + 1) if status.st_size <= MAX_BYTES else b""
    finally:
        os.close(fd)
    if not data or len(data) > MAX_BYTES:
        raise _unreadable(file, f"it is empty or larger than {MAX_BYTES} bytes")
    return data.decode("ascii", "replace")


def _blob(file: str, kind: str, text: str) -> bytes | None:
    """The key as it goes over the wire; None for a certificate of an unknown type."""
    try:
        raw = a2b_base64(text, strict_mode=True)
        said, *rest = _fields(raw)
    except ValueError as error:
        raise _unreadable(file, "its key cannot be read") from error
    if said != kind.encode():
        raise _unreadable(file, "its key is of another type than it says")
    if not kind.endswith(_CERTIFICATE):
        return raw
    plain = kind.removesuffix(_CERTIFICATE)
    plain += "@openssh.com" if plain.startswith("sk-") else ""
    count = _FIELDS.get(plain)
    if count is None or len(rest) <= count:
        return None
    return b"".join(len(part).to_bytes(4, "big") + part
                    for part in (plain.encode(), *rest[1:count + 1]))


def _fields(raw: bytes) -> list[bytes]:
    """The length-prefixed fields at the start; a certificate's end is of another form."""
    found: list[bytes] = []
    at = 0
    while at + 4 <= len(raw) and len(found) < 5:
        size = int.from_bytes(raw[at:at + 4], "big")
        if at + 4 + size > len(raw):
            break
        found.append(raw[at + 4:at + 4 + size])
        at += 4 + size
    if not found:
        raise ValueError("no field")
    return found


def _unreadable(file: str, why: str) -> CannotJudge:
    return CannotJudge(f"{file}, where sshd says which key it let in: {why}")
