"""What assertions of JavaScript claim, by the names of their methods: jest, chai, node, ava."""

from __future__ import annotations

from collections.abc import Mapping

from policyd.core.sheet import Kind

EQUALS = "=="

_EQUAL = frozenset({
    "toBe", "toEqual", "toStrictEqual", "equal", "equals", "eql", "eqls", "eq", "strictEqual",
    "deepEqual", "deepStrictEqual", "is", "same", "strictSame", "deep", "toHaveText", "toBeEqual",
    "becomes", "propEqual", "toHaveBeenNthReturnedWith"})  # fmt: skip
_SNAPSHOT = frozenset({
    "toMatchSnapshot", "toMatchInlineSnapshot", "toMatchFileSnapshot", "snapshot", "matchSnapshot",
    "toThrowErrorMatchingSnapshot", "toThrowErrorMatchingInlineSnapshot", "fileSnapshot",
    "toHaveScreenshot", "toMatchImageSnapshot", "toMatchAriaSnapshot"})  # fmt: skip
CONSTANT: Mapping[str, str] = {
    "toBeNull": "None", "toBeUndefined": "None", "toBeNaN": "NaN", "isNull": "None",
    "isUndefined": "None", "null": "None", "undefined": "None", "NaN": "NaN", "isNaN": "NaN",
    "isTrue": "True", "isFalse": "False", "true": "True", "false": "False", "True": "True",
    "False": "False", "ifError": "None", "error": "None",
}
"""Methods and words that name what they want themselves."""
_KINDS: Mapping[Kind, frozenset[str]] = {
    Kind.CLOSE: frozenset({"toBeCloseTo", "closeTo", "approximately"}),
    Kind.ORDER: frozenset({
        "toBeGreaterThan", "toBeGreaterThanOrEqual", "toBeLessThan", "toBeLessThanOrEqual",
        "above", "below", "least", "most", "greaterThan", "lessThan", "gt", "gte", "lt", "lte",
        "within", "isAbove", "isBelow", "isAtLeast", "isAtMost", "not", "notEqual", "notSame",
        "notStrictEqual", "notDeepEqual", "notDeepStrictEqual", "notInclude", "notRegex",
        "doesNotMatch", "notPropEqual"}),
    Kind.MEMBER: frozenset({
        "toContain", "toContainEqual", "toMatch", "toMatchObject", "toHaveLength",
        "toHaveProperty", "include", "includes", "contain", "contains", "match", "matches",
        "regex", "length", "lengthOf", "property", "propertyVal", "keys", "members", "oneOf",
        "ownProperty", "string", "like", "partialDeepStrictEqual", "deepInclude", "sameMembers",
        "sameDeepMembers", "hasAllKeys", "toHaveTextContent", "toHaveAttribute", "toHaveValue",
        "toHaveClass", "toContainText", "toHaveCount", "toHaveURL", "toHaveTitle", "toBeOneOf",
        "startWith", "endWith", "toStartWith", "toEndWith", "deepNestedInclude", "nested",
        "arrayContaining", "objectContaining", "stringContaining", "stringMatching",
        "equalIgnoreSpaces", "toHaveStyle", "toContainElement", "toContainHTML"}),
    Kind.RAISES: frozenset({
        "toThrow", "toThrowError", "throw", "throws", "Throw", "rejects", "rejected",
        "rejectedWith", "throwsAsync", "isRejected"}),
    Kind.CALLED: frozenset({
        "toHaveBeenCalled", "toHaveBeenCalledTimes", "toHaveBeenCalledWith", "toBeCalled",
        "toHaveBeenLastCalledWith", "toHaveBeenNthCalledWith", "toHaveBeenCalledOnce",
        "toHaveBeenCalledExactlyOnceWith", "toBeCalledWith", "toBeCalledTimes", "lastCalledWith",
        "nthCalledWith", "toHaveReturned", "toHaveReturnedWith", "toHaveReturnedTimes",
        "toHaveLastReturnedWith", "called", "calledOnce", "calledTwice", "calledThrice",
        "calledWith", "calledOnceWith", "calledWithExactly", "calledOnceWithExactly",
        "notCalled", "callCount", "alwaysCalledWith", "calledBefore", "calledAfter",
        "calledOn", "calledWithMatch", "toHaveBeenCalledBefore", "toHaveBeenCalledAfter"}),
    Kind.TRUTH: frozenset({
        "toBeTruthy", "toBeFalsy", "toBeDefined", "toBeInstanceOf", "toBeTypeOf", "instanceOf",
        "instanceof", "a", "an", "ok", "notOk", "truthy", "falsy", "isOk", "isNotOk", "exist",
        "exists", "isDefined", "isNotNull", "isArray", "isString", "isNumber", "isObject",
        "isFunction", "typeOf", "type", "isEmpty", "empty", "doesNotThrow", "doesNotReject",
        "notThrows", "notThrowsAsync", "isFulfilled", "fulfilled", "finite", "toBeInTheDocument",
        "toBeVisible", "toBeHidden", "toBeEnabled", "toBeDisabled", "toBeChecked",
        "toBeEmptyDOMElement", "toBeEmpty", "toSatisfy", "satisfy", "satisfies", "extensible",
        "sealed", "frozen", "arguments"}),
}  # fmt: skip
_BY_NAME: Mapping[str, Kind] = {
    **{name: kind for kind, names in _KINDS.items() for name in names},
    **dict.fromkeys([*_EQUAL, *_SNAPSHOT, *CONSTANT], Kind.EQUAL),
}
_SPELLED: Mapping[str, str] = {
    **dict.fromkeys(_EQUAL, EQUALS), **dict.fromkeys(CONSTANT, EQUALS),
    **dict.fromkeys(_SNAPSHOT, "=="),
    **dict.fromkeys(["toContain", "toContainEqual", "include", "includes", "contain", "contains",
                     "string", "deepInclude"], "contains"),
    **dict.fromkeys(["toMatch", "match", "matches", "regex"], "matches"),
    **dict.fromkeys(["toHaveLength", "length", "lengthOf"], "has length"),
    **dict.fromkeys(["toHaveProperty", "property", "propertyVal", "ownProperty"], "has"),
    **dict.fromkeys(["toBeGreaterThan", "above", "greaterThan", "gt", "isAbove"], ">"),
    **dict.fromkeys(["toBeLessThan", "below", "lessThan", "lt", "isBelow"], "<"),
    **dict.fromkeys(["toBeGreaterThanOrEqual", "least", "gte", "isAtLeast"], ">="),
    **dict.fromkeys(["toBeLessThanOrEqual", "most", "lte", "isAtMost"], "<="),
    **dict.fromkeys(["toBeCloseTo", "closeTo", "approximately"], "~"),
    **dict.fromkeys(["not", "notEqual", "notSame", "notStrictEqual", "notDeepEqual",
                     "notDeepStrictEqual", "notPropEqual"], "!="),
    **dict.fromkeys(_KINDS[Kind.RAISES], "raises"),
    **dict.fromkeys(["toBeInstanceOf", "instanceOf", "instanceof"], "is a"),
    **dict.fromkeys(["toBeTruthy", "ok", "truthy", "isOk"], "is true"),
    **dict.fromkeys(["toBeFalsy", "notOk", "falsy", "isNotOk"], "is false"),
    **dict.fromkeys(["toBeDefined", "exist", "exists", "isDefined"], "is there"),
}
STANDING = frozenset({
    "ok", "exist", "empty", "finite", "frozen", "sealed", "extensible", "called", "calledOnce",
    "calledTwice", "calledThrice", "notCalled", "fulfilled", "rejected", "null", "undefined",
    "NaN", "true", "false", "arguments"})  # fmt: skip
"""Words of chai that are a claim as they stand, without a call."""
RAISING = _KINDS[Kind.RAISES]
AFTER = frozenset({"then", "catch", "finally"})


def known(name: str) -> bool:
    return name in _BY_NAME


def kind_of(name: str, has_answer: bool) -> Kind:
    """Of one that nobody knows: part of a value where it is held against something."""
    return _BY_NAME.get(name, Kind.MEMBER if has_answer else Kind.TRUTH)


def spelled(name: str) -> str:
    return _SPELLED.get(name, name)


def is_snapshot(name: str) -> bool:
    return name in _SNAPSHOT


def is_inline(name: str) -> bool:
    """Whether a snapshot stands in the test itself."""
    return name.endswith("InlineSnapshot")


def negated(kind: Kind) -> Kind:
    """What is left of a claim behind `not`."""
    if kind in (Kind.EQUAL, Kind.CLOSE, Kind.MEMBER):
        return Kind.ORDER
    return Kind.TRUTH if kind is Kind.RAISES else kind
