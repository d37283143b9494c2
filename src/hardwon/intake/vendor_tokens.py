"""Secrets known by their shape: tokens with a vendor's prefix, and blocks of private keys."""

from __future__ import annotations

from hardwon.intake.patterns import DIGIT, NAME_LETTERS, compiled, is_escaped
from hardwon.intake.random_words import PIECES, RUN, is_hex, is_jumbled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

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
    ("airtable-token*", "pat", "dotted", 64),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", "word", 32),
    ("launchdarkly-key**", "sdk- api- mob-", "uuid", 36),
    ("plaid-token", "access-production- access-development- access-sandbox-", "uuid", 36),
    ("heroku-key", "HRKU-", "word", 32),
    ("flutterwave-key", "FLWSECK-", "word", 32),
    ("brevo-key", "xkeysib- xsmtpsib-", "word", 60),
    ("mailchimp-key", "-us", "digits", 1),
    ("sonarqube-token", "sqp_ squ_ sqa_", "hex", 40),
    ("buildkite-token", "bkua_ bkct_ bkaj_", "hex", 40),
    ("sourcegraph-token", "sgp_ sgd_ sgp_local_", "word", 40),
    ("shippo-token", "shippo_live_ shippo_test_", "hex", 40),
    ("cloudflare-key", "v1.0-", "word", 120),
    ("mapbox-token", "sk.eyJ", "dotted", 40),
    ("netlify-token**", "nfp_", "alnum", 36),
    ("contentful-token", "CFPAT-", "word", 43),
    ("terraform-token", ".atlasv1.", "word", 40),
    ("easypost-key", "EZAK EZTK", "alnum", 54),
    ("crates-token**", "cio", "alnum", 32),
    ("live-key**", "_live_ _prod_ _secret_", "word", 24),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB ATSTT3", "word", 24),
    ("grafana-token", "glsa_ glc_", "word", 24),
    ("vault-token*", "hvs. hvb. hvr.", "word", 20),
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
_PREFIXES = tuple((prefix, row) for row in _VENDORS for prefix in row[1].split())
_CHARSETS = {
    "upper": r"[A-Z0-9]*",
    "alnum": r"[A-Za-z0-9]*",
    "word": r"[A-Za-z0-9_-]*",
    "hex": r"[0-9a-fA-F]*",
    "dotted": r"[A-Za-z0-9_.=~-]*",
    "base64": r"[A-Za-z0-9+/_=-]*",
    "path": r"[A-Za-z0-9/_-]*",
    "uuid": r"[0-9a-fA-F-]*",
    "digits": r"[0-9]{1,2}(?![A-Za-z0-9])",
}
_WORD_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_SIZES = {"aws-key": 16, "huggingface-token": 34, "npm-token": 36}
# What belongs to a token on the left of its prefix: characters, least and greatest number.
_BEFORE = {
    "telegram-token": ("0123456789", 6, 12), "azure-secret": (NAME_LETTERS + "~", 3, 3), "mailchimp-key": ("0123456789abcdef", 32, 32),
    "terraform-token": (NAME_LETTERS, 14, 14), "live-key": (_WORD_LETTERS, 2, 24),
}  # fmt: skip
# The armour of a key that was cut off: lines of base64, or their escaped form.
_ARMOUR = (
    r"(?:\s|\\[nr])*(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,80}(?:\s|\\[nr])+)*"
    r"[A-Za-z0-9+/]{40,}={0,2}(?:\s|\\[nr]|$)+(?:[A-Za-z0-9+/]{16,}={0,2}(?:\s|\\[nr]|$)+)*"
)


def vendor_tokens(text: str, long: str) -> Iterator[Span]:
    """Tokens with a vendor's prefix; ``long`` holds the long words of ``text``, which all of them are."""
    for prefix, row in _PREFIXES:
        if prefix in long:
            yield from _prefixed(text, prefix, row)


def _prefixed(text: str, prefix: str, row: tuple[str, str, str, int]) -> Iterator[Span]:
    kind = row[0].rstrip("*")
    stars = len(row[0]) - len(kind)
    at = text.find(prefix)
    while at >= 0:
        begin = at + len(prefix)
        found = compiled(_CHARSETS[row[2]]).match(text, begin)
        end = found.end() if found else begin
        rest = text[begin:end].rstrip(".-=")
        if len(rest) >= row[3]:
            letters, least, most = _BEFORE.get(kind, ("", 0, 0))
            left = text[max(0, at - most) : at]
            more = len(left) - len(left.rstrip(letters))
            more -= least != most and more > least and is_escaped(text, at - more)
            if more >= least and (not stars or (_bordered(text, at - more) and _fits(kind, rest, stars))):
                yield (begin if prefix[-1] == "/" else at - more), begin + len(rest), kind
        at = text.find(prefix, max(end, at + 1))  # from the end of what was read: reading each character once keeps it linear


def _bordered(text: str, at: int) -> bool:
    """Whether a word may begin here: no letter or digit before it, or those of an escape (backslash n, percent 3D)."""
    return not text[at - 1 : at].isalnum() or text[max(0, at - 2) : at - 1] == "\\" or text[max(0, at - 3) : at - 2] == "%"


def _fits(kind: str, rest: str, stars: int) -> bool:
    if kind in ("jwt", "discord-token", "airtable-token") and "." not in rest:
        return False
    if len(rest) == _SIZES.get(kind):
        return True  # by chance such a one may have no digit, or look like words
    if kind == "launchdarkly-key":
        return rest.count("-") == 4 and len(rest) == 36
    if stars == 1:
        return compiled(DIGIT).search(rest) is not None
    return any(is_jumbled(piece) or (len(piece) >= 32 and is_hex(piece)) for piece in compiled(PIECES).findall(rest))


def private_keys(text: str) -> Iterator[Span]:
    """Blocks of private keys, also those that were cut off; a mere mention of the header stays."""
    at = text.find("-----BEGIN")
    while at >= 0:
        head = text.find("-----", at + 10, at + 80)
        after = at + 10
        if head >= 0 and ("PRIVATE KEY" in text[at:head] or "Static key" in text[at:head]):
            body = head + 5
            dashes = text.find("-----", body)
            after = dashes if dashes >= 0 else len(text)
            if text.startswith("-----END", dashes) and compiled(RUN).search(text, body, dashes):
                close = text.find("-----", dashes + 8, dashes + 80)
                after = close + 5 if close >= 0 else dashes + 8
                yield at, after, "private-key"
            elif cut := compiled(_ARMOUR).match(text, body):
                yield at, cut.end(), "private-key"
        at = text.find("-----BEGIN", after)
