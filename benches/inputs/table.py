#!/usr/bin/env python3
"""Measures how much of what people bring bakeoff takes rightly: the table of README.md.

    table.py --fetch FOLDER               get the public files of sources.tsv with git
    table.py [--verbose] FOLDER [KIND...] make the table from FOLDER/OWNER/NAME/PATH

bakeoff is the program in BAKEOFF, else the one in PATH. Everything is sent to recording servers on
loopback. What is right is decided without bakeoff: by curl for its commands, `docker-compose
config` (COMPOSE, a command) for compose files, protoc (the package grpcio-tools) for messages, and
readers in this file for the rest, which need PyYAML.
"""
import base64, collections, hashlib, http.server, json, os, pathlib, re, shlex, shutil, socket
import socketserver, subprocess, sys, tempfile, threading, tomllib, urllib.parse

HERE = pathlib.Path(__file__).parent
BAKEOFF = os.environ.get("BAKEOFF", "bakeoff")
KINDS = {
    "curl": "curl commands",
    "har": "HAR files",
    "http": "`.http`, `.rest` files",
    "openapi": "OpenAPI descriptions",
    "compose": "services with a port in compose files",
    "proto": "`.proto` files",
}
RIGHT, WRONG, CLEAR, UNCLEAR, UNTRIED = "right", "wrong", "clear", "unclear", "untried"


# Recording servers

class Recorder(socketserver.ThreadingTCPServer):
    """Keeps each request as (method, target, headers, body), and answers with its own name."""
    allow_reuse_address = daemon_threads = True

    def __init__(self, name):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name, self.requests = name, []
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def taken(self):
        requests, self.requests = self.requests, []
        return requests

    def handle_error(self, request, client_address):
        pass


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            first = self.rfile.readline()
            if not first:
                return
            method, target, _ = first.decode("latin1").rstrip("\r\n").split(" ", 2)
            headers = []
            while (line := self.rfile.readline().decode("latin1").rstrip("\r\n")):
                name, value = line.split(":", 1)
                headers.append((name, value.strip()))
            lower = {name.lower(): value for name, value in headers}
            if lower.get("expect") == "100-continue":
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = self.body(lower)
            is_ready = target == "/ready-of-table"
            if not is_ready:
                self.server.requests.append((method, target, headers, body))
            # Different responses end a duel before it measures.
            status = "200 OK" if is_ready or self.server.name == "a" else "201 Created"
            text = self.server.name if method != "HEAD" else ""
            self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: 1\r\n\r\n{text}".encode())

    def body(self, lower):
        if "chunked" not in lower.get("transfer-encoding", ""):
            return self.rfile.read(int(lower.get("content-length", 0)))
        body = b""
        while (size := int(self.rfile.readline().split(b";")[0], 16)):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


A, B = Recorder("a"), Recorder("b")


