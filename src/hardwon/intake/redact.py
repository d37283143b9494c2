"""The quick rules: each secret in a text becomes ``[redacted:KIND]`` before anything of it is written.

Four rules look at a text, each a generator of spans ``(start, end, kind)``: shapes of vendors' tokens, credentials in URLs and
commands, a secret-like name followed by a value (prose included), and words that look random. Names found in ordinary talk
("the token is expired") are the hard part; ``_ordinary`` holds what was learnt about it.

Every commit message of a repository passes here, and so does the quick path: nothing is compiled, ``re`` is not even imported,
before a cheap look (``in``) has found a reason. Every pattern is anchored or bounded, so that hostile input costs linear time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

    Span = tuple[int, int, str]  # start, end, kind
    Value = tuple[int, int, bool]  # start, end, whether it is quoted

_MARK = "[redacted:"
_LONG = 20  # characters of the shortest word that is looked at without a name beside it
_REACH = 300  # characters of a value that are judged; an accepted one is redacted to its end

# Shapes of tokens as the vendors describe them: kind, prefixes, characters that follow, least number of them. A prefix that
# stands in common words too has a star (a border on its left and a digit in the rest) or two (the rest must look random).
_VENDORS: tuple[tuple[str, str, str, int], ...] = (
    ("aws-key*", "AKIA ASIA ABIA ACCA", "upper", 16),
    ("github-token*", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "word", 20),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-", "dotted", 16),
    ("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xapp-", "word", 15),
    ("slack-webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", "path", 16),
    ("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", "path", 30),
    ("discord-token*", "MT Mj Mz ND NT Nj Nz OD OT", "dotted", 56),
    ("telegram-token", ":AA", "word", 30),
    ("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", "alnum", 14),
    ("google-key", "AIza", "word", 30),
    ("google-secret", "GOCSPX-", "word", 20),
    ("google-token", "ya29. 1//0", "word", 30),
    ("anthropic-key", "sk-ant-", "word", 16),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", "word", 16),
    ("api-key**", "sk-", "word", 20),
    ("api-key**", "gsk_ xai- pplx- r8_ nvapi- tvly- pcsk_ lsv2_ re_ fw_ sk_", "word", 24),
    ("huggingface-token**", "hf_", "alnum", 30),
    ("npm-token**", "npm_", "alnum", 30),
    ("pypi-token", "pypi-AgE", "word", 30),
    ("docker-token", "dckr_pat_ dckr_oat_", "word", 16),
    ("sendgrid-key", "SG.", "dotted", 40),
    ("twilio-key*", "SK", "hex", 32),
    ("mailgun-key*", "key-", "hex", 32),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", "hex", 24),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "hex", 40),
    ("databricks-token*", "dapi", "hex", 32),
    ("linear-key", "lin_api_ lin_oauth_", "alnum", 24),
    ("notion-token**", "secret_ ntn_", "alnum", 36),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB ATSTT3", "word", 24),
    ("grafana-token", "glsa_ glc_", "word", 24),
    ("vault-token**", "hvs. hvb. hvr.", "word", 20),
    ("azure-secret", "8Q~ 7Q~", "dotted", 28),
    ("age-key", "AGE-SECRET-KEY-1", "upper", 40),
    ("rubygems-key", "rubygems_", "hex", 40),
    ("square-token", "sq0atp- sq0csp- EAAAE", "word", 20),
    ("newrelic-key", "NRAK- NRJS- NRII-", "word", 16),
    ("postman-key", "PMAK-", "word", 24),
    ("tailscale-key", "tskey-", "word", 16),
    ("supabase-token", "sbp_", "hex", 36),
    ("sentry-token", "sntrys_ sntryu_", "base64", 36),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", "dotted", 24),
    ("pulumi-token", "pul-", "hex", 36),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "dotted", 24),
    ("fly-token", "fm1r_ fm2_ fo1_", "base64", 36),
    ("1password-token", "ops_eyJ", "word", 40),
    ("figma-token", "figd_", "word", 24),
    ("jfrog-token*", "AKCp cmVmdGtu", "alnum", 48),
    ("alibaba-key*", "LTAI", "alnum", 16),
    ("jwt*", "eyJ", "dotted", 30),
)
_PREFIXES: list[tuple[str, tuple[str, str, str, int]]] = []  # one row for each prefix, filled at the first long word

_SOURCES = {
    "mark": r"\[redacted:[a-z0-9-]{2,24}\]",
    "upper": r"[A-Z0-9]*",
    "alnum": r"[A-Za-z0-9]*",
    "word": r"[A-Za-z0-9_-]*",
    "hex": r"[0-9a-fA-F]*",
    "dotted": r"[A-Za-z0-9_.=~-]*",
    "base64": r"[A-Za-z0-9+/_=-]*",
    "path": r"[A-Za-z0-9/_-]*",
    # The armour of a key that was cut off: lines of base64, or their escaped form.
    "armour": r"(?:\s|\\[nr])*(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,80}(?:\s|\\[nr])+)*"
    r"[A-Za-z0-9+/]{40,}={0,2}(?:\s|\\[nr]|$)+(?:[A-Za-z0-9+/]{16,}={0,2}(?:\s|\\[nr]|$)+)*",
    "userinfo": r"([^\s/?#@:\"'<>`]{0,200})(?::([^\s/\"'<>`]{1,500}|[^\s:\"'<>`]{1,200}))?@(?=[\w.\[-])",
    "query": r"[?&](?:sig|key|jwt|auth|code|(?:x-amz-)?signature)=([^\s&#\"'<>`]{16,})",
    "name": r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|key|authorization|bearer|credentials|creds)(?![a-z])",
    "assign": r"(?:[_-]?\d{1,3}|[_-](?:base|value|prod|production|dev|staging|test|live|v\d))?[\"'`\\\]\[*]{0,5}"
    r"(?:\?|[ \t]?:[ \t]?[a-z_&*][\w.\[\]<>&*| ]{0,40}?(?=[ \t]?=[^=]))?"
    r"[ \t]{0,20}(?::=|=>|[:=](?![:=~>])|,(?=[ \t]?[\"']))[ \t*]{0,20}",
    "tagged": r">(?=[^\s<>]{3,300}</)",
    "consonants": r"[bcdfghjklmnpqrstvwxz]{6}",
    "named": r"pass|token|secret|key|pwd",
    "scheme": r"[\"'`]?(?:bearer|basic|token|apikey|api-key|bot|key|oauth|ntlm|negotiate)[ \t]{1,4}",
    "said": r"[\"'`*)]{0,2}(?:\s{1,3}(?:for|of|on|at|in|to)(?:[ \t]{1,3}[\w.@/'`-]{1,40}){1,4}?)??"
    r"(?:\s{1,3}(?:is|was|has\sbeen|got)|'s)(?:\s{1,3}(?:now|still|currently|just|actually|again|always|temporarily))?"
    r"(?:\s{1,3}(?:set|changed|reset|updated|rotated)\sto)?(?:[ \t]?[:=])?\s{1,3}",
    "turned": r"[\"'`*]{0,2}(?:\s{1,3}(?:set|changed|reset|updated|rotated))?\s{1,3}to\s{1,3}",
    "quote": r"(?:[bfru@]{0,2})\\{0,3}([\"'`])",
    "value": r"(?:[^\s\"'`,;&<]|[,;&](?![\s\"'`}\])]|[\w .-]{1,30}[=:]|$)){1,300}",
    "pair": r"[\"'`)]?(?:\s{1,3}(?:is|are|was|were))?[ \t]{0,3}[:=]?[ \t]{0,3}[\"'`(]?[\w.@-]{1,60} ?[:/] ?([^\s\"'`,;)]{4,300})",
    "command": r"[ =]?[\"']?(?:[a-z_][\w.@+-]{0,60}:)?([^\s\"':]{4,300})",
    "run": r"[A-Za-z0-9+/_~.-]{20,}={0,2}",
    "elsewhere": r"://[^\s\"'<>`\\]*|;base64,[A-Za-z0-9+/=]*",  # addresses have a rule of their own, pictures none
    "pieces": r"[A-Za-z0-9]{5,}",
    "words": r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+",
    "digit": r"[0-9]",
    "odd": r"[0-9]|[a-z][A-Z]+[a-z]{1,2}[A-Z]",
    "no-hex": r"[g-zG-Z]",
    "token": r"[A-Za-z0-9_-]{20,}",
    "split": r"[^a-z0-9]+",
    # What stands where a value would, and is none: code, paths, references, versions, amounts, tickets, names of techniques.
    "code": r"[&*!-]{0,2}[a-z_][\w.]*(?:\(|\[|->|::|\?\.|\.\.\.)|&[a-z_]\w*$|(?:[a-z_]\w*\.)+[a-z_]\w*$",
    "plain": r"\.{0,2}~?/[\w.^]|[a-z]{1,12}://"
    r"|[~^<>=v]{0,2}\d{1,4}(?:\.(?:\d+|x|\*))+(?:[+-][\w.+-]{1,20})?$|\d{1,4}(?:-\d{1,4}){1,2}$"
    r"|[<>=~#-]*\d{1,3}(?:[a-z%+]{0,2}|[-/x]\d{1,3})$|0x[\da-f]+$|[a-z]{2,8}-\d+(?:-\d+)?$|#[\da-f]+$",
    "path-like": r"[.~]{0,2}/(?:[a-z][a-z0-9._-]+|[A-Z][a-z]+)/|0[xX]",
    "extension": r"\.[a-z]{1,5}\d?$",
    "identifier": r"\w+$",
    "more": r"[^\s\"'`<]+",
    "command-end": r"[\"'`.]?\s*(?:$|\n|-|\||&|;|\\)",
    "tech": r"([a-z]+)[-_]?\d{1,5}[a-z]{0,3}$",
    "test": r"tests?_?\d+$",
    "clause": r"[.!?]*(?:[,;:)\]\"'`]|\s*$|\.?\s*\n|[.!?]\s)|\s+([a-z]+)\b",
    "unit": r"[ \t\n-](?:random |more )?([a-z]+)",
}
_COMPILED: dict[str, Pattern[str]] = {}
_CLOSERS = ".…,;:!?=\"'`()[]{}<>*_\\"
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_MASKS = frozenset("x*.…-_•#?")
_BEFORE = {"telegram-token": ("0123456789", 6, 12), "azure-secret": (_NAME_LETTERS + "~", 3, 3)}  # what belongs to it on the left
_KIND_WORDS = {"bearer": "token", "creds": "credentials", "key": "api-key"}
_SPOKEN = ("password", "secret", "token", "key")
_URL_WORDS = ("password", "passwd", "pass", "pwd", "pw", "secret", "token", "port", "x-oauth-basic")

# What follows "the password is", "token:" and the like without being a secret.
_TALK = (
    # placeholders, values of languages, types
    "none null nil undefined true false yes no on off str string text bytes byte int integer bool boolean char chars any object"
    " optional void varchar unicode ascii utf hex binary number integer array list dict map json xml yaml base64 example sample"
    " dummy placeholder changeme redacted hidden masked secret secrets password passwords passwd passphrase pass pwd pw token"
    " tokens key keys apikey credential credentials creds user username login test tests foo bar baz abc value val values var"
    " variable env arg args param params data input prompt stdin file field name id type default auth bearer basic digest oauth"
    " jwt uuid hash md5 sha bcrypt scrypt argon2 pbkdf2 hmac rsa aes kdf salt nonce xxx todo tbd n/a na fixme your my"
    # articles, pronouns, particles, numbers
    " a an the this that these those it its he she we you they his her our their there here what which who whose where when why"
    " how whether not never now still always only just also too very then than already yet again once ever even almost so as if"
    " or and but because since until unless while though both either neither all each every some many much more most less least"
    " few fewer one two three four five six seven eight nine ten zero first second third last next own same other another such"
    " nothing something anything everything someone anyone nobody none in into on onto at to for from with without within by of"
    " off over under above below between after before during through via per about against inside outside behind beyond up down"
    " out away back is was are were be been being has have had do does did can could may might must shall should will would"
    # adjectives and states
    " wrong bad good fine ok okay valid invalid correct incorrect right missing absent present empty blank set unset new old"
    " fresh stale weak strong short long shorter longer weaker stronger safe unsafe plain plaintext clear cleartext public"
    " private local remote global internal external secure insecure sensitive case unknown known shown hidden given taken written"
    " sent read kept lost found held made gone broken chosen stolen hit cut put built left let seen done meant needed due dead"
    " alive live active inactive open closed shut full free ready real fake raw simple complex random static dynamic fixed"
    " permanent temporary constant unique equal identical different similar common special single double multiple global large"
    " small big huge tiny high low max min maximum minimum exact wide narrow early late quick slow visible opaque reset"
    " part nul lowercase uppercase user client server admin root system"
    # nouns and verbs of talk about secrets
    " access refresh option options flag argument parameter config configuration setting settings header cookie body request"
    " response session state status code error errors failure fail fails check checks rule policy length size expiry rotation"
    " format encoding decoding parser parse parsing lexer scanner count limit bucket ring table store storage vault manager"
    " provider handler handling helper util utils lib library module class function method call return returns raise raises"
    " throw throws add adds use uses fix fixes remove removes drop make makes move rename update updates allow allows support"
    " avoid prevent ignore skip keep keeps get gets take takes let show hide print log logs leak leaks change changes rework"
    " refactor cleanup clean delete rotate revoke renew reuse reject accept accepts require requires validate verify compare"
    " match matches mismatch expires expire exists exist works work comes come goes go contains contain needs need works"
    " characters letters digits symbols words bits seconds minutes hours days protection authentication authorization"
    " authenticator validation encryption decryption generation management endpoint service api url uri path docs doc doctest"
    " documentation example examples minor typo typos ci build deps bump gpg ssh ssl tls dns http https ftp smtp imap pop3 ldap"
    " kerberos ntlm sasl krb spnego negotiate gssapi"
)
# With a number behind: "sha256", "oauth2", "line 12".
_TECH = (
    "aws base sha md utf iso hs rs es ps aes rsa oauth http tls ssl rfc argon pkcs ipv x v p h i u s python win int uint ripemd"
    " blake crc ecdsa ed curve latin cp step line issue pr gh part type row col phase level"
)
_UNITS = "character char byte bit digit symbol letter word day hour minute second time attempt kb year week month percent item"
# What may follow a value in a sentence; after an adjective there is more: "stored in", "needed by".
_CLAUSES = "for on at in and but so now since because instead not before until till then today yesterday again"
_REFERENCES = "env vault file fd op ssm arn ref keyring cmd secret from sha1 sha256 sha512 md5"  # "env:NAME"
_COMMON: set[str] = set()  # filled from _TALK at the first value
_ENDINGS = (
    "ed", "ing", "ly", "able", "ible", "ent", "less", "ful", "ive", "ous", "ory", "ary", "ally", "tion", "ment", "ness", "based",
)  # fmt: skip
_KEYS = (
    "api", "access", "secret", "private", "signing", "encryption", "auth", "account", "master", "license", "licence", "deploy",
    "subscription", "application", "app", "service", "hmac", "webhook", "client", "consumer", "rest", "shared", "x-functions",
)  # fmt: skip
# A value straight after the name needs an introduction of this kind.
_INTRODUCED = ("with", "using", "use", "and", "default", "root", "admin", "temporary", "temp", "same", "try", "new", "/", "the")
_CHANGES = ("set ", "chang", "updat")  # verbs before "the password to"
_COMMANDS = ((" -u ", True), (" --user ", True), (" --user=", True), (" --proxy-user ", True), ("sshpass -p", False))
_DIGESTS = (
    "sha", "md5", "hash", "checksum", "integrity", "digest", "fingerprint", "etag", "h1:", "public", "pubkey", "ssh-", "ecdsa-",
)  # fmt: skip


def redact(text: str) -> tuple[str, int]:
    """``text`` with each secret replaced by ``[redacted:KIND]``, and how many were replaced.

    Idempotent, because it goes on until nothing more is found: taking one secret out can uncover another, and each round
    strictly shrinks what lies outside the marks.
    """
    total = 0
    while spans := _merge(text, _spans(text)):
        total += len(spans)
        parts: list[str] = []
        at = 0
        for start, end, kind in spans:
            parts += (text[at:start], _MARK, kind, "]")
            at = end
        text = "".join(parts) + text[at:]
    return text, total


def _re(name: str) -> Pattern[str]:
    """The pattern of that name, compiled when first needed."""
    pattern = _COMPILED.get(name)
    if pattern is None:
        import re

        pattern = _COMPILED[name] = re.compile(_SOURCES[name], re.ASCII)
    return pattern


def _spans(text: str) -> list[Span]:
    """What all rules find; the first one to find a place names its kind."""
    spans: list[Span] = []
    words = [word for word in text.split() if len(word) >= _LONG]
    if words:
        odd, letter, token = _re("odd").search, _re("no-hex").search, _re("token").search
        words = [word for word in words if odd(word) and letter(word)]
        tokens = [word for word in words if token(word)]
        if tokens:
            spans += _vendor_tokens(text, " ".join(tokens))
    if "-----BEGIN" in text and "PRIVATE KEY" in text:
        spans += _private_keys(text)
    if "://" in text:
        spans += _urls(text)
    if " -u " in text or "user" in text or "sshpass" in text:
        spans += _commands(text)
    low = text.lower()
    if (
        "pass" in low or "token" in low or "key" in low or "secret" in low or "pw" in low or "bearer" in low
        or "authorization" in low or "cred" in low
    ):  # fmt: skip
        if len(low) != len(text):  # a few letters grow when lowered; positions must stay
            low = "".join(small if len(small := char.lower()) == 1 else char for char in text)
        spans += _named(text, low)
    if words:
        spans += _random_words(text, words)
    return spans


def _merge(text: str, spans: list[Span]) -> list[Span]:
    """Disjoint spans in order; where some overlap, the one found first names the kind.

    A mark is swallowed whole by a span that touches it; a span that holds nothing else is no find.
    """
    if not spans:
        return spans
    marks = [m.span() for m in _re("mark").finditer(text)] if _MARK in text else []
    merged: list[tuple[int, int, int]] = []  # start, end, place in spans
    for start, end, place in sorted(_widened(spans, marks)):
        if merged and start < merged[-1][1]:
            first, last, earlier = merged[-1]
            merged[-1] = (first, max(last, end), min(place, earlier))
        elif not marks or _re("mark").sub("", text[start:end]).strip(_CLOSERS):
            merged.append((start, end, place))
    return [(start, end, spans[place][2]) for start, end, place in merged]


def _widened(spans: list[Span], marks: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """The spans, each widened to whole marks, with its place in the list instead of its kind."""
    from bisect import bisect_left

    starts = [start for start, _ in marks]
    for place, (start, end, _) in enumerate(spans):
        wide = [start, end]
        for at in (start, end):
            mark = bisect_left(starts, at) - 1
            if mark >= 0 and at < marks[mark][1]:
                wide = [min(wide[0], marks[mark][0]), max(wide[1], marks[mark][1])]
        yield wide[0], wide[1], place


# --- shapes of tokens -----------------------------------------------------------------------------------------------------


def _vendor_tokens(text: str, long: str) -> Iterator[Span]:
    """Tokens with a vendor's prefix; ``long`` holds the long words of ``text``, which all of them are."""
    if not _PREFIXES:
        _PREFIXES.extend((prefix, row) for row in _VENDORS for prefix in row[1].split())
    for prefix, row in _PREFIXES:
        if prefix in long:
            yield from _prefixed(text, prefix, row)


