"""Random values of public shapes: what issuers say of their tokens."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
B62 = UPPER + LOWER + DIGITS
URL64 = B62 + "-_"
B64 = B62 + "+/"
B32 = UPPER + "234567"
HEX = DIGITS + "abcdef"
LOWER_DIGITS = LOWER + DIGITS
SYMBOLS = "!#$%&*+-.?@^_~"


class Maker:
    """Random values of public shapes; the same seed gives the same values."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def any(self, alphabet: str, least: int, most: int = 0) -> str:
        """Characters of an alphabet: ``least`` of them, or up to ``most``."""
        return "".join(self.dice.choices(alphabet, k=self.dice.randint(least, max(least, most))))

    def pick(self, *options: str) -> str:
        """One of them."""
        return self.dice.choice(options)

    def uuid(self) -> str:
        """A random UUID."""
        return "-".join(self.any(HEX, size) for size in (8, 4, 4, 4, 12))

    def base64(self, size: int) -> str:
        """So many random bytes."""
        return base64.b64encode(self.dice.randbytes(size)).decode()

    def jwt(self) -> str:
        """A signed token with a header and claims."""
        parts = ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{self.any(DIGITS, 10)}","iat":{self.any(DIGITS, 10)}}}')
        head = ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
        return f"{head}.{self.any(URL64, 43)}"


