"""Which file a test means by a module."""

from __future__ import annotations

import pytest

from policyd.core.modules import is_at, is_library, place_of

PY, TS = "tests/test_a.py", "tests/cart.test.ts"


@pytest.mark.parametrize(("use", "path", "at", "is_it"), [
    ("app", "src/app.py", PY, True),
    ("app.total", "src/app.py", PY, True),
    ("shop.app", "src/shop/app.py", PY, True),
    ("src.shop.app", "src/shop/app.py", PY, True),
    ("shop.app", "packages/shop/src/shop/app.py", PY, True),
    ("shop", "src/shop/__init__.py", PY, True),
    ("shop.app", "src/shop/__init__.py", PY, False),
    ("shop", "src/shop/app.py", PY, False),
    ("app", "src/shop/deep/app.py", PY, False),
    ("other", "src/app.py", PY, False),
    ("../src/cart", "src/cart.ts", TS, True),
    ("../src/cart.js", "src/cart.ts", TS, True),
    ("../src/cart", "src/cart/index.ts", TS, True),
    ("../src/cart.total", "src/cart.ts", TS, True),
    ("../src/cart.Cart.prototype.total", "src/cart/index.ts", TS, True),
    ("../src/cart.*", "src/cart.ts", TS, True),
    ("../src/cart.io", "src/cart.io.ts", TS, True),
    ("../src/carts.total", "src/cart.ts", TS, False),
    ("../src/total", "src/cart.ts", TS, False),
    ("cart", "src/cart.ts", TS, False),
])
def test_what_a_file_means(use, path, at, is_it):
    assert is_at(use, path, at) is is_it


@pytest.mark.parametrize(("use", "at", "is_it"), [
    ("json", PY, True), ("os.path", PY, True), ("pytest", PY, True), (".helpers", PY, True),
    ("tests.helpers", PY, True), ("shop.app", PY, False), ("vitest", TS, True),
    ("./helpers", TS, True), ("../src/cart", TS, False), ("@scope/pkg", TS, True),
])
def test_what_is_nobodys_own(use, at, is_it):
    assert is_library(use, at) is is_it


@pytest.mark.parametrize(("use", "at", "place"), [
    ("tests.orders", "src/ship.py", "tests/orders"),
    ("..tests", "src/ship.py", "tests"),
    (".units", "src/deep/ship.py", "src/deep/units"),
    ("...x", "src/ship.py", ""),
    ("../tests/orders.js", "src/ship.ts", "tests/orders"),
    ("lodash", "src/ship.ts", ""),
    ("../../x", "src/ship.ts", ""),
])
def test_where_a_module_stands_by_its_name(use: str, at: str, place: str) -> None:
    assert place_of(use, at) == place
