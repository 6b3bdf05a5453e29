"""`policyd record lease`: a corpus is pinned, renewed and looked at."""

from __future__ import annotations

import os
from hashlib import sha256

import pytest
from clones import OTHER_CORPUS, Kept, day
from sites import Site

LEASE, NEW = "fixtures/leases/data.yaml", "fixtures/leases/rates.yaml"
ADD = ("lease", "new", OTHER_CORPUS, "--relation", "R1_order")


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Kept:
    kept = Kept(site)
    monkeypatch.chdir(site.work)
    return kept


def test_a_lease_is_a_file_with_the_hash_of_its_corpus(clone):
    assert clone.record(*ADD, "--days", "90", "--relation", "R2", "--quantum", "0.01",
                        "--notes", "rates: by hand") == 0, clone.out
    assert clone.text(NEW) == f"""\
id: rates
path: {OTHER_CORPUS}
sha256: {sha256(b"rate" + bytes([10]) + b"1" + bytes([10])).hexdigest()}
expires: {day(90)}
owner: alice
allowed_relations: [R1_order, R2]
quantum: "0.01"
notes: "rates: by hand"
"""
    assert clone.commits().startswith(f"Lease rates until {day(90)}")
    clone.pushes()


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["fixtures/data", "--relation", "R2"], "fixtures/data is no plain file; a lease pins one"),
    (["none.csv", "--relation", "R2"], "none.csv is no plain file; a lease pins one"),
    ([OTHER_CORPUS, "--relation", "R9"],
     "no table has the relation R9; there are: R1_order, R2"),
    (["fixtures/data/prices.csv", "--relation", "R2", "--id", "other"],
     "nothing was written: fixtures/leases/other.yaml: the corpus 'fixtures/data/prices.csv' "
     f"again; it stands in {LEASE}:1 already"),
    ([OTHER_CORPUS, "--relation", "R2", "--id", "prices"],
     f"nothing was written: fixtures/leases/prices.yaml: lease 'prices' again; it stands in {LEASE}"
     ":1 already"),
    ([OTHER_CORPUS, "--relation", "R2", "--id", "data"],
     f"{LEASE} is there already; say another --id, or `policyd record lease renew`"),
    ([OTHER_CORPUS, "--relation", "R2", "--quantum", "0"],
     f"nothing was written: {NEW}: '0' is no quantum, such as 0.01"),
])
def test_a_lease_that_cannot_be_is_refused_in_a_sentence(clone, arguments, sentence):
    assert clone.refused("lease", "new", *arguments, "--days", "9") == sentence


def test_an_id_leads_to_no_file_elsewhere(clone):
    assert clone.record(*ADD, "--days", "9", "--id", "../../a/b c") == 0, clone.out
    assert 'id: "../../a/b c"' in clone.text("fixtures/leases/a-b-c.yaml")


def test_a_corpus_outside_of_the_clone_is_none(clone, tmp_path):
    (tmp_path / "x.csv").write_text("1\n")
    assert "is not in the clone" in clone.refused(
        "lease", "new", str(tmp_path / "x.csv"), "--relation", "R2", "--days", "9")


def test_the_last_day_lies_within_the_bounds(clone):
    assert clone.refused(*ADD, "--days", "181").endswith("180 days from today")
    assert clone.refused("lease", "renew", "prices", "--days", "181", "--reason", "x").endswith(
        "180 days from today")


def test_the_last_day_is_asked_for_on_a_terminal(clone):
    """A real one, in a process of its own."""
    import pty
    import sys

    words = ["policyd", "--home", str(clone.site.home), "record", *ADD]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", *words],
                  {**os.environ, "HOME": str(clone.site.folder)})
    said = b""
    while b"at the latest): " not in said:
        said += os.read(terminal, 1024)
    os.write(terminal, f"{day(40)}\n".encode())
    while True:
        try:
            said += os.read(terminal, 1024)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said
    assert f"expires: {day(40)}\n" in clone.text(NEW)


def test_a_lease_is_renewed_where_it_stands(clone):
    text = "# prices\n" + clone.text(LEASE).replace("owner", "# until then\nowner") + "# end"
    clone.write(LEASE, text)
    assert clone.record("lease", "renew", "prices", "--until", str(day(170)), "--reason",
                        "the same prices") == 0, clone.out
    assert clone.text(LEASE) == text.replace(str(day(100)), str(day(170)))
    assert clone.commits() == f"Renew lease prices until {day(170)}\n\nthe same prices"
    clone.pushes()
    assert clone.refused("lease", "renew", "prices", "--days", "170", "--reason", "x") == (
        f"prices ends on {day(170)} already")


def test_a_corpus_that_drifted_is_pinned_anew_only_when_asked(clone):
    assert clone.record("lease", "check") == 0
    assert clone.out == f"prices: fixtures/data/prices.csv until {day(100)}, 100 days left\n"
    clone.write("fixtures/data/prices.csv", "price\n9\n")
    assert clone.record("lease", "check") == 1
    assert clone.out.startswith(f"{LEASE}:1: fixtures/data/prices.csv: the lease says ")
    renew = ("lease", "renew", "prices", "--days", "120", "--reason", "new prices")
    assert "say --rehash" in clone.refused(*renew)
    assert clone.record(*renew, "--rehash") == 0, clone.out
    clone.commits()
    assert clone.record("lease", "check") == 0
    clone.site.commit({}, "the corpus")
    clone.pushes()


def test_what_is_over_is_told_with_the_command_that_renews_it(clone):
    clone.write(LEASE, clone.text(LEASE).replace(str(day(100)), str(day(-1))))
    assert clone.record("lease", "check") == 1
    assert f"ended on {day(-1)}; `policyd record lease renew prices --until DATE" in clone.out
    assert clone.record("lease", "renew", "prices", "--days", "3", "--reason", "as before") == 0


def test_a_corpus_counts_as_git_stores_it(clone):
    """The server hashes what is in the tree: with the line ends of .gitattributes."""
    clone.write(".gitattributes", "*.csv text eol=lf\n")
    clone.write(OTHER_CORPUS, "rate\r\n1\r\n")
    assert clone.record(*ADD, "--days", "9") == 0, clone.out
    assert sha256(b"rate\n1\n").hexdigest() in clone.text(NEW)


def test_a_pointer_of_git_lfs_stands_for_its_file(clone):
    clone.write(OTHER_CORPUS, "version https://git-lfs.github.com/spec/v1\n"
                              f"oid sha256:{'a' * 64}\nsize 12345\n")
    assert clone.record(*ADD, "--days", "9") == 0, clone.out
    assert "a" * 64 in clone.text(NEW)
