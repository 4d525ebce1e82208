#!/usr/bin/env python3
"""What the checks of the suite cannot say: is the row that a contender stores the right one?

    suites/bootzooka/contract.py [NAME...]

starts a PostgreSQL of its own, then each contender (or each NAME, such as `axum` or `akka-http/equal`) on port 8080, and
looks into the database after what it answered. A contender that is not built yet is built. Needs Python 3.11, PostgreSQL's
server (Debian: postgresql), and whatever the contenders need. Ends with status 1 if something is wrong.
"""

import concurrent.futures
import contextlib
import glob
import hashlib
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import uuid

SUITE = pathlib.Path(__file__).resolve().parent
PORT = 8080
START_LIMIT_S = 60
STOP_LIMIT_S = 20
# Pairs of registrations of one login at the same time.
PAIRS = 40
# Its table has no indexes, as the article's: of two registrations of one login both may succeed.
WITHOUT_INDEXES = "scalatra-as-published"


class Wrong(Exception):
    """A contender does not do what it should."""


def expect(actual, expected, what):
    if actual != expected:
        raise Wrong(f"{what}: {actual!r} instead of {expected!r}")


class Postgres:
    """A server of its own, which is gone with this process."""

    def __init__(self, stack):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bakeoff-contract-")))
        self.identity = self.unprivileged()
        if self.identity:
            os.chown(self.folder, self.identity["user"], self.identity["group"])
        self.port = free_port()
        self.run(
            "initdb", "-D", self.folder / "data", "-U", "postgres", "-E", "UTF8", "--no-locale",
            "--auth-local=trust", "--auth-host=md5",
        )  # fmt: skip
        log = stack.enter_context(open(self.folder / "log", "w"))
        server = subprocess.Popen(
            [
                program("postgres"), "-D", self.folder / "data", "-k", self.folder, "-h", "127.0.0.1", "-p", str(self.port),
                # The driver of 2016 knows no newer kind.
                "-c", "password_encryption=md5",
            ],
            stdout=log, stderr=log, **self.identity,
        )  # fmt: skip
        stack.callback(stop, server, signal.SIGINT)
        wait_for(lambda: self.answers(), server, "PostgreSQL")
        self.sql("CREATE ROLE bakeoff LOGIN PASSWORD 'bakeoff'", "postgres")

    @staticmethod
    def unprivileged():
        """PostgreSQL refuses to run as root."""
        if os.getuid() != 0:
            return {}
        users = {user.pw_name: user for user in pwd.getpwall()}
        user = users.get("postgres") or users["nobody"]
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(self, name, *arguments, **options):
        command = [program(name), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, **self.identity, **options)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
        return done.stdout

    def answers(self):
        command = [program("pg_isready"), "-q", "-h", self.folder, "-p", str(self.port)]
        return subprocess.run(command).returncode == 0

    def sql(self, statement, database):
        return self.run(
            "psql", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database,
            "-v", "ON_ERROR_STOP=1", "-q", "-A", "-t", "-c", statement,
        )  # fmt: skip

    def empty_database(self):
        """An empty database with the suite's schema; its URL."""
        self.sql("DROP DATABASE IF EXISTS bootzooka WITH (FORCE)", "postgres")
        self.sql("CREATE DATABASE bootzooka OWNER bakeoff", "postgres")
        self.sql("SET ROLE bakeoff;" + (SUITE / "data/schema.sql").read_text(), "bootzooka")
        return f"postgres://bakeoff:bakeoff@127.0.0.1:{self.port}/bootzooka"

    def rows(self, where="true"):
        found = self.sql(f"SELECT row_to_json(users) FROM users WHERE {where}", "bootzooka")
        return [json.loads(line) for line in found.splitlines()]


def program(name):
    places = [os.environ["PATH"], *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join(places))
    return found or sys.exit(f"{name} is missing: install PostgreSQL (Debian: apt-get install postgresql)")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for(condition, process, what):
    until = time.monotonic() + START_LIMIT_S
    while not condition():
        if process.poll() is not None or time.monotonic() > until:
            raise Wrong(f"{what} does not start (status {process.poll()})")
        time.sleep(0.05)


def contenders(wanted):
    """Folder, label and definition of each, its variant merged into it."""
    for path in sorted(SUITE.glob("contenders/*/contender.toml")):
        definition = tomllib.loads(path.read_text())
        own, env = definition["contender"], definition.get("env", {})
        variants = {f"{own['name']}/{name}": variant for name, variant in definition.get("variant", {}).items()}
        if not own.get("only-variants"):
            variants[own["name"]] = {}
        for label, variant in variants.items():
            if not wanted or label in wanted or own["name"] in wanted:
                yield path.parent, label, {**own, "env": {**env, **variant.get("env", {})}}


