"""All that source defines and others can say, and the names that a test says."""

from __future__ import annotations

from policyd.languages import javascript, python

PYTHON = b'''
LIMIT = 3
class Client:
    timeout: int = 5
    def __init__(self, backend=None, *, retries=0):
        self._backend = backend
    @property
    def is_closed(self):
        return self._state == "closed"
def total(prices):
    def inner(hidden): ...
    return sum(prices)
'''
SCRIPT = b'''
const limit = 3
export function total(prices, { tax }) { const inner = 1; return prices.map(x => x * tax) }
class Cart { rate = 1; sum(items) { return items.length } }
req.acceptsCharset = function (type) { return accepts(this).charset(type) }
module.exports = { flatten: function (list) { return list.flat() }, pad(text) { return text } }
defineGetter(req, 'protocol', function () { return this.socket.encrypted })
'''


def test_what_a_python_module_defines():
    found = {one.name: one.words for one in python.sheet(PYTHON, 6).defined}
    assert set(found) == {"LIMIT", "Client", "timeout", "__init__", "backend", "retries",
                          "_backend", "is_closed", "total", "prices"}
    assert found["is_closed"] == ("'closed'", "_state", "property")
    assert found["prices"] == found["total"]


def test_what_a_script_defines():
    found = {one.name: one.words for one in javascript.sheet(SCRIPT, 6).defined}
    assert set(found) >= {"limit", "total", "prices", "tax", "Cart", "rate", "sum", "items",
                          "acceptsCharset", "type", "flatten", "list", "pad", "text", "protocol"}
    assert "inner" not in found
    assert found["acceptsCharset"] == ("accepts", "charset", "type")


def test_what_a_python_test_says():
    [test] = python.sheet(b'''
from shop import Cart
def test_total(given):
    cart = Cart(backend=given)
    assert cart.total == 3
''', 6).tests
    assert test.names == ("Cart", "backend", "total")


def test_what_a_test_of_a_script_says():
    [test] = javascript.sheet(b"it('x', () => { expect(cart.total({rate: 1})).toBe(3) })", 6).tests
    assert test.names == ("cart", "expect", "rate", "toBe", "total")
