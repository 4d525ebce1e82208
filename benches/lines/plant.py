#!/usr/bin/env python3
"""Puts a cost into one of 200 functions of a service, edits five others without effect, and looks
whether `bakeoff duel --diff` names the lines with the cost. Each service is a repository with two
commits, in Rust or Java by turns, and is removed when it has been measured.

usage: benches/lines/plant.py BAKEOFF FIRST_SEED SERVICES [none]

`none` plants no cost: nothing should be named. It needs git, rustc, a JDK and perf. A line of the
output is a service: seed, language, planted share of the work of a request, what was named.
"""

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FUNCTIONS, FILES, ROUNDS, DECOYS = 200, 10, 150, 5
ADDEND = 1442695040888963407
NAMED = re.compile(r"Of the changed lines \w+ takes (\S+) µs (?:more|less) in (\S+?):[\d, -]+ \((\w+)\) \(95 %: ([^)]*)\)(.*)")

RUST_MAIN = """\
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

%(modules)s
const ALL: [fn(u64) -> u64; %(functions)d] = [%(all)s];

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    let mut x = 1;
    loop {
        if stream.read(&mut buffer)? == 0 {
            return Ok(());
        }
        for one in ALL {
            x = std::hint::black_box(one)(x);
        }
        let body = if x == 0 { "no" } else { "ok" };
        stream.write_all(format!("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{body}").as_bytes())?;
    }
}

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    for stream in listener.incoming().flatten() {
        std::thread::spawn(|| serve(stream));
    }
}
"""
RUST_FUNCTION = """\
pub fn f%(number)d(mut x: u64) -> u64 {
    for _ in 0..%(rounds)d {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(%(addend)d);
        x ^= x >> 29;
    }
    x
}

"""
JAVA_MAIN = """\
import java.io.*;
import java.net.*;
import java.util.function.LongUnaryOperator;

public class Main {
    static final LongUnaryOperator[] ALL = {%(all)s};

    static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            byte[] buffer = new byte[4096];
            long x = 1;
            while (socket.getInputStream().read(buffer) > 0) {
                for (LongUnaryOperator one : ALL) x = one.applyAsLong(x);
                String body = x == 0 ? "no" : "ok";
                socket.getOutputStream().write(
                    ("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n" + body).getBytes());
            }
        } catch (IOException gone) {
            // The client closed it.
        }
    }

    public static void main(String[] args) throws IOException {
        ServerSocket listener = new ServerSocket(Integer.parseInt(System.getenv("PORT")), 512);
        while (true) {
            Socket socket = listener.accept();
            new Thread(() -> serve(socket)).start();
        }
    }
}
"""
# A class each, as handlers and rules often are: compilers do not inline what is called through an
# interface of 200 classes.
JAVA_FUNCTION = """\
class F%(number)d implements java.util.function.LongUnaryOperator {
    public long applyAsLong(long x) {
        for (int i = 0; i < %(rounds)d; i++) {
            x = x * 6364136223846793005L + %(addend)dL;
            x ^= x >>> 29;
        }
        return x;
    }
}
"""


def write(folder, language, rounds, addends):
    """Writes the sources of a service."""
    numbers = range(FUNCTIONS)
    values = [{"number": n, "rounds": rounds[n], "addend": addends[n]} for n in numbers]
    if language == "rust":
        for index in range(FILES):
            of_file = values[index::FILES]
            (folder / f"m{index}.rs").write_text("".join(RUST_FUNCTION % one for one in of_file))
        modules = "".join(f"mod m{index};\n" for index in range(FILES))
        every = ", ".join(f"m{number % FILES}::f{number}" for number in numbers)
        main = RUST_MAIN % {"modules": modules, "functions": FUNCTIONS, "all": every}
        (folder / "main.rs").write_text(main)
    else:
        for one in values:
            (folder / f"F{one['number']}.java").write_text(JAVA_FUNCTION % one)
        every = ", ".join(f"new F{number}()" for number in numbers)
        (folder / "Main.java").write_text(JAVA_MAIN % {"all": every})


def run(folder, *words):
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout


def build(folder, language, name):
    """Commits and builds what is there; returns the command that starts it."""
    run(folder, "git", "add", ".")
    who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    run(folder, "git", *who, "commit", "--quiet", "-m", name)
    if language == "rust":
        run(folder, "rustc", "--edition", "2021", "-O", "-o", f"out/{name}", "main.rs")
        return f"./out/{name}"
    run(folder, "javac", "-d", f"out/{name}", *sorted(p.name for p in folder.glob("*.java")))
    return f"java -Xmx128m -XX:+UseSerialGC -cp out/{name} Main"


def measured(program, folder, seed, share):
    """Returns what was planted, and the sentence that names lines or says that none differ."""
    rng = random.Random(seed)
    language = ("rust", "java")[seed % 2]
    # All differ, or a compiler makes one function of those that are alike.
    rounds, addends = [ROUNDS] * FUNCTIONS, [ADDEND + 2 * number for number in range(FUNCTIONS)]
    write(folder, language, rounds, addends)
    run(folder, "git", "init", "--quiet")
    (folder / ".gitignore").write_text("out\n")
    (folder / "out").mkdir()
    old = build(folder, language, "old")
    edited = rng.sample(range(FUNCTIONS), DECOYS + 1)
    guilty = edited[0]
    for number in edited:
        addends[number] += 1000
    rounds[guilty] += round(share * ROUNDS * FUNCTIONS)
    write(folder, language, rounds, addends)
    new = build(folder, language, "new")
    command = [program, "duel", f"old={old}", f"new={new}", "--get", "/", "--diff", "HEAD~1..HEAD",
               "--runs", "2", "--duration", "4s", "--connections", "8", "--memory", "512MiB",
               "--seed", str(seed), "--out", "results", "--json"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    sentences = []
    for line in ran.stdout.splitlines():
        event = json.loads(line)
        if event.get("event") == "verdict":
            reasons = event["verdict"]["reasons"]
            sentences = [one.get("sentence") or "" for one in reasons]
    said = " ".join(sentences)
    found = NAMED.search(said)
    if not found and ran.returncode not in (0, 2):
        said = ran.stderr.strip().replace("\n", " ")
    place = f"m{guilty % FILES}.rs f{guilty}" if language == "rust" else f"F{guilty}.java applyAsLong"
    return language, place, found, said


def main() -> None:
    program = str(Path(sys.argv[1]).resolve())
    first, services = int(sys.argv[2]), int(sys.argv[3])
    none = sys.argv[4:] == ["none"]
    right = 0
    for seed in range(first, first + services):
        share = 0.0 if none else random.Random(-seed - 1).uniform(0.01, 0.03)
        folder, start = Path(tempfile.mkdtemp()), time.monotonic()
        try:
            language, guilty, found, said = measured(program, folder, seed, share)
        finally:
            shutil.rmtree(folder)
        named = f"{found.group(2)} {found.group(3)}" if found else None
        right += named is None if none else named == guilty
        cost = f"{found.group(1)} µs ({found.group(4)})" if found else said[-160:]
        others = " and others" if found and " in " in found.group(5).split(", of ")[0] else ""
        print(f"{seed} {language} {share:.1%} {guilty}: {named}{others}, {cost}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
    print(f"{right} of {services} right")


if __name__ == "__main__":
    main()