def _prefixed(text: str, prefix: str, row: tuple[str, str, str, int]) -> Iterator[Span]:
    kind = row[0].rstrip("*")
    stars = len(row[0]) - len(kind)
    at = text.find(prefix)
    while at >= 0:
        begin = at + len(prefix)
        found = _re(row[2]).match(text, begin)
        end = found.end() if found else begin
        rest = text[begin:end].rstrip(".-=")
        if len(rest) >= row[3] and (not stars or (_bordered(text, at) and _fits(kind, rest, stars))):
            letters, least, most = _BEFORE.get(kind, ("", 0, 0))
            left = text[max(0, at - most) : at]
            more = len(left) - len(left.rstrip(letters))
            if more >= least:
                yield (begin if prefix[-1] == "/" else at - more), begin + len(rest), kind
        at = text.find(prefix, max(end, at + 1))  # from the end of what was read: reading each character once keeps it linear


def _bordered(text: str, at: int) -> bool:
    """Whether a word may begin here: no letter or digit before it, or those of an escape (backslash n, percent 3D)."""
    return not text[at - 1 : at].isalnum() or text[max(0, at - 2) : at - 1] == "\\" or text[max(0, at - 3) : at - 2] == "%"


def _fits(kind: str, rest: str, stars: int) -> bool:
    if kind in ("jwt", "discord-token") and "." not in rest:
        return False
    if stars == 1:
        return _re("digit").search(rest) is not None
    return any(_jumbled(piece) or (len(piece) >= 32 and _is_hex(piece)) for piece in _re("pieces").findall(rest))


