"""Planted secrets: six shapes, made at random from what vendors and formats publish, and never from the rules that are measured.

The generator is an adversary: lengths vary as the issuers vary them, values stand in the languages, quotes, logs, diffs and
configuration formats in which people lose them, and every sixth vendor is unknown to the rules. Nothing here is a secret.
"""

# ruff: noqa: E501  (tables of texts read better a text a line)

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import NamedTuple

from issuers import B62, DIGITS, HEX, LOWER, LOWER_DIGITS, SYMBOLS, UPPER, URL64, VENDORS, Maker

SHAPES = ("vendor token", "url", "assignment", "prose", "private key", "high entropy")


class Planted(NamedTuple):
    """A text with one secret in it, and where the secret comes from."""

    shape: str
    source: str
    text: str
    secret: str


# Where a token stands: nothing in these tells that what follows is one.
PLACES = (
    "{}", "the deploy log of last night printed {} and then stopped", "ran it with {} on the old host, same result.", "`{}`",
    "see {}, it still works", "({})", 'const client = new Client("{}");', "client = Client('{}')", 'x := call(ctx, "{}")',
    '{{"level":"info","msg":"sent {}"}}', r'{{"log":"value=\"{}\"\n"}}', "- {}", "| prod | {} | joe |", "joe,prod,{},2026-01-03",
    "+    .header({})", "-  value: {}", "> {}", "# {}", "// old: {}", "/* {} */", "<!-- {} -->", "<b>{}</b>", "$ tool login {}",
    "2026-03-04T05:06:07Z worker[12] DEBUG got {} from upstream", "set -x\n+ curl -s https://api.example.com/v1/items -H {}",
    "Er hat {} in den Chat kopiert.", "il a collé {} dans le ticket", "ключ был {} до мая", "a\n{}\nb", "[{}]", "id={};", "echo {} | base64",
)  # fmt: skip

_VOCABULARY = (
    "sunshine dragon monkey shadow falcon tiger winter summer maple copper rocket pepper orange purple thunder castle garden planet "
    "silver bishop canyon harbor lantern meadow nectar oyster pirate quartz ribbon saddle timber velvet walnut zipper"
)
_WORDS = _VOCABULARY.split()
_HOSTS = (
    "db.internal",
    "10.0.3.7",
    "localhost",
    "pg-1.eu-west-1.rds.amazonaws.com",
    "mq.example.org",
    "cache",
    "git.example.com",
    "[::1]",
)
_USERS = ("joe", "root", "admin", "app", "svc-deploy", "postgres", "ann.lee", "sa", "ci_bot", "user42")


def password(m: Maker) -> str:
    """What people and generators choose: words with digits, leet, phrases, symbols, random letters."""
    word = m.dice.choice(_WORDS)
    kinds: tuple[Callable[[], str], ...] = (
        lambda: word + m.any(DIGITS, 1, 4),
        lambda: word.capitalize() + m.any(DIGITS, 2, 4) + m.pick("!", "?", "#", "$", ""),
        lambda: word.translate(str.maketrans("aeios", "43105")).capitalize() + m.pick("!", "", "99"),
        lambda: m.any(B62, 10, 16),
        lambda: m.any(B62 + SYMBOLS, 12, 24),
        lambda: "-".join(m.dice.sample(_WORDS, 4)),
        lambda: m.any(LOWER_DIGITS, 8, 12),
        lambda: m.any(HEX, 16, 32),
        lambda: m.any(LOWER, 3) + m.any(DIGITS, 3) + m.any(UPPER, 3),
    )
    return m.dice.choice(kinds)()


def token(m: Maker) -> str:
    """What services hand out without a prefix of their own."""
    kinds: tuple[Callable[[], str], ...] = (
        lambda: m.any(B62, 16, 64),
        lambda: m.any(HEX, 32, 64),
        lambda: m.base64(m.dice.randint(16, 48)),
        lambda: m.any(URL64, 22, 64),
        m.uuid,
        lambda: m.any(LOWER_DIGITS, 20, 40),
        lambda: m.any(UPPER + DIGITS, 16, 32),
    )
    return m.dice.choice(kinds)()


def _vendor(m: Maker) -> Planted:
    name = m.dice.choice(list(VENDORS))
    secret = VENDORS[name](m)
    return Planted(
        "vendor token", name, m.dice.choice(PLACES).format(secret), secret.rpartition("webhooks/")[2].rpartition("services/")[2]
    )


