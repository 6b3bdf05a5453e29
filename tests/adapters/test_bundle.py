"""Bundles: what goes into one, and what is no bundle."""

from __future__ import annotations

import os

import pytest
import shipped

from policyd.adapters import bundle
from policyd.core.errors import CannotJudge, PolicydError
from policyd.rules import OPTIONS


def test_a_bundle_holds_the_policies_and_nothing_of_the_server(tmp_path):
    bundle.write(tmp_path / "b", shipped.active())
    read = bundle.load(tmp_path / "b", OPTIONS)
    assert read.policies == shipped.active().policies
    assert read.settings == bundle.NOWHERE
    assert b"/state" not in (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_everybody_may_read_it_and_its_owner_alone_write(tmp_path, mask):
    before = os.umask(mask)
    try:
        bundle.write(tmp_path / "b", shipped.active())
    finally:
        os.umask(before)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o644
    assert os.listdir(tmp_path) == ["b"]


def test_one_that_is_there_is_replaced_whole(tmp_path):
    (tmp_path / "b").write_text("old")
    with open(tmp_path / "b") as reader:
        bundle.write(tmp_path / "b", shipped.active())
        assert reader.read() == "old"
    assert bundle.load(tmp_path / "b", OPTIONS).policies


@pytest.mark.parametrize("place", ["absent/b", "."])
def test_where_none_can_be_written_nothing_is_left(tmp_path, place):
    with pytest.raises(PolicydError, match="cannot be written"):
        bundle.write(tmp_path / place, shipped.active())
    assert os.listdir(tmp_path) == []


def test_what_is_no_bundle_is_a_sentence(tmp_path):
    with pytest.raises(CannotJudge, match="cannot be read"):
        bundle.load(tmp_path / "absent", OPTIONS)
    (tmp_path / "b").write_text("x")
    with pytest.raises(CannotJudge, match="is no bundle of this policyd"):
        bundle.load(tmp_path / "b", OPTIONS)
