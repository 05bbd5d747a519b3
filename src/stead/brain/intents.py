"""What a person types that needs no model: status, stop, pause, resume, approve, deny, list, remember.

Layer: brain. Pure. The grammar is a table per language (English, German, French, Spanish) of whole utterances; there is
no search within one. Whatever is not in the table, has another word, a second clause or a second line goes to the
model: ``None`` is the answer to every doubt. Accents, case, politeness and the mark at the end do not count.
"""

from __future__ import annotations

import re

import msgspec

from stead.domain.due_times import SPOKEN, plain_words, read_when
from stead.domain.events import IntentKind
from stead.domain.lazy_patterns import lazy_pattern
from stead.domain.schedules import Cron

LONGEST = 400
"""Characters of an utterance; a longer one is never an intent."""


class Intent(msgspec.Struct, frozen=True):
    """What is meant.

    Args:
        kind: what is to be done.
        text: what is to be remembered, as a sentence; the goal of a schedule, or the name of one; else "".
        when: of a schedule that is wanted, as ``domain.due_times.read_when`` takes it.
    """

    kind: IntentKind
    text: str = ""
    when: str = ""


Grammar = dict[IntentKind, str]
"""By kind, the whole utterances, without accents, in lower case: alternatives of regular expressions, a line each."""

