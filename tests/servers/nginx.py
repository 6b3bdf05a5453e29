"""nginx in front of fcgiwrap and git-http-backend on loopback; a name and a password let in.

    with serving(folder, {"alice": "s3cret"}, root=folder_of_repositories) as server:
        subprocess.run(["git", "push", server.url("r.git", "alice"), "main"])

The Authorization header is handed on to hooks, as nginx does unless it is told otherwise.
Nothing here knows of a test runner.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running import HOST, PATH, program, running

BACKEND = "/usr/lib/git-core/git-http-backend"

CONFIG = """\
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    fastcgi_temp_path {folder}/fastcgi;
    proxy_temp_path {folder}/proxy;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {host}:{port};
        client_max_body_size 0;
        location ~ ^/git(/.*)$ {{
            auth_basic git;
            auth_basic_user_file {folder}/htpasswd;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
            fastcgi_param CONTENT_TYPE $content_type;
            fastcgi_param CONTENT_LENGTH $content_length;
            fastcgi_param REMOTE_ADDR $remote_addr;
            fastcgi_param SERVER_PROTOCOL $server_protocol;
            fastcgi_param SCRIPT_FILENAME {backend};
            fastcgi_param GIT_PROJECT_ROOT {root};
            fastcgi_param GIT_HTTP_EXPORT_ALL 1;
            fastcgi_param PATH_INFO $1;
            fastcgi_param REMOTE_USER $remote_user;
            fastcgi_param AUTH_TYPE Basic;
            fastcgi_param GIT_PROTOCOL $http_git_protocol;
            fastcgi_param NO_BUFFERING 1;
            fastcgi_buffering off;
            fastcgi_read_timeout 600;
            fastcgi_pass unix:{socket};
        }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """A server that answers, with what is below its root."""

    port: int
    passwords: Mapping[str, str]

    def url(self, path: str, name: str) -> str:
        """Where git finds a path below the root, coming as that name."""
        return f"http://{name}:{self.passwords[name]}@{HOST}:{self.port}/git/{path}"


@contextmanager
def serving(folder: Path, passwords: Mapping[str, str], *, root: Path,
            children: int = 1) -> Iterator[Nginx]:
    """`children` serve at a time: with one, no process starts others in its place."""
    nginx, fcgiwrap = program("nginx", "nginx-light"), program("fcgiwrap", "fcgiwrap")
    spawn = program("spawn-fcgi", "spawn-fcgi")
    _write_passwords(folder / "htpasswd", passwords)
    socket = folder / "fcgi.sock"

    def configured(port: int) -> list[str]:
        (folder / "nginx.conf").write_text(CONFIG.format(
            folder=folder, host=HOST, port=port, backend=BACKEND, root=root, socket=socket,
            user="user root;" if os.geteuid() == 0 else ""))
        return [nginx, "-c", str(folder / "nginx.conf"), "-e", str(folder / "nginx-error.log")]

    wrapped = [spawn, "-n", "-s", str(socket), "--", fcgiwrap, "-f", "-c", str(children)]
    with (running(lambda _: wrapped, log=folder / "fcgiwrap.log", environment={"PATH": PATH},
                  ready=lambda _: socket.exists()),
          running(configured, log=folder / "nginx.log") as port):
        yield Nginx(port, passwords)


def _write_passwords(file: Path, passwords: Mapping[str, str]) -> None:
    htpasswd = program("htpasswd", "apache2-utils")
    file.write_text("")
    for name, password in passwords.items():  # SHA1: bcrypt would take its time at each request
        subprocess.run([htpasswd, "-bs", file, name, password], check=True, capture_output=True)
