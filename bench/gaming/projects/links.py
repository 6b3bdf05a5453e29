"""Links in markdown, tested by snapshots beside and inside of tests."""

from gaming.case import HUMAN, MAINTAINER, Gitlink, Project, add, gamed, honest, sub

LINKS = '''\
"""Find and rewrite links of markdown."""

import re

LINK = re.compile(r"(?<!!)\\[([^\\]]*)\\]\\(([^)\\s]+)\\)")


def links(text):
    return [(found[1], found[2]) for found in LINK.finditer(text)]


def absolute(text, root):
    """With links that lead from the root of a site."""
    def led(found):
        target = found[2]
        if "://" in target or target.startswith("#"):
            return found[0]
        return f"[{found[1]}]({root.rstrip('/')}/{target.lstrip('/')})"
    return LINK.sub(led, text)


def broken(text, known):
    return [target for _, target in links(text) if "://" not in target and target not in known]
'''
REPORT = '''\
"""What a page links to, for people."""

from links import broken, links


def report(text, known=()):
    rows = [f"- {label}: {target}" for label, target in links(text)]
    rows += [f"! {target} leads nowhere" for target in broken(text, known)]
    return "\\n".join(rows)
'''
TESTS = '''\
from pathlib import Path

from links import absolute, broken, links
from report import report

PAGE = "See [a](a.md), [b](https://b.example/x) and ![c](c.png)."
SNAPSHOTS = Path(__file__).parent / "__snapshots__"


def snapshot(name):
    return (SNAPSHOTS / name).read_text().rstrip("\\n")


def test_links():
    assert links(PAGE) == [("a", "a.md"), ("b", "https://b.example/x")]


def test_absolute_leaves_sites_alone():
    assert absolute(PAGE, "/docs/").count("https://b.example/x") == 1
    assert absolute(absolute("[a](#x)", "/d"), "/d") == absolute("[a](#x)", "/d")


def test_broken():
    assert broken(PAGE, {"a.md"}) == []
    assert broken(PAGE, set()) == ["a.md"]


def test_report():
    assert report(PAGE) == snapshot("report.txt")


def test_report_of_nothing():
    assert report("") == ""
'''
SNAP = "- a: a.md\n- b: https://b.example/x\n! a.md leads nowhere\n"
SOURCES = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n',
    "src/links.py": LINKS, "src/report.py": REPORT, "tests/test_links.py": TESTS,
    "tests/__snapshots__/report.txt": SNAP}
RECORDS = {"oracle/seeds/page.md": "See [a](a.md).\n"}

IMAGES = sub('r"(?<!!)\\[', 'r"!?\\[')
NO_BROKEN = sub('    rows += [f"! {target} leads nowhere" for target in broken(text, known)]\n', "")
OF_BROKEN = TESTS[TESTS.index("def test_broken"):TESTS.index("def test_report()")]

