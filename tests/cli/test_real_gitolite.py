"""Enrolment under the real gitolite, without sshd: what it links, runs and replaces."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from emulators.hooks_servers import script
from sites import MAIN, Site

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("gitolite") is None, reason="gitolite is not installed")]

CONF = "repo gitolite-admin\n    RW+ = admin\nrepo r\n    RW+ = @all\n"
APART = "policyd: separate-authorship: "


class Real:
    """gitolite with a home of its own whose repositories are those of a site."""

    def __init__(self, site: Site) -> None:
        self.site, self.home = site, site.folder / "gitolite"
        self.code = self.home / "local"
        self.home.mkdir()
        (self.home / "repositories").symlink_to(site.folder / "srv")
        (site.server / "hooks").mkdir()
        self.run("setup", "-a", "admin")
        for kind in ("common", "repo-specific"):
            (self.code / "hooks" / kind).mkdir(parents=True)
        rc = self.home / ".gitolite.rc"
        text = rc.read_text()
        for line in ('LOCAL_CODE                =>  "$ENV{HOME}/local",', "'repo-specific-hooks',"):
            assert f"# {line}" in text
            text = text.replace(f"# {line}", line)
        rc.write_text(text)
        self.configure(CONF)
        bin_dir = self.run("query-rc", "GL_BINDIR").strip()
        self.ssh = script(self.home / "ssh", 'for last; do :; done\n'
                          'export SSH_ORIGINAL_COMMAND="$last" SSH_CONNECTION="::1 1 ::1 2"\n'
                          f'exec {bin_dir}/gitolite-shell "$GITOLITE_USER"\n')
        site.git("remote", "set-url", "origin", "gitolite:r")

    def run(self, *words: str) -> str:
        done = subprocess.run(["gitolite", *words], env=self.environment(), check=False,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def configure(self, conf: str) -> None:
        (self.home / ".gitolite/conf/gitolite.conf").write_text(conf)
        self.run("compile")
        self.run("trigger", "POST_COMPILE")

    def environment(self) -> dict[str, str]:
        return {**self.site.environment(), "HOME": str(self.home), "USER": "git",
                "PATH": os.environ["PATH"]}

    def push(self, *refspecs: str, who: str = "alice") -> int:
        return self.site.push(*refspecs, env={
            **self.environment(), "GIT_SSH_COMMAND": str(self.ssh), "GITOLITE_USER": who})

    def is_judged(self) -> bool:
        """Whether a push that mixes is refused by policyd."""
        site = self.site
        site.commit({"src/app.py": f"x = {len(site.told)}\n", "oracle/rates.json": "1\n"})
        code = self.push("HEAD:refs/heads/topic", "--force")
        refused = any(APART in line for line in site.told)
        assert refused is (code == 1), site.err
        return refused


@pytest.fixture
def real(site: Site) -> Real:
    assert site.policyd("unenroll", str(site.server)) == 0, site.out
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(
        "identity: {from: env, name: REMOTE_USER}", "identity: {from: gitolite}"))
    assert site.policyd("policy", "apply") == 0, site.out
    return Real(site)


def enrol(real: Real, folder: Path) -> None:
    words = ["enroll", "--server", "gitolite", "--hooks-path", str(folder), str(real.site.server)]
    assert real.site.policyd(*words) == 0, real.site.out


def test_the_common_hook_is_linked_by_setup_and_passes_by_what_is_not_enrolled(real):
    enrol(real, real.code / "hooks/common")
    assert "gitolite setup --hooks-only" in real.site.out
    assert not real.is_judged()
    real.site.git("update-ref", "-d", "refs/heads/topic", cwd=real.site.server)
    real.run("setup", "--hooks-only")
    assert real.is_judged()
    assert real.site.policyd("doctor", "--no-canary", str(real.site.server)) == 0, real.site.out
    real.site.git("reset", "-q", "--hard", real.site.base_tip)
    real.site.commit({"src/app.py": "y = 1\n"})
    assert real.push(f"HEAD:{MAIN}") == 0, real.site.err
    assert real.site.log()[-1]["pusher"] == "alice"
    names = {path.name for path in (real.site.server / "hooks").iterdir()}
    assert names == {"pre-receive", "update"}
    real.site.git("remote", "set-url", "origin", "gitolite:gitolite-admin")
    assert real.push("HEAD:refs/heads/more", who="admin") == 0, real.site.err


def test_the_repo_specific_hook_runs_behind_its_option(real):
    enrol(real, real.code / "hooks/repo-specific")
    real.configure(CONF + "    option hook.pre-receive = policyd\n")
    assert real.is_judged()
    assert real.site.policyd("doctor", "--no-canary", str(real.site.server)) == 0, real.site.out
    script(real.code / "hooks/common/pre-receive", "exit 0\n")
    real.run("setup", "--hooks-only")
    assert not real.is_judged()
    assert real.site.policyd("doctor", "--no-canary", str(real.site.server)) == 1
    assert "gitolite runs whichever it linked last" in real.site.out


def test_local_code_is_asked_for(real, monkeypatch):
    monkeypatch.setattr(real.site, "folder", real.home)  # the home folder of `policyd` here
    assert real.site.policyd("enroll", "--server", "gitolite", str(real.site.server)) == 0
    assert (real.code / "hooks/common/pre-receive").exists()
