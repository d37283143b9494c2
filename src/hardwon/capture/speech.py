"""What people say in a session that should be remembered: decisions, rules, and that something was wrong. By rules, rather few than false.

Read are whole sentences in plain prose. Questions, suppositions, quoted text, code and pasted logs say nothing of the kind. English first;
of German, Korean and Chinese the plainest forms. Of the agent's own words only decisions that it gives a reason or an alternative for.
"""

from __future__ import annotations

from hardwon.capture.prose import ITEM, prose, sentences
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Literal

    RemarkKind = Literal["decision", "rule", "wrong"]
else:
    RemarkKind = str

_READ = 20_000  # characters of a text
_SENTENCE = (8, 320)  # characters of a sentence that may count; shorter ones say nothing, longer ones too much
# As many characters as before, which lower() does not promise.
_MOST = 4  # remarks of one text
_SPOKEN, _ITEMS = 2_000, 5  # characters, items of a list: nobody types more
_STEPS = 3
_ASIAN_SHORTEST = 4
# Without one of these no sentence can count: looked for before any pattern is made.
_MARKS = (
    "instead", "rather than", "decid", "decision", "agreed", "let's", "lets ", "go with", "going with", "went with", "chose",
    "prefer", "never",
    "always", "don't", "dont ", "do not", "must", "from now on", "wrong", "incorrect", "not what", "not how", "not right",
    "no,", "no.", "no!", "revert", "thats not", "this not", "i did", "i never",
    "undo", "stop ", "remember", "not like that", "broke", "told you", "over ", "scratch that", "switch", "stick with", "nope", "statt",
    "niemals", "immer", "falsch",
    "entschieden", "nicht so", "so nicht", "kein", "nie ", "nein", "결정", "대신", "기로 했", "항상", "절대", "하지 마", "지 마", "틀렸",
    "아니라", "잘못",
    "决定", "而不是", "改用", "不要", "必须", "总是", "永远", "不对", "错了", "不行",
)  # fmt: skip


class Remark(Value):
    """One thing that was said. ``text`` is the sentence without what leads up to it; ``subject`` the words that it decides for, in small
    letters; ``passage`` the sentence as it stands; ``amends``: it says itself that it changes what was said before."""

    kind: RemarkKind
    text: str
    because: str = ""
    rejected: tuple[str, ...] = ()
    subject: str = ""
    passage: str = ""
    amends: bool = False


def heard(text: str, *, person: bool) -> tuple[Remark, ...]:
    """What is decided, ruled or called wrong in a text of a person, or decided in one of the agent's."""
    folded = text[:_READ].lower().replace("’", "'")
    if not (any(mark in folded for mark in _MARKS) or _sets_against(folded)):
        return ()
    found: list[Remark] = []
    lines = prose(text[:_READ].replace("’", "'"))
    pasted = person and _is_document(text, lines)
    told = sentences(_without_steps(lines))
    for at, sentence in enumerate(told):
        remark = _remark(sentence, at, person)
        if remark is None or (remark.kind == "wrong" and found and found[-1].kind == "wrong"):
            continue
        if pasted and remark.kind != "wrong":
            continue
        if remark.kind == "wrong":
            following = told[at + 1] if at + 1 < len(told) else ""
            remark = _with_reason(remark, following)
            if at and remark.passage == sentence:
                remark = _with_what_led_to_it(remark, told[0])
        if all(one.text.casefold() != remark.text.casefold() for one in found):
            found.append(remark)
    return tuple(found[:_MOST])


def _without_steps(lines: list[str]) -> list[str]:
    """The lines without those of a list with numbers that asks for one thing after the other: what is said there is for that step."""
    steps = [bool(_pattern("step").match(line)) for line in lines]
    return lines if sum(steps) < _STEPS else ["" if step else line for step, line in zip(steps, lines, strict=True)]


def _is_document(text: str, lines: list[str]) -> bool:
    """Whether a prompt is a plan, a handoff or a template that was pasted: what it asks for and forbids is for one task, and was often
    written by a program. Judged on real prompts, one in nine of its rules was worth keeping."""
    if len(text) > _SPOKEN:
        return True
    wide = sum(char >= "\u1100" for char in text)  # of scripts that say a word by a character or two
    headings = sum(line.startswith("#") for line in lines)
    items = sum(bool(ITEM.match(line)) for line in lines)
    return len(text) + wide > _SPOKEN or headings > 1 or items > _ITEMS or _is_made_for_agents(text)


