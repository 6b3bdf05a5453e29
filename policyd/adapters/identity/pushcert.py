"""Signed pushes: the key of a good and fresh signature. The certificate itself is never read."""

from __future__ import annotations

from collections.abc import Mapping

from policyd.adapters.identity import words

GOOD = "G"
"""git's word for a good signature, by any ssh key at all: only one that is listed in
gpg.ssh.allowedSignersFile has a signer too (seen with git 2.39)."""


def key(given: Mapping[str, str], slop: int = 0) -> str | None:
    """The signing key as git names it; None for a push that nobody signed, or not well.

    `slop` is how many seconds an old nonce may be old. Raises CannotJudge where git says half.
    """
    if not given.get("GIT_PUSH_CERT"):
        return None
    status = words.demanded(given, "GIT_PUSH_CERT_STATUS", "git")
    if status != GOOD or not given.get("GIT_PUSH_CERT_SIGNER") or not _is_fresh(given, slop):
        return None
    return words.demanded(given, "GIT_PUSH_CERT_KEY", "git")


def _is_fresh(given: Mapping[str, str], slop: int) -> bool:
    """A signature without a nonce of this server's could be one of long ago, pushed again."""
    status = given.get("GIT_PUSH_CERT_NONCE_STATUS")
    old = given.get("GIT_PUSH_CERT_NONCE_SLOP", "")
    return status == "OK" or (status == "SLOP" and old.isascii() and old.isdigit()
                              and len(old) < 9 and int(old) <= slop)