_URL_PLACES = (
    "{}", 'DATABASE_URL="{}"', "url: {}", "connect to {} failed: timeout", "git remote add origin {}", "git clone {} /srv/x",
    '"dsn": "{}",', "see <{}>", "({})", "engine = create_engine('{}')", "[db]\nurl={}\n", "fatal: unable to access '{}/': 403", "+  uri: {}",
)  # fmt: skip


def _url(m: Maker) -> Planted:
    def quoted(text: str) -> str:
        return "".join(char if char in B62 + "-._~!*+$&=;" else f"%{ord(char):02X}" for char in text)

    user, host = m.dice.choice(_USERS), m.dice.choice(_HOSTS)
    secret = quoted(m.dice.choice((password, password, token))(m))
    scheme = m.pick(
        "postgres", "postgresql+asyncpg", "mysql", "mysql+pymysql", "mongodb", "mongodb+srv", "amqp", "amqps", "redis", "rediss", "mssql",
        "https", "http", "ftp", "sftp", "smtp", "smtps", "ldap", "imaps", "clickhouse", "nats", "cockroachdb", "rtsp", "socks5", "svn+ssh",
    )  # fmt: skip
    user_part = "" if scheme.startswith("redis") else m.pick(user, user, "x-access-token", "oauth2", "")
    key = m.any(B62, 24, 40)
    forms = (
        ("userinfo", f"{scheme}://{user_part}:{secret}@{host}:{m.any('123456789', 4)}/app", secret),
        ("userinfo", f"{scheme}://{user_part}:{secret}@{host}/app?sslmode=require", secret),
        ("userinfo", f"https://{user}:{secret}@{host}/group/repo.git", secret),
        ("userinfo", f"{scheme}://{user_part}:{secret}@{host}", secret),
        ("token as user", f"https://{key}@{host}/group/repo.git", key),
        ("query", f"https://{host}/hook?{m.pick('token', 'access_token', 'api_key', 'apikey', 'secret', 'key')}={key}&x=1", key),
        ("query", f"https://maps.example.com/js?v=3&{m.pick('key', 'sig', 'signature', 'auth', 'client_secret')}={key}", key),
        ("jdbc", f"jdbc:postgresql://{host}/app?user={user}&password={quoted(password(m))}", ""),
        ("presigned", f"https://b.s3.amazonaws.com/o?X-Amz-Date=20260101T000000Z&X-Amz-Signature={m.any(HEX, 64)}", ""),
    )
    source, url, found = m.dice.choice(forms)
    found = found or url.rpartition("=")[2]
    return Planted("url", source, m.dice.choice(_URL_PLACES).format(url), found)


_OWNERS = (
    "db",
    "api",
    "smtp",
    "stripe",
    "app",
    "admin",
    "root",
    "redis",
    "github",
    "service",
    "internal",
    "prod",
    "billing",
    "my",
    "jenkins",
)
_PASSWORDS = ("password", "passwd", "pwd", "pass", "passphrase")
_TOKENS = ("token", "secret", "api_key", "access_key", "secret_key", "auth_token", "client_secret", "private_key", "access_token",
           "signing_key", "webhook_secret", "encryption_key", "refresh_token", "app_secret", "bearer_token")  # fmt: skip


def _styled(m: Maker, name: str) -> str:
    """The name in one of the usual spellings."""
    words = [m.dice.choice(_OWNERS), *name.split("_")] if m.dice.random() < 0.7 else name.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    return m.pick("_".join(words).upper(), "_".join(words), camel, "-".join(words), "_".join(words).upper(), ".".join(words))