def run(words, cwd, env=None, limit=60):
    """Returns status and messages of bakeoff."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), **(env or {})}
    try:
        ran = subprocess.run([BAKEOFF, *words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "it took too long"
    return ran.returncode, ran.stdout.decode(errors="replace")


def duel(words, cwd, env=None):
    """Returns what bakeoff sends to one side, without what is about its connection, and what it
    says."""
    A.taken(), B.taken()
    sides = [f"{one.name}=url:http://127.0.0.1:{one.port}" for one in (A, B)]
    short = ["--runs", "1", "--duration", "100ms", "--warm-up", "none", "--ready",
             "/ready-of-table"]
    with tempfile.TemporaryDirectory() as out:
        _, said = run(["duel", *sides, *short, "--out", out + "/o", *words], cwd, env)
    sent = []
    for method, target, headers, body in A.taken():
        headers = [one for one in headers if one != ("Connection", "close")]
        one = (method, target, headers, body)
        if one not in sent:
            sent.append(one)
    return sent, said


def refusal(said):
    """Judges a refusal: one sentence that names the reason. Those read and found unclear are in
    unclear.txt."""
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    unclear = (HERE / "unclear.txt").read_text().splitlines()
    is_unclear = len(errors) != 1 or any(re.search(one, said) for one in unclear if one)
    return (UNCLEAR if is_unclear else CLEAR), (errors or [said[-300:]])[0]


# curl

def command_at(lines, at):
    """Returns the command that begins on a line: to where quotes, backslashes and here-documents
    end, or the fence of its code."""
    text, quote, end = "", None, None
    for line in lines[at:]:
        if end is None and text and line.strip().startswith("```"):
            break
        text += line + "\n"
        if end is not None:
            if line.strip() == end:
                break
            continue
        escaped = False
        for c in line:
            if escaped:
                escaped = False
            elif c == "\\" and quote != "'":
                escaped = True
            elif quote:
                quote = None if c == quote else quote
            elif c in "'\"":
                quote = c
        found = re.search(r"<<-?\s*['\"]?(\w+)", line) if quote is None else None
        if found:
            end = found[1]
        elif quote is None and not escaped:
            break
    return text.rstrip("\n")


def only_curl(text):
    """Returns the command without prompt, pipes, redirections and further commands."""
    text = re.sub(r"^\s*[$%#>]\s+", "", text)
    out, quote, at = "", None, 0
    while at < len(text):
        c = text[at]
        if c == "\\" and quote != "'":
            out, at = out + text[at:at + 2], at + 2
            continue
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif text.startswith("<<", at):
            rest = text[at:]
            first, _, document = rest.partition("\n")
            return out + re.split(r"[|;&>]", first)[0] + "\n" + document
        elif c in "|;&>":
            return re.sub(r"\s\d$", "", out) if c == ">" else out
        out, at = out + c, at + 1
    return out


def variables(text):
    """Values for the variables of a command."""
    def value(name):
        upper = name.upper()
        if "PORT" in upper:
            return "8080"
        if any(one in upper for one in ("URL", "ENDPOINT", "BASE")):
            return "http://example.test"
        if any(one in upper for one in ("HOST", "ADDR", "DOMAIN", "SERVER", "IP")):
            return "example.test"
        return "value-of-" + name.lower()
    names = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text)) - {"PWD", "HOME"}
    return {name: value(name) for name in names}


def with_files(text, folder):
    """Makes the files that a command reads, and their paths relative."""
    text = re.sub(r"([@<])/(?=\w)", r"\1", text).replace("$PWD/", "")
    named = re.findall(r"[@<](~?[\w.][\w./-]*)", text)
    named += re.findall(r"(?:-T|--upload-file)[ =]?['\"]?(~?[\w.][\w./-]*)", text)
    for name in named:
        path = folder / name.removeprefix("~/")
        if name == "-" or ".." in name or name.endswith("/"):
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("first line\nsecond line\n")
        except OSError:
            pass
    return text


def sent_by_curl(text, folder, env):
    """What curl sends, asked by a shell that has no other program and writes nowhere."""
    A.taken()
    programs = folder / ".programs"
    programs.mkdir()
    wrapper = programs / "curl"
    # The last of equal options counts: no command leads out of this machine.
    wrapper.write_text(
        f"#!/bin/bash\nexec /usr/bin/curl -q --connect-to ::127.0.0.1:{A.port} \"$@\" "
        "--noproxy '*' --proto =http --proto-redir =http --max-time 5\n")
    wrapper.chmod(0o755)
    environment = {"PATH": str(programs), "HOME": str(folder), **env}
    try:
        subprocess.run(["/bin/bash", "--restricted", "-c", text], cwd=folder, env=environment,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        pass
    return A.taken()


def as_compared(request, typed):
    """A request without what is not the command's: the host that it goes to, the names of the
    programs, the separator of a form's parts."""
    method, target, headers, body = request
    found = [re.search(r"boundary=([-\w]+)", value) for _, value in headers]
    boundary = next((one[1] for one in found if one), None)
    kept, length = [], None
    for name, value in headers:
        lower = name.lower()
        if lower == "content-length":
            length = value if boundary is None else "of a form"
            continue
        is_own = {
            "host": "host" not in typed,
            "user-agent": value.startswith("curl/"),
            "accept": value == "*/*" and "accept" not in typed,
            "expect": value == "100-continue",
            "transfer-encoding": True,
        }
        if is_own.get(lower):
            continue
        kept.append((name, value.replace(boundary, "B") if boundary else value))
    if boundary:
        body = body.replace(boundary.encode(), b"B")
    # Without a body its length is not said by all.
    return method, target, kept, (None if length in (None, "0") else length), body


