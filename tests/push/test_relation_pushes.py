"""Real pushes to a server that replays relations: what lands, what does not, what runs at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pushing import last, refused, rules, unjudged
from sites import MAIN, Site
from splitters import (
    GAMED,
    HONEST,
    OTHER,
    changed,
    doubling,
    key,
    logs,
    queued,
    replays,
    rewritten,
    splitting,
    twice,
    verdicts,
)

from policyd.replay import plan

NOBODY = 65534
GOLDEN = Path(__file__).parent / "golden"
REMEMBERS = twice("n * 2 + (len(seen) > 1)", above="seen = []\n\n\n", inside="    seen.append(n)\n")
"""Right in a process of its own, and wrong after another call."""


@pytest.fixture(scope="session")
def _doubling(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return doubling(tmp_path_factory.mktemp("doubling"))


@pytest.fixture
def site(_doubling: Site, tmp_path: Path) -> Site:
    return _doubling.copied(tmp_path / "site")


def landed(site: Site, *arguments: str, as_: str = "agent-7", **more: object) -> list[str]:
    """Push to main; it is taken. What was told, without lines about the replay."""
    assert site.push(*(arguments or (f"HEAD:{MAIN}",)), as_=as_, **more) == 0, site.err
    return without_replays(site.told)


def broken(site: Site, *arguments: str) -> None:
    """Push to main; relations-hold alone refuses it."""
    before = site.refs()
    assert site.push(*(arguments or (f"HEAD:{MAIN}",)), as_="agent-7") == 1, site.err
    site.told = without_replays(site.told)
    assert rules(site.told) == {"relations-hold"}, site.err
    assert site.refs() == before


def retried(site: Site, *arguments: str) -> str:
    """Push to main; it is not judged yet. Why not, in one sentence."""
    before = site.refs()
    assert site.push(*(arguments or (f"HEAD:{MAIN}",)), as_="agent-7") == 1, site.err
    told = without_replays(site.told)
    assert last(told)["next"] == "retry", site.err
    assert site.refs() == before
    return " ".join(map(str.strip, told[:-1]))


def without_replays(told: list[str]) -> list[str]:
    """Without the lines about a replay, which go on in lines of their own."""
    kept: list[str] = []
    about = False
    for line in told:
        about = line.startswith("policyd: replay: ") or (about and line.startswith("  "))
        kept += [] if about else [line]
    return kept


def test_a_gamed_splitter_is_told_what_breaks_and_an_honest_one_lands(tmp_path, request):
    """No rule that reads contents sees the gamed one."""
    site = splitting(tmp_path / "site")
    rewritten(site, "gamed-last-takes-rest")
    broken(site)
    text = re.sub(r'"id":"\w+"', '"id":"000000"', "\n".join(site.told)) + "\n"
    file = GOLDEN / "relation-breaks.txt"
    if request.config.option.accept:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()
    lines = text.splitlines()
    assert len(lines[:-1]) <= 12
    assert all(len(line) <= 72 and line.isascii() for line in lines)
    assert last(lines)["next"] == "edit"
    rewritten(site, "honest-heap")
    assert landed(site) == []
    assert set(replays(site)["rows"].values()) == {"holds"}


def test_a_tree_is_replayed_once_whoever_pushes_it_with_whatever_message(site):
    changed(site, twice(GAMED))
    broken(site)
    first, [job] = replays(site), logs(site)
    assert first["seed"] == job[0]["seed"]
    broken(site)
    site.git("commit", "-q", "--amend", "-m", "The same, in other words")
    broken(site)
    assert replays(site) == first
    assert logs(site) == [job]
    assert not any(" executions" in line for line in site.told)


def test_without_a_pinned_seed_each_tree_has_its_own(site):
    site.edit_policy("{seed: 7}", "{seconds: 30}")
    seeds = []
    for above in ("", "# anew\n"):
        changed(site, twice(GAMED, above=above))
        broken(site)
        seeds.append(replays(site)["seed"])
    assert seeds[0] != seeds[1]
    breaks = [event for event in logs(site)[1] if event["event"] == "break"]
    assert (breaks[0]["draw"], breaks[0]["seed"]) == (plan.KEPT, seeds[0]), "before all else"
    assert {event["seed"] for event in breaks} == set(seeds)


def test_nothing_runs_that_another_rule_refuses(site):
    changed(site, {**twice(GAMED), "oracle/rates.json": "{}\n"})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship", "protected-writers"}, as_="agent-7")
    assert not (site.state / "replays").exists()
    assert "replays" not in site.log()[-1]


def test_a_question_asks_the_witness_and_its_answer_counts_for_the_push(site):
    changed(site, twice(GAMED))
    assert site.push("HEAD:refs/check/main", as_="agent-7") == 1
    assert "policyd: check: main would refuse this" in site.told
    assert site.log()[-1]["verdict"] == "check"
    changed(site, twice())
    assert site.push("HEAD:refs/check/main", as_="agent-7") == 1
    assert "policyd: check: main would take this" in site.told
    before = logs(site)
    landed(site)
    assert logs(site) == before


def test_only_what_may_change_a_result_on_a_guarded_branch_is_replayed(site):
    changed(site, twice(GAMED))
    assert landed(site, "HEAD:refs/heads/topic") == []
    changed(site, {"oracle/rates.json": "{}\n"})
    assert landed(site, as_="alice") == []
    site.git("checkout", "-q", "origin/main")
    assert landed(site, "HEAD:refs/heads/release/1", as_="alice") == []
    changed(site, {"docs/a.md": "a\n"})
    assert landed(site) == []
    assert not (site.state / "replays").exists()


@pytest.mark.parametrize(("result", "came"), [(HONEST, "holds"), (GAMED, "refuses")])
def test_what_takes_too_long_is_queued_and_the_worker_goes_on(site, result, came):
    site.edit_policy("{seed: 7}", "{seed: 7, seconds: 0.01}")
    changed(site, twice(result))
    told = retried(site)
    assert "takes longer than this push may wait and is queued" in told
    [name] = queued(site)
    site.git("gc", "-q", "--prune=now", cwd=site.server)
    assert site.policyd("status", str(site.server)) == 0
    assert "queued since " in site.out
    assert site.policyd("replay", "work") == 0
    assert f"{name[:12]} r {MAIN} {came} after " in site.out
    assert queued(site) == []
    landed(site) if came == "holds" else broken(site)
    assert name == f"{replays(site)['key']}.{key(site)}"
    assert site.policyd("status") == 0
    assert f": {came}{'' if came == 'holds' else ' D1'}\n" in site.out


def test_ahead_a_push_without_a_verdict_is_to_be_made_again(site):
    site.edit_policy("{seed: 7}", "{seed: 7, when: ahead}")
    changed(site, twice())
    for _ in range(2):
        assert "not replayed ahead; the witness begins now" in retried(site)
        assert len(queued(site)) == 1
    assert site.policyd("replay", "work") == 0
    assert landed(site) == []


def test_without_a_sandbox_in_the_policy_the_log_says_so(site):
    site.edit_policy("{seed: 7}", "{seed: 7, sandbox: none}")
    changed(site, twice(GAMED))
    broken(site)
    assert logs(site)[0][0]["sandbox"] == "none"


def test_without_bubblewrap_nothing_can_be_judged_and_the_doctor_says_why(site, monkeypatch):
    programs = site.folder / "bin"
    programs.mkdir()
    for name in ("git", "git-receive-pack", "git-upload-pack", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    changed(site, twice())
    unjudged(site, f"HEAD:{MAIN}", as_="agent-7", env={"PATH": str(programs)},
             because="install the package `bubblewrap`")
    monkeypatch.setenv("PATH", str(programs))
    assert site.policyd("doctor", "--no-canary") == 1
    assert "fault: sandbox default: pushes cannot be judged" in site.out
    assert "apt install bubblewrap" in site.out


def test_a_rule_that_warns_tells_and_one_that_observes_writes_down(site):
    site.edit_policy("relations-hold: {mode: enforce}", "relations-hold: {mode: warn}")
    changed(site, twice(GAMED))
    told = landed(site)
    assert told[0].startswith("policyd: warning: relations-hold: D1 breaks")
    site.edit_policy("relations-hold: {mode: warn}", "relations-hold: {mode: observe}")
    changed(site, twice(OTHER))
    assert landed(site) == []
    assert [found["mode"] for found in site.log()[-1]["findings"]] == ["observe"]


def test_where_it_only_warns_what_cannot_be_replayed_is_told_and_passes(site):
    site.edit_policy("relations-hold: {mode: enforce}", "relations-hold: {mode: warn}")
    changed(site, {**twice(), "src/a.pth": "import os\n"})
    told = landed(site)
    assert "source on main is none that can be run" in told[0]
    assert "src/a.pth is run by Python without being imported" in "\n".join(told)
    site.edit_policy("{seed: 7}", "{seconds: 60}")
    (site.state / "replay.secret").write_text("damaged")
    changed(site, {**twice("n + n + 0"), "src/a.pth": None})
    assert "relations could not be tried" in landed(site)[0]
    (site.state / "jobs").rename(site.state / "away")
    (site.state / "jobs").touch()
    (site.state / "replay.secret").unlink()
    changed(site, twice("0 + n + n"))
    assert "policyd failed, incident" in " ".join(landed(site)), "and nobody has to wait for it"


def test_switched_off_nothing_is_replayed(site):
    site.edit_policy("{seed: 7}", "{when: off}")
    changed(site, twice(GAMED))
    assert landed(site) == []
    assert "replays" not in site.log()[-1]


def test_during_a_pause_nobody_waits(site):
    assert site.policyd("pause", "--minutes", "5", "--reason", "replays are slow") == 0
    changed(site, twice(GAMED))
    assert landed(site)[0].startswith("policyd: paused until ")
    assert not (site.state / "replays").exists()


@pytest.mark.parametrize(("files", "sentence"), [
    ({"src/data": Path("double.py")}, "src/data is a symbolic link"),
    ({"src/a.pth": "import os\n"}, "src/a.pth is run by Python without being imported"),
    ({"src/sitecustomize.py": ""}, "src/sitecustomize.py is run by Python without being imported"),
])
def test_source_that_could_pass_for_other_source_is_not_replayed(site, files, sentence):
    site.edit_policy("no-answer-key: {mode: enforce", "no-answer-key: {mode: observe")
    changed(site, {**twice(), **files})
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 1
    assert site.told[0] == "policyd: relations-hold: source on main is none that can be run"
    assert sentence in "\n".join(site.told)
    assert '"next":"edit"' in site.told[-1]
    assert list((site.state / "jobs").glob(".work-*")) == []


def test_what_remembers_is_refused_or_told_as_the_policy_says(site):
    changed(site, REMEMBERS)
    broken(site)
    assert replays(site)["rows"] == {"D1": "hysteresis"}
    site.edit_policy("{seed: 7}", "{seed: 7, hysteresis: warn}")
    assert landed(site) == []
    assert "D1 changes after (D1, " in " ".join(map(str.strip, site.told))
    assert len(logs(site)) == 1


def test_two_policies_that_hold_together_replay_once(site):
    policies = site.home / "policies"
    (policies / "second.yaml").write_text((policies / "default.yaml").read_text())
    assert site.policyd("policy", "apply") == 0, site.out
    changed(site, twice(GAMED))
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 1
    assert len(logs(site)) == 1
    assert len([line for line in site.told if " pairs, seed " in line]) == 1
    assert len([line for line in site.told if "relations-hold: D1 breaks" in line]) == 1


@pytest.mark.parametrize(("trees", "what"), [(1, "the same tree"), (2, "its turn")])
def test_of_two_pushes_at_once_one_waits_for_the_other(site, trees, what):
    """One tree is replayed once; two trees one after the other where one place is all there is."""
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text() + "replay: {at_once: 1}\n")
    assert site.policyd("policy", "apply") == 0, site.out
    slowly = "    import time\n    time.sleep(0.1)\n"
    tips = [changed(site, twice(result, inside=slowly)) for result in (HONEST, "2 * n")][:trees] * 2
    asking = [subprocess.Popen(
        ["git", "push", "origin", f"{tip}:refs/check/main"], cwd=site.work, text=True,
        env=site.environment(REMOTE_USER="agent-7"), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE) for tip in tips[:2]]
    told = [one.communicate(timeout=120)[1] for one in asking]
    assert all("main would take this" in text for text in told), told
    assert sum(f"policyd: replay: waits for {what}" in text for text in told) == 1, told
    assert sum(" executions" in text for text in told) == trees, told
    assert len(verdicts(site)) == len(logs(site)) == trees
    assert site.incidents() == []
    left = [path.name for path in (site.state / "jobs").iterdir()]
    assert left == [".turn-0"]


def test_what_the_worker_could_not_decide_is_no_pass_and_is_tried_anew_later(site):
    site.edit_policy("{seed: 7}", "{seed: 7, when: ahead}")
    changed(site, twice())
    retried(site)
    [name] = queued(site)
    (site.state / "jobs" / name / "tries").write_text("2\n")
    assert site.policyd("replay", "work") == 0
    assert "undecided: the process that replayed it was ended" in site.out
    assert site.policyd("replay", "jobs") == 0
    assert "undecided: the process" in site.out
    site.edit_policy("when: ahead", "when: push")
    told = retried(site)
    assert "could not be replayed: the process that replayed it was ended" in told
    assert "it is tried anew in 5 min" in told
    verdict = site.state / "replays" / key(site) / f"{name.partition('.')[0]}.json"
    os.utime(verdict, (time.time() - 400,) * 2)
    assert landed(site) == []


def test_a_queue_of_another_version_is_dropped(site):
    site.edit_policy("{seed: 7}", "{seed: 7, when: ahead}")
    changed(site, twice())
    retried(site)
    [name] = queued(site)
    file = site.state / "jobs" / name / "job.json"
    raw = json.loads(file.read_text())
    raw["job"]["trial"]["harness"] = "0" * 64
    file.write_text(json.dumps(raw))
    assert site.policyd("replay", "work") == 0
    assert "dropped: it was queued by another version" in site.out
    assert queued(site) == verdicts(site) == []


def test_what_is_replayed_sees_neither_the_repository_nor_the_state(site):
    """And what it leaves behind is left nowhere."""
    trace = site.folder / "trace"
    changed(site, twice(inside=(
        "    import os\n    for path in {}:\n        if os.path.exists(path):\n"
        "            return 0\n    try:\n        open({!r}, 'w')\n    except OSError:\n"
        "        pass\n").format([str(site.server), str(site.state), sys.prefix + "/bin"],
                                 str(trace))))
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") in (0, 1)
    assert replays(site)["rows"] == {"D1": "holds"}
    assert not trace.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for another user")
def test_a_git_user_of_its_own_replays_pushes_and_what_was_queued(site, open_folder, open_python):
    site = site.copied(open_folder / "doubling")
    site.folder.chmod(0o755)
    hook = site.server / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace(sys.executable, str(open_python)))
    tip = changed(site, twice(GAMED))
    site.edit_policy("{seed: 7}", "{seed: 7, seconds: 0.01}")
    for path in (site.folder, *site.folder.rglob("*")):
        os.lchown(path, NOBODY, NOBODY)

    def ran(*words: str) -> str:
        done = subprocess.run(words, cwd=site.work, env=site.environment(REMOTE_USER="agent-7"),
                              user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True,
                              text=True, check=False)
        return done.stdout + done.stderr

    push = ("git", "push", "origin", f"{tip}:{MAIN}")
    assert "is queued" in ran(*push)
    work = ran(str(open_python), "-I", "-m", "policyd", "--home", str(site.home), "replay", "work")
    assert " refuses after " in work
    assert "relations-hold: D1 breaks" in ran(*push)


def test_a_clone_is_told_that_the_server_replays(site, monkeypatch):
    changed(site, twice(GAMED))
    monkeypatch.chdir(site.work)
    assert site.policyd("check", "--as", "agent-7") == 0
    assert "policyd: note: the server replays relations, this did not" in site.out
    command = re.search(r"policyd (replay run --base \w+)", " ".join(site.out.split()))
    assert command is not None
    assert site.policyd(*command[1].split(), "--seconds", "60") == 1
    assert "D1" in site.out


def test_status_and_the_doctor_have_nothing_to_say_without_a_table(empty_site):
    site = empty_site
    site.commit({"src/app.py": "x = 1\n"})
    assert site.push(f"HEAD:{MAIN}") == 0
    assert site.policyd("status", str(site.server)) == 0
    assert "replays of r: nothing to replay" in site.out
