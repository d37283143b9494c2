"""Secrets vanish, and nothing else does. Fake secrets are put together here, so that scanners do not take them for real ones."""

from __future__ import annotations

import random
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.intake.random_words import DIGESTS
from hardwon.intake.redact import redact
from hardwon.intake.shape import clean_text

B62 = "aK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bCuEiOkT" * 4  # looks random, means nothing
HEX = "3fa94c1e07d2b86a5e91f03c7d48b2a6" * 4
UPPER = "Q7ZK2MX4VB9RT3WL8YPN5SD6FG1HJ0CA" * 4
PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 3

# (text, what must vanish, kind)
TOKENS = [
    ("AKIA" + UPPER[:16], "aws-key"),
    ("ASIA" + UPPER[3:19], "aws-key"),
    ("ghp_" + "a1B2" * 9, "github-token"),
    ("gho_" + B62[:36], "github-token"),
    ("ghs_" + B62[2:38], "github-token"),
    ("github_pat_" + B62[:22] + "_" + B62[5:64], "github-token"),
    ("glpat-" + B62[:20], "gitlab-token"),
    ("glrt-" + B62[1:21], "gitlab-token"),
    ("xoxb-" + "123456789012-1234567890123-" + B62[:24], "slack-token"),
    ("xoxp-" + "2345678901-" + B62[:24], "slack-token"),
    ("xapp-" + "1-A012-345-" + HEX[:40], "slack-token"),
    ("sk_live_" + B62[:24], "stripe-key"),
    ("rk_live_" + B62[3:27], "stripe-key"),
    ("sk_test_" + B62[:24], "stripe-key"),
    ("whsec_" + B62[:32], "stripe-key"),
    ("AIza" + B62[:35], "google-key"),
    ("GOCSPX-" + B62[:28], "google-secret"),
    ("ya29." + B62[:60], "google-token"),
    ("sk-" + B62[:20] + "T3BlbkFJ" + B62[5:25], "api-key"),
    ("sk-proj-" + B62[:48], "openai-key"),
    ("sk-ant-api03-" + B62[:60] + "-AA", "anthropic-key"),
    ("sk-or-v1-" + HEX[:64], "api-key"),
    ("npm_" + B62[:36], "npm-token"),
    ("pypi-AgE" + "IcHlwaS5vcmcC" + B62[:60], "pypi-token"),
    ("dckr_pat_" + B62[:27], "docker-token"),
    ("SG." + B62[:22] + "." + B62[:43], "sendgrid-key"),
    ("SK" + HEX[:32], "twilio-key"),
    ("key-" + HEX[:32], "mailgun-key"),
    ("1234567890:AA" + B62[:33], "telegram-token"),
    ("MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + B62[:27], "discord-token"),
    ("shpat_" + HEX[:32], "shopify-token"),
    ("dop_v1_" + HEX[:64], "digitalocean-token"),
    ("hf_" + B62[:34], "huggingface-token"),
    ("dapi" + HEX[:32], "databricks-token"),
    ("lin_api_" + B62[:40], "linear-key"),
    ("glsa_" + B62[:32] + "_0a1b2c3d", "grafana-token"),
    ("hvs." + B62[:90], "vault-token"),
    ("AGE-SECRET-KEY-1" + UPPER[:58], "age-key"),
    ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + B62[:43], "jwt"),
    ("ntn_" + B62[:46], "notion-token"),
    ("ATATT3" + "xFfGF0" + B62[:60], "atlassian-token"),
    ("NRAK-" + UPPER[:27], "newrelic-key"),
    ("tskey-auth-" + B62[:30], "tailscale-key"),
    ("sbp_" + HEX[:40], "supabase-token"),
    ("abC8Q~" + B62[:33], "azure-secret"),
    ("pat" + B62[:14] + "." + HEX[:64], "airtable-token"),
    ("pat-na1-" + "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "hubspot-token"),
    ("sdk-" + "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "launchdarkly-key"),
    ("access-production-" + "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "plaid-token"),
    ("HRKU-" + "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "heroku-key"),
    ("FLWSECK-" + HEX[:32] + "-X", "flutterwave-key"),
    (HEX[:32] + "-us12", "mailchimp-key"),
    ("sqp_" + HEX[:40], "sonarqube-token"),
    ("bkua_" + HEX[:40], "buildkite-token"),
    ("sgp_" + HEX[:16] + "_" + HEX[:40], "sourcegraph-token"),
    ("sk.eyJ" + B62[:80] + "." + B62[:22], "mapbox-token"),
    (B62[:14] + ".atlasv1." + B62[:64], "terraform-token"),
    ("AKIA" + "JNTNLZUOODLOTZNH", "aws-key"),
    ("rubygems_" + HEX[:48], "rubygems-key"),
]

FRAMES = [
    "{}",
    "the build printed {} and went on",
    "X={}",
    '"{}"',
    "({})",
    "a\n{}\nb",
    r'{{"log": "line\n{}\n"}}',
    "see `{}`.",
    "<{}>",
]

NAMED = [
    # name, sign, value
    ("password: {}", "hunter2", "password"),
    ("Password: {}", "Tr0ub4dor&3", "password"),
    ("PASSWORD={}", "letmein", "password"),
    ("DB_PASSWORD={}", "p@ss,w0rd", "password"),
    ("export PGPASSWORD={}", "swordfish", "password"),
    ("db_pass: {}", "s3cr3tpw", "password"),
    ("password = '{}'", "swordfish", "password"),
    ('dbPassword = "{}";', "swordfish9", "password"),
    ('"password": "{}"', "correct horse battery staple", "password"),
    ('{{"user": "joe", "password": "{}", "port": 1}}', "abc,def1", "password"),
    (r'"{{\"password\": \"{}\"}}"', "hunter2", "password"),
    ('config["password"] = "{}"', "hunter2", "password"),
    ("'password' => '{}'", "hunter2", "password"),
    ('password := "{}"', "hunter2", "password"),
    ('const password: string = "{}"', "hunter2x", "password"),
    ('let pwd: &str = "{}";', "hunter2x", "password"),
    ("**Password:** {}", "hunter2", "password"),
    ("<password>{}</password>", "hunter2", "password"),
    ("Server=db;User Id=sa;Password={};Encrypt=True", "Hunt3r!pw", "password"),
    ("mysql --password {} -h db", "hunter2", "password"),
    ("mysql --password={} -h db", "hunter2", "password"),
    ("--password '{}'", "swordfish", "password"),
    ("the password is {}", "hunter2", "password"),
    ("password is {}.", "swordfish", "password"),
    ('The staging password is "{}"', "swordfish", "password"),
    ("password is `{}`, as ever", "swordfish", "password"),
    ("password was {} until May", "hunter2", "password"),
    ("the password is now {}", "N3wpass!", "password"),
    ("the password for the staging database is {}", "hunter2", "password"),
    ("the root password was changed to {} yesterday", "hunter2", "password"),
    ("I set the admin password to {}", "hunter2", "password"),
    ("password is: {}", "hunter2", "password"),
    ("The\npassword\nis {}", "hunter2", "password"),
    ("log in with password {}", "hunter2", "password"),
    ("machine ftp.example.org login joe password {}", "swordfish", "password"),
    ("passphrase is {}", "8f-Kq2-zz", "password"),
    ("pw: {}", "hunter2", "password"),
    ("password is {}", "12345678", "password"),
    ("password123={}", "zxcvbn1", "password"),
    ('"api_key": "{}"', "abc123def456", "api-key"),
    ("api key is {}", "9f8e7d6c5b", "api-key"),
    ("APIKEY={}", "zzz999", "api-key"),
    ("X-Api-Key: {}", "9f8e7d6c5b4a", "api-key"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE", "api-key"),
    ("AccountKey={};EndpointSuffix=x", B62[:43] + "+/" + B62[:41] + "==", "api-key"),
    ("SECRET_KEY_BASE={}", HEX[:64], "api-key"),
    ("secret: {}", HEX[:40], "secret"),
    ('client_secret = "{}"', "mynameisjoe", "secret"),
    ("SECRET={}", "swordfish", "secret"),
    ("the client secret was {}", "x7Kp2-99a", "secret"),
    ("the token was {}…", "abc123", "token"),
    ("CI_TOKEN={}", "zebra", "token"),
    ("token: {}", "a1b2c3d4e5", "token"),
    ("access_token={}&scope=x", "deadbeef017", "token"),
    ("GET /x?token={}&y=1", "zyx", "token"),
    ("https://h.example/cb?access_token={}#top", "zyx987", "token"),
    ("Authorization: Bearer {}", "f00ba7ba2", "authorization"),
    ("authorization: token {}", HEX[:40], "authorization"),
    ("'Authorization': 'Basic {}'", "am9lOmh1bnRlcjI=", "authorization"),
    ('setHeader("Authorization", "Bearer {}")', "f00ba7ba2", "authorization"),
    ("curl -H 'Authorization: Bearer {}'", "0a1b2c3d4e5f6a7b", "authorization"),
    ("sent Bearer {} by mistake", B62[:30], "token"),
    ("credentials: admin/{}", "hunter2", "credentials"),
    ("creds are joe:{}", "hunter2", "credentials"),
    ("user/password is joe / {}", "hunter2", "password"),
    ("curl -u joe:{} https://x.example/", "hunter2", "password"),
    ("sshpass -p {} ssh joe@host", "hunter2", "password"),
]

# As NAMED, in the forms of programs and in other languages.
FORMS = [
    ("ENV GITHUB_PWD {}", "dragon5", "password"),
    ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', "dragon5", "password"),
    ('<add key="ApiPassword" value="{}" />', "dragon5", "password"),
    ('- name: DB_PASSWORD\n  value: "{}"', "dragon5", "password"),
    ('{{"name": "DB_PASSWORD", "value": "{}"}}', "dragon5", "password"),
    ("| `API_TOKEN` | `{}` |", "9f8e7d6c5b4a", "token"),
    ("define('DB_PASS', '{}');", "dragon5x", "password"),
    ('os.getenv("DB_PASSWORD", "{}")', "dragon5x", "password"),
    ("SMTP_PWD: process.env.X || '{}',", "dragon55", "password"),
    ("Server=h;Password={};Encrypt=True", "bkjljrpk8yoo", "password"),
    ("pass: '{}'", "Dr4g0n", "password"),
    ("pass: {}", "Pepper04$", "password"),
    ("stripe.secret.key={}", HEX[:41], "api-key"),
    ("mysqldump -u root -p{} app", "dragon5x", "password"),
    ("docker login -u joe -p {} registry.example.com", "dragon5x", "password"),
    ("ALTER USER 'app'@'%' IDENTIFIED BY '{}';", "dragon5", "password"),
    ("db.internal:5432:app:joe:{}", "Qu4rtz99", "password"),
    ('{{"auths": {{"r.example": {{"auth": "{}"}}}}}}', "am9lOmh1bnRlcjI=", "credentials"),
    ("Authorization: Basic {}", "dXNlcjQyOkIxNWgwcCE=", "authorization"),
    ("Authorization: Basic {}\nHost: a", "dGVzdDppbmc=", "authorization"),
    ("Authorization: Basic {} Host: a", "dGVzdDppbmc=", "authorization"),
    ("Cookie: theme=dark; session={}; lang=en", "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "cookie"),
    ("login with admin / {}", "dragon5x", "password"),
    ("the new password will be {}", "dragon5x", "password"),
    ("it asks for a password, type {}", "dragon5x", "password"),
    ("the password ({}) is in the wiki", "dragon5x", "password"),
    ("the root password was changed to {} last week", "jJYRQjLAJnst", "password"),
    ("pw {}", "Tiger0082", "password"),
    ("password → {}", "dragon5x", "password"),
    ("api key for the billing service: {}", HEX[:32], "api-key"),
    ("use token {} for CI", "9a7276e3-7ab7-8365-fddb-0fbf5e8fabc6", "token"),
    ("the key is {}", HEX[:36], "api-key"),
    ("credentials: joe / {}", "maple-orange-falcon-velvet", "credentials"),
    ("das Passwort ist {}", "Dr4g0n99", "password"),
    ("Passwort: {}", "dragon5x", "password"),
    ("le mot de passe est {}", "dragon5x", "password"),
    ("mot de passe : {}", "dragon5x", "password"),
    ("la contraseña es {}", "dragon5x", "password"),
    ("a senha é {}", "dragon5x", "password"),
    ("la password è {}", "dragon5x", "password"),
    ("hasło: {}", "dragon5x", "password"),
    ("пароль от базы {}", "Z1pp3r99", "password"),
    ("密码是 {}", "dragon5x", "password"),
    ("密码：{}", "dragon5x", "password"),
    ("パスワード: {}", "dragon5x", "password"),
]

URLS = [
    ("postgres://joe:{}@db.example:5432/x", "hunter2"),
    ("postgresql+psycopg://joe:{}@localhost/x", "swordfish"),
    ("mongodb+srv://joe:{}@cluster0.example/x?retryWrites=true", "p%40ss"),
    ("redis://:{}@cache:6379/0", "hunter2"),
    ("amqp://guest:{}@mq", "guest"),
    ("https://joe:{}@example.org/repo.git", "pa55"),
    ("mysql://root:{}@127.0.0.1/app", "p@ss#1"),
    ("postgres://joe:{}@db/x", "ab/cd+e9f=="),
    ("DATABASE_URL=postgres://joe:{}@db/x", "tiger"),
    ("https://x-access-token:{}@github.com/a/b", "s0meth1ng"),
    ("https://{}@sentry.example/42", HEX[:32]),
    ("https://a.blob.example/c?sv=1&sig={}&se=2", "aB3dE6gH9kL2nP5rS8uV%3D"),
]

RANDOM = [
    "acme_live_9fK2xQ7bLm3ZpT8v",
    B62[:20],
    B62[3:35],
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYz8PQ4kEY1a",
    "q7x2k9m4w8e5r1t6y3u0p",
    "VGhpcyBpcyBub3QgYSBzZWNyZXQ5MTIzNDU2Nzg5MA==",
    "6^j7Qjx#A8zd^XjSH&cb%yQ^M6g3Vh",
    "BBn0HP4-5OGORTK2-NK7J8U-yB8qys7K",
    "issuer_ack_" + HEX[:60],
    "zz-" + B62[:12] + "-" + B62[14:30],
]


@pytest.mark.parametrize(("secret", "kind"), TOKENS)
@pytest.mark.parametrize("frame", FRAMES)
def test_tokens_of_vendors_vanish(secret: str, kind: str, frame: str):
    clean, count = redact(frame.format(secret))
    assert clean == frame.format(f"[redacted:{kind}]")
    assert count == 1


@pytest.mark.parametrize(("frame", "secret", "kind"), NAMED + FORMS)
def test_values_of_secret_names_vanish(frame: str, secret: str, kind: str):
    clean, count = redact(frame.format(secret))
    assert clean == frame.format(f"[redacted:{kind}]")
    assert count == 1
    assert redact(clean) == (clean, 0)


@pytest.mark.parametrize(("frame", "secret"), URLS)
def test_credentials_in_urls_vanish(frame: str, secret: str):
    assert redact(frame.format(secret)) == (frame.format("[redacted:url-credentials]"), 1)


@pytest.mark.parametrize("secret", RANDOM)
@pytest.mark.parametrize("frame", ["{}", "it said {} again", "X={}", '"{}"', "a:{}", '{{"url":"https://h.example/a","v":"{}"}}'])
def test_random_words_vanish(secret: str, frame: str):
    assert redact(frame.format(secret)) == (frame.format("[redacted:high-entropy]"), 1)


BENIGN = """\
password is required
password is wrong
password is missing
password is not set
the password is empty
password is incorrect, try again
password is expired
password is handled by the login module
the password is the same as before
password is hashed with bcrypt before it is stored
the password is base64-encoded
password is at least 8 characters
password is 12 characters long
password is 128 bits of entropy
password is user-supplied and must be escaped
the passphrase is never logged
password was rejected by the server
password: required field
password: string
password: str = ""
password = None
password = NULL;
password = "password"
password=""
password=''
password = get_password()
password = getpass("Password: ")
password = os.environ["DB_PASSWORD"]
password = process.env.DB_PASSWORD
password=${DB_PASSWORD}
PASSWORD=$PASSWORD
DB_PASSWORD=<your password>
PASSWORD=xxxxxxxx
password: ********
password=%s
conn = connect(host, user=user, password=password)
connect(user=u, password=pw, timeout=3)
self.password = password
self._password = self.config.password
char *passwd = conn->passwd;
passwd = data->set.str[STRING_PASSWORD];
def login(user: str, password: str) -> Token:
def check(password: Optional[str] = None) -> bool: ...
if password == "":
if (password != other.password) return false;
{"type": "password", "name": "password", "required": true}
"password": "Enter your password"
'password' => 'required|string|min:8'
<input type="password" name="password" placeholder="Password">
use --password to pass the password
--password is deprecated, use --password-stdin instead
the --token option was added in 1.2
usage: tool --password PASSWORD --token TOKEN
the token is expired
token is invalid or has been revoked
the token was not found
the token is None when the session ends
JWT token validation fails when the clock is skewed
check refresh_token before validate
const token = await getToken()
let token = req.headers['authorization'].split(' ')[1];
token: str
token = next(tokens)
token = lexer.peek2()
token = tokens[i + 1]
token = parseV2Token
case TOKEN_IDENT2: return token;
token: Option<String>,
access_token: z.string().min(10),
fix(auth): token: rename field to value
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
GH_TOKEN=$GITHUB_TOKEN
max_tokens: 4096
"max_tokens": 200000, "token_count": 1532
token_url: https://login.example.com/oauth2/token
tokenizer = Tokenizer.from_file("tokenizer.json")
the secret is stored in vault
secret is read from AWS Secrets Manager
client secret is optional for public clients
secret: my-app-secret
secretKeyRef:
    name: db-secret
    key: password
SECRET_KEY = config("SECRET_KEY")
SECRET_KEY = os.getenv("SECRET_KEY", "")
the api key is missing from the request
api_key=YOUR_API_KEY
api_key: "<API_KEY>"
apiKey: process.env.OPENAI_API_KEY,
"api_key": "your-api-key-here"
the access key is rotated every 90 days
primary key is user_id, foreign key is order_id2
the cache key is sha256(path)
press any key: continue
public key is AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDw4o6gJ8BV0
KeyError: 'token'
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
"Authorization": f"Bearer {token}"
Authorization: Basic auth is not supported
Authorization: Digest username="joe", realm="x"
Bearer token authentication fails behind the proxy
PASS: test_connect_2
5 tests pass, 2 fail
bypass: true
tests/test_pass.py::test_two PASSED
need to pass `-WX-` to the compiler
arguments to pass to `connect2`
credentials: include
fetch(url, { credentials: 'same-origin' })
set the password to null
set password to lowercase
reset the token to None
postgres://user:password@localhost:5432/db
https://user:pass@example.com/
postgres://${USER}:${PASS}@db/x
redis://localhost:6379/0
http://127.0.0.1:8080/@scope/pkg
http://localhost:3000/a?b=c@d
git clone git@github.com:owner/repo.git
ssh://git@github.com:22/owner/repo.git
https://registry.example:5000/img@sha256:3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e07d2b86a5e91f03c7d48b2a6
see https://github.com/curl/curl/pull/17562#issuecomment-2961629713
https://docs.google.com/document/d/1aK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bC/edit
docker run -u 1000:1000 -v $PWD:/x img
curl -u user:password https://example.com
curl -u "$USER:$PASS" https://example.com
PWD=/home/joe/src
cd $OLDPWD && echo $PWD
commit 3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e
This reverts commit 3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e.
Change-Id: I3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e
md5 3fa94c1e07d2b86a5e91f03c7d48b2a6
sha224 3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e07d2b86a5e91f03c
index 3fa94c1e07d2..b86a5e91f03c 100644
id: 3fa94c1e-07d2-4b86-a5e9-1f03c7d48b2a
request 3FA94C1E-07D2-4B86-A5E9-1F03C7D48B2A failed
"integrity": "sha512-RnJX3aK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bCuEiOkTaK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bCuEiOkTzQ=="
    --hash=sha256:3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e07d2b86a5e91f03c7d48b2a6
golang.org/x/net v0.17.0 h1:pVaXccu2ozPjCXewfr1S7xza/zcXTity9cCdXQYSjIM=
checksum = "3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e07d2b86a5e91f03c7d48b2a6"
"@octokit/auth-token": "^3.0.0"
"jsonwebtoken": "9.0.2"
"js-tokens": "^3.0.0 || ^4.0.0"
csrf-token@1.2.3:
numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
SHA256:aK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bCuEiOkTaK9xQ joe@host (ED25519)
src/components/__snapshots__/UserProfile2.test.tsx.snap
lib/vtls/openssl_session_cache.c:1234
/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/tmp.aB3xK9qLmZ
/nix/store/q7x2k9m4w8e5r1t6y3u0pq7x2k9m4w8e-python3-3.11.7
dist/assets/index-DiwrgTda9xK2qLmZ7vR4.js
node_modules/.pnpm/@babel+core@7.23.0_supports-color@8.1.1/node_modules
SSL_CTX_set_tlsext_status_ocsp_resp_v3
CURLOPT_PROXY_SSLCERT_BLOB_V2_EXPERIMENTAL
AbstractSingletonProxyFactoryBean2Test
EVP_PKEY_CTX_set_rsa_pss_keygen_mgf1_md
ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384
TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
clusterfuzz-testcase-minimized-curl_fuzzer_http-5710932
v1.2.3-rc.1+build.20210101123456
com.example.project2.service.impl.UserServiceImpl3
test_parametrize_with_ids_2[argument0-expected1-3fa94c1e]
x86_64-unknown-linux-musl-gcc-12.3.0-2ubuntu1
0x1921fb54442d18p-51 and 0xdeadbeefcafebabe0123
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
Message-ID: <CAHk-aK9xQ2mZ7vR4tY1wL8pN3sD6fG5hJ0bC@mail.gmail.com>
the file must begin with -----BEGIN PRIVATE KEY-----
ghp_ tokens begin with a prefix; so do sk-ant- and xoxb- ones
npm_config_registry and hf_hub_download2 and sk_buff_head_init_class2
task-management-system-for-teams-2024-edition
_highs_wrapper.cpython-311-x86_64-linux-gnu.so
arn:aws:secretsmanager:us-east-1:123456789012:secret:MySecret-a1b2c3
never run the migration before the password column is dropped
the password field is now encrypted; the token column is gone
password hashing is slow because bcrypt cost is 14
token bucket size is 100, refill rate is 10
a secret scanner flagged test2208; see issue#1234
with token v2 the server answers 401
the password test1234 uses is wrong
the key is the path of the file
the key is 3fa94c1e
assertEqual("password", "abc123x")
/* Sets a timeout identified by '*name' to 'value'. */
'@inquirer/password': 4.0.23(@types/node@26.1.1)
resolution: {integrity: sha512-XibBIxBlVosU06+M6uHWkFeT0/pW5WajDRYdXG2CgHnq85b0TI/Ks0FuBJykmsgi2CAD3Qtx8UHFEtl/DSFnAQ==}
PROXY_TLS13_CIPHERS and BUILD_GENERAL1_2XLARGE and CURL_HTTP_VERSION_3ONLY
private_key = $dir/private/cakey.pem# CA private key
| test_pass | test_login_2 | ok |
ssh -p 2222 host; docker run -p 8080:80 img; mkdir -p build_2
the field <private_key> and <privateKey>x</privateKey> are read
printf("%08lX-%04X-%04x-%02X%02X%02X%02X%02X%02X", a, b, c, d, e, f, g)
index_3fa94c1e07d2b86a5e91f03c7d48b2a63fa94c1e is the digest of the file
session = requests.Session(); cookies = {}
das Passwort ist falsch
la contraseña es incorrecta
пароль неверный, попробуйте ещё раз
密码错误
""".splitlines()

CERTIFICATE = f"-----BEGIN CERTIFICATE-----\n{PEM}-----END CERTIFICATE-----\n"


@pytest.mark.parametrize("line", [*BENIGN, CERTIFICATE, "\n".join(BENIGN)])
def test_ordinary_text_stays(line: str):
    assert redact(line) == (line, 0)


@pytest.mark.parametrize("label", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_private_keys_vanish_whole(label: str):
    block = f"-----BEGIN {label}-----\n{PEM}-----END {label}-----"
    mark = "[redacted:private-key]"
    assert redact(f"a\n{block}\nb {block}") == (f"a\n{mark}\nb {mark}", 2)
    assert redact('{"key": "' + block.replace("\n", "\\n") + '"}') == ('{"key": "' + mark + '"}', 1)
    assert redact(f"cut off:\n-----BEGIN {label}-----\n{PEM}and more") == (f"cut off:\n{mark}and more", 1)


def test_marks_are_left_alone():
    text = "password: [redacted:password], https://joe:[redacted:url-credentials]@h/ [redacted:api-key]: see [redacted:token] is gone"
    assert redact(text) == (text, 0)


def test_a_value_in_two_rules_counts_once():
    assert redact("GITHUB_TOKEN=" + "ghp_" + "a1B2" * 9) == ("GITHUB_TOKEN=[redacted:github-token]", 1)


def test_long_values_vanish_to_their_end():
    secret = B62 * 10
    assert redact(f"token: {secret} end") == ("token: [redacted:token] end", 1)
    assert redact(f'token = "{secret}"') == ('token = "[redacted:token]"', 1)


PRIVATE = [
    ("a <private>x</private> b", "a [redacted:private] b", 1),
    ("a <PRIVATE reason='x > y'>s <private>n</private> t</Private > b", "a [redacted:private] b", 1),
    ("open <private>to the end\nof it", "open [redacted:private]", 1),
    ("<private>1</private> and <private\nx>2</private\n>", "[redacted:private] and [redacted:private]", 2),
    ("x<private attr='a<b'>q</private>w", "x[redacted:private]w", 1),
    ("<private>a</private foo='b'> z", "[redacted:private] z", 1),
    ("</private> alone, <private/> empty", "</private> alone, <private/> empty", 0),
    ("<private>the token is hunter2x</private>", "[redacted:private]", 1),
    ("<private>a</private>, password: hunter2", "[redacted:private], password: [redacted:password]", 2),
]


@pytest.mark.parametrize(("text", "clean", "count"), PRIVATE)
def test_private_spans_go_whole(text: str, clean: str, count: int):
    assert redact(text) == (clean, count)
    assert redact(clean) == (clean, 0)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["<private>", "</private>", "<Private a>", "</private >", "<", ">", "x", "\n"]), max_size=12).map(
        "".join
    )
)
def test_no_open_private_span_is_left(text: str):
    clean, _ = redact(text)
    assert "<private>" not in clean.lower()
    assert redact(clean) == (clean, 0)


SECRETS = [secret for secret, _ in TOKENS] + RANDOM
TALK = st.sampled_from(
    [*BENIGN, *(frame.format(secret) for frame, secret, _ in NAMED), *(f.format(s) for f, s in URLS), *SECRETS]
)
PIECES = st.one_of(
    st.text(), TALK, st.sampled_from(["password", "token", "[redacted:", "]", "://", "@", ":", "=", '"', "\\", " is ", "\n"])
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str):
    clean, _ = redact(text)
    assert redact(clean) == (clean, 0)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SECRETS), st.text(), st.text(), st.sampled_from([" ", "\n", '"', "'", "(", "`", "\t"]))
def test_a_planted_token_vanishes(secret: str, before: str, after: str, border: str):
    # Words such as "fingerprint" say that what follows is public, whatever it looks like.
    assume(not any(word in (before + after).lower() for word in DIGESTS))
    clean, count = redact(before + border + secret + border + after)
    assert secret not in clean
    assert count >= 1


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMED), st.lists(st.sampled_from(BENIGN), max_size=4), st.lists(st.sampled_from(BENIGN), max_size=4))
def test_a_planted_value_vanishes(case: tuple[str, str, str], before: list[str], after: list[str]):
    frame, secret, kind = case
    clean = "\n".join([*before, frame.format(f"[redacted:{kind}]"), *after])
    assert redact("\n".join([*before, frame.format(secret), *after])) == (clean, 1)


