"""Tests that pushes take away, weaken or leave out, and the refactorings that pass.

How claims compare is tried in tests/core; here are the pushes.
"""

from __future__ import annotations

from closings import keep
from pushing import accepted, last, made, refused
from sites import APP, MAIN, Site

KEPT = {"kept-tests"}
CODE = APP.replace("sum(prices)", "sum(sorted(prices))").encode()
HEAD = "import pytest\nfrom app import total\n\n"
LEGACY = {"src/legacy.py": "def rate(x):\n    return x * 2\n",
          "tests/test_legacy.py":
              "from legacy import rate\n\n\ndef test_rate():\n    assert rate(2) == 4\n"}


def tip_of(site: Site, files: dict[str, str | None]) -> str:
    """A change of the code, and these."""
    changes = {path: None if text is None else text.encode() for path, text in files.items()}
    return made(site, {"src/app.py": CODE, **changes}, on=site.tip())


def told(site: Site) -> set[str]:
    """What the last push was told: path, and note."""
    return {f"{place['path']} {place['note']}"
            for place in last(site.told)["findings"][0]["places"]}


def test_a_module_takes_its_tests_with_it(site):
    """C106"""
    keep(site, LEGACY)
    accepted(site, f"{tip_of(site, dict.fromkeys(LEGACY))}:{MAIN}", as_="agent-7")


def test_a_module_that_stays_keeps_its_tests(site):
    """C106, without the component; or with it under another name."""
    keep(site, LEGACY)
    gone = {"tests/test_legacy.py": None}
    refused(site, f"{tip_of(site, gone)}:{MAIN}", by=KEPT, as_="agent-7")
    moved = {"src/legacy.py": None, "src/modern.py": LEGACY["src/legacy.py"], **gone}
    refused(site, f"{tip_of(site, moved)}:{MAIN}", by=KEPT, as_="agent-7")


def test_a_name_takes_its_tests_with_it_and_a_file_name_none(site):
    """C106, for one function; and C107, by a file that no runner looks for."""
    keep(site, {"src/app.py": f"{APP}\n\ndef spare(x):\n    return x\n",
                "tests/test_spare.py": "from app import spare\n\n\ndef test_spare():\n"
                                       "    assert spare(2) == 2\n",
                "tests/test_total.py": f"{HEAD}def test_total():\n    assert total([2]) == 2\n"})
    text = f"{HEAD}def test_total():\n    assert total([2]) == 2\n"
    away = {"tests/test_total.py": None, "tests/total_checks.py": text}
    refused(site, f"{tip_of(site, away)}:{MAIN}", by=KEPT, as_="agent-7")
    accepted(site, f"{tip_of(site, {'tests/test_spare.py': None})}:{MAIN}", as_="agent-7")


CART = """

class Cart:
    def total(self):
        return sum(self.prices)

    def add_gift(self, card, wrapped):
        self.gifts.append(card.value if wrapped else self.plain(card))
"""
GIFT = "    def test_add_gift(self):\n        assert Cart().add_gift(1, 2) is None\n"
CARTS = "from app import Cart\n\n\nclass TestCart:\n    def test_total(self):\n" \
        "        assert Cart().total() == 0\n"


def test_a_member_takes_its_tests_with_it_where_nothing_says_it_any_more(site):
    """A name of a class, which no import tells of; and what is only called otherwise."""
    other = "def spare(prices):\n    return [price for price in prices if price.is_old]\n"
    keep(site, {"src/app.py": APP + CART, "tests/test_cart.py": CARTS + GIFT})
    gone = (APP + CART[:CART.index("    def add_gift")]).encode()
    called = (APP + CART).replace("add_gift", "put_in").encode()
    tests = {"tests/test_cart.py": CARTS.encode()}
    for source, more in ((called, {}),
                         (gone, {"src/other.py": b"class Bag:\n    add_gift = None\n"}),
                         (gone, {"tests/test_more.py": b"def test_it(cart):\n    cart.add_gift\n"}),
                         (gone, {"src/other.py": CART.replace("add_gift", "put_in").encode()})):
        tip = made(site, {"src/app.py": source, **tests, **more}, on=site.tip())
        refused(site, f"{tip}:{MAIN}", by=KEPT, as_="agent-7")
    tip = made(site, {"src/app.py": gone, "src/spare.py": other.encode(), **tests}, on=site.tip())
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")


def test_one_goes_and_another_one_comes(site):
    """C107"""
    was = f"{HEAD}def test_total():\n    assert total([1, 2]) == 3\n"
    keep(site, {"tests/test_total.py": was})
    for body in ("assert True", "assert total([])", "assert total([]) == 0"):
        now = f"{HEAD}def test_trivial():\n    {body}\n"
        refused(site, f"{tip_of(site, {'tests/test_total.py': now})}:{MAIN}", by=KEPT,
                as_="agent-7")
        assert site.told[0] == "policyd: kept-tests: tests/test_total.py:4 loses test_total"


WEAKENED = [
    # before, after, what is told of test_N
    ("assert total([1, 2]) == 3", "assert total([1, 2])", "was: total([1, 2]) == 3"),
    ("assert total([1, 2]) == 3", "assert total([1, 2]) == 3 or True", "was: total([1, 2]) == 3"),
    ("assert total([1, 2]) == 3", "return\n    assert total([1, 2]) == 3",
     "was: total([1, 2]) == 3"),
    ("assert total([1]) == 1\n    assert total([2]) == 2", "assert total([1]) == 1",
     "was: total([2]) == 2"),
    ("assert total([1]) == pytest.approx(1, abs=0.1)", "assert total([1]) == "
     "pytest.approx(1, abs=0.9)", "was: total([1]) ~ 1"),
    ("with pytest.raises(TypeError):\n        total(None)",
     "with pytest.raises(Exception):\n        total(None)", "was: raises TypeError: total(None)"),
    ("assert total([1, 2]) < 4", "assert total([1, 2]) < 400", "was: total([1, 2]) < 4"),
    ("assert total([1, 2]) == 3", "assert total([]) == 3", "was: total([1, 2]) == 3"),
    ("assert total([1, 2]) == 3", "pass", "lost all of 1 assertions"),
]