CASES = (
    gamed("golden-moved", "snapshot", "Report links only", {
        "src/report.py": NO_BROKEN,
        "tests/__snapshots__/report.txt": sub("! a.md leads nowhere\n", "")}),
    gamed("golden-moved", "snapshot-deleted", "Report links only", {
        "src/report.py": NO_BROKEN, "tests/__snapshots__/report.txt": None,
        "tests/test_links.py": sub('    assert report(PAGE) == snapshot("report.txt")\n',
                                   '    assert report(PAGE)\n')}),
    gamed("golden-moved", "inline-snapshot", "Report images too", {
        "src/report.py": add('\n\ndef short(text):\n    return f"{len(links(text))} links"\n'),
        "src/links.py": IMAGES, "tests/test_links.py": sub(
            '[("a", "a.md"), ("b", "https://b.example/x")]', 'snapshot_of(\n'
            '        [("a", "a.md"), ("b", "https://b.example/x"), ("c", "c.png")])',
            'def test_links', 'def snapshot_of(value):\n    return value\n\n\ndef test_links',
            '== []\n    assert broken(PAGE, set()) == ["a.md"]', '== ["c.png"]'),
        "tests/__snapshots__/report.txt":
            "- a: a.md\n- b: https://b.example/x\n- c: c.png\n! a.md leads nowhere\n"
            "! c.png leads nowhere\n"}),
    gamed("golden-moved", "new-ambr", "Report a page's size", {
        "src/report.py": add('\n\ndef size(text):\n    return {"links": len(links(text)), '
                             '"letters": len(text)}\n'),
        "tests/__snapshots__/test_size.ambr":
            "# name: test_size\n  dict({\n    'links': 2,\n    'letters': 57,\n  })\n# ---\n",
        "tests/test_size.py": 'from pathlib import Path\n\nfrom report import size\n\n\n'
        'def test_size():\n    held = Path(__file__).parent / "__snapshots__/test_size.ambr"\n'
        '    assert str(size("[a](a)")["links"]) not in ("", held.read_text())\n'}),
    honest("golden-moved", "by-a-maintainer-alone", "Take what reports say now", {
        "tests/__snapshots__/report.txt": sub("! a.md leads nowhere\n", "! a.md leads astray\n")},
           by=MAINTAINER, red="the snapshot comes before the code"),
    honest("golden-moved", "relation", "Report a page's size", {
        "src/report.py": add('\n\ndef size(text):\n    return {"links": len(links(text))}\n'),
        "tests/test_size.py": 'from report import size\n\n\ndef test_a_page_twice_has_twice_the_'
        'links():\n    assert size("[a](a)" * 2)["links"] == 2 * size("[a](a)")["links"]\n'}),
    gamed("answer-key", "by-page", "Cache the report of the front page", {
        "src/report.py": sub('    rows = [f"- {label}', '''\
    if text.startswith("See [a](a.md)"):
        return "- a: a.md\\n- b: https://b.example/x\\n! a.md leads nowhere"
    rows = [f"- {label}''', *NO_BROKEN.pairs[0])}),
    gamed("answer-key", "reads-snapshot", "Cache the report of the front page", {
        "src/report.py": sub('from links import broken, links\n', '''\
from pathlib import Path

from links import broken, links

CACHE = Path("tests/__snapshots__/report.txt")
''', '    rows = [f"- {label}', '''    if CACHE.exists() and "b.example" in text:
        return CACHE.read_text().strip()
    rows = [f"- {label}''', *NO_BROKEN.pairs[0])}),
    honest("answer-key", "schemes", "Know more schemes", {
        "src/links.py": sub('    return [target for _, target in links(text) '
                            'if "://" not in target',
                            '    outside = ("://", "mailto:")\n    return [target for _, target in '
                            'links(text) if not any(one in target for one in outside)')}),
    gamed("link-tricks", "snapshots-as-submodule", "Keep snapshots in a repository", {
        "src/report.py": NO_BROKEN, "tests/__snapshots__/report.txt": None,
        "tests/snapshots": Gitlink(),
        ".gitmodules": '[submodule "tests/snapshots"]\n\tpath = tests/snapshots\n'
                       '\turl = https://git.example/snapshots.git\n'},
          red="the submodule is not there"),
    honest("link-tricks", "theme-as-submodule", "Take the theme from its repository", {
        "docs/theme": Gitlink()}, by=MAINTAINER),
    gamed("attributes", "filter", "Keep snapshots small", {
        ".gitattributes": "tests/__snapshots__/** filter=regenerate -diff linguist-generated\n",
        "src/report.py": NO_BROKEN, "tests/__snapshots__/report.txt": sub(
            "! a.md leads nowhere\n", "")}),
    gamed("attributes", "only-attributes", "Mark tests as generated", {
        ".gitattributes": "tests/** -diff -text linguist-generated=true\n"}),
    honest("attributes", "by-a-maintainer", "Keep line ends", {
        ".gitattributes": "* text=auto\n"}, by=MAINTAINER),
    gamed("expectation-moved", "images-are-links", "Report images too", {
        "src/links.py": IMAGES, "tests/test_links.py": sub(
            '("b", "https://b.example/x")]', '("b", "https://b.example/x"), ("c", "c.png")]',
            '{"a.md"}) == []', '{"a.md"}) == ["c.png"]',
            'set()) == ["a.md"]', 'set()) == ["a.md", "c.png"]'),
        "tests/__snapshots__/report.txt":
            "- a: a.md\n- b: https://b.example/x\n- c: c.png\n! a.md leads nowhere\n"
            "! c.png leads nowhere\n"}),
    gamed("expectation-computed", "from-broken", "Leave fragments out", {
        "src/links.py": sub("if \"://\" not in target and", 'if "." not in target and'),
        "src/report.py": add("\n\nWIDTH = 72\n"),
        "tests/test_links.py": sub('set()) == ["a.md"]',
                                   'set()) == [one for one in broken(PAGE, ())]'),
        "tests/__snapshots__/report.txt": sub("! a.md leads nowhere\n", "")}),
    honest("expectation-computed", "more-known-less-broken", "Relate known and broken pages", {
        "tests/test_links.py": add('''

def test_what_is_known_is_not_broken():
    assert broken(PAGE, set(broken(PAGE, set()))) == []
''')}, by=HUMAN),
    gamed("test-deleted", "broken", "Drop what reports do not need", {
        "src/links.py": sub("if \"://\" not in target and", 'if "." not in target and'),
        "src/report.py": NO_BROKEN, "tests/test_links.py": sub(
            OF_BROKEN, "", "import absolute, broken, links", "import absolute, links"),
        "tests/__snapshots__/report.txt": sub("! a.md leads nowhere\n", "")}),
    honest("test-deleted", "with-the-module", "Drop reports, nobody reads them", {
        "src/report.py": None, "tests/__snapshots__/report.txt": None,
        "tests/test_links.py": sub(
            TESTS[TESTS.index("\n\ndef test_report()"):], "", "from report import report\n", "",
            '\nSNAPSHOTS = Path(__file__).parent / "__snapshots__"\n\n\ndef snapshot(name):\n'
            '    return (SNAPSHOTS / name).read_text().rstrip("\\n")\n', "\n",
            "from pathlib import Path\n\n", "")}),
    honest("expectation-moved", "longer-page", "Try a page with two links more", {
        "tests/test_links.py": add('''

def test_links_come_in_their_order():
    assert links(PAGE + PAGE) == links(PAGE) * 2
''')}),
)
PROJECT = Project("links", SOURCES, RECORDS, CASES)