_THAT = "(?: (?:it|this|that))?"
ENGLISH: Grammar = {
    "status": r"""
        (?:show |show me |give me )?(?:the |your )?(?:current )?status(?: report| update)?
        what(?:'s| is) (?:the|your) (?:current )?status
        what are you (?:doing|working on)(?: right)?
        how far are you|where are we|where do (?:we|things) stand
    """,
    "stop": rf"""
        stop{_THAT}|halt{_THAT}
        stop (?:working|running|right|immediately|at once)
        stop the (?:run|task|work|objective|session)
    """,
    "stop_all": r"stop (?:everything|all|all sessions|all of it)",
    "pause": rf"pause{_THAT}|pause the (?:run|task|work|objective|session)|take a break",
    "resume": rf"resume{_THAT}|unpause{_THAT}|continue|carry on|keep going"
    r"|resume the (?:run|task|work|objective|session)",
    "approve": rf"(?:yes )?(?:i )?approve{_THAT}|approved|(?:yes )?(?:i )?allow{_THAT}|allowed",
    "deny": rf"(?:no )?(?:i )?deny{_THAT}|denied|(?:i )?reject{_THAT}|rejected"
    rf"|(?:no )?(?:don't|do not) (?:allow|approve){_THAT}|disallow{_THAT}",
    "sessions": r"(?:(?:list|show|show me) )?(?:all )?(?:the |my )?sessions|what sessions (?:are there|do i have)",
    "objectives": r"(?:(?:list|show|show me) )?(?:all )?(?:the |my )?objectives"
    r"|what objectives (?:are there|do i have)",
    "schedules": r"(?:(?:list|show|show me) )?(?:all )?(?:the |my )?schedules|what (?:is|have i) scheduled",
}
_DAS = "(?: (?:das|es|dies))?"
GERMAN: Grammar = {
    "status": r"""
        (?:zeig|zeige)(?: mir)?(?: den| deinen)? (?:status|stand)|(?:dein |der )?status(?:bericht)?
        wie ist der (?:status|stand)(?: der dinge)?|wie (?:ist|lautet) dein status|wie weit bist du
        was machst du(?: gerade| grade)?|woran arbeitest du(?: gerade)?|wie steht es
    """,
    "stop": rf"""
        stopp?|stoppe{_DAS}|stoppen|halt|halte? an|anhalten|hor(?:e)? auf|hoer(?:e)? auf|aufhoren|aufhoeren
        sofort (?:stoppen|anhalten|aufhoren)|brich{_DAS} ab|abbrechen
    """,
    "stop_all": r"stoppe? alles|alles (?:stoppen|anhalten)|halte? alles an",
    "pause": rf"pausiere?{_DAS}|pausieren|mach(?:e)?(?: eine| mal)? pause",
    "resume": rf"weiter|mach(?:e)? weiter|weitermachen|fortsetzen|setze?{_DAS} fort|fahre? fort|fortfahren",
    "approve": rf"(?:ja )?(?:ich )?genehmige?{_DAS}|genehmigt|genehmigen|(?:ja )?(?:ich )?erlaube?{_DAS}|erlaubt"
    rf"|erlauben|zulassen|freigeben|gib{_DAS} frei",
    "deny": rf"ablehnen|abgelehnt|(?:nein )?(?:ich )?lehne?{_DAS} ab|(?:ich )?verweigere?{_DAS}|verweigern|verweigert"
    rf"|nicht (?:erlauben|genehmigen|zulassen)|(?:ich )?(?:erlaube|genehmige){_DAS} nicht",
    "sessions": r"(?:(?:zeig|zeige|liste)(?: mir)? )?(?:alle )?(?:die |meine |meiner )?sitzungen(?: auf| an)?"
    r"|sitzungen (?:auflisten|anzeigen)|welche sitzungen (?:gibt es|habe ich)",
    "objectives": r"(?:(?:zeig|zeige|liste)(?: mir)? )?(?:alle )?(?:die |meine )?auftrage(?: auf| an)?"
    r"|auftrage (?:auflisten|anzeigen)|welche auftrage (?:gibt es|habe ich)",
    "schedules": r"(?:(?:zeig|zeige|liste)(?: mir)? )?(?:alle )?(?:die |meine )?zeitplane(?: auf| an)?"
    r"|was ist geplant|welche zeitplane (?:gibt es|habe ich)",
}
_CA = "(?:[ -](?:ca|cela|le|la))?"
FRENCH: Grammar = {
    "status": r"""
        statut|etat|(?:montre|affiche|donne)(?:[ -]moi)? (?:le statut|l'etat|ton statut|ton etat)
        quel est (?:le statut|l'etat|ton statut|ton etat)|ou en (?:es[ -]tu|est[ -]on|sommes[ -]nous)
        que fais[ -]tu|qu'est[ -]ce que tu fais|sur quoi travailles[ -]tu
    """,
    "stop": rf"arrete{_CA}|arrete[ -]toi|arretez{_CA}|arreter|stoppe{_CA}|arrete tout de suite",
    "stop_all": r"(?:arrete|arretez|stoppe) tout|tout arreter",
    "pause": rf"mets(?:[ -]toi)? en pause|mets{_CA} en pause|mettre en pause|fais une pause|suspends{_CA}",
    "resume": r"reprends|reprenez|reprendre|continue|continuez|continuer|poursuis",
    "approve": rf"approuve[rz]?{_CA}|j'approuve|autorise[rz]?{_CA}|j'autorise|autorisation accordee",
    "deny": rf"refuse[rz]?{_CA}|je refuse|rejette{_CA}|rejeter|n'autorise pas{_CA}|n'approuve pas{_CA}|interdis{_CA}",
    "sessions": r"(?:(?:liste|montre|affiche)(?:[ -]moi)? )?(?:toutes )?(?:les |mes )?sessions"
    r"|quelles sont (?:les|mes) sessions",
    "objectives": r"(?:(?:liste|montre|affiche)(?:[ -]moi)? )?(?:tous )?(?:les |mes )?objectifs"
    r"|quels sont (?:les|mes) objectifs",
    "schedules": r"(?:(?:liste|montre|affiche)(?:[ -]moi)? )?(?:toutes )?(?:les |mes )?planifications"
    r"|qu'est[ -]ce qui est planifie",
}
SPANISH: Grammar = {
    "status": r"""
        (?:(?:muestra|muestrame|dame|dime) )?(?:el |tu )?estado
        cual es (?:el|tu) estado|que (?:haces|estas haciendo)|en que (?:trabajas|estas trabajando)|por donde vas
    """,
    "stop": r"para|parate|para eso|detente|deten(?:lo| eso)?|detener|alto|para ya",
    "stop_all": r"para todo|deten todo|detenlo todo|detener todo|paralo todo",
    "pause": r"pausa|pausar|pausalo|pon(?:lo|te)? en pausa|haz una pausa",
    "resume": r"continua|continuar|sigue|seguir|reanuda(?:lo)?|reanudar|prosigue",
    "approve": r"aprobar|apruebo|aprueba(?:lo| eso)?|apruebalo|aprobado|permitir|permite eso|permitelo|lo permito"
    r"|autorizar|autorizalo|autoriza eso|lo autorizo",
    "deny": r"denegar|deniega(?:lo| eso)?|denegado|rechaza(?:lo| eso)?|rechazar|rechazado|lo rechazo"
    r"|no lo (?:permitas|apruebes|autorices)|no permitas eso",
    "sessions": r"(?:(?:lista|muestra|muestrame|enumera) )?(?:todas )?(?:las |mis )?sesiones"
    r"|que sesiones (?:hay|tengo)",
    "objectives": r"(?:(?:lista|muestra|muestrame|enumera) )?(?:todos )?(?:los |mis )?objetivos"
    r"|que objetivos (?:hay|tengo)",
    "schedules": r"(?:(?:lista|muestra|muestrame|enumera) )?(?:todas )?(?:las |mis )?programaciones"
    r"|que hay programado",
}
LANGUAGES = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}
_PATTERNS = [
    (kind, lazy_pattern("|".join(line.strip() for line in lines.strip().splitlines())))
    for grammar in LANGUAGES.values()
    for kind, lines in grammar.items()
]

_POLITE = (
    r"(?:please|stead|now|thanks|thank you|bitte|jetzt|danke|s'il te plait|s'il vous plait|stp|svp|merci|maintenant"
    r"|por favor|ahora|gracias)"
)
_BEFORE = lazy_pattern(rf"{_POLITE}[ ,:]+")
_BEHIND = lazy_pattern(rf"[ ,]+{_POLITE}$")
_ENDS = " .!?\u2026\u00a1\u00bf"

