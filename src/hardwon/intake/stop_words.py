"""Stop words of the search for secrets: ordinary talk such as follows a secret-like name ("the token is expired")."""

from __future__ import annotations

from hardwon.intake.patterns import compiled

_SPLIT = r"[^a-z0-9]+"
_NUMBERED = r"([a-z]+)[-_]?\d{1,5}[a-z]{0,3}$"

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
COMMON = frozenset(_TALK.split())
ENDINGS = (
    "ed", "ing", "ly", "able", "ible", "ent", "less", "ful", "ive", "ous", "ory", "ary", "ally", "tion", "ment", "ness", "based",
)  # fmt: skip


def is_ordinary(low: str) -> bool:
    """Whether a lower-case word is one of ordinary talk, or made of at most three such: "hashed", "base64-encoded", "a/b"."""
    if low in COMMON:
        return True
    parts = [part for part in compiled(_SPLIT).split(low.partition("|")[0]) if part]
    if not parts or len(parts) > 3 or any(char in "@!#$%^&*" for char in low):
        return False
    known = [part in COMMON or (part.isalpha() and part.endswith(ENDINGS)) or _is_technique(part) for part in parts]
    return any(known) and all(fine or part.isalpha() for fine, part in zip(known, parts, strict=True))


def _is_technique(part: str) -> bool:
    found = compiled(_NUMBERED).match(part)
    return found is not None and found[1] in _TECH.split()