def judge_curl(source, root):
    lines = (root / source.path).read_text(errors="replace").splitlines()
    text = command_at(lines, int(source.detail) - 1).replace("https://", "http://")
    if re.search(r"--next|--config|\s-K|\s-:", text):
        return UNTRIED, "it may lead curl out of this machine"
    env = variables(text)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = with_files(text, folder)
        own = only_curl(text)
        asks_shell = re.search(r"\$\(|`", own)
        by_curl = [] if asks_shell else sent_by_curl(own, folder, env)
        sent, said = duel(["--curl", text], folder, env)
    if not sent:
        return refusal(said) if by_curl or asks_shell else (UNTRIED, "curl itself sends nothing")
    if len(by_curl) != 1:
        return (UNTRIED if not by_curl else WRONG), f"curl sends {len(by_curl)} requests"
    names = {one.lower() for one in re.findall(r"-H\s*['\"]?([\w-]+):", text)}
    names |= {one.lower() for one in re.findall(r"--header[ =]['\"]?([\w-]+):", text)}
    want, got = as_compared(by_curl[0], names), as_compared(sent[0], names)
    if want == got:
        return RIGHT, ""
    # Escapes are equal in both cases (RFC 3986, 6.2.2.1): versions of curl change them.
    upper = [re.sub(r"%[0-9a-f]{2}", lambda one: one[0].upper(), one[1]) for one in (want, got)]
    if upper[0] == upper[1] and want[2:] == got[2:] and want[0] == got[0]:
        return RIGHT, ""
    pairs = zip(("method", "target", "headers", "length", "body"), want, got)
    return WRONG, "; ".join(f"{what}: curl {x!r}, bakeoff {y!r}" for what, x, y in pairs if x != y)


# Files of requests

# Headers that a browser or a connection makes.
BROWSER = set("""accept-encoding cache-control connection content-length dnt expect host origin
    if-modified-since if-none-match if-range keep-alive pragma priority proxy-connection referer te
    trailer transfer-encoding upgrade upgrade-insecure-requests user-agent via x-forwarded-for
    """.split())


def own_headers(headers):
    """Headers without those that every sender makes."""
    return [(name, value.strip()) for name, value in headers
            if re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name) and not name.lower().startswith("sec-")
            and name.lower() not in BROWSER]


def is_like(want, sent):
    """Whether a request was sent as it is wanted."""
    def text(one):
        return repr((one[0], one[1], own_headers(one[2]), one[3]))
    pattern = re.escape(text(want)).replace(re.escape(repr(MADE)[1:-1]), r"[-\w]+")
    return re.fullmatch(pattern, text(sent)) is not None


def compared(wanted, sent, said):
    """Judges the requests of a file: those that were sent must be wanted, and the other way."""
    if not wanted:
        return (WRONG, f"sent: {sent[0][:2]}") if sent else refusal(said)
    if not sent:
        return refusal(said)
    odd = [one for one in sent if not any(is_like(want, one) for want in wanted)]
    missing = [want for want in wanted if not any(is_like(want, one) for one in sent)]
    if odd or missing:
        return WRONG, f"sent, but not meant: {odd[:2]!r}; not sent: {missing[:2]!r}"[:1500]
    return RIGHT, ""