# NAME, USER and VALUE are filled in. Which quoting the value must survive is in the third column.
_FORMS = (
    ("env", "NAME=VALUE", "bare"), ("env", 'NAME="VALUE"', "quoted"), ("env", "export NAME='VALUE'", "quoted"),
    ("env", "NODE_ENV=production\nNAME=VALUE\nPORT=3000", "bare"), ("dockerfile", "ENV NAME VALUE", "bare"), ("dockerfile", "ENV NAME=VALUE", "bare"),
    ("compose", "    environment:\n      - NAME=VALUE", "bare"), ("json", '{"NAME": "VALUE", "port": 5432}', "quoted"),
    ("json", '  "NAME":"VALUE",', "quoted"), ("json log", r'{"msg":"cfg {\"NAME\":\"VALUE\"}"}', "quoted"), ("yaml", "NAME: VALUE", "bare"),
    ("yaml", '  NAME: "VALUE"  # rotate', "quoted"), ("yaml", "db:\n    host: h1\n    NAME: 'VALUE'\n    pool: 5", "quoted"),
    ("toml", 'NAME = "VALUE"', "quoted"), ("ini", "[main]\nNAME = VALUE\nuser = x", "bare"), ("properties", "spring.datasource.NAME=VALUE", "bare"),
    ("xml", "<NAME>VALUE</NAME>", "bare"), ("xml", '<add key="NAME" value="VALUE" />', "quoted"), ("xml", '<conn NAME="VALUE" host="h"/>', "quoted"),
    ("python", 'NAME = "VALUE"', "quoted"), ("python", "client = Client(user='joe', NAME='VALUE')", "quoted"), ("python", "os.environ['NAME'] = 'VALUE'", "quoted"),
    ("javascript", 'const NAME = "VALUE";', "quoted"), ("javascript", "  NAME: 'VALUE',", "quoted"), ("javascript", "NAME: process.env.X || 'VALUE',", "quoted"),
    ("go", 'NAME := "VALUE"', "quoted"), ("go", 'cfg := Config{User: "a", NAME: "VALUE"}', "quoted"), ("java", 'private static final String NAME = "VALUE";', "quoted"),
    ("rust", 'const NAME: &str = "VALUE";', "quoted"), ("c", '#define NAME "VALUE"', "quoted"), ("c", 'static const char *NAME = "VALUE";', "quoted"),
    ("php", "define('NAME', 'VALUE');", "quoted"), ("php", "'NAME' => 'VALUE',", "quoted"), ("ruby", 'NAME: "VALUE",', "quoted"), ("ruby", ":NAME => 'VALUE'", "quoted"),
    ("terraform", '  NAME = "VALUE"', "quoted"), ("powershell", '$env:NAME = "VALUE"', "quoted"), ("windows", "set NAME=VALUE", "bare"),
    ("ado", "Server=tcp:h,1433;User Id=sa;Password=VALUE;Encrypt=True", "plain"), ("ado", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=VALUE;", "token"),
    ("header", "Authorization: Bearer VALUE", "token"), ("header", "curl -H 'Authorization: token VALUE' https://h/x", "token"),
    ("header", 'headers={"X-Api-Key": "VALUE"}', "token"), ("header", "> X-Auth-Token: VALUE", "token"), ("header", "Authorization: Basic BASIC", "basic"),
    ("header", 'req.Header.Set("Authorization", "Bearer VALUE")', "token"), ("header", "PRIVATE-TOKEN: VALUE", "token"),
    ("option", "tool login --user joe --password VALUE", "bare"), ("option", "helm install x --set db.password=VALUE", "plain"), ("option", "mysqldump -u root -pVALUE app", "plain"),
    ("option", "curl -u joe:VALUE https://h.example/x", "plain"), ("option", "docker login -u joe -p VALUE registry.example.com", "plain"),
    ("sql", "CREATE USER app WITH PASSWORD 'VALUE';", "quoted"), ("sql", "ALTER USER 'app'@'%' IDENTIFIED BY 'VALUE';", "quoted"),
    ("netrc", "machine h.example.com login joe password VALUE", "bare"), ("pgpass", "db.internal:5432:app:joe:VALUE", "plain"),
    ("npmrc", "//registry.npmjs.org/:_authToken=VALUE", "token"), ("docker auth", '{"auths":{"r.example.com":{"auth":"BASIC"}}}', "basic"),
    ("kubernetes", "kind: Secret\ndata:\n  NAME: BASIC", "basic"), ("htpasswd", "joe:$apr1$SALT$HASH", "htpasswd"),
    ("cookie", "Cookie: theme=dark; session=VALUE; lang=en", "token"), ("diff", "-  NAME: VALUE\n+  NAME: ${NAME}", "bare"),
    ("markdown", "| `NAME` | `VALUE` |", "token"), ("markdown", "- **NAME**: `VALUE`", "quoted"), ("jenkins", "withEnv(['NAME=VALUE']) {", "plain"),
    ("gitlab ci", "variables:\n  NAME: VALUE", "bare"), ("systemd", "Environment=NAME=VALUE", "bare"), ("ansible", "ansible_become_pass: VALUE", "bare"),
    ("hcl", 'variable "NAME" {\n  default = "VALUE"\n}', "quoted"), ("lua", 'local NAME = "VALUE"', "quoted"), ("csharp", 'public string NAME => "VALUE";', "quoted"),
)  # fmt: skip


def _assignment(m: Maker) -> Planted:
    source, form, need = m.dice.choice(_FORMS)
    wordy = m.dice.random() < 0.5 if need in ("bare", "quoted") else need == "plain"
    name = _styled(m, m.dice.choice(_PASSWORDS if wordy else _TOKENS))
    value = password(m) if wordy else token(m)
    if need in ("bare", "plain") and wordy:  # a shell or a parser would end such a value sooner
        value = "".join(char for char in value if char not in "#;&'\"$!`,")
    if need == "basic":
        value = base64.b64encode(f"{m.dice.choice(_USERS)}:{password(m)}".encode()).decode()
        return Planted("assignment", source, form.replace("NAME", name).replace("BASIC", value), value)
    if need == "htpasswd":
        salt, digest = m.any(B62, 8), m.any(B62 + "./", 22)
        return Planted("assignment", source, form.replace("SALT", salt).replace("HASH", digest), digest)
    return Planted("assignment", source, form.replace("NAME", name).replace("VALUE", value), value)


_SAYINGS = (
    "the password is VALUE", "The staging password is VALUE.", "password for the admin user is VALUE, do not share it", "my pwd is VALUE",
    "Use the password VALUE to log in.", "login with admin / VALUE", "log in as joe with password VALUE", "user: joe, password: VALUE",
    "username joe and password VALUE work on staging", "we changed the root password to VALUE last week", "the new password will be VALUE",
    "the db password was VALUE before the rotation", "Password is still 'VALUE' on the old box", 'the passphrase of the key is "VALUE"',
    "credentials: joe / VALUE", "creds are joe:VALUE", "pw VALUE", "PW: VALUE", "pass: VALUE", "passcode VALUE", "the wifi password: VALUE",
    "it asks for a password, type VALUE", "the password (VALUE) is in the wiki", "I forgot that the password `VALUE` had expired",
    "password → VALUE", "password = VALUE (until Friday)", "das Passwort ist VALUE", "Passwort: VALUE", "le mot de passe est VALUE",
    "mot de passe : VALUE", "la contraseña es VALUE", "contraseña: VALUE", "a senha é VALUE", "пароль: VALUE", "пароль от базы VALUE", "密码是 VALUE", "密码：VALUE",
    "パスワード: VALUE", "la password è VALUE", "hasło: VALUE", "het wachtwoord is VALUE",
)  # fmt: skip
_TOKEN_SAYINGS = (
    "the token is VALUE", "our API key is VALUE", "api key for the billing service: VALUE", "use token VALUE for CI", "secret is VALUE",
    "the client secret was VALUE until May", "I rotated the access key, the old one was VALUE", "the webhook secret is VALUE now",
    "the bearer token VALUE still works", "der API-Schlüssel lautet VALUE", "la clé API est VALUE", "the signing key is `VALUE`",
    "here is the key: VALUE", "the key for the map service is VALUE", "auth token: VALUE, valid until June", "el token es VALUE",
)  # fmt: skip


def _prose(m: Maker) -> Planted:
    wordy = m.dice.random() < 0.7
    saying = m.dice.choice(_SAYINGS if wordy else _TOKEN_SAYINGS)
    value = password(m) if wordy else token(m)
    value = value.strip(".,;:!?\"'`()") if value[-1] in ".,;:!?" else value
    value = "".join(char for char in value if char not in "`'\"")
    before = m.pick("", "", "We tried it twice. ", "Deploy fails with 403; ", "Note: ", "Nach dem Umzug: ")
    after = m.pick("", "", " Restart the worker afterwards.", "\nThen run the migration.", " (see #123)")
    return Planted("prose", saying.replace("VALUE", "…"), before + saying.replace("VALUE", value) + after, value)


_LABELS = (
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "DSA PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


def _lines(text: str, width: int) -> list[str]:
    return [text[at : at + width] for at in range(0, len(text), width)]


def _private_key(m: Maker) -> Planted:
    label = m.dice.choice(_LABELS)
    body = _lines(m.base64(m.dice.choice((48, 118, 300, 610, 1190))), m.dice.choice((64, 64, 70, 76)))
    headers = (
        ["Proc-Type: 4,ENCRYPTED", f"DEK-Info: AES-128-CBC,{m.any(HEX.upper(), 32)}", ""]
        if label[:3] == "RSA" and m.dice.random() < 0.3
        else []
    )
    if "PGP" in label:
        headers, body = ["Version: GnuPG v2", ""], [*body, "=" + m.base64(3)]
    block = [f"-----BEGIN {label}-----", *headers, *body, f"-----END {label}-----"]
    pem, secret = "\n".join(block), "".join(body)
    flat = base64.b64encode(pem.encode()).decode()
    wire, puttied = m.base64(32), _lines(m.base64(300), 64)
    forms: tuple[tuple[str, Callable[[], str], str], ...] = (
        ("pem", lambda: pem, secret),
        ("pem in text", lambda: f"the old key was\n{pem}\nand it still works", secret),
        ("crlf", lambda: pem.replace("\n", "\r\n"), secret),
        ("indented", lambda: "key: |\n" + "\n".join("    " + line for line in block), secret),
        ("json", lambda: '{"type": "service_account", "private_key": "' + pem.replace("\n", "\\n") + '\\n"}', secret),
        ("env", lambda: 'KEY="' + pem.replace("\n", "\\n") + '"', secret),
        ("diff", lambda: "\n".join("+" + line for line in block), secret),
        ("quoted mail", lambda: "\n".join("> " + line for line in block), secret),
        ("c string", lambda: "static const char k[] =\n" + "\n".join(f'    "{line}\\n"' for line in block) + ";", secret),
        ("cut off", lambda: "\n".join(block[: max(3 + len(headers), len(block) // 2)]), "".join(body)[:64]),
        ("python literal", lambda: 'KEY = """' + pem + '"""', secret),
        ("heredoc", lambda: f"cat > id <<EOF\n{pem}\nEOF", secret),
        ("kubeconfig", lambda: f"    client-key-data: {flat}", flat),
        ("base64 of pem", lambda: f"value: {flat}", flat),
        ("one line", lambda: " ".join(block), secret),
        ("js array", lambda: "[" + ", ".join(f"'{line}'" for line in block) + "].join('\\n')", secret),
        ("log", lambda: "\n".join(f"2026-01-02 03:04:05 app[1]: {line}" for line in block), secret),
        ("putty", lambda: "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: joe\nPrivate-Lines: " + str(len(puttied)) + "\n" + "\n".join(puttied) + f"\nPrivate-MAC: {m.any(HEX, 64)}", "".join(puttied)),
        ("wireguard", lambda: f"[Interface]\nPrivateKey = {wire}\nAddress = 10.0.0.2/32", wire),
        ("age", lambda: "AGE-SECRET-KEY-1" + m.any(UPPER + DIGITS, 58), ""),
        ("jwk", lambda: f'{{"kty":"EC","crv":"P-256","x":"{m.any(URL64, 43)}","d":"{m.any(URL64, 43)}"}}', ""),
        ("openvpn static", lambda: "-----BEGIN OpenVPN Static key V1-----\n" + "\n".join(m.any(HEX, 32) for _ in range(16)) + "\n-----END OpenVPN Static key V1-----", ""),
    )  # fmt: skip
    source, made, hidden = m.dice.choice(forms)
    text = made()
    if source == "age":
        hidden = text[16:]
    elif source == "jwk":
        hidden = text.rpartition('"d":"')[2].rstrip('"}')
    elif source == "openvpn static":
        hidden = text.split("\n")[8]
    return Planted("private key", source, text, hidden)


def _high_entropy(m: Maker) -> Planted:
    kinds: tuple[tuple[str, Callable[[], str]], ...] = (
        ("letters and digits", lambda: m.any(B62, 20, 64)),
        ("letters and digits", lambda: m.any(B62, 20, 32)),
        ("base64", lambda: m.base64(m.dice.choice((16, 20, 24, 32, 48, 64)))),
        ("url-safe base64", lambda: m.any(URL64, 22, 64)),
        ("upper case and digits", lambda: m.any(UPPER + DIGITS, 20, 40)),
        ("lower case and digits", lambda: m.any(LOWER_DIGITS, 20, 40)),
        ("groups", lambda: "-".join(m.any(B62, 6, 8) for _ in range(4))),
        ("with an unknown prefix", lambda: m.pick("acme_", "int-", "svc.", "tk_live_", "corp-prod-") + m.any(B62, 22, 40)),
        ("with symbols", lambda: m.any(B62 + "!#$%^&*@", 20, 32)),
    )
    source, make = m.dice.choice(kinds)
    secret = make()
    return Planted("high entropy", source, m.dice.choice(PLACES).format(secret), secret)


_MAKERS: dict[str, Callable[[Maker], Planted]] = {
    "vendor token": _vendor, "url": _url, "assignment": _assignment, "prose": _prose, "private key": _private_key,
    "high entropy": _high_entropy,
}  # fmt: skip


def plant(seed: int, each: int = 100) -> list[Planted]:
    """``each`` planted secrets of every shape; the same seed gives the same ones."""
    maker = Maker(seed)
    return [_MAKERS[shape](maker) for shape in SHAPES for _ in range(each)]


def leaks(planted: Planted, clean: str) -> bool:
    """Whether a telling part of the secret is still there: half of it, or 12 characters in a row."""
    size = max(3, min(12, (len(planted.secret) + 1) // 2))
    around = planted.text.replace(planted.secret, "\0")
    parts = (planted.secret[at : at + size] for at in range(len(planted.secret) - size + 1))
    return any(part in clean and part not in around for part in parts)