def test_each_test_that_is_weakened_is_told(site):
    """MISSION 8"""
    def tests(which: int) -> dict[str, str]:
        return {f"tests/test_{n}.py": f"{HEAD}def test_{n}():\n    {row[which]}\n"
                for n, row in enumerate(WEAKENED)}

    cases = "@pytest.mark.parametrize('x', {})\ndef test_all(x):\n    assert total([x]) == x\n"
    keep(site, {**tests(0), "tests/test_all.py": HEAD + cases.format("[1, 2, 3]")})
    tip = tip_of(site, {**tests(1), "tests/test_all.py": HEAD + cases.format("[1]")})
    refused(site, "-o", "policyd.json", f"{tip}:{MAIN}", by=KEPT, as_="agent-7")
    assert told(site) == {"tests/test_all.py test_all runs 1 of 3 cases", *(
        f"tests/test_{n}.py test_{n} {said}" for n, (_, _, said) in enumerate(WEAKENED))}
    site.git("switch", "-q", "--detach", site.tip())
    site.commit(tests(1))
    accepted(site, f"HEAD:{MAIN}", as_="alice")


KEPT_ALL = [
    # before, after
    ("def test_a(): assert total([1, 2]) == 3", "def test_sum(): assert total([1, 2]) == 3"),
    ("def test_b(): assert total([1, 2]) == 3",
     "def test_b():\n    found = total([1, 2])\n    assert 3 == found"),
    ("def test_c(): assert total([1, 2]) == 3", "def test_c(): assert total([1, 2]) == 4"),
    ("def test_d(): assert total([1, 2])", "def test_d(): assert total([1, 2]) == 3"),
    ("def test_e(): assert total([4]) == 4\n\ndef test_f(): assert total([5]) == 5",
     "@pytest.mark.parametrize('x', [4, 5])\ndef test_ef(x): assert total([x]) == x"),
    ("def test_g():\n    assert total([6]) == 6\n    assert total([7]) == 7",
     "def test_g(): assert total([6]) == 6\n\ndef test_h(): assert total([7]) == 7"),
    ("def test_i(): assert total([8]) == 8",
     "class TestTotals:\n    def test_i(self): assert total([8]) == 8"),
]


def test_refactorings_pass(site):
    """What was claimed is claimed: renamed, moved, inlined, split, merged into cases."""
    def files(which: int) -> dict[str, str]:
        return {f"tests/test_{n}.py": f"{HEAD}{row[which]}\n" for n, row in enumerate(KEPT_ALL)}

    keep(site, files(0))
    moved = {"tests/test_0.py": None, "tests/test_moved.py": files(1)["tests/test_0.py"]}
    accepted(site, f"{tip_of(site, {**files(1), **moved})}:{MAIN}", as_="agent-7")


def test_tests_are_not_left_out_by_settings(site):
    """C101"""
    keep(site, {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\n'})
    option = "--deselect tests/test_app.py::test_total"
    site.commit({"src/app.py": CODE, "pyproject.toml":
                 f'[tool.pytest.ini_options]\naddopts = "-q {option}"\n'})
    refused(site, f"HEAD:{MAIN}", by=KEPT, as_="agent-7")
    assert site.told[0].startswith("policyd: kept-tests: pyproject.toml:2 gains --deselect ")


def test_tests_are_not_left_out_by_wiring(site):
    """C101: nor by a maintainer together with source."""
    tip = tip_of(site, {"conftest.py": 'collect_ignore_glob = ["tests/*"]\n'})
    refused(site, f"{tip}:{MAIN}", by={"unmarked-tests", "protected-writers"}, as_="agent-7")
    refused(site, f"{tip}:{MAIN}", by={"unmarked-tests"})


def test_what_runs_tests_stays_while_source_changes(site):
    """The definition of the checks may change beside source where it runs none."""
    job = "jobs:\n  test:\n    steps:\n      - uses: actions/checkout@v3\n      - run: pytest{}\n"
    lint = "  lint:\n    steps:\n      - run: {}\n"
    path = ".github/workflows/a.yml"
    keep(site, {path: job.format("") + lint.format("ruff .")})
    site.edit_policy("- \".github/**\"", "- \".github/CODEOWNERS\"")
    for text in (job.format(" || true"), job.format("").replace("test:", "test:\n    if: false")):
        refused(site, f"{tip_of(site, {path: text})}:{MAIN}", by=KEPT, as_="agent-7")
        assert site.told[0].startswith(f"policyd: kept-tests: {path}:2 comes with source")
    tip = tip_of(site, {path: job.format("").replace("v3", "v4") + lint.format("ruff src")})
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")


def test_a_maintainer_returns_to_a_state_with_fewer_tests(site):
    keep(site, LEGACY)
    site.git("revert", "--no-edit", "HEAD")
    accepted(site, f"HEAD:{MAIN}", as_="alice")


def test_a_test_that_nobody_can_read_is_no_test(site):
    tip = tip_of(site, {"tests/test_app.py": "def (\n"})
    refused(site, f"{tip}:{MAIN}", by={"literal-overlap", "unmarked-tests", "kept-tests"},
            as_="agent-7")