_CALLED = lazy_pattern(
    r"(?:(?:please|bitte|por favor)[, ]+)?(?:"
    r"(?P<en>remember that)|merke? dir,? da(?:ss|ß)|(?:souviens|rappelle)-toi qu(?:e |')|retiens qu(?:e |')"
    r"|recuerda que"
    r") ?(?P<what>.+)",
    re.IGNORECASE,
)
_TWO_CLAUSES = lazy_pattern(
    r"[,;:!?\n()\"]|[.] |\b(?:and|then|but|so|because|und|dann|aber|et|puis|mais|y|luego|despu[eé]s|pero)\b",
    re.IGNORECASE,
)
"""Signs of a second thing that is asked for, or of a reason that only a model can weigh."""
_POINTS = lazy_pattern(
    r"(?:it|this|that|these|those|he|she|they|one|er|sie|es|das|dies|diese[rsn]?|der|ce|ca|ça|cela|cette|il|elle|ils"
    r"|on|eso|esto|esta|este|ese|esa|ello)\b",
    re.IGNORECASE,
)
"""What means something that was there before."""
_CLAUSE = lazy_pattern(
    r"(?:i|we|my|our|all|every|no|[A-Z][\w'-]*)\b.* ?\b(?:is|are|am|was|were|has|have|had|do|does|don't|doesn't|isn't"
    r"|aren't|will|won't|can|can't|must|should|prefers?|likes?|lives?|uses?|works?|wants?|needs?|hates?|starts?|opens?"
    r"|closes?|costs?)\b.+|I'm .+"
)
"""English says "that" of a thing too ("remember that bug"): a subject that stands by itself, and a verb."""


def intent(utterance: str) -> Intent | None:
    """What a whole utterance means, if it needs no model; None for everything else.

    Args:
        utterance: as it was typed.
    """
    text = utterance.strip()
    if not text or len(text) > LONGEST or "\n" in text:
        return None
    if (found := _named(text)) is not None:
        return Intent(found)
    return _remembered(text) or _scheduled(text)


def to_model(utterance: str) -> str | None:
    """The words behind a backslash that keeps an intent from being taken as one; None where there is none to keep."""
    rest = utterance.lstrip().removeprefix("\\")
    return rest if rest != utterance.lstrip() and intent(rest) is not None else None


def _named(text: str) -> IntentKind | None:
    plain = _plain(text)
    found = {kind for kind, pattern in _PATTERNS if pattern.fullmatch(plain)}
    return next(iter(found)) if len(found) == 1 else None


def _plain(text: str) -> str:
    """In lower case, without accents, politeness and marks at the ends."""
    plain = plain_words(text.replace("\u2019", "'")).strip(_ENDS)
    while (shorter := _shorter(plain)) != plain:
        plain = shorter
    return plain.replace(", ", " ")


def _shorter(plain: str) -> str:
    if (before := _BEFORE.match(plain)) and before.end() < len(plain):
        plain = plain[before.end() :]
    if (behind := _BEHIND.search(plain)) and behind.start():
        plain = plain[: behind.start()]
    return plain.strip(_ENDS)


def _remembered(text: str) -> Intent | None:
    asked = _CALLED.fullmatch(text.replace("\u2019", "'"))
    if asked is None:
        return None
    what = asked["what"].strip().rstrip(".!").strip()
    if _TWO_CLAUSES.search(what) or _POINTS.match(what) or len(what.split()) < 3:
        return None
    if asked["en"] and not _CLAUSE.fullmatch(what):
        return None
    return Intent("remember", f"{what[0].upper()}{what[1:]}.")


_TIMED = lazy_pattern(rf"(?:schedule|plane?|planifie|programa) (?P<when>{SPOKEN}) ?: (?P<goal>.+)")
"""The word for it, a day, a time, a colon: with less, "every day at 7:00 the build fails" would be one."""
_SWITCHES: tuple[tuple[IntentKind, re.Pattern[str]], ...] = (
    (
        "schedule_on",
        lazy_pattern(
            r"(?:enable schedule|zeitplan einschalten|active la planification|activa la programacion)"
            r" ([a-z][a-z0-9-]{0,30})"
        ),
    ),
    (
        "schedule_off",
        lazy_pattern(
            r"(?:disable schedule|zeitplan ausschalten|desactive la planification|desactiva la programacion)"
            r" ([a-z][a-z0-9-]{0,30})"
        ),
    ),
)


def _scheduled(text: str) -> Intent | None:
    plain = _plain(text)
    for kind, pattern in _SWITCHES:
        if switched := pattern.fullmatch(plain):
            return Intent(kind, switched[1])
    asked = _TIMED.fullmatch(plain)
    when = asked and read_when(asked["when"])
    if not asked or not isinstance(when, Cron):
        return None
    goal = text.split(": ", 1)[-1].strip().rstrip(".!").strip()
    if _TWO_CLAUSES.search(goal) or _POINTS.match(goal) or len(goal.split()) < 2:
        return None
    return Intent("schedule", f"{goal[0].upper()}{goal[1:]}", when.expression)
