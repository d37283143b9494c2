"""The score as a probability: fitted to real answers, checked for honesty, and what a floor on it keeps and silences.

Each hit of each question is a pair of (points, possible points) with a label. The questions of another repository are asked too:
nothing here answers them, so whatever they get is noise. The form ``log-share`` is the product's (``hardwon.search.rank``):
log-odds = constant + a x ln(points / possible) + b x ln(points), where a question of few words counts as if LEAST_POSSIBLE points
had been possible. ``share`` takes the share itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from typing import Any, NamedTuple

import stream
from common import mean, say, table
from designs import Product
from hardwon.search import ask
from hardwon.types import Change, Query
from stream import Asked

FLOORS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5)
FORMS = ("log-share", "share")
LEAST_POSSIBLE = 40.0  # as in the product
COMPANY = 0.5  # where the best hit passes a floor, this part of it is asked of the others
_SHOWN = 10  # hits of a question that count, as many as an agent gets
_BINS = 10
_ROUNDS = 100
_RIDGE = 1e-6
_LEAST_WORDS = 4

Constants = tuple[float, float, float]


class Noted(NamedTuple):
    """A hit as it was answered: its points, what a perfect match could reach, the product's score, its position."""

    points: float
    possible: float
    score: float
    position: int


class Scored(NamedTuple):
    """A hit with its label."""

    points: float
    possible: float
    score: float
    relevant: bool


class Answer(NamedTuple):
    """The hits of one question."""

    variant: str
    own: bool
    hits: tuple[Scored, ...]