def _is_made_for_agents(text: str) -> bool:
    """Whether a prompt begins as no person does who talks to an agent ("You are a reviewer"), or has marks that people do not type,
    but for code that stands between fences."""
    spoken = "\n".join(text.split("```")[::2])
    return bool(_pattern("role").match(text)) or any(_pattern("mark").match(line) for line in spoken.split("\n"))


def _sets_against(folded: str) -> bool:
    """Whether a text may choose by naming what it does not want. The word for that alone stands in every other prompt."""
    return " not " in folded and ("use " in folded or "prefer " in folded)


def amended(remark: Remark, earlier: str) -> bool:
    """Whether a decision takes the place of an earlier one, of which the subject is given: it decides against what that one was for, or
    says that it changes it and speaks of the same."""
    before = set(earlier.split())
    if not before:
        return False
    against = {word for one in remark.rejected for word in _words(one)}
    if against & before:
        return True
    return remark.amends and len(before & set(_words(remark.text))) >= 1


# --- remarks


def _remark(sentence: str, at: int, person: bool) -> Remark | None:
    if not _may_count(sentence):
        return None
    if not person:
        return _decision(sentence, sentence) if _pattern("agent_decides").search(sentence) else None
    if at <= 1 and _pattern("wrong").search(sentence):
        return Remark("wrong", _sentence(sentence), passage=sentence)
    bare = _pattern("lead").sub("", sentence).strip()
    if _pattern("dangling").match(bare.rstrip(" .!")):
        return None
    if (_pattern("rule").match(bare) or _pattern("remember").match(sentence)) and not _pattern("once").search(bare):
        return Remark("rule", _sentence(bare), _split(bare)[1], passage=sentence)
    return _decision(bare, sentence) if _pattern("decides").match(bare) and not _pattern("once").search(bare) else None


def _may_count(sentence: str) -> bool:
    """Whether a sentence is a plain statement of a fitting length: no question, no supposition, no quotation."""
    shortest = _SENTENCE[0] if sentence.isascii() else _ASIAN_SHORTEST
    if not shortest <= len(sentence) <= _SENTENCE[1] or sentence[:1] in "\"“«'`" or sentence.rstrip("* ").endswith(":"):
        return False
    return not sentence.rstrip("\"' )").endswith(("?", "？")) and not _pattern("tentative").search(sentence)


def _decision(bare: str, passage: str) -> Remark | None:
    """What is decided; None where nothing is named that it is for, or where work is only handed out ("let's do the first one", "go with
    the fix")."""
    chosen, because, rejected = _split(bare)
    subject = " ".join(_words(chosen))
    if not subject or (_pattern("handed_out").match(bare) and not because and not rejected and not _chooses(bare)):
        return None
    amends = bool(_pattern("amends").search(passage))
    return Remark("decision", _sentence(bare), because, rejected, subject, passage, amends)


def _chooses(bare: str) -> bool:
    """Whether a "let's" picks one of several things, by what it names."""
    if not _pattern("choice").match(bare):
        return "instead" in bare.lower()
    return len([word for word in _words(bare) if word not in _WORK and not word.strip("#").isdigit()]) > 1


def _with_reason(remark: Remark, following: str) -> Remark:
    """What was wrong, with the sentence behind it that says what is right."""
    if not following or not (_pattern("right").match(following) or _pattern("wrong").search(following)):
        return remark
    both: Remark = remark.replace(
        text=f"{remark.text}. {_sentence(following)}"[: _SENTENCE[1]], passage=f"{remark.passage} {following}"
    )
    return both


def _with_what_led_to_it(remark: Remark, before: str) -> Remark:
    """What was wrong, with the sentence before it where that objects as well ("No, I mean the export. Revert that.")."""
    if not (_may_count(before) and _pattern("objects").match(before)) or len(before) + len(remark.text) > _SENTENCE[1] - 2:
        return remark
    both: Remark = remark.replace(text=f"{_sentence(before)}. {remark.text}", passage=f"{before} {remark.passage}")
    return both


def _split(sentence: str) -> tuple[str, str, tuple[str, ...]]:
    """What is chosen, the reason, what is rejected."""
    because = ""
    found = _pattern("because").search(sentence)
    if found:
        because = sentence[found.end() :].strip(" .!,。")
        sentence = sentence[: found.start()]
    rejected: tuple[str, ...] = ()
    found = _pattern("against").search(sentence)
    if found and not _is_inside_brackets(sentence[: found.start()]):
        told = _pattern("tail").split(sentence[found.end() :])[0].strip(" .!,。")
        rejected = (told,) if told else ()
        sentence = sentence[: found.start()]
    return sentence, because[:300], rejected