def judge_har(source, root):
    path = root / source.path
    sent, said = duel(["--har", str(path), "--writes", "--secrets"], root)
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    try:
        entries = json.loads(text)["log"]["entries"]
    except (ValueError, KeyError, TypeError):
        return compared([], sent, said)
    by_host = collections.defaultdict(list)
    for entry in entries:
        try:
            request = entry["request"]
            url = re.sub(r"#.*", "", request["url"])
            found = re.match(r"(https?)://([^/?]*)([^?]*)(.*)", url)
            response = entry.get("response", {})
            status = response.get("status")
            kind = response.get("content", {}).get("mimeType", "").split(";")[0].strip().lower()
            data = request.get("postData") or {}
            body = data.get("text") or ""
            headers = [(one["name"], one["value"]) for one in request.get("headers") or []]
        except (KeyError, TypeError, AttributeError):
            continue
        static = r"image/|font/|audio/|video/|.*(css|javascript|wasm|font)|.*/manifest\+json"
        if not found or re.match(static, kind) or (status is not None and status < 200):
            continue
        scheme, host, target, query = found.groups()
        host = host.removesuffix(":443" if scheme == "https" else ":80").lower()
        body = base64.b64decode(body) if data.get("encoding") == "base64" else body.encode()
        if not body and data.get("params"):
            params = [(one["name"], one.get("value", "")) for one in data["params"]]
            body = urllib.parse.urlencode(params).encode()
        query = "" if query == "?" else query
        one = (request["method"].upper(), (target or "/") + query, headers, body)
        by_host[host].append((status, one))
    most = max(by_host.values(), key=len, default=[])
    # Range is not compared: a recording may have only its answer.
    wanted = [one for status, one in most
              if (status or 200) < 400 and one[0] not in ("HEAD", "OPTIONS")]
    for one in wanted:
        one[2][:] = [(name, value) for name, value in one[2] if name.lower() != "range"]
    return compared(wanted, sent, said)


# What is made for each request: any text of this kind is right.
MADE = "\0made\0"


def requests_of(text, path):
    """The requests of a `.http` file as (host, method, target, headers, body). One that needs what
    is neither in it nor in its environments is left out; but a variable at the begin of a
    URL is a host."""
    known, found = {}, []
    for name in ("http-client.env.json", "http-client.private.env.json"):
        beside = path.parent / name
        if beside.is_file():
            all_environments = json.loads(beside.read_text("utf-8-sig"))
            shared = all_environments.pop("$shared", {})
            first = next(iter(all_environments.values()), {})
            known |= {**shared, **first}

    def filled(text):
        def value(match):
            name = match[1].strip().lstrip("%")
            if re.match(r"\$(guid|uuid|random|timestamp)", name):
                return MADE
            return str(known[name])
        return re.sub(r"\{\{(.*?)\}\}", value, text)

    def define(line):
        name, value = (one.strip() for one in line[1:].split("=", 1))
        try:
            known[name] = filled(value)
        except KeyError:
            known.pop(name, None)
    is_definition = re.compile(r"@[^\s=]+\s*=").match
    for part in re.split(r"(?m)^###.*$", text):
        lines = [line for line in part.splitlines()]
        later = []
        while lines and (not lines[-1].strip() or is_definition(lines[-1])):
            later.append(lines.pop())
        while lines and (not (line := lines[0].strip()) or line.startswith(("#", "//"))
                         or is_definition(line)):
            if is_definition(line):
                define(line)
            lines.pop(0)
        try:
            first = lines and re.match(r"([A-Z]+)\s+(\S.*?)(\s+HTTP/[\d.]+)?$", lines.pop(0).strip())
            if not first:
                continue
            url, headers = first[2], []
            while lines and (line := lines[0].strip()) and (
                    line.startswith(("?", "&")) or url.endswith(("?", "&"))):
                url += lines.pop(0).strip()
            while lines and (line := lines.pop(0).strip()):
                if not line.startswith(("#", "//")):
                    name, value = filled(line).split(":", 1)
                    headers.append((name.strip(), value.strip()))
            body = "\n".join(lines)
            body = re.sub(r"(?ms)^> \{%.*?%\}|^(<>|>>!?|>) .*?$", "", body).strip("\n").rstrip()
            if any("urlencoded" in value for _, value in headers):
                body = re.sub(r"&\s*\n\s*|\s*\n\s*&", "&", body)
            if body.startswith("< "):
                body = (path.parent / body[2:].strip()).read_text()
            leading = re.match(r"\{\{([^}]*)\}\}(?=/)", url)
            if leading and leading[1].strip() not in known:
                url = "unknown" + url[leading.end():]
            host, target = re.match(r"(?:https?://)?([^/?]*)(.*)", filled(url)).groups()
            target = target if target.startswith("/") else "/" + target
            target = re.sub(r"[^!-~\0]", lambda one: urllib.parse.quote(one[0]), target)
            host = "" if host == "unknown" else host
            found.append((host, first[1], target, headers, filled(body).encode()))
        except (KeyError, ValueError, OSError):
            pass
        finally:
            for line in reversed(later):
                if is_definition(line):
                    define(line)
    return found