class Watched(Product):
    """The product, with the points behind each answer noted."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.noted: dict[tuple[str, int], list[Noted]] = {}

    def ask(self, text: str, now: int) -> list[int]:
        """As the product answers."""
        block = self.block(text, now)
        possible = self._possible(text)
        positions = self.positions(block)
        self.noted[text, now] = [
            Noted(sum(signal.points for signal in hit.why), possible, hit.score, position)
            for hit, position in zip(block.hits, positions, strict=True)
        ]
        return positions

    def _possible(self, text: str) -> float:
        with self.engine.store.read() as reader:
            question = ask.read(Query(text=text))
            return ask.weigh(question, reader.corpus().documents, reader.frequencies(sorted(question.repeats))).total


def foreign_questions(path: str, count: int, seed: int) -> list[tuple[str, str]]:
    """The (full, subject) texts of commits of another repository."""
    texts = []
    for change in stream.load(path):
        full = stream.cleaned(f"{change.subject}\n{change.body}", ())
        if len(full.split()) >= _LEAST_WORDS:
            texts.append((full, stream.cleaned(change.subject, ())))
    return random.Random(seed).sample(texts, min(count, len(texts)))


def calibrate(
    product: Watched, asked: Sequence[Asked], foreign: Sequence[tuple[str, str]], changes: Sequence[Change], seed: int, form: str
) -> dict[str, Any]:
    """Constants with a reliability table (each half judged by the fit of the other), and a table of floors."""
    answers = [answer for question in asked for answer in _own(product, question, changes[question.position].at)]
    say(f"asking {len(foreign)} questions of another repository")
    now = changes[-1].at
    answers += [_foreign(product, text, variant, now) for pair in foreign for variant, text in _variants(*pair) if text]
    random.Random(seed).shuffle(answers)
    constants = fit(_pairs(answers), form)
    said = _said(constants, form)
    return {
        "form": form,
        "constants": [round(value, 3) for value in constants],
        "pairs": sum(len(answer.hits) for answer in answers),
        "in_use": _reliability([(hit.score, hit.relevant) for hit in _pairs(answers)]),
        "crossed": _crossed(answers, form),
        "floors": [_floor(answers, said, floor) for floor in FLOORS],
    }


def _variants(full: str, subject: str) -> Iterable[tuple[str, str]]:
    return ("full", full), ("subject", subject)


def _own(product: Watched, question: Asked, now: int) -> Iterable[Answer]:
    for variant, text in _variants(question.full, question.subject):
        yield _answer(variant, True, product.noted.get((text, now), []), question.relevant)


def _foreign(product: Watched, text: str, variant: str, now: int) -> Answer:
    product.ask(text, now)
    return _answer(variant, False, product.noted[text, now], frozenset())


def _answer(variant: str, own: bool, noted: Sequence[Noted], relevant: frozenset[int]) -> Answer:
    hits = tuple(Scored(hit.points, hit.possible, hit.score, hit.position in relevant) for hit in noted[:_SHOWN])
    return Answer(variant, own, hits)


def _pairs(answers: Iterable[Answer]) -> list[Scored]:
    return [hit for answer in answers for hit in answer.hits if hit.points > 0]


def inputs(hit: Scored, form: str) -> tuple[float, float, float]:
    """What the logistic weighs: one, the reached share (or its logarithm), and the logarithm of the points."""
    share = hit.points / max(hit.possible, 0.01)
    return 1.0, log(share) if form == "log-share" else share, log(share * max(hit.possible, LEAST_POSSIBLE))


def _said(constants: Sequence[float], form: str) -> Callable[[Scored], float]:
    """The probability that the constants give a hit."""
    return lambda hit: 1 / (1 + exp(-sum(weight * value for weight, value in zip(constants, inputs(hit, form), strict=True))))


def fit(pairs: Sequence[Scored], form: str) -> Constants:
    """Logistic regression by Newton's method."""
    rows = [(inputs(hit, form), float(hit.relevant)) for hit in pairs]
    weights = [0.0, 0.0, 0.0]
    for _ in range(_ROUNDS):
        gradient, curvature = _slopes(rows, weights)
        step = _solve(curvature, gradient)
        weights = [weight + change for weight, change in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-9:
            break
    return weights[0], weights[1], weights[2]


def _slopes(rows: Sequence[tuple[Sequence[float], float]], weights: Sequence[float]) -> tuple[list[float], list[list[float]]]:
    size = range(len(weights))
    gradient = [-_RIDGE * weight for weight in weights]
    curvature = [[_RIDGE * (i == j) for j in size] for i in size]
    for values, label in rows:
        guess = 1 / (1 + exp(-sum(weight * value for weight, value in zip(weights, values, strict=True))))
        spread = guess * (1 - guess)
        for i in size:
            gradient[i] += (label - guess) * values[i]
            for j in size:
                curvature[i][j] += spread * values[i] * values[j]
    return gradient, curvature


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gauss and Jordan, with the largest pivot."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        best = max(range(column, len(rows)), key=lambda row: abs(rows[row][column]))
        rows[column], rows[best] = rows[best], rows[column]
        pivot = rows[column][column]
        rows[column] = [value / pivot for value in rows[column]]
        for row in range(len(rows)):
            if row != column:
                factor = rows[row][column]
                rows[row] = [value - factor * other for value, other in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def _crossed(answers: Sequence[Answer], form: str) -> dict[str, Any]:
    """Reliability where no question is judged by a fit that saw it."""
    halves = (answers[::2], answers[1::2])
    judged = []
    for one, other in (halves, halves[::-1]):
        said = _said(fit(_pairs(one), form), form)
        judged += [(said(hit), hit.relevant) for hit in _pairs(other)]
    return _reliability(judged)


def _reliability(judged: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for guess, label in judged:
        bins[min(_BINS - 1, int(guess * _BINS))].append((guess, label))
    rows = [
        {
            "bin": number / _BINS,
            "hits": len(held),
            "said": round(mean([g for g, _ in held]), 3),
            "was": _share(label for _, label in held),
        }
        for number, held in enumerate(bins)
    ]
    error = sum(row["hits"] * abs(row["said"] - row["was"]) for row in rows) / max(len(judged), 1)
    losses = [-log(max(guess if label else 1 - guess, 1e-12)) for guess, label in judged]
    return {"bins": rows, "calibration_error": round(error, 4), "log_loss": round(mean(losses), 4)}


def _share(labels: Iterable[bool]) -> float:
    return round(mean([float(label) for label in labels]), 4)


def _floor(answers: Sequence[Answer], said: Callable[[Scored], float], floor: float) -> dict[str, Any]:
    """What stays above a floor: of the own questions that can be answered at all, and of the foreign ones, which cannot."""
    row: dict[str, Any] = {"floor": floor}
    for variant in ("full", "subject"):
        own = [answer for answer in answers if answer.own and answer.variant == variant]
        other = [answer for answer in answers if not answer.own and answer.variant == variant]
        kept = [_kept(answer, said, floor, floor) for answer in own]
        company = [_kept(answer, said, floor, COMPANY * floor) for answer in own]
        can = [any(hit.relevant for hit in answer.hits) for answer in own]
        row[variant] = {
            "still_relevant": _found(kept, can),
            "with_company": _found(company, can),
            "answered": _share(map(bool, kept)),
            "foreign_answered": _share(bool(_kept(answer, said, floor, floor)) for answer in other),
            "hits": round(mean([float(len(hits)) for hits in kept]), 2),
            "precision": _share(hit.relevant for hits in kept for hit in hits),
        }
    return row


def _kept(answer: Answer, said: Callable[[Scored], float], first: float, others: float) -> list[Scored]:
    """The hits that are shown if the best must reach ``first`` and the rest ``others``."""
    chances = [(said(hit), hit) for hit in answer.hits if hit.points > 0]
    if not chances or max(chance for chance, _ in chances) < first:
        return []
    return [hit for chance, hit in chances if chance >= others]


def _found(kept: Sequence[Sequence[Scored]], can: Sequence[bool]) -> float:
    """Of the questions that can be answered: the share that still gets a relevant hit."""
    return _share(any(hit.relevant for hit in hits) for hits, possible in zip(kept, can, strict=True) if possible)


def printed(found: dict[str, Any]) -> str:
    """The calibration as Markdown."""
    bins = table(
        ("chance from", "hits", "said", "was"),
        [(row["bin"], row["hits"], f"{row['said']:.3f}", f"{row['was']:.3f}") for row in found["crossed"]["bins"]],
    )
    head = ("floor", "still a relevant hit", "others at half of it", "answered", "foreign answered", "hits", "precision")
    rows = [
        (row["floor"], *(f"{row['full'][key]:.3f} / {row['subject'][key]:.3f}" for key in row["full"])) for row in found["floors"]
    ]
    return (
        f"{found['form']}: CALIBRATION = {tuple(found['constants'])} from {found['pairs']} pairs; error crossed "
        f"{found['crossed']['calibration_error']}, log loss {found['crossed']['log_loss']} (score in use: "
        f"{found['in_use']['calibration_error']}, {found['in_use']['log_loss']})\n\n{bins}\n\n"
        f"full / subject\n\n{table(head, rows)}"
    )
