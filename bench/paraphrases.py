"""Small notes of a made-up shop, questions that say the same in other words, and questions about something else."""

from __future__ import annotations

# A question and the note that answers it; they share hardly a word.
PAIRS: tuple[tuple[str, str], ...] = (
    ("where is the user's login state held?", "Sessions live in Redis: cookies were too large"),
    ("we keep logins in a key-value store", "Session storage decision: Redis with a TTL of one hour"),
    ("why did we stop using JSON web tokens?", "JWT was rejected because revoking a stolen credential was impossible"),
    (
        "page is slow when the shopping basket is big",
        "Cart total recomputed per row: memoise the sum, checkout took seconds with many items",
    ),
    ("how do I ship a new version?", "Release procedure: tag, build wheels, upload to the index, announce"),
    ("emails arrive twice", "Notification worker is not idempotent: retries send duplicate messages"),
    (
        "dates are off by one day for customers in Asia",
        "Store timestamps in UTC and convert at the edge; local midnight broke reports in Tokyo",
    ),
    (
        "can I remove the lock around the counter?",
        "The mutex in Metrics.increment guards against a data race, deleting it lost updates",
    ),
    ("tests pass on my laptop but not on the server", "CI fails when the locale is C: set LANG before running pytest"),
    ("money amounts are rounded wrongly", "Prices are Decimal, never float: cents went missing in invoices"),
    ("what happens if the payment provider is down?", "Stripe outage: charge requests are queued and replayed after recovery"),
    ("picture upload rejects big photos", "Image size limit raised to 20 MB in nginx, client_max_body_size"),
    ("search does not find words with accents", "Fold diacritics before indexing: café must match cafe"),
    ("too many open database handles", "Connection pool exhausted: close cursors in a finally block"),
    ("which colour scheme should new screens use?", "UI rule: use the design tokens for palette, never hex values"),
    ("how are passwords kept safe?", "Credentials are hashed with argon2, cost parameters reviewed yearly"),
    ("moving to a newer interpreter", "Python 3.12 upgrade attempt failed: distutils is gone and two wheels do not build"),
    ("background jobs vanish after deploy", "Celery tasks in memory are lost at restart; acks_late keeps them"),
    ("undo a bad schema change", "Roll back a migration with alembic downgrade -1, after a backup"),
    ("crash when the config is missing", "Absent settings file: fall back to defaults instead of raising KeyError at start"),
)

# Notes that answer none of these.
OTHERS: tuple[str, ...] = (
    "Run the migrations before the tests",
    "Pooling connections per request failed under load",
    "Never log request bodies",
    "Use black with line length 100",
    "The export endpoint streams CSV in chunks",
    "Feature flags are read once at start",
    "Retries use exponential backoff with jitter",
    "Docker image is built from slim, alpine broke wheels",
    "GraphQL was tried and dropped in favour of REST",
    "Webhook signatures are verified with HMAC",
    "Do not mock the clock globally, inject it",
    "Pagination uses opaque cursors",
    "The scheduler runs in one process only",
    "Static files are served by the CDN",
    "Rate limit is 100 requests per minute per token",
    "Translation files are generated, do not edit them",
    "Type checking is strict in src, loose in tests",
    "Health endpoint must not touch the database",
    "Large refactors go behind a flag",
    "Logging is structured JSON",
    "Memory leak in the PDF renderer: recycle workers after 500 jobs",
    "Thread pool size equals the number of cores",
    "S3 uploads use multipart above 8 MB",
    "Backups run nightly and are restored weekly as a test",
    "API errors have a code, a message and a remedy",
    "Circular import between models and services: move the types",
    "Windows paths: always normalise separators",
    "The linter forbids print",
    "Use UUIDv7 for identifiers",
    "Queries over 200 ms are logged as slow",
)

# Questions that no note answers.
STRANGERS: tuple[str, ...] = (
    "kubernetes ingress annotations",
    "best pizza in town",
    "react component re-renders twice",
    "how to bake sourdough bread",
    "terraform state drift",
    "swift ui navigation stack",
    "numpy array broadcasting shape mismatch",
    "kafka consumer lag",
    "unity shader compile error",
    "spring bean circular wiring",
    "oauth scopes for the calendar api",
    "gradle dependency resolution",
    "who won the football match",
    "verilog clock domain crossing",
    "latex table of contents",
)