def _private_keys(text: str) -> Iterator[Span]:
    """Blocks of private keys, also those that were cut off; a mere mention of the header stays."""
    at = text.find("-----BEGIN")
    while at >= 0:
        head = text.find("-----", at + 10, at + 80)
        after = at + 10
        if head >= 0 and "PRIVATE KEY" in text[at:head]:
            body = head + 5
            dashes = text.find("-----", body)
            after = dashes if dashes >= 0 else len(text)
            if text.startswith("-----END", dashes) and _re("run").search(text, body, dashes):
                close = text.find("-----", dashes + 8, dashes + 80)
                after = close + 5 if close >= 0 else dashes + 8
                yield at, after, "private-key"
            elif cut := _re("armour").match(text, body):
                yield at, cut.end(), "private-key"
        at = text.find("-----BEGIN", after)


# --- addresses and commands -----------------------------------------------------------------------------------------------


def _urls(text: str) -> Iterator[Span]:
    """The secret of ``scheme://user:secret@host``, and of query parameters whose names say little (``sig``, ``key``)."""
    at = text.find("://")
    while at >= 0:
        found = _re("userinfo").match(text, at + 3)
        if found:
            user, secret = found.groups()
            if secret and _is_url_secret(secret):
                yield found.start(2), found.end(2), "url-credentials"
            elif secret is None and len(user) >= _LONG and _re("digit").search(user) and not _is_mask(user):
                yield found.start(1), found.end(1), "url-credentials"
        at = text.find("://", at + 3)
    if "?" in text:
        for found in _re("query").finditer(text):
            if _re("digit").search(found[1]) and not _is_mask(found[1]):
                yield found.start(1), found.end(1), "url-credentials"