def _is_inside_brackets(before: str) -> bool:
    return any(before.count(left) > before.count(right) for left, right in ("()", "（）", "「」", "[]"))


def _sentence(text: str) -> str:
    """One sentence as it is kept: one line, without its full stop."""
    flat = " ".join(text.split()).rstrip(" .!。,;")
    return flat[:1].upper() + flat[1:]


def _words(text: str) -> list[str]:
    """The words that carry meaning, in small letters."""
    found = _pattern("word").findall(text.lower())
    return [word for word in found if word not in _COMMON and len(word) > 1]


_COMMON_WORDS = """
let's lets use using we will go going with the a an to for and or of in on it this that these those decided decide keep
switch stick stay move adopt our is are be have has ve re not please now should must instead rather than over from here there
all by as store put make prefer i ll want chose went after actually no agreed decision
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# What is named when work is handed out.
_WORK = frozenset((
    "one", "two", "three", "first", "second", "third", "last", "next", "both", "option", "options", "fix", "fixes", "implement",
    "implementation", "review", "going", "simple", "again", "more", "some", "change", "changes", "same", "too", "also", "thing", "things",
    "way", "work", "plan", "only", "small", "bug", "bugs", "then", "pr", "issue", "step", "steps", "task", "working", "current",
))  # fmt: skip
_patterns: dict[str, re.Pattern[str]] = {}
_VERBS = (
    r"(?:use|go with|switch (?:back )?to|keep|stick (?:with|to)|stay with|move to|adopt|store|put|make|do|write|implement|name|call"
    r"|target|drop|split|return|(?:switch|move|migrate) from [\w ./+-]{1,40} to)"
)
# What rules are about. Whatever else stands behind "always" and "never" tells of what happened ("never had this"), or is a phrase.
_RULED = (
    r"(?:use|run|re-?run|write|commit|push|pull|merge|rebase|squash|amend|tag|release|deploy|publish|call|invoke|import|export|require"
    r"|add|put|place|keep|store|save|cache|load|read|open|close|log|print|return|raise|throw|catch|swallow|ignore|suppress|handle"
    r"|check|validate|verify|ensure|assert|test|mock|stub|patch|edit|modify|touch|change|rename|move|copy|delete|remove|drop"
    r"|create|make|generate|regenerate|build|compile|format|lint|type|annotate|document|comment|mention|update|upgrade|bump|pin"
    r"|install|vendor|fetch|download|prefer|include|exclude|pass|set|leave|start|begin|end|stop|kill|name|skip|disable|enable"
    r"|bypass|override|force|assume|trust|rely|depend|hard-?code|duplicate|inline|nest|split|wrap|escape|quote|sanitize|encode"
    r"|encrypt|hash|expose|leak|send|show|render|emit|await|block|sleep|poll|wait|retry|lock|cast|convert|parse|round|compare"
    r"|define|declare|extend|inherit|subclass|mutate|assign|bind|register|connect|query|go (?:through|via)|talk|ask|reply|answer"
    r"|respond|speak|follow|stick|respect|preserve|support|treat|back up|review|sign|seed|sort|truncate|migrate|alter|let|do|be|have)"
)
_SOURCES = {
    "tentative": (
        r"^(?:(?:so|and|but|hmm+|ok(?:ay)?|well|also|then)[, ]+)?(?:should|shall|could|can|would|what if|maybe|perhaps|might"
        r"|may|if|suppose|assuming|how about|what about|do you|does"
        r"|did|is|are|was|why|how|when|where|which|who|unless|whether|i wonder|i think maybe|not sure|wondering|consider"
        r"|imagine|explain|tell me|show me"
        r"|vielleicht|sollten|könnten|sollen|was wenn|wenn|warum|wie)\b|^(?:혹시|만약|如果|也许|是否|为什么|能不能|最好)"
        r"|\b(?:should we|shall we|what if|do you think|wouldn't it|would it be|might want|i'm not sure|not sure|one option"
        r"|alternatively|could also|we could|you could|i could|maybe"
        r"|perhaps|probably|for example|e\.g\.|would (?:always|never)|seems? to (?:always|never)|vielleicht|어떨까|할까|까요|怎么样|吗)"
    ),
    "lead": (
        r"^(?:(?:no|nope|ok(?:ay)?|yes|yeah|yep|well|so|and|also|but|then|right|sure|great|good|thanks|hmm+|actually|wait|hey"
        r"|please|hi|alright|cool|fine|perfect|nein|ja|bitte|also|아니|不"
        r"|on second thoughts?|scratch that|after all|remember(?: that)?|note(?: that)?|important|rule|reminder|fyi|btw"
        r"|by the way)\b[,.:!;，]?[ \-–—]*){1,5}"
        r"|^(?:for|in|on|with) (?:the |our |this |all )?[\w -]{2,40}?[,:]? (?=(?:we|let's|lets|use|i)\b)"
        r"|^(?:for|in) this (?:repo(?:sitory)?|project|codebase)[,:]? (?=(?:all|every|each|any|no)\b)"
    ),
    "rule": (
        r"(?:(?:we|i want you to|you should|you must|we should|we must|code|tests|commits|migrations|please|in this (?:repo"
        r"|project|codebase)[,:]?(?: we)?|for this (?:repo|project)[,:]? "
        r"|from now on[,]? (?:please )?(?:we |you )?|going forward[,]? |make sure (?:to|you) |be sure to )\s?){0,3}"
        rf"(?:always|never)\s+(?:ever\s+)?{_RULED}\b"
        r"|from now on\b|going forward[, ]"
        # With an article it is about what is at hand ("don't run the tests"), unless it says where in general.
        r"|(?:please )?(?:do not|don't|dont) (?:ever )?(?:use|import|mock|hard-?code|call|add|introduce|catch|swallow"
        r"|edit|modify|touch|log|commit|push|write|create|run|rely on|depend on|put|store) "
        r"(?!(?:the|this|that|these|those|it|its|them|my|your|their|any|anything|too|so|more|code[,.!]|code$)\b"
        r"(?!.{1,60} (?:in|from) (?:(?:the|our|unit|integration) )?(?:[\w-]+s|production|prod|ci)\b))"
        r"|(?:all|every|each|any|no) (?!of (?:this|that|these|those|it|them)\b)[\w /-]{2,60} "
        r"(?:must|has to|have to|needs to|should (?:always|never)|may not|must not"
        r"|is not allowed)\b"
        r"|(?:the )?[\w/. -]{2,40} must (?:always|never|not)\b"
        r"|we (?:do not|don't|dont) (?:use|allow|mock|commit|write|want) (?!(?:it|this|that|them|to)\b)"
        r"|(?:niemals|nie|immer) \w|(?:verwende|benutze|nutze|nimm) (?:nie|niemals|immer|keine?n?|nicht)\b|.{2,80}\bniemals\b"
        r"|.{0,60}\bnicht (?:verwenden|benutzen)\b"
        # In Korean and Chinese only what is ordered, or said of all: the same words tell what something is like, or has to be in one task.
        r"|.{0,80}(?:항상|절대).{1,80}(?:하세요|해라|해야 ?(?:해|한다|합니다)|할 것|해 ?(?:줘|주세요)|사용해|하자|마|말 것|마세요|금지)$"
        r"|.{0,80}(?:하지|쓰지|사용하지|건드리지|수정하지) ?마"
        r"|(?:请)?(?:绝对|千万|永远)?(?:不要(?:用|使用|直接|提交|修改|改|在)|绝不|永远不要|总是要|一律|必须(?:用|使用))"
        r"|(?:请)?(?:以后|今后|所有|每个|每次|任何).{0,40}(?:不要|绝不|必须|一律|总是)"
    ),
    # Said to be kept. What somebody remembers of what was done or said is none.
    "remember": (
        r"(?:please )?remember(?:,| that|:)\s+(?!(?:i|you|he|she|they|it|its|it's|this|that|there|when|how|what|why|who|to|last|the (?:last"
        r"|previous|old)|we (?:did|had|tried|talked|discussed|said|were))\b)[^,]{3,}\s\S+\s"
    ),
    "role": r"\s*(?:/skill:|you are (?:(?:now )?an? |the (?!owner)|performing\b|acting\b)|your role is\b|act as (?:an?|the) )",
    "mark": (
        r"\s*(?:<!--|</(?!system-reminder|hook|environment|user|command|local-command|task|file|context|ide|attached|bash)"
        r"[a-z][\w:-]{0,40}>\s*$)"
    ),
    # A step of a list with numbers, which asks for something to be done.
    "step": r"\d{1,2}[.)]\s+(?!(?:always|never|don't|dont|do not|use|prefer|all|every|each|any|no|we|let's|lets)\b)",
    # Whose words it needs to be understood: the agent's that it answers, or those of a sentence before it.
    "dangling": (
        r"(?![^,;]*\b(?:and|or)\b)(?:[^\s,;]+ ){1,7}(?:in|into|to|onto|from|on|with|of|for|about|like|by|after|before)"
        r" (?:it|this|that|them|these|those)$"
        r"|(?:(?:let's|lets|let us) )?(?:go|stick|stay|use|take|work)(?: with)? your (?:own )?"
        r"(?:picks?|choices?|recommend\w+|suggest\w+|proposals?|ideas?|defaults?|approach|options?|plan)\b"
        r"|(?:do not|don't|dont|never|always) \w+ (?:it|that|this|them)$"
        r"|.*\b(?:a different|another|the other|the same|that|this) one$"
        r"|(?:keep|make|do) (?:it|this|that)\b"
        r"|from now on,? (?:this|that|it) i[sx]\b"
        r"|(?:let's|lets|let us) move (?:on )?to (?:phase|step|stage|part|task|the next|that|this)\b"
    ),
    # Of this task only.
    "once": (
        r"\b(?:yet|for now|this time|right now|at the moment|today|until i|before i|in this (?:pr|commit|task|change|step"
        r"|session)|anything (?:else|yet)|just (?:yet|now|plan|explain|read|review|look|answer|tell|show|help)|any code|noch nicht"
        r"|only (?:plan|explain|read|review|look|answer|describe|analy[sz]e|tell|show)|(?:this|that) (?:one|file|function|test|case)"
        r"|(?:do|touch|change|revert|modify|undo) (?:or \w+ )?(?:that|this|those|these|it)\b"
        r"|(?:let's|lets|let us|not|don't|dont) use (?:an?|the|your) (?:[\w-]+ )?(?:agents?|sub-?agents?|agent team|skills?)\b"
        r"|(?:write|do|change|run|code) (?:\w+ )?for me\b"
        r"|by (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|end of)|tomorrow|tonight|this week"
        r"|now(?=[.!]?$)|(?:just|only) (?:an?|the)|this is (?:just|only)"
        r"|(?:they|it) (?:take|takes|took)"
        r"|the (?:file|code|test|tests) (?:yet|now)|any(?:thing)? files?|any changes"
        r"|(?:research|analysis|planning|review) only|this is read[ -]only)\b"
        # What names nothing in particular forbids means, and not a thing: "do not edit files or run tests, builds or linters".
        r"|(?:not|don't|dont) (?:ever )?(?:(?:edit|modify|change|touch|write|create|run|use|or|and|any|an?|project|project-wide|production"
        r"|source|actual|real|network|new|other|code|files?|tests?|test suites?|tools?|commands?|linters?|formatters?|builds?"
        r"|(?:sub-?)?agents?)"
        r"(?:[\s,/]+|(?=\W*$)|(?= [-–—]))){2,20}(?=\W*$|[-–—])"
        r"|지금은|아직|先不要|暂时"
    ),
    "handed_out": r"(?:let's|lets|let us|(?:go|stick|stay) with)\b",
    "choice": (
        r"(?:(?:let's|lets|let us) )?(?:use|go with|keep(?! \w+ing\b)|stick (?:with|to)|stay with|adopt|store"
        r"|name|call|target|drop|return|split"
        r"|(?:switch|move|migrate) (?:back )?(?:to|from))\b(?! #?\d)"
    ),
    "decides": (
        rf"(?:let's|lets|let us) {_VERBS} .*"
        r"|(?:we|i)(?:'ve| have)? (?:just |already |now )?(?:decided|agreed|settled|chose|chosen|opted)\b.*"
        r"|(?:the |our |final )?decision(?: is|:)\s(?!(?:whether|if|what|which|how|when|who)\b).*"
        r"|(?:we|i)(?:'re| are|'ll| will|'m| am) (?:(?:going|go|gonna go|sticking|staying) with|(?:sticking|switching) to"
        r"|(?:going to|gonna) (?:use|go with|keep|stick with|switch to|adopt)) .*"
        r"|(?:go|stick|stay) with .*"
        r"|(?:use|prefer|keep|choose|pick|switch to|store) .{2,120}?(?:\binstead\b|\brather than\b|, not |, never |\bover\b).*"
        r"|(?:we )?(?:use|prefer) [\w.+#/@-]{2,40},? (?:not|never) [\w.+#/@-]{2,40}(?:$|[,.!]| for | in | here\b| everywhere\b).*"
        r"|(?:instead of|rather than) .{2,80}?,? (?:use|do|go with|prefer|let's|keep) .*"
        r"|wir haben (?:uns )?.{0,60}entschieden.*|(?:lass uns|nehmen wir|wir nehmen|wir verwenden|wir nutzen|verwende"
        r"|nimm) .{2,80}\b(?:statt|anstelle|anstatt)\b.*"
        r"|.{2,80}(?:기로 (?:했|결정)|결정했).*|.{1,60}대신.{1,60}(?:쓰자|사용하자|사용해|써|쓰세요|하자)"
        r"|(?:我们)?(?:决定|改用|还是用).*|(?:我们)?用.{1,40}(?:而不是|代替).*"
    ),
    "agent_decides": (
        r"^(?:(?:so|therefore|thus|ultimately|in the end|as discussed)[, ]+)?(?:we|i)(?:'ve| have)? (?:decided|chose|opted"
        r"|settled|went)\b.{3,}?\b(?:because|since|instead of|rather than|over)\b"
        r"|^(?:key |design |final )?decision:\s(?![\"“])(?!(?:whether|if|what|which|how|when|who)\b)"
    ),
    "wrong": (
        r"^(?:(?:(?:no|nope|nein|아니|不)\b|stop[,.!:])[,.!:;，]*[ \-–—]*.{0,80}(?:wrong|not (?:what|how|right|correct|like)|don't|do not"
        r"|instead|should|revert|undo|broke|falsch|nicht so)"
        r"|(?:that|this)s not (?:what|how)|i (?:did not|didn't|didnt|never) (?:ask|want|tell|say)\b"
        r"|(?:that|this|it|your (?:approach|fix|change|solution))(?:'s| is| was| are| looks)? (?:(?:still|just|completely"
        r"|totally|simply|really|clearly) )?(?:wrong|incorrect|not (?:what i|how|right|correct|the right|acceptable|a good)"
        r"|a bad|the wrong|broken)"
        r"|wrong (?:approach|way|direction|fix|file|place)|(?:that|this) (?:broke|breaks)\b|you (?:broke|misunderstood"
        r"|got it wrong|are wrong)"
        r"|not like (?:that|this)|(?:please )?(?:revert|undo|roll back)"
        r" (?:(?:that|this|it|your|the last|those)\b|(?:the |all |all the )?changes?(?:[,.!]|$))"
        r"|i (?:already )?told you (?!(?:that )?i\b)|don't do (?:it|that|this) (?:that|this|like)"
        r"|stop (?:doing|using|changing|adding|mocking)|das ist falsch|das stimmt nicht|so nicht|nicht so|falsch[.!,:]"
        r"|.{0,20}(?:틀렸|그게 아니라|잘못됐|잘못했)|(?:这样|这)?.{0,8}(?:不对|(?<!说)错了|(?<!还是)不行))"
    ),
    "objects": r"(?:no|nope|nein|not|wrong|i (?:mean|meant|said|don't|didn't|did not)|that's not|thats not|get (?:that|this))\b",
    "right": r"[\w' -]{1,60} (?:should|must|needs? to|has to|have to)\b|use |instead|the (?:right|correct|proper)|put |keep |call |do "
    r"|don't |do not |never |always |let's |normali[sz]e ",
    "amends": r"\b(?:actually|instead|on second thoughts?|changed? (?:my|our) minds?|scratch that|after all|no longer"
    r"|forget (?:what|that)|back to|doch|nun doch|改用|还是)\b|아니,|다시",
    "because": r",?\s+(?:because|since|so that|as it|as we|due to|weil|denn|da wir)\s+|因为|，因为|왜냐하면",
    "against": (
        r",?\s+(?:instead of|rather than|(?<!go )(?<!going )(?<!went )over|statt|anstelle von"
        r"|anstatt|and not|(?<!\bdo )(?<!does )(?<!did )not)\s+|,\s+never\s+|而不是|代替|，不用"
    ),
    "tail": r"(?i:,\s|\s(?:for|in|when|because|so|from now|where|to)\s|\s(?:here|everywhere|anywhere)\b|;|\.\s|，)",
    "word": r"[\w][\w.+#-]*\w|\w",
}  # fmt: skip


def _pattern(name: str) -> re.Pattern[str]:
    found = _patterns.get(name)
    if found is None:
        import re

        found = _patterns[name] = re.compile(_SOURCES[name], re.IGNORECASE)
    return found
