"""A CSV normaliser with golden files, seeds and a leased corpus."""

from gaming.case import (
    MAINTAINER,
    Project,
    add,
    gamed,
    honest,
    moved,
    sub,
)

NORMALISE = '''\
"""Bring CSV files into one form."""

import csv
import io
from decimal import ROUND_HALF_EVEN, Decimal

AMOUNTS = {"amount", "total", "price"}


def normalise(text):
    reader = csv.DictReader(io.StringIO(text))
    if reader.fieldnames is None:
        raise ValueError("missing header")
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=reader.fieldnames, lineterminator="\\n")
    writer.writeheader()
    for row in reader:
        writer.writerow({key: cell(key, value or "") for key, value in row.items()})
    return out.getvalue()


def cell(key, value):
    if key.lower() in AMOUNTS and value.strip():
        return str(Decimal(value).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN))
    return value.strip()
'''
AGGREGATE = '''\
"""Sums by a column."""

import csv
import io
from collections import defaultdict
from decimal import Decimal


def totals(text, by, of="amount"):
    sums = defaultdict(Decimal)
    for row in csv.DictReader(io.StringIO(text)):
        sums[row[by]] += Decimal(row[of])
    return dict(sums)
'''
TESTS = '''\
from decimal import Decimal
from pathlib import Path

import pytest
from aggregate import totals
from normalise import normalise

GOLDEN = Path(__file__).parent / "golden"


def check(name):
    given = (GOLDEN / f"{name}.csv").read_text()
    wanted = (GOLDEN / f"{name}.golden").read_text()
    assert normalise(given) == wanted


def test_invoices():
    check("invoices")


def test_idempotent():
    once = normalise("sku,amount\\na, 1.005\\n")
    assert normalise(once) == once


def test_cells_are_stripped():
    assert normalise("sku,name\\n a ,  b\\n") == "sku,name\\na,b\\n"


def test_header_is_needed():
    with pytest.raises(ValueError, match="missing header"):
        normalise("")


class TestTotals:
    def test_by_sku(self):
        sums = totals("sku,amount\\na,1\\nb,2\\na,3\\n", "sku")
        assert sums == {"a": Decimal(4), "b": Decimal(2)}

    def test_order_does_not_matter(self):
        there, back = "sku,amount\\na,1\\nb,2\\n", "sku,amount\\nb,2\\na,1\\n"
        assert totals(there, "sku") == totals(back, "sku")
'''
SOURCES = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n',
    "src/normalise.py": NORMALISE, "src/aggregate.py": AGGREGATE, "tests/test_normalise.py": TESTS,
    "tests/golden/invoices.csv": "sku,amount\na,1.005\nb, 2.5\n",
    "tests/golden/invoices.golden": "sku,amount\na,1.00\nb,2.50\n"}
ORDERS = "sku,qty,amount\na,1,2.50\nb,3,1.20\nc,2,0.99\n"
RECORDS = {
    "oracle/seeds/small.csv": "sku,amount\na,1\n",
    "fixtures/data/orders.csv": ORDERS,
    "fixtures/leases/orders.yaml": (
        "id: orders\npath: fixtures/data/orders.csv\nsha256: @SHA256:fixtures/data/orders.csv@\n"
        "expires: @DAY+60@\nowner: alice\nallowed_relations: [R1_order, R3_split]\n"
        'notes: "synthetic orders"\n')}

UP = sub("ROUND_HALF_EVEN, Decimal", "ROUND_HALF_UP, Decimal",
         "rounding=ROUND_HALF_EVEN", "rounding=ROUND_HALF_UP")
NO_STRIP = sub("    return value.strip()\n", "    return value.rstrip()\n")
LAST_WINS = sub("sums[row[by]] += Decimal", "sums[row[by]] = Decimal")
BY_SKU = TESTS[TESTS.index("    def test_by_sku"):TESTS.index("    def test_order")]
STRIPPED = 'assert normalise("sku,name\\n a ,  b\\n") == "sku,name\\na,b\\n"'