_PARTS = st.one_of(
    st.sampled_from(
        (*"+/_~.-=:!#$%^&*@?,;()[]{}<>|`'\\\"", "://", "ghp_", "AKIA", "sk-", "npm_", "hf_", "eyJ", "xoxb-", "glpat-")
    ),
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=1, max_size=20),
    st.text("0123456789abcdef", min_size=1, max_size=40),
    st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=1, max_size=30),
)


@given(st.lists(_PARTS, min_size=1, max_size=6).map("".join), st.sampled_from(("", " passed in 3 s", " passes the key")))
def test_the_quick_look_at_long_words_passes_no_secret_over(word: str, after: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardwon.intake.redact._may_be_token", lambda _: True)
        looked_at_in_full = redact(word + after)
    assert redact(word + after) == looked_at_in_full


@pytest.mark.parametrize(
    "text",
    [
        "src/hardwon/engine/session_file.py:17: def begun_as(event)",
        "/home/dev/shop/pkg/part1/module1.py ... [100%]",
        "3 passed in 0.02s",
    ],
)
def test_paths_and_reports_are_told_apart_without_patterns(text: str):
    ask = f"import sys; from hardwon.intake.redact import redact; redact({text!r}); print('re' in sys.modules)"
    folder = Path(hardwon.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", ask], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(folder)}
    )
    assert done.stdout.strip() == "False"


def test_unseen_random_tokens_vanish():
    """The rule for random words has no prefix to go by; it may miss one in fifty."""
    dice = random.Random(20)
    letters = string.ascii_letters + string.digits
    tokens = ["".join(dice.choices(letters, k=dice.randrange(20, 48))) for _ in range(1000)]
    missed = [token for token in tokens if token in redact(f"it printed acme_{token} and stopped")[0]]
    assert len(missed) <= 20, missed


HOSTILE = [
    "a", "=", "password ", "password=", "password is ", "password for a ", "password: str ", "eyJ", ".eyJ", "-eyJ", "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----", "://", "://a:", "://a:b@", "/", "key ", "api key is ", "[redacted:", "[redacted:token]", "ghp_", "MT.",
    "a1B", "aA", "token,", 'token="', "1.", "Bearer ", "credentials a:", " -u a:", "\\n", "A-", "?sig=", "password='a ", ":AA", "\n ", "é",
    "a1/", "aB1/.", "a1.", "aB1-", "x1@", "{\"a\":\"b1C\",", "-----BEGIN X-----a1B ", "<password>a1</password>", "password:\t", "_1",
    "token | ", 'key="token" value="', "mysql -p", "mysql -p a", "<private", "<private>", "</private ", "cookie: sid=",
    "user identified by '", "login a/", "a:5432:b:c:", "пароль а ", "密码", '"auth": "a', "a@b#1A", "a_b_0", "pass: a1$",
    "variable \"key\" {\n",
    "password for a: ", "the key is ", "api key for a b: ", "$1%", "x_live_",
    "password for password ", "'" * 3, "<password>", "password=${", "token: a_", "password=a;", "x" * 19 + "1 ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_steps(piece: str):
    """Twice the text takes at most about twice the lines of Python; the patterns' own steps are bounded by the next test."""
    short, long = (steps(piece * (size // len(piece))) for size in (4_000, 16_000))
    assert long <= 4.6 * short + 200


def steps(text: str) -> int:
    redact(text)
    count = 0

    def trace(*_: object):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        redact(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.slow
def test_much_of_anything_ends():
    """Quadratic patterns would take minutes for each of these; all of them together take seconds."""
    code = f"""
from hardwon.intake.redact import redact
from hardwon.intake.shape import clean_text
for piece in {HOSTILE!r}:
    size = 1_000_000 if piece in ("a", "=", "password ", "eyJ") else 100_000
    redact(piece * (size // len(piece)))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_hidden_characters_hide_nothing_once_the_text_is_cleaned():
    """They can cut a token apart; so the engine redacts what has been cleaned."""
    cut = "ghp_" + "\u200b" + "a1B2" * 4 + "\x1b[0m" + "a1B2" * 5
    assert redact(clean_text(cut, "text", 100)) == ("[redacted:github-token]", 1)