def judge_http(source, root):
    path = root / source.path
    sent, said = duel(["--requests", str(path), "--writes"], path.parent)
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    found = requests_of(text.replace("\r\n", "\n"), path)
    hosts = collections.Counter(one[0] for one in found if one[0])
    host = hosts.most_common(1)[0][0] if hosts else ""
    wanted = [one[1:] for one in found if one[0] in ("", host)]
    return compared(wanted, sent, said)


# OpenAPI

def judge_openapi(source, root):
    import yaml
    path = root / source.path
    text = path.read_text()
    document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    sent, said = duel(["--openapi", str(path)], root)
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        return compared([], sent, said)

    def at(value):
        while isinstance(value, dict) and str(value.get("$ref", "")).startswith("#/"):
            for key in value["$ref"][2:].split("/"):
                key = key.replace("~1", "/").replace("~0", "~")
                if value is not None and "$ref" in value and value["$ref"].endswith(key):
                    pass
            found = document
            for key in value["$ref"][2:].split("/"):
                found = found.get(urllib.parse.unquote(key.replace("~1", "/").replace("~0", "~")))
            value = found
        return value

    servers = document.get("servers") or [{}]
    base = servers[0].get("url") or document.get("basePath") or ""
    for name, one in (servers[0].get("variables") or {}).items():
        base = base.replace("{%s}" % name, str(one.get("default")))
    base = re.sub(r"^\w+://[^/]*", "", base).rstrip("/")
    unknown, known, gets = [], [], 0
    for template, item in document["paths"].items():
        item = at(item)
        if "get" not in item:
            continue
        gets += 1
        operation = item["get"]
        parameters = {}
        for one in (item.get("parameters") or []) + (operation.get("parameters") or []):
            one = at(one)
            parameters[one["name"], one["in"]] = one

        def given(one):
            schema = at(one.get("schema") or {})
            for holder in (one, schema):
                if holder.get("example") is not None:
                    return holder["example"]
            return None

        def pattern(match):
            one = parameters.get((match[1], "path"))
            value = None if one is None else given(one)
            is_text = isinstance(value, (str, int)) and not isinstance(value, bool)
            return re.escape(urllib.parse.quote(str(value), safe="")) if is_text else "[^/?{}]+"
        parts = re.split(r"(\{[^}]*\})", urllib.parse.quote(template, safe="/{}:@,;=+$!*'()&~"))
        regex = "".join(re.sub(r"\{(.*)\}", pattern, part) if part.startswith("{")
                        else re.escape(part) for part in parts)
        needed = {name for (name, place), one in parameters.items()
                  if place == "query" and one.get("required")}
        possible = {name for name, place in parameters if place == "query"}
        known.append((re.compile(re.escape(base) + regex + r"(\?.*)?$"), needed, possible,
                      parameters, given))
    for method, target, headers, body in sent:
        path_only, _, query = target.partition("?")
        names = {urllib.parse.unquote(one.split("=")[0]) for one in query.split("&") if one}
        fits = [one for one in known if one[0].match(path_only)
                and one[1] <= names <= one[2] and "{" not in path_only]
        if method != "GET" or not fits:
            unknown.append(f"{method} {target}")
            continue
        values = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        for (name, place), one in fits[0][3].items():
            value = fits[0][4](one)
            if place == "query" and name in values and isinstance(value, (str, int)) \
                    and not isinstance(value, bool) and values[name] != str(value):
                unknown.append(f"{target}: {name} is not {value}")
    if unknown:
        return WRONG, f"not in the description: {unknown[:3]}"
    if not sent:
        return refusal(said)
    # A description of which most reads are left out is of little use.
    share = len(sent) / gets
    return (RIGHT if share >= 0.5 else CLEAR), f"{len(sent)} of {gets} GETs"