def java(version):
    places = [f"{os.environ.get(f'JAVA_HOME_{version}', '/none')}", *sorted(glob.glob(f"/usr/lib/jvm/*{version}*"))]
    homes = [home for home in places if os.access(f"{home}/bin/javac", os.X_OK)]
    return homes[0] if homes else sys.exit(f"JDK {version} is missing: set JAVA_HOME_{version}")


@contextlib.contextmanager
def running(folder, label, definition, database_url, log):
    env = {**os.environ, **definition["env"], "DATABASE_URL": database_url}
    home = java(definition["jdk"]) if "jdk" in definition else None
    if home:
        env["JAVA_HOME"] = home
    artifact = folder / definition["artifact"]
    if not artifact.exists():
        subprocess.run(definition["build"], cwd=folder, env=env, check=True)
    values = {"{artifact}": str(artifact), "{java}": f"{home}/bin/java", "{jvm-options}": "-Xmx512m"}
    command = [values.get(word, word) for word in definition["run"]]
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
    try:
        wait_for(serves, process, label)
        yield
    finally:
        stop(process)


def serves():
    try:
        return ask("GET", "/")[0] == 200
    except OSError:
        return False


def ask(method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, body, {"content-type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def register(login, email, password):
    body = json.dumps({"login": login, "email": email, "password": password})
    return ask("POST", "/api/users/register", body)


def check_row(postgres):
    """The row has what was sent, trimmed, and a hash that can be computed again from its salt."""
    password = "pässwörd€ 1"
    expect(register("  Ann ", " Ann@Example.org ", password)[0], 200, "status of a registration")
    rows = postgres.rows("login_lowercase = 'ann'")
    expect(len(rows), 1, "rows with login_lowercase = ann")
    row = rows[0]
    expect(row["login"], "Ann", "login")
    expect(row["email"], "ann@example.org", "email")
    expect(len(row["salt"]), 128, "length of the salt")
    uuid.UUID(row["id"])
    now = postgres.sql("SELECT now() AT TIME ZONE 'UTC' - created_on FROM users WHERE login = 'Ann'", "bootzooka")
    expect(now.startswith("00:00:"), True, f"created_on is less than a minute ago in UTC, but {now.strip()}")
    key = hashlib.pbkdf2_hmac("sha1", password.encode(), row["salt"].encode(), 10_000, 16)
    expect(row["password"].upper(), key.hex().upper(), "hash of the password")


def check_salts(postgres):
    for index in range(5):
        expect(register(f"salt{index}", f"salt{index}@example.org", "same")[0], 200, "status of a registration")
    rows = postgres.rows("login LIKE 'salt_'")
    expect(len({row["salt"] for row in rows}), 5, "different salts of five users")
    expect(len({row["password"] for row in rows}), 5, "different hashes of one password")


def check_refusals(postgres):
    before = len(postgres.rows())
    for login, email, password, status in [
        ("ANN", "else@example.org", "x", 409),
        ("else", "ANN@example.org", "x", 409),
        ("an", "else@example.org", "x", 400),
        ("else", "else", "x", 400),
        ("else", "else@example.org", "", 400),
    ]:
        answer = register(login, email, password)
        expect(answer[0], status, f"status for {login}, {email}")
        expect(bool(json.loads(answer[1])["message"]), True, f"a message for {login}, {email}")
    expect(len(postgres.rows()), before, "rows after refusals")


def check_pairs(postgres):
    """Of two registrations at the same time one wins: by login in even pairs, by e-mail address in odd ones."""
    before = len(postgres.rows())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for pair in range(PAIRS):
            login = [f"pair{pair}", f"pair{pair}" if pair % 2 == 0 else f"pair{pair}x"]
            email = [f"pair{pair}@example.org", f"pair{pair}{'x' if pair % 2 == 0 else ''}@example.org"]
            statuses = sorted(answer[0] for answer in pool.map(register, login, email, ["x", "x"]))
            expect(statuses, [200, 409], f"statuses of pair {pair}")
    expect(len(postgres.rows()), before + PAIRS, "rows after the pairs")


def main():
    # Whoever is asked to stop leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failures, checked = 0, 0
    with contextlib.ExitStack() as stack:
        postgres = Postgres(stack)
        for folder, label, definition in contenders(set(sys.argv[1:])):
            checked += 1
            url = postgres.empty_database()
            with tempfile.TemporaryFile("w+") as log:
                try:
                    with running(folder, label, definition, url, log):
                        checks = [check_row, check_salts, check_refusals]
                        if label != WITHOUT_INDEXES:
                            checks.append(check_pairs)
                        for check in checks:
                            check(postgres)
                    print(f"{label}: right", flush=True)
                except Wrong as wrong:
                    failures += 1
                    log.seek(0)
                    print(f"{label}: {wrong}\n{log.read()[-2000:]}", flush=True)
    if not checked:
        sys.exit("no such contender")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
