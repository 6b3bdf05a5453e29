#!/usr/bin/python3
"""As Gitaly, put where git looks for hooks: the repository's custom hooks, then those of all.

Each gets the whole push, an absolute GIT_DIR and an environment of chosen names; the first that
fails ends it. The folder for all is what GITALY_CUSTOM_HOOKS_DIR says.
"""

import os
import subprocess
import sys

LET_THROUGH = ("PATH", "HOME", "TZ", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
OF_GITLAB = ("GL_ID", "GL_USERNAME", "GL_PROJECT_PATH", "GL_REPOSITORY", "GL_PROTOCOL")


def programs(folder):
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names if not name.endswith("~")]
    return [path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)]


repository = os.path.abspath(os.environ["GIT_DIR"])
push = sys.stdin.buffer.read()
given = {name: os.environ[name] for name in LET_THROUGH + OF_GITLAB if name in os.environ}
given["GIT_DIR"] = repository
# The tests' policyd.yaml names this variable; on a real server it is GL_USERNAME.
given["REMOTE_USER"] = given.get("GL_USERNAME", "")
own = os.path.join(repository, "custom_hooks")
todo = [path for path in (os.path.join(own, "pre-receive"),) if os.access(path, os.X_OK)]
todo += programs(os.path.join(own, "pre-receive.d"))
everybody = os.environ.get("GITALY_CUSTOM_HOOKS_DIR")
if everybody:
    todo += programs(os.path.join(everybody, "pre-receive.d"))
for program in todo:
    if subprocess.run([program], input=push, env=given, cwd=repository).returncode:
        sys.exit(1)