# Compose

class Engine(http.server.BaseHTTPRequestHandler):
    """As much of a Docker engine as a build asks for."""
    def do_GET(self):
        body = json.dumps({"Version": "28.0.0", "ApiVersion": "1.44", "MinAPIVersion": "1.24",
                           "Os": "linux", "Arch": "amd64", "OSType": "linux"}).encode()
        self.send_response(200)
        self.send_header("Api-Version", "1.44")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


def judge_compose(source, root):
    """Judges one service by the suite that `init` makes of it."""
    path, service = root / source.path, source.detail
    engine = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        docker = folder / "docker"
        docker.write_text("#!/bin/sh\necho \"$@\" >> %s/built\n" % folder)
        docker.chmod(0o755)
        (folder / "a.http").write_text("GET /\n")
        env = {"PATH": f"{folder}:{os.environ['PATH']}",
               "DOCKER_HOST": f"tcp://127.0.0.1:{engine.server_address[1]}"}
        status, said = run(["init", str(folder / "s"), f"a=compose:{service}", "--compose",
                            str(path), "--requests", str(folder / "a.http")], folder, env)
        engine.shutdown()
        compose = shlex.split(os.environ.get("COMPOSE", "docker-compose"))
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
        config = subprocess.run([*compose, "-f", str(path), "--profile", "*", "config", "--format",
                                 "json"], capture_output=True, text=True, env=env)
        if config.returncode != 0:
            last = config.stderr.strip().splitlines()[-1:]
            return UNTRIED, f"Compose itself refuses it: {last}; bakeoff: {said[:300]!r}"
        want = json.loads(config.stdout)["services"]
        if status != 0:
            return refusal(said)
        contender = tomllib.loads((folder / "s/contenders/a/contender.toml").read_text())
        suite = tomllib.loads((folder / "s/suite.toml").read_text())
        differ = differences(want, service, contender, suite)
    return (WRONG, "; ".join(differ)[:1500]) if differ else (RIGHT, "")