def _is_url_secret(secret: str) -> bool:
    port = secret.lstrip("0123456789")
    if len(port) < len(secret) and port[:1] in ("/", "?", "#"):
        return False
    if "/" in secret and not _re("digit").search(secret):
        return False
    return not _is_mask(secret) and secret.lower() not in _URL_WORDS


def _commands(text: str) -> Iterator[Span]:
    """Passwords on command lines: ``curl -u user:secret``, ``sshpass -p secret``."""
    for needle, with_user in _COMMANDS:
        at = text.find(needle)
        while at >= 0:
            found = _re("command").match(text, at + len(needle))
            if found and (":" in found[0]) == with_user and _is_mixed(found[1]) and not _stands_in(found[1], quoted=False):
                yield found.start(1), found.end(1), "password"
            at = text.find(needle, at + len(needle))


# --- names followed by values ---------------------------------------------------------------------------------------------


def _named(text: str, low: str) -> Iterator[Span]:
    """Values of secret-like names; ``low`` is ``text`` in lower case, letter for letter."""
    done = 0
    for found in _re("name").finditer(low):
        start, end = found.span()
        kind = _kind(text, low, start, end) if start >= done else ""
        if not kind:
            continue
        for rule in _RULES:
            value = rule(text, low, start, end, kind)
            if value:
                done = _whole(text, value)
                yield value[0], done, _KIND_WORDS.get(kind, kind)
                break


