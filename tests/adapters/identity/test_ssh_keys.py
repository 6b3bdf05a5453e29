"""The key that sshd let in: files as sshd writes them, with keys that ssh-keygen made."""

from __future__ import annotations

import os
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest
from servers import asked

NOBODY = 65534
KINDS = [("ed25519", ()), ("rsa", ("-b", "2048")), ("ecdsa", ("-b", "256")),
         ("ecdsa", ("-b", "521"))]


def keygen(*arguments: str | Path) -> str:
    done = subprocess.run(["ssh-keygen", *arguments], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL)
    return done.stdout


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    keygen("-q", "-t", "ed25519", "-N", "", "-C", "authority", "-f", folder / "ca")
    made = {}
    for kind, more in KINDS:
        name = "-".join([kind, *more[1:]])
        keygen("-q", "-t", kind, *more, "-N", "", "-C", name, "-f", folder / name)
        keygen("-q", "-s", folder / "ca", "-I", "id", "-n", "git", folder / f"{name}.pub")
        made[name] = folder / f"{name}.pub"
    return made


def shown(public: Path) -> str:
    """The fingerprint by ssh-keygen."""
    return keygen("-lf", public).split(" ")[1]


def auth(folder: Path, *lines: str, mode: int = 0o600) -> str:
    """The file that sshd leaves, with one line for each way in."""
    file = folder / "sshauth.x"
    file.write_text("".join(f"{line}\n" for line in lines))
    file.chmod(mode)
    return str(file)


def line_of(public: Path) -> str:
    kind, blob, *_ = public.read_text().split(" ")
    return f"publickey {kind} {blob.strip()}"


@pytest.mark.parametrize("kind", ["ed25519", "rsa-2048", "ecdsa-256", "ecdsa-521"])
def test_a_key_has_the_fingerprint_that_ssh_keygen_prints(keys, kind, tmp_path):
    file = auth(tmp_path, line_of(keys[kind]))
    name = {shown(keys[kind]): "mei"}
    assert asked("ssh", {"SSH_USER_AUTH": file}, keys=name) == ("mei", shown(keys[kind]), None)


@pytest.mark.parametrize("kind", ["ed25519", "rsa-2048", "ecdsa-256", "ecdsa-521"])
def test_a_certificate_counts_as_the_key_in_it(keys, kind, tmp_path):
    certificate = keys[kind].with_name(f"{keys[kind].stem}-cert.pub")
    file = auth(tmp_path, line_of(certificate))
    assert "cert-v01" in Path(file).read_text()
    assert asked("ssh", {"SSH_USER_AUTH": file}, keys={shown(keys[kind]): "mei"}) == (
        "mei", shown(keys[kind]), None)


def test_a_certificate_of_an_unknown_type_is_nobody(tmp_path):
    kind = b"ssh-new-cert-v01@openssh.com"
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (kind, b"nonce", b"k" * 32))
    file = auth(tmp_path, f"publickey {kind.decode()} {b64encode(blob).decode()}")
    assert asked("ssh", {"SSH_USER_AUTH": file}, keys={"SHA256:" + "a" * 43: "mei"}) == (
        None, None, None)


def test_a_name_that_sshd_sets_goes_with_the_key(keys, tmp_path):
    file = auth(tmp_path, line_of(keys["ed25519"]))
    key = shown(keys["ed25519"])
    assert asked("ssh", {"REMOTE_USER": "mei", "SSH_USER_AUTH": file}) == ("mei", key, None)
    assert asked("ssh", {"REMOTE_USER": "mei"}) == ("mei", None, None)
    assert asked("ssh", {"WHO": "mei"}, name="WHO") == ("mei", None, None)
    assert asked("ssh", {"SSH_USER_AUTH": file}) == (None, key, None)


def test_with_a_table_only_listed_keys_have_a_name(keys, tmp_path):
    file = auth(tmp_path, line_of(keys["ed25519"]))
    key, other = shown(keys["ed25519"]), shown(keys["rsa-2048"])
    given = {"SSH_USER_AUTH": file, "REMOTE_USER": "mei"}
    assert asked("ssh", given, keys={other: "mei"}) == (None, key, None)
    assert asked("ssh", given, keys={key: "mei"}) == ("mei", key, None)
    assert "contradict" in asked("ssh", given, keys={key: "joe"})
    assert asked("ssh", {"REMOTE_USER": "mei"}, keys={key: "mei"}) == (None, None, None)
    assert "ExposeAuthInfo" in asked("ssh", {"SSH_CONNECTION": "::1 1 ::1 22"},
                                     keys={key: "mei"})


def test_a_way_in_without_a_key_is_no_credential(tmp_path):
    file = auth(tmp_path, "password")
    assert asked("ssh", {"SSH_USER_AUTH": file, "REMOTE_USER": "mei"}) == ("mei", None, None)


def test_a_second_factor_beside_the_key_changes_nothing(keys, tmp_path):
    line = line_of(keys["ed25519"])
    file = auth(tmp_path, line, "keyboard-interactive", line)
    assert asked("ssh", {"SSH_USER_AUTH": file})[1] == shown(keys["ed25519"])


def test_two_keys_are_not_guessed_among(keys, tmp_path):
    file = auth(tmp_path, line_of(keys["ed25519"]), line_of(keys["rsa-2048"]))
    assert "several keys" in asked("ssh", {"SSH_USER_AUTH": file})


@pytest.mark.parametrize(("what", "because"), [
    ("publickey ssh-ed25519 AAAA!", "cannot be read"), ("publickey ssh-ed25519", "cannot be read"),
    ("publickey ssh-ed25519 AAA", "cannot be read"), ("publickey ssh-ed25519 AA==", "cannot be"),
    ("publickey ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==", "another type"), ("", "cannot be"),
    ("x" * 70_000, "larger")])
def test_what_sshd_never_writes_cannot_be_judged(tmp_path, what, because):
    file = auth(tmp_path, *([what] if what else []))
    found = asked("ssh", {"SSH_USER_AUTH": file})
    assert because in found or "is empty" in found, found
    assert what[:40] not in found or not what


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(keys, tmp_path, mode):
    file = auth(tmp_path, line_of(keys["ed25519"]), mode=mode)
    assert "not sshd's" in asked("ssh", {"SSH_USER_AUTH": file})


def test_neither_links_nor_pipes_nor_folders_are_read(keys, tmp_path):
    file = auth(tmp_path, line_of(keys["ed25519"]))
    os.symlink(file, tmp_path / "link")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "pipe", "absent", "."):
        found = asked("ssh", {"SSH_USER_AUTH": str(tmp_path / name)})
        assert isinstance(found, str), (name, found)
        assert "where sshd says" in found
    assert "where sshd says" in asked("ssh", {"SSH_USER_AUTH": "a\0b"})


def test_a_relative_path_is_not_believed(keys, tmp_path, monkeypatch):
    auth(tmp_path, line_of(keys["ed25519"]))
    monkeypatch.chdir(tmp_path)
    assert "not sshd's" in asked("ssh", {"SSH_USER_AUTH": "sshauth.x"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_believed(keys, tmp_path):
    file = auth(tmp_path, line_of(keys["ed25519"]))
    os.chown(file, NOBODY, NOBODY)
    assert "not sshd's" in asked("ssh", {"SSH_USER_AUTH": file})