def differences(want, service, contender, suite):
    """What of a service and its dependencies is not as Compose reads it."""
    found = []

    def differ(name, what, x, y):
        if x != y:
            found.append(f"{name}.{what}: compose {x!r}, bakeoff {y!r}")
    image = contender["image"]
    side = {**image, "image": image["name"], "env": contender.get("env", {}),
            "command": image.get("arguments", [])}
    got_all = {service: side, **{one["name"]: one for one in suite.get("dependency", [])}}
    todo, seen = [service], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        one, got = want[name], got_all.get(name)
        needs = one.get("depends_on") or {}
        todo += [other for other, how in needs.items() if how.get("required") or other in want]
        if got is None:
            found.append(f"{name} is no dependency")
            continue
        env = {key: value for key, value in (one.get("environment") or {}).items()
               if value is not None}
        differ(name, "environment", env, got.get("env", {}))
        if "build" not in one:
            differ(name, "image", one.get("image"), got.get("image"))
        words = (one.get("entrypoint") or []) + (one.get("command") or [])
        differ(name, "words", words, got.get("entrypoint", []) + got.get("command", []))
        settings = {**got, **got.get("container", {})}
        kept = {"user": "user", "working_dir": "working-dir", "read_only": "read-only",
                "init": "init", "hostname": "hostname", "cap_add": "cap-add",
                "stop_signal": "stop-signal", "shm_size": "shm-size", "tmpfs": "tmpfs",
                "extra_hosts": "extra-hosts"}
        for key, own in kept.items():
            if one.get(key):
                x, y = one[key], settings.get(own, settings.get(key))
                same = y is not None if key in ("shm_size", "extra_hosts", "tmpfs") else x == y
                if not same:
                    differ(name, key, x, y)
        # A folder that is not there is made empty.
        binds = {f"{v['source']}:{v['target'].rstrip('/')}" for v in one.get("volumes") or []
                 if v["type"] == "bind" and os.path.exists(v["source"])}
        own = {re.sub(r":r[ow]$", "", v).rstrip("/") for v in got.get("volumes", [])}
        if not binds <= own:
            differ(name, "volumes", sorted(binds), sorted(own))
    tcp = [port["target"] for port in want[service].get("ports") or []
           if port["protocol"] == "tcp"]
    if tcp:
        differ(service, "port", tcp[0], suite["suite"].get("port"))
    return found


# Messages of gRPC

def frames(connection):
    """Reads frames of HTTP/2 until a stream ends, and returns the bytes of its body."""
    stream = connection.makefile("rb")
    stream.read(24)
    connection.sendall(b"\0\0\0\4\0\0\0\0\0")
    body = b""
    while (head := stream.read(9)):
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        payload = stream.read(size)
        if kind == 4 and not flags & 1:
            connection.sendall(b"\0\0\0\4\1\0\0\0\0")
        if kind == 0:
            body += payload
            if flags & 1:
                return body
    return body


OPTIONS = ("googleapis/googleapis", "bufbuild/protoc-gen-validate", "gogo/protobuf",
           "grpc-ecosystem/grpc-gateway")


def judge_proto(source, root):
    """Judges the body of one method: `--proto FILE`, and a message with a value in each field."""
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
    from grpc_tools import protoc
    import grpc_tools
    path = root / source.path
    method_name, include = source.detail.split(" ")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "set"
        known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
        # Protoc asks for the files that only options need.
        extra = [f"-I{root.parent.parent / one}" for one in OPTIONS]
        status = protoc.main(["protoc", f"-I{(root / include).resolve()}", f"-I{known}", *extra,
                              "--include_imports", f"--descriptor_set_out={out}", str(path.resolve())])
        if status != 0:
            return UNTRIED, "protoc refuses it"
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for one in files.file:
            pool.Add(one)
        method = pool.FindMethodByName(method_name)
        message = message_factory.GetMessageClass(method.input_type)()
        fill(message, 0)
        text = json_format.MessageToJson(message, descriptor_pool=pool)
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(10)
        bodies = []

        def serve():
            try:
                while True:
                    connection, _ = listener.accept()
                    connection.settimeout(5)
                    body = frames(connection)
                    connection.close()
                    if body:
                        bodies.append(body)
                        return
            except OSError:
                pass
        thread = threading.Thread(target=serve)
        thread.start()
        service = method.containing_service.full_name
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/{service}/{method.name}"
        _, said = run(["load", url, "--proto", str(path), "--body", text, "-n", "1", "-c", "1",
                       "-d", "1s", "--timeout", "2s"], folder)
        if "error: " in said:
            listener.close()
        thread.join(12)
        listener.close()
    if not bodies:
        return refusal(said)
    got = type(message).FromString(bodies[0][5:])
    return (RIGHT, "") if got == message else (WRONG, f"{text} became {got}"[:800])