def _kind(text: str, low: str, start: int, end: int) -> str:
    """What kind of secret the name at this place means; empty where it is part of another word, or of a mark."""
    word = low[start:end]
    if word == "key":
        return word if low[max(0, start - 16) : start].rstrip(" _-").endswith(_KEYS) else ""
    if word in ("pass", "pw", "pwd", "creds") and low[start - 1 : start].isalnum() and not text[start].isupper():
        return ""
    if low.rfind(_MARK, max(0, start - 26), start) > low.rfind("]", max(0, start - 26), start):
        return ""
    if low[max(0, start - 40) : start].rstrip(_NAME_LETTERS).endswith("://"):
        return ""  # the user of an address
    return "password" if word.startswith("p") else word


def _identifier(text: str, start: int, end: int) -> str:
    """The whole name that ends here, after the character before it: ``" DB_PASSWORD"``, ``"?access_token"``."""
    head = " " + text[max(0, start - 40) : start]
    return head[len(head.rstrip(_NAME_LETTERS)) - 1 :] + text[start:end]


def _assigned(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``NAME=value``, ``"name": "value"``, ``name := value``, ``?name=value``, ``<name>value<``, ``Authorization: Bearer value``."""
    name = _identifier(text, start, end)
    found = _re("assign").match(low, end) or (_re("tagged").match(low, end) if name[0] == "<" else None)
    if not found or not _assigns(name, found[0], kind):
        return None
    at = found.end()
    if kind == "authorization":
        scheme = _re("scheme").match(low, at)
        at = scheme.end() if scheme else at
    loud = name.strip("\"' `([{,;\t\n-").isupper()
    sure = found[0] == "=" and (loud or name[0] in "?&")
    value = _secret_at(text, at, kind, sure=sure, ends="#" if name[0] in "?&" else "")
    if not value or value[2] or sure or found[0][-1] == ">" or _ends_there(text, value, kind, "=" in found[0], loud):
        return value
    return None


def _assigns(name: str, sign: str, kind: str) -> bool:
    """Whether this sign gives a name of that kind a value: not in ``"PASS: test_x"``, ``"f(token, x)"``, ``"arn:…:secret:x"``."""
    if kind == "bearer" or ("," in sign and kind != "authorization") or name[0] + sign == "::":
        return False
    return not (name[1:].lower() == "pass" and sign.lstrip()[:1] == ":")


def _ends_there(text: str, value: Value, kind: str, equals: bool, loud: bool) -> bool:
    """Whether an unquoted value reads as one, and not as code or as the first word of a sentence."""
    word = text[value[0] : value[1]]
    if not _re("identifier").match(word):
        return True
    rest = text[value[1] : value[1] + 40]
    if rest[:1] in ("(", "[", ")", ";", "<") or (rest[:1] == "," and equals):
        return False  # an argument, a statement
    if _re("digit").search(word):
        return True
    alone = not rest.strip(" \t,.!\"'`}").split("\n")[0].rstrip()
    return alone and (loud or (kind == "password" and "_" not in word))


def _flagged(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``--password value``."""
    gap = _gap(low, end, " \t")
    if not gap or not _identifier(text, start, end).lstrip(" \t\n`\"'([").startswith("-"):
        return None
    value = _secret_at(text, end + gap, kind)
    word = text[value[0] : value[1]] if value else "-"
    if word[0] == "-" or word.isupper():
        return None
    return value if value and (value[2] or not _is_plain(word) or _re("command-end").match(text, value[1])) else None


def _said(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``password is value``, ``the token for staging was value``, ``set the password to value``."""
    if kind not in _SPOKEN or low[start:end] == "pass":
        return None
    for form in ("said", "turned"):
        found = _re(form).match(low, end)
        value = _secret_at(text, found.end(), kind) if found else None
        if value and _reads_on(
            text, low, value, form == "said" or any(verb in low[max(0, start - 40) : start] for verb in _CHANGES)
        ):
            return value
    return None


def _reads_on(text: str, low: str, value: Value, stated: bool) -> bool:
    """Whether the words after the value leave it one: not "8 characters", not "stored in", and not a mere "password to enter"."""
    word = text[value[0] : value[1]]
    if word.isdigit():
        unit = _re("unit").match(low, value[1])
        return not unit or unit[1].rstrip("s") not in _UNITS.split()
    if not _is_plain(word):
        return True
    clause = _re("clause").match(text, value[1])
    return stated and (value[2] or (clause is not None and (not clause[1] or clause[1] in _CLAUSES.split())))


def _beside(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``with password value``, ``login joe password value`` (netrc), ``PASSWORD "value"``, ``Bearer value``."""
    gap = _gap(low, end, " \t")
    value = _secret_at(text, end + gap, kind) if gap and kind != "authorization" and low[start:end] != "pass" else None
    if not value:
        return None
    word = text[value[0] : value[1]]
    before = low[max(0, start - 60) : start].split()[-2:]
    if len(before) == 2 and before[0] == "login":
        return value
    if len(word) >= 16 and (kind == "bearer" or _is_hex(word) or any(map(_jumbled, _re("pieces").findall(word)))):
        return value
    hinted = value[2] or (bool(before) and before[-1].endswith(_INTRODUCED))
    telling = _is_mixed(word) or word.count("-") >= 3 or word.isdigit()
    return value if kind == "password" and hinted and telling and len(word) >= 6 and not _re("test").match(word) else None


def _paired(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``credentials: joe/value``, ``user/password joe:value``."""
    if kind not in ("credentials", "creds") and low[start - 1 : start] != "/":
        return None
    found = _re("pair").match(text, end)
    if not found or not _is_mixed(found[1]) or _stands_in(found[1], quoted=False) or len(found[1]) < 6:
        return None
    return found.start(1), found.end(1), False


_RULES = (_paired, _assigned, _said, _flagged, _beside)


def _gap(low: str, at: int, space: str) -> int:
    """How many characters of white space stand there, of up to 8."""
    return len(low[at : at + 8]) - len(low[at : at + 8].lstrip(space))


def _secret_at(text: str, at: int, kind: str, *, sure: bool = False, ends: str = "") -> Value | None:
    """The value that begins here, if it reads as a secret: start, end, and whether it is quoted."""
    value = _value(text, at)
    if not value:
        return None
    start, end, quoted = value
    word = text[start:end]
    if ends and ends in word:
        word = word[: word.index(ends)]
    if _stands_in(word, quoted) or not _is_secret(word, kind, quoted=quoted, sure=sure):
        return None
    return start, start + len(word), quoted


def _value(text: str, at: int) -> Value | None:
    """Where the value that begins here starts and ends (at most ``_REACH`` on), and whether it is quoted."""
    quote = _re("quote").match(text, at)
    if quote:
        at = quote.end()
        end = text.find(quote[1], at, at + _REACH)
        if end >= 0 and "\n" not in text[at:end]:
            end = at + len(text[at:end].rstrip("\\"))
            return (at, end, True) if end > at else None
    found = _re("value").match(text, at)
    word = found[0].rstrip(_CLOSERS) if found else ""
    return (at, at + len(word), False) if word else None


def _whole(text: str, value: Value) -> int:
    """The end of an accepted value, with what judging left off: a last mark of exclamation, all beyond its reach."""
    start, end, quoted = value
    if quoted:
        return end
    if end - start >= _REACH - 9:
        more = _re("more").match(text, end)
        return more.end() if more else end
    return end + len(text[end : end + 20]) - len(text[end : end + 20].lstrip("!?="))


# --- judging a value ------------------------------------------------------------------------------------------------------


def _is_secret(word: str, kind: str, *, quoted: bool, sure: bool) -> bool:
    """Whether ``word``, which stands in for nothing, reads as a secret of that kind.

    A password may be a word of the dictionary; a token, key or secret looks random, unless the place says it all.
    """
    if quoted and any(char.isspace() for char in word):
        parts = word.split()
        talk = sum(part in _COMMON or part.endswith(_ENDINGS) for part in parts)
        return kind == "password" and len(parts) > 2 and word.islower() and talk * 3 < len(parts)  # a phrase, not a label
    if word.isdigit():
        return len(word) >= (4 if kind == "password" else 10)
    wordy = kind == "password" or sure or (quoted and kind == "secret")
    if _is_mixed(word):
        return len(word) >= 4 if wordy else len(word) >= 6 and not _is_variable(word, kind)
    letters = word.replace("-", "").replace("_", "")
    if wordy:
        return len(letters) >= 3 and (letters.islower() or letters.isupper() or not _re("named").search(letters.lower()))
    alike = len(word) >= 16 and letters == word.lower() and (quoted or kind in ("authorization", "bearer"))
    return len(letters) >= 12 and (alike or _jumbled(word))


def _is_variable(word: str, kind: str) -> bool:
    """An identifier with a number in it: "tok2", "parseV2Token"."""
    if not _re("identifier").match(word) or sum(map(str.isdigit, word)) > 2 or _jumbled(word):
        return False
    return not (kind in ("authorization", "bearer") and len(word) >= 12) and not _re("consonants").search(word.lower())


def _is_mixed(word: str) -> bool:
    """Letters together with digits or odd symbols."""
    digit = _re("digit").search(word)
    return any(map(str.isalpha, word)) and (digit is not None or any(char in "@!#$%^&*?+=~" for char in word))


def _is_plain(word: str) -> bool:
    """Letters only, and perhaps a hyphen or two; three make a phrase such as people choose for passwords."""
    return word.replace("-", "").isalpha() and word.count("-") < 3


def _stands_in(word: str, quoted: bool) -> bool:
    """Whether ``word`` only stands where a value would: a mask, a variable, code, a path, a version, or an ordinary word."""
    if _is_mask(word):
        return True
    low = word.lower()
    if _re("plain").match(low) or low.partition(":")[0] in _REFERENCES.split() or _ordinary(low):
        return True
    return not quoted and ("()" in low or _re("code").match(low) is not None)


def _is_mask(word: str) -> bool:
    """``<value>``, ``${VAR}``, ``%s``, ``****``, ``xxx``, ``...``"""
    first = word[:1]
    if first in "<{[()]}>" or set(word.lower()) <= _MASKS:
        return True
    if first == "$":
        return word[1:2].isalpha() or word[1:2] in ("_", "{", "(", "")
    if first == "%":
        return len(word) < 4 or word.endswith("%") or word[1] in "({s."
    return "${" in word or "{{" in word or "%(" in word or "#{" in word or ("<" in word and word.endswith(">"))


def _ordinary(low: str) -> bool:
    """Whether a lower-case word is one of ordinary talk, or made of at most three such: "hashed", "base64-encoded", "a/b"."""
    if not _COMMON:
        _COMMON.update(_TALK.split())
    if low in _COMMON:
        return True
    parts = [part for part in _re("split").split(low.partition("|")[0]) if part]
    if not parts or len(parts) > 3 or any(char in "@!#$%^&*" for char in low):
        return False
    known = [part in _COMMON or (part.isalpha() and part.endswith(_ENDINGS)) or _is_technique(part) for part in parts]
    return any(known) and all(fine or part.isalpha() for fine, part in zip(known, parts, strict=True))


def _is_technique(part: str) -> bool:
    found = _re("tech").match(part)
    return found is not None and found[1] in _TECH.split()


# --- words that look random -----------------------------------------------------------------------------------------------


def _random_words(text: str, words: list[str]) -> Iterator[Span]:
    """Long words of mixed characters that no name, path, hash or encoding explains."""
    at = 0
    public = _public_blocks(text) if "-----BEGIN" in text else []
    for word in words:
        at = text.find(word, at)
        body = word
        if "://" in word or ";base64," in word:
            body = _re("elsewhere").sub(lambda found: " " * len(found[0]), word)
        if not any(start <= at < end for start, end in public):
            for found in _re("run").finditer(body):
                span = _random_part(text, at + found.start(), found[0])
                if span:
                    yield *span, "high-entropy"
        at += len(word)


def _public_blocks(text: str) -> list[tuple[int, int]]:
    """Certificates, public keys and signatures: encoded, yet open to all."""
    blocks: list[tuple[int, int]] = []
    at = text.find("-----BEGIN")
    while at >= 0 and len(blocks) < 100:
        end = text.find("-----END", at)
        if "PRIVATE" not in text[at : at + 60]:
            blocks.append((at, end if end >= 0 else len(text)))
        at = text.find("-----BEGIN", at + 10 if end < 0 else end)
    return blocks


def _random_part(text: str, start: int, run: str) -> tuple[int, int] | None:
    """The part of a run of token characters that looks random, if it is long and varied enough."""
    if _re("path-like").match(run) or ("/" in run and _re("extension").search(run[-8:])):
        return None
    pieces = [found for found in _re("pieces").finditer(run) if _jumbled(found[0])]
    if not pieces:
        return None
    first, last = pieces[0].start(), pieces[-1].end()
    if not _re("digit").search(run, first, last):
        return None
    weight = sum(len(piece[0]) for piece in pieces)
    if weight < 16 or weight * 2 < last - first or _entropy(run[first:last]) < (3.7 if last - first >= 24 else 3.4):
        return None
    before = text[max(0, start + first - 24) : start + first].lower()
    after = text[start + len(run) : start + len(run) + 1]
    if after == "@" or any(word in before for word in _DIGESTS) or run[first : first + 4] == "AAAA":
        return None  # half of an address, a digest, a public key of ssh
    head = run.rfind("/", 0, first) + 1
    if head == 0 and run[0] in "nrt" and text[start - 1 : start] == "\\":
        head = 1  # an escaped end of line
    return start + head, start + len(run.rstrip("."))


def _jumbled(piece: str) -> bool:
    """Whether classes of characters change as often as chance makes them: identifiers have words of four letters and more."""
    size, words = len(piece), len(_re("words").findall(piece))
    if piece.isupper():
        return size >= 14 and words >= 3 and size <= 8 * words and not _is_hex(piece)
    if piece.islower():
        return size >= 14 and words >= 5 and size <= 4.5 * words and not (_is_hex(piece) or _is_hex(piece[1:]))
    return words >= 4 and size <= (2.6 if size < 20 else 2.9) * words and not (size >= 20 and _is_hex(piece[1:]))


def _is_hex(word: str) -> bool:
    return not word.lower().removeprefix("0x").strip("0123456789abcdef")


def _entropy(run: str) -> float:
    """Shannon's measure, in bits per character."""
    from math import log2

    size = len(run)
    return -sum((count := run.count(char)) / size * log2(count / size) for char in set(run))