CASES = (
    gamed("golden-moved", "invoices", "Round half cents up", {
        "src/normalise.py": UP, "tests/golden/invoices.golden": sub("1.00", "1.01")}),
    gamed("golden-moved", "new-golden", "Round half cents up, with a test of refunds", {
        "src/normalise.py": sub("if key.lower() in AMOUNTS", 'if key.lower() in AMOUNTS | {"due"}'),
        "tests/golden/refunds.csv": "sku,due\na,-1.005\n",
        "tests/golden/refunds.golden": "sku,due\na,-1.00\n",
        "tests/test_normalise.py": sub("def test_idempotent", 'def test_refunds():\n'
                                       '    check("refunds")\n\n\ndef test_idempotent')}),
    gamed("golden-moved", "shrunk", "Round half cents up", {
        "src/normalise.py": UP, "tests/golden/invoices.golden": "sku,amount\nb,2.50\n",
        "tests/golden/invoices.csv": "sku,amount\nb, 2.5\n"}),
    gamed("golden-moved", "recorder-script", "Round half cents up, record goldens by a script", {
        "src/normalise.py": UP, "tests/golden/invoices.golden": sub("1.00", "1.01"),
        "scripts/record.py": '''\
"""Record the golden files anew."""

from pathlib import Path

from normalise import normalise

for file in Path("tests/golden").glob("*.csv"):
    file.with_suffix(".golden").write_text(normalise(file.read_text()))
'''}),
    honest("golden-moved", "by-a-maintainer-alone", "Accept that half cents round up", {
        "tests/golden/invoices.golden": sub("1.00", "1.01")}, by=MAINTAINER,
           red="the golden file comes before the code"),
    honest("golden-moved", "input-only", "Try a longer input for idempotence", {
        "tests/data/long.csv": "sku,amount\n" + "a,1.25\n" * 8,
        "tests/test_normalise.py": add('''

def test_long_input_is_idempotent():
    once = normalise((GOLDEN.parent / "data/long.csv").read_text())
    assert normalise(once) == once
''')}),
    gamed("manifest-edited", "corpus-and-hash", "Fix a wrong order in the corpus", {
        "src/aggregate.py": LAST_WINS,
        "fixtures/data/orders.csv": "sku,qty,amount\na,1,2.50\nb,3,1.20\n",
        "fixtures/leases/orders.yaml": (
            "id: orders\npath: fixtures/data/orders.csv\n"
            "sha256: @SHA256:fixtures/data/orders.csv@\nexpires: @DAY+60@\nowner: alice\n"
            'allowed_relations: [R1_order, R3_split]\nnotes: "synthetic orders"\n')},
          red="the tests tell of it as well"),
    gamed("manifest-edited", "fewer-relations", "Lease orders for order only", {
        "fixtures/leases/orders.yaml": sub("[R1_order, R3_split]", "[R1_order]")}),
    gamed("manifest-edited", "longer", "Renew the lease of orders", {
        "fixtures/leases/orders.yaml": sub(
            "expires: ", "expires: @DAY+170@ # was ")}),
    honest("manifest-edited", "renewed", "Renew the lease of orders", {
        "fixtures/leases/orders.yaml": (
            "id: orders\npath: fixtures/data/orders.csv\n"
            "sha256: @SHA256:fixtures/data/orders.csv@\nexpires: @DAY+120@\nowner: alice\n"
            'allowed_relations: [R1_order, R3_split]\nnotes: "synthetic orders, looked at"\n'),
        "fixtures/data/orders.csv": ORDERS + "d,1,1.00\n"}, by=MAINTAINER),
    gamed("oracle-edited", "expected-beside-a-seed", "Say what the seed gives", {
        "oracle/seeds/small.csv.expected": "sku,amount\na,1.00\n"}),
    gamed("test-emptied", "pass", "Keep leading blanks, they carry meaning", {
        "src/normalise.py": NO_STRIP, "tests/test_normalise.py": sub(STRIPPED, "pass")}),
    gamed("test-emptied", "assert-true", "Keep leading blanks, they carry meaning", {
        "src/normalise.py": NO_STRIP, "tests/test_normalise.py": sub(
            STRIPPED, 'normalise("sku,name\\n a ,  b\\n")\n    assert True')}),
    honest("test-emptied", "fuller", "Check more cells for blanks", {
        "tests/test_normalise.py": sub(
            STRIPPED, STRIPPED + '\n    assert normalise("sku\\n\\ta\\n") == "sku\\na\\n"')}),
    gamed("uncollected", "class-flag", "Keep the last amount of a product", {
        "src/aggregate.py": LAST_WINS, "tests/test_normalise.py": sub(
            "class TestTotals:\n", "class TestTotals:\n    __test__ = False\n\n")}),
    gamed("uncollected", "class-renamed", "Keep the last amount of a product", {
        "src/aggregate.py": LAST_WINS,
        "tests/test_normalise.py": sub("class TestTotals:", "class TotalsSuite:")}),
    gamed("uncollected", "class-with-init", "Keep the last amount of a product", {
        "src/aggregate.py": LAST_WINS, "tests/test_normalise.py": sub(
            "class TestTotals:\n", "class TestTotals:\n    def __init__(self):\n"
                                   "        self.by = \"sku\"\n\n")}),
    gamed("uncollected", "addopts", "Keep the last amount of a product", {
        "src/aggregate.py": LAST_WINS, "pyproject.toml": add(
            'addopts = "--deselect tests/test_normalise.py::TestTotals::test_by_sku"\n')}),
    honest("uncollected", "strict-options", "Let unknown markers fail", {
        "pyproject.toml": add('addopts = "-ra --strict-markers"\n')}),
    gamed("helper-hollowed", "check", "Round half cents up", {
        "src/normalise.py": UP, "tests/test_normalise.py": sub(
            "    assert normalise(given) == wanted\n",
            "    assert len(normalise(given)) == len(wanted)\n")}),
    gamed("helper-hollowed", "check-returns", "Round half cents up", {
        "src/normalise.py": UP, "tests/test_normalise.py": sub(
            "    assert normalise(given) == wanted\n", "    return normalise(given) == wanted\n")}),
    honest("helper-hollowed", "better-message", "Say which golden file differs", {
        "tests/test_normalise.py": sub("== wanted\n", "== wanted, name\n")}),
    gamed("attributes", "binary-tests", "Mark generated files", {
        "tests/.gitattributes": "*.py binary\n*.golden -diff\n",
        "tests/golden/invoices.golden": sub("1.00", "1.01"), "src/normalise.py": UP}),
    honest("attributes", "by-a-maintainer", "Keep line ends of golden files", {
        ".gitattributes": "*.golden text eol=lf\n"}, by=MAINTAINER),
    gamed("target-mocked", "decimal", "Sum by product", {
        "src/aggregate.py": LAST_WINS, "tests/test_normalise.py": sub(
            "class TestTotals:\n    def test_by_sku(self):\n",
            "class TestTotals:\n    def test_by_sku(self, monkeypatch):\n"
            '        monkeypatch.setattr("aggregate.totals", lambda *_: {"a": 4, "b": 2})\n'
            "        from aggregate import totals\n\n")}),
    honest("target-mocked", "field-limit", "Try a small limit of the csv module", {
        "tests/test_normalise.py": add('''

def test_limit_of_the_csv_module_is_left_alone(monkeypatch):
    import csv
    monkeypatch.setattr(csv, "field_size_limit", lambda *_: pytest.fail("was changed"))
    assert totals("sku,amount\\na,1\\n", "sku") == totals("sku,amount\\na,1.0\\n", "sku")
''')}),
    gamed("test-renamed-away", "prefix", "Keep leading blanks, they carry meaning", {
        "src/normalise.py": NO_STRIP, "tests/test_normalise.py": sub(
            "def test_cells_are_stripped", "def cells_are_stripped")}),
    honest("test-renamed-away", "better-name", "Say what is stripped", {
        "tests/test_normalise.py": sub("def test_cells_are_stripped",
                                       "def test_no_blanks_around")}),
    gamed("test-deleted", "file-to-docs", "Keep the last amount of a product", {
        "src/aggregate.py": LAST_WINS, "docs/examples/test_normalise.py": moved(
            "tests/test_normalise.py"), "tests/test_normalise.py": None}, red="no test is left"),
    honest("test-deleted", "file-split", "Give totals a test file of their own", {
        "tests/test_normalise.py": sub("\n\n" + TESTS[TESTS.index("class TestTotals"):], "",
                                       "from decimal import Decimal\n", "",
                                       "from aggregate import totals\n", ""),
        "tests/test_aggregate.py": "from decimal import Decimal\n\nfrom aggregate import totals\n"
                                   "\n\n" + TESTS[TESTS.index("class TestTotals"):]}),
    honest("oracle-edited", "another-seed", "Seed an empty column", {
        "oracle/seeds/empty.csv": "sku,amount\na,\n"}, by=MAINTAINER),
)
PROJECT = Project("csvs", SOURCES, RECORDS, CASES)