def fill(message, depth):
    """Gives each field a value."""
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof and message.WhichOneof(field.containing_oneof.name):
            continue
        is_map = field.message_type and field.message_type.GetOptions().map_entry
        if is_map or depth > 2 or field.type == field.TYPE_GROUP:
            continue
        is_repeated = field.is_repeated
        if field.type == field.TYPE_MESSAGE:
            if field.message_type.full_name.startswith("google.protobuf."):
                continue
            inner = getattr(message, field.name)
            fill(inner.add() if is_repeated else inner, depth + 1)
            if not is_repeated:
                inner.SetInParent()
            continue
        value = {field.TYPE_BOOL: True, field.TYPE_STRING: "a", field.TYPE_BYTES: b"\0\xff",
                 field.TYPE_ENUM: field.enum_type and field.enum_type.values[-1].number,
                 field.TYPE_FLOAT: 0.5, field.TYPE_DOUBLE: 0.25}.get(field.type, 7)
        if is_repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)


# The table

Source = collections.namedtuple("Source", "kind repository commit path detail")
JUDGES = {"curl": judge_curl, "har": judge_har, "http": judge_http, "openapi": judge_openapi,
          "compose": judge_compose, "proto": judge_proto}


def sources():
    for line in (HERE / "sources.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            yield Source(*(line.split("\t") + [""])[:5])


def fetch(folder):
    """Gets the files with their folders from their public addresses."""
    by_repository = collections.defaultdict(set)
    for one in sources():
        folder_of = one.detail.split(" ")[1] if one.kind == "proto" else \
            one.path.rpartition("/")[0]
        whole = folder_of in ("", ".", "..")
        by_repository[one.repository, one.commit].add("/*" if whole else f"/{folder_of}/")
    for (repository, commit), paths in by_repository.items():
        place = folder / repository
        if place.exists():
            continue
        place.mkdir(parents=True)

        def git(*words):
            subprocess.run(["git", "-C", str(place), *words], check=True)
        git("init", "--quiet")
        git("remote", "add", "origin", f"https://github.com/{repository}")
        git("sparse-checkout", "set", "--no-cone", *sorted(paths))
        git("fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
        git("checkout", "--quiet", "FETCH_HEAD")


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if not words:
        sys.exit(__doc__)
    folder = pathlib.Path(words[0]).resolve()
    if "--fetch" in sys.argv:
        return fetch(folder)
    counts = {kind: collections.Counter() for kind in KINDS if not words[1:] or kind in words[1:]}
    for source in sources():
        if source.kind not in counts:
            continue
        root = folder / source.repository
        if not (root / source.path).is_file():
            state, why = UNTRIED, "it is not in the folder"
        else:
            try:
                state, why = JUDGES[source.kind](source, root)
            except Exception as error:
                state, why = UNTRIED, f"this script fails: {error!r}"
        counts[source.kind][state] += 1
        if "--verbose" in sys.argv:
            print(state, *source[:2], source.path, source.detail, why, sep="\t", flush=True)
    print("| kind | tried | right | taken, but wrong | refused clearly | refused unclearly |")
    print("|---|---:|---:|---:|---:|---:|")
    for kind, count in counts.items():
        tried = sum(count.values()) - count[UNTRIED]
        share = f" ({100 * count[RIGHT] // tried} %)" if tried else ""
        print(f"| {KINDS[kind]} | {tried} | {count[RIGHT]}{share} | {count[WRONG]} | "
              f"{count[CLEAR]} | {count[UNCLEAR]} |")


main()