# What the issuers say of their tokens. A star: the rules have no row for it, so that only their general part can find it.
VENDORS: dict[str, Callable[[Maker], str]] = {
    "aws access key": lambda m: m.pick("AKIA", "ASIA") + m.any(B32, 16),
    "github classic": lambda m: m.pick("ghp_", "gho_", "ghu_", "ghs_", "ghr_") + m.any(B62, 36),
    "github fine-grained": lambda m: f"github_pat_11{m.any(UPPER + DIGITS, 9)}0{m.any(B62, 10)}_{m.any(B62, 59)}",
    "gitlab": lambda m: m.pick("glpat-", "glptt-", "gldt-", "glrt-", "glsoat-") + m.any(URL64, 20),
    "gitlab routable": lambda m: f"glpat-{m.any(URL64, 27)}.01.{m.any(LOWER_DIGITS, 9)}",
    "slack bot": lambda m: f"xoxb-{m.any(DIGITS, 11, 13)}-{m.any(DIGITS, 11, 13)}-{m.any(B62, 24)}",
    "slack user": lambda m: f"xoxp-{m.any(DIGITS, 12)}-{m.any(DIGITS, 12)}-{m.any(DIGITS, 13)}-{m.any(HEX, 32)}",
    "slack app": lambda m: f"xapp-1-A{m.any(UPPER + DIGITS, 10)}-{m.any(DIGITS, 13)}-{m.any(HEX, 64)}",
    "stripe": lambda m: m.pick("sk_live_", "rk_live_", "sk_test_") + m.any(B62, 24, 99),
    "stripe webhook": lambda m: "whsec_" + m.any(B62, 32),
    "google api": lambda m: "AIza" + m.any(URL64, 35),
    "google oauth secret": lambda m: "GOCSPX-" + m.any(URL64, 28),
    "google access": lambda m: "ya29." + m.any(URL64, 60, 180),
    "openai project": lambda m: f"sk-proj-{m.any(URL64, 74)}T3BlbkFJ{m.any(URL64, 74)}",
    "openai legacy": lambda m: f"sk-{m.any(B62, 20)}T3BlbkFJ{m.any(B62, 20)}",
    "anthropic": lambda m: f"sk-ant-api03-{m.any(URL64, 93)}AA",
    "openrouter": lambda m: "sk-or-v1-" + m.any(HEX, 64),
    "deepseek": lambda m: "sk-" + m.any(HEX, 32),
    "groq": lambda m: "gsk_" + m.any(B62, 52),
    "xai": lambda m: "xai-" + m.any(B62, 80),
    "perplexity": lambda m: "pplx-" + m.any(B62, 48),
    "replicate": lambda m: "r8_" + m.any(B62, 37),
    "hugging face": lambda m: "hf_" + m.any(UPPER + LOWER, 34),
    "langsmith": lambda m: f"lsv2_pt_{m.any(HEX, 32)}_{m.any(HEX, 10)}",
    "elevenlabs": lambda m: "sk_" + m.any(HEX, 48),
    "npm": lambda m: "npm_" + m.any(B62, 36),
    "pypi": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.any(URL64, 150, 170),
    "docker hub": lambda m: m.pick("dckr_pat_", "dckr_oat_") + m.any(URL64, 27, 32),
    "sendgrid": lambda m: f"SG.{m.any(URL64, 22)}.{m.any(URL64, 43)}",
    "twilio": lambda m: "SK" + m.any(HEX, 32),
    "mailgun": lambda m: "key-" + m.any(HEX, 32),
    "brevo": lambda m: f"xkeysib-{m.any(HEX, 64)}-{m.any(B62, 16)}",
    "mailchimp": lambda m: f"{m.any(HEX, 32)}-us{m.dice.randint(1, 21)}",
    "shopify": lambda m: m.pick("shpat_", "shpca_", "shpss_") + m.any(HEX, 32),
    "digitalocean": lambda m: m.pick("dop_v1_", "doo_v1_") + m.any(HEX, 64),
    "databricks": lambda m: "dapi" + m.any(HEX, 32) + m.pick("", "-2"),
    "linear": lambda m: "lin_api_" + m.any(B62, 40),
    "notion": lambda m: m.pick("ntn_", "secret_") + m.any(B62, 43, 46),
    "atlassian": lambda m: f"ATATT3xFfGF0{m.any(URL64, 170, 180)}={m.any(HEX.upper(), 8)}",
    "grafana": lambda m: f"glsa_{m.any(B62, 32)}_{m.any(HEX, 8)}",
    "vault": lambda m: "hvs." + m.any(URL64, 24, 100),
    "azure ad": lambda m: f"{m.any(B62, 3)}8Q~{m.any(URL64 + '~.', 34)}",
    "discord bot": lambda m: f"MT{m.any(B62, 22, 24)}.G{m.any(URL64, 5)}.{m.any(URL64, 38)}",
    "discord webhook": lambda m: f"https://discord.com/api/webhooks/{m.any(DIGITS, 18, 19)}/{m.any(URL64, 68)}",
    "slack webhook": lambda m: (
        f"https://hooks.slack.com/services/T{m.any(UPPER + DIGITS, 8, 10)}/B{m.any(UPPER + DIGITS, 8, 10)}/{m.any(B62, 24)}"
    ),
    "telegram": lambda m: f"{m.any('123456789', 1)}{m.any(DIGITS, 8, 9)}:AA{m.any(URL64, 33)}",
    "jwt": lambda m: m.jwt(),
    "new relic": lambda m: "NRAK-" + m.any(UPPER + DIGITS, 27),
    "postman": lambda m: f"PMAK-{m.any(HEX, 24)}-{m.any(HEX, 34)}",
    "tailscale": lambda m: f"tskey-{m.pick('api', 'auth')}-{m.any(B62, 12)}CNTRL-{m.any(B62, 32)}",
    "supabase": lambda m: "sbp_" + m.any(HEX, 40),
    "doppler": lambda m: f"dp.{m.pick('pt', 'st.prd', 'ct')}.{m.any(B62, 40, 44)}",
    "pulumi": lambda m: "pul-" + m.any(HEX, 40),
    "planetscale": lambda m: m.pick("pscale_tkn_", "pscale_pw_") + m.any(URL64, 43),
    "figma": lambda m: "figd_" + m.any(URL64, 40),
    "rubygems": lambda m: "rubygems_" + m.any(HEX, 48),
    "airtable": lambda m: f"pat{m.any(B62, 14)}.{m.any(HEX, 64)}",
    "terraform cloud": lambda m: f"{m.any(B62, 14)}.atlasv1.{m.any(URL64, 60, 70)}",
    "sourcegraph": lambda m: f"sgp_{m.any(HEX, 16)}_{m.any(HEX, 40)}",
    "hubspot": lambda m: f"pat-{m.pick('na1', 'eu1')}-{m.uuid()}",
    "heroku": lambda m: "HRKU-" + m.pick(m.uuid(), "AA" + m.any(URL64, 58)),
    "sonarqube": lambda m: m.pick("sqp_", "squ_", "sqa_") + m.any(HEX, 40),
    "buildkite": lambda m: "bkua_" + m.any(HEX, 40),
    "mapbox": lambda m: f"sk.eyJ1Ijoi{m.any(B62, 70, 90)}.{m.any(URL64, 22)}",
    "netlify": lambda m: "nfp_" + m.any(B62, 36),
    "contentful": lambda m: "CFPAT-" + m.any(URL64, 43),
    "dropbox": lambda m: "sl." + m.any(URL64, 130, 150),
    "launchdarkly": lambda m: m.pick("sdk-", "api-") + m.uuid(),
    "plaid": lambda m: f"access-production-{m.uuid()}",
    "flutterwave": lambda m: f"FLWSECK-{m.any(HEX, 32)}-X",
    "easypost": lambda m: m.pick("EZAK", "EZTK") + m.any(B62, 54),
    "shippo": lambda m: "shippo_live_" + m.any(HEX, 40),
    "crates.io": lambda m: "cio" + m.any(B62, 32),
    "nuget": lambda m: "oy2" + m.any(LOWER_DIGITS, 43),
    "cloudflare origin ca": lambda m: f"v1.0-{m.any(HEX, 24)}-{m.any(HEX, 146)}",
    "duffel *": lambda m: "duffel_live_" + m.any(URL64, 43),
    "adafruit *": lambda m: "aio_" + m.any(B62, 28),
    "typeform *": lambda m: f"tfp_{m.any(URL64, 44)}_{m.any(URL64, 14)}",
    "zuplo *": lambda m: f"zpka_{m.any(B62, 32)}_{m.any(HEX, 8)}",
    "readme *": lambda m: "rdme_" + m.any(LOWER_DIGITS, 70),
    "prefect *": lambda m: "pnu_" + m.any(B62, 36),
    "neon *": lambda m: "napi_" + m.any(LOWER_DIGITS, 64),
    "posthog *": lambda m: "phx_" + m.any(B62, 43),
    "ory *": lambda m: "ory_at_" + m.any(URL64, 43) + "." + m.any(URL64, 43),
    "packagist *": lambda m: "packagist_ack_" + m.any(HEX, 80),
    "facebook *": lambda m: "EAA" + m.any(B62, 160, 190),
    "circleci *": lambda m: f"CCIPAT_{m.any(B62, 22)}_{m.any(HEX, 40)}",
    "deno *": lambda m: "ddp_" + m.any(B62, 36),
    "vercel *": lambda m: "vcp_" + m.any(B62, 56),
    "clojars *": lambda m: "CLOJARS_" + m.any(HEX, 60),
    "twitter bearer *": lambda m: "AAAAAAAAAAAAAAAAAAAAA" + m.any(B62, 80) + "%3D",
}  # fmt: skip
