"""Looking things up: what is found, in which order, and what is said of the legs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from stead.domain.embedding import EmbedderState, VectorBytes
from stead.domain.errors import EmbeddingFault
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, LegState, Scope, Viewer
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.index import Changes
from stead.memory.meaning import Meaning
from tests.memory.finding import CHANNEL, DAY_MS, HERE, ME, NOW_MS, THERE, Person, chain, row, turn

STRANGERS = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    person = Person(tmp_path)
    yield person
    person.close()


# -- by name, by words ------------------------------------------------------------------------------------------------


def test_a_memory_is_found_by_its_name_though_its_text_has_no_word_of_the_question(person: Person) -> None:
    person.keep(
        row(1, "Deploys go to the cluster in Oslo.", aliases=("k8s", "kube")), row(2, "Tea is in the cupboard.")
    )
    (hit,) = person.recall("how does kube schedule them?").hits
    assert (hit.ref, hit.why[0].by) == ("m_0000000000000001", "alias")


@pytest.mark.parametrize("question", ["what is my time zone?", "Timezone of the person"])
def test_a_memory_is_found_by_what_its_key_ends_with(person: Person, question: str) -> None:
    person.keep(row(1, "Europe/Oslo.", key="person.time_zone", aliases=("timezone",)))
    assert person.texts(question) == ["Europe/Oslo."]


def test_a_slip_of_the_pen_finds_the_name_and_a_word_that_is_known_is_no_slip(person: Person) -> None:
    person.keep(
        row(1, "Runs in the basement.", aliases=("heron",)), row(2, "Blue, with a hetron of brass.", aliases=("lamp",))
    )
    assert person.texts("restart herron") == ["Runs in the basement."]
    assert "Runs in the basement." not in person.texts("polish the hetron")


def test_what_a_key_names_beside_is_found_too(person: Person) -> None:
    person.keep(
        row(1, "The shop needs it.", key="shop_depends_on_heron", aliases=("shop",)),
        row(2, "A server.", aliases=("heron",)),
    )
    assert sorted(person.texts("why is the shop down?")) == ["A server.", "The shop needs it."]
    assert person.texts("reboot heron") == ["A server."]


def test_a_name_speaks_for_who_has_it_and_not_for_what_mentions_it(person: Person) -> None:
    person.keep(
        row(1, "The build server.", aliases=("heron",)), row(2, "Lamps like those beside heron.", aliases=("lamp",))
    )
    assert person.texts("heron?") == ["The build server."]


def test_a_memory_without_a_name_is_found_by_enough_of_the_words(person: Person) -> None:
    person.keep(row(1, "Invoices are sent on the last Friday."), row(2, "The last lamp is blue."))
    assert person.texts("when are invoices sent?") == ["Invoices are sent on the last Friday."]


def test_turns_are_found_with_the_answer_beside_them(person: Person) -> None:
    person.keep(
        turn(1, "Where did you buy the accordion?", who="Grace", session="s_talk"),
        turn(2, "On the flea market in Bergen.", who="Ada", session="s_talk"),
        turn(3, "Unrelated entirely.", who="Ada", session="s_other"),
    )
    assert person.texts("Where was the accordion bought?")[:2] == [
        "Where did you buy the accordion?",
        "On the flea market in Bergen.",
    ]
    assert person.recall("accordion").hits[0].session == "s_talk"


def test_a_turn_is_found_by_the_day_on_which_it_was_said(person: Person) -> None:
    person.keep(turn(1, "We met the notary.", ts_ms=1_683_500_000_000), turn(2, "We met the baker."))
    assert person.texts("what happened in May 2023?") == ["We met the notary."]


def test_of_two_who_said_it_the_one_who_is_named_comes_first(person: Person) -> None:
    person.keep(
        turn(1, "I adopted a greyhound.", who="Grace", session="s_a"),
        turn(2, "I adopted a greyhound too.", who="Ada", session="s_b"),
    )
    assert person.recall("Which dog did Ada adopt, a greyhound?").hits[0].who == "Ada"


# -- nothing is an answer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "   ", "🦆🦆", "?!", "\x00\x1b[31m", "how far is the moon from Chile?"])
def test_nothing_is_found_where_nothing_speaks_for_anything(person: Person, question: str) -> None:
    person.keep(row(1, "Ada likes tea.", aliases=("tea",)), turn(1, "The accordion is in Bergen."))
    assert person.texts(question) == []


def test_nothing_is_found_in_a_place_without_an_index_and_in_one_that_is_empty(person: Person) -> None:
    assert person.texts("tea") == []
    person.index(HERE)
    assert person.texts("tea") == []


# -- queries that would be syntax -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "accordion AND nothing",
        'accordion"',
        '"accordion" NEAR(accordion, 5)',
        "accordion NOT accordion",
        "text: accordion",
        "accordion*",
        "^accordion",
        "(accordion",
        "{accordion} : -accordion + ;--",
        "ACCORDION",
        "áccórdion",
        "a\u0301ccordion",
        "'accordion' OR 1=1",
        "accordions",
    ],
)
def test_no_sign_in_a_query_is_an_operator(person: Person, question: str) -> None:
    person.keep(turn(1, "The accordion is in Bergen."))
    assert person.texts(question) == ["The accordion is in Bergen."]


def test_a_query_of_ten_megabytes_is_cut(person: Person) -> None:
    person.keep(turn(1, "The accordion is in Bergen."), row(1, "Blue.", aliases=("accordion",)))
    recalled = person.recall("accordion " + "and so it goes on " * 600_000)
    assert len(recalled.hits) == 2
    assert recalled.duration_ms < 2_000


@pytest.mark.parametrize("word", ["Straße", "Žluťoučký", "会議", "Ελλάδα", "مرحبا", "İstanbul"])
def test_words_of_any_script_find_their_text(person: Person, word: str) -> None:
    person.keep(turn(1, f"{word} 17."), turn(2, "Something else."))
    assert person.texts(word) == [f"{word} 17."]


# -- what is always told ----------------------------------------------------------------------------------------------


def test_what_is_pinned_and_what_stands_is_always_told_on_top(person: Person) -> None:
    person.keep(
        row(1, "Answer briefly.", standing=True),
        row(2, "Allergic to nuts.", pinned=True),
        *(row(number, f"Accordion number {number}.") for number in range(3, 9)),
    )
    recalled = person.recall("accordion", limit=4)
    assert [hit.text for hit in recalled.hits[:2]] == ["Answer briefly.", "Allergic to nuts."]
    assert [hit.why[0].by for hit in recalled.hits[:2]] == ["pinned", "pinned"]
    assert len(recalled.hits) == 2 + 4
    assert person.texts("") == ["Answer briefly.", "Allergic to nuts."]


def test_what_is_always_told_keeps_within_its_room(tmp_path: Path) -> None:
    person = Person(tmp_path, always_chars=100)
    person.keep(row(1, "x" * 80, pinned=True), row(2, "y" * 80, pinned=True), row(3, "Short.", pinned=True))
    assert len(person.texts("")) == 2
    assert "Short." in person.texts("")
    person.close()


def test_the_same_words_are_told_once(person: Person) -> None:
    person.keep(
        row(1, "Accordion lessons are on Monday.", pinned=True),
        row(2, "accordion  lessons are on monday"),
        turn(1, "Accordion lessons are on Monday!"),
        turn(2, "Accordion lessons are on Tuesday."),
    )
    assert person.texts("accordion lessons") == [
        "Accordion lessons are on Monday.",
        "Accordion lessons are on Tuesday.",
    ]


# -- who may see it ---------------------------------------------------------------------------------------------------


def test_a_memory_of_everywhere_and_one_of_here_are_found_together(person: Person) -> None:
    person.keep(row(1, "Everywhere an accordion.", scope=Scope("global", GLOBAL)), place=GLOBAL)
    person.keep(row(2, "Here an accordion."), place=HERE)
    person.keep(row(3, "There an accordion.", scope=Scope("workspace", THERE)), place=THERE)
    assert sorted(person.texts("accordion")) == ["Everywhere an accordion.", "Here an accordion."]


def test_a_memory_that_stands_in_the_wrong_index_is_not_told(person: Person) -> None:
    person.keep(row(1, "There an accordion.", scope=Scope("workspace", THERE)), place=HERE)
    assert person.texts("accordion") == []


def test_what_was_said_in_private_is_not_told_to_an_objective(person: Person) -> None:
    person.keep(turn(1, "A private accordion.", private=True), turn(2, "An open accordion."))
    assert len(person.texts("accordion")) == 2
    assert person.texts("accordion", Viewer(HERE)) == ["An open accordion."]


def test_a_channel_has_its_own_and_nothing_else(person: Person) -> None:
    person.keep(turn(1, "Accordion of the channel."), place=CHANNEL)
    person.keep(turn(2, "Accordion of the workspace."), place=HERE)
    person.keep(row(3, "Accordion of everywhere.", scope=Scope(), pinned=True), place=GLOBAL)
    assert person.texts("accordion", Viewer(HERE, CHANNEL)) == ["Accordion of the channel."]


def test_what_has_many_others_before_it_that_may_not_be_seen_is_found(person: Person) -> None:
    person.keep(*(turn(number, "accordion accordion", private=True) for number in range(1, 900)))
    person.keep(turn(1_000, "There was a long talk about many things and among them an accordion."))
    assert len(person.texts("accordion", Viewer(HERE), looked_up=True)) == 1


# -- trust, clearance, what is wanted ---------------------------------------------------------------------------------


def test_what_strangers_made_is_left_out_when_told_so_and_counted(person: Person) -> None:
    person.keep(turn(1, "Accordion accordion!", label=STRANGERS), turn(2, "The accordion is in Bergen."))
    assert len(person.texts("accordion")) == 2
    recalled = person.recall("accordion", trusted=True)
    assert ([hit.ref for hit in recalled.hits], recalled.withheld) == (["e_2"], 1)


def test_strangers_words_do_not_crowd_out_others(person: Person) -> None:
    person.keep(*(turn(number, "accordion", label=STRANGERS) for number in range(1, 600)))
    person.keep(turn(1_000, "Somewhere in this rather long sentence an accordion is named."))
    assert len(person.texts("accordion", trusted=True, looked_up=True)) == 1


def test_nothing_more_confidential_than_cleared_is_told(person: Person) -> None:
    secret = Label(Integrity.PERSON, Confidentiality.SECRET)
    person.keep(
        turn(1, "A secret accordion.", label=secret),
        row(1, "A public one.", pinned=True, label=replace(secret, confidentiality=Confidentiality.PUBLIC)),
    )
    assert person.texts("accordion") == ["A public one."]
    assert len(person.texts("accordion", clearance=Confidentiality.SECRET)) == 2


def test_only_what_was_wanted_is_told(person: Person) -> None:
    person.keep(
        row(1, "Accordion one.", kind="preference"),
        row(2, "Accordion two."),
        turn(1, "Accordion three.", session="s_9"),
    )
    assert person.texts("accordion", sources=("chat",)) == ["Accordion three."]
    assert person.texts("accordion", sources=("memory",), kinds=("preference",)) == ["Accordion one."]
    assert "Accordion three." not in person.texts("accordion", session=SessionId("s_9"))
    assert len(person.texts("accordion", limit=1)) == 1


# -- time -------------------------------------------------------------------------------------------------------------

CHAINS = {
    "words": ("Lives in Oslo.", "Lives in Bergen.", "Lives in Utrecht.", "Lives in Graz.", "Lives in Turku."),
    "numbers": ("Has 1 home.", "Has 2 homes.", "Has 3 homes.", "Has 12 homes.", "Has 0 homes."),
    "negation": ("Has a home.", "Has no home.", "Has a big home.", "Has not any home.", "Has a home again."),
    "back to the old one": (
        "Lives in Oslo.",
        "Lives in Bergen.",
        "Lives in Oslo.",
        "Lives in Bergen.",
        "Lives in Oslo.",
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_updates_is_right_now_and_as_of_any_day(person: Person, name: str) -> None:
    days = [NOW_MS - (50 - 10 * number) * DAY_MS for number in range(5)]
    person.keep(*chain(*zip(CHAINS[name], days, strict=True)))
    assert person.texts("ada home") == [CHAINS[name][-1]]
    for text, since_ms in zip(CHAINS[name], days, strict=True):
        for moment in (since_ms, since_ms + 5 * DAY_MS, since_ms + 10 * DAY_MS - 1):
            assert person.texts("home", as_of_ms=moment) == [text]
            assert person.texts("home", as_of_ms=moment, known_ms=moment) == [text]
    assert person.texts("home", as_of_ms=days[0] - 1) == []
    assert len(person.recall("home", superseded=True).hits) == len(set(CHAINS[name]))


def test_what_was_learned_late_was_not_known_before(person: Person) -> None:
    old, new = chain(("Lives in Oslo.", NOW_MS - 40 * DAY_MS), ("Lives in Graz.", NOW_MS - 30 * DAY_MS))
    learned = NOW_MS - 10 * DAY_MS
    person.keep(replace(old, retired_ms=learned), replace(new, recorded_ms=learned))
    moment = NOW_MS - 20 * DAY_MS
    assert person.texts("home", as_of_ms=moment) == ["Lives in Graz."]
    assert person.texts("home", as_of_ms=moment, known_ms=moment) == ["Lives in Oslo."]


def test_a_clock_that_was_set_back_brings_nothing_back(person: Person) -> None:
    person.keep(*chain(("Lives in Oslo.", NOW_MS - DAY_MS), ("Lives in Graz.", NOW_MS + 3 * DAY_MS)))
    assert person.texts("home") == ["Lives in Graz."]


def test_what_begins_in_the_future_holds_from_then_on(person: Person) -> None:
    old = row(1, "Lives in Oslo.", key="ada.home", valid_to_ms=NOW_MS + DAY_MS)
    person.keep(
        replace(old, status="superseded", retired_ms=NOW_MS - 5),
        row(2, "Lives in Graz.", key="ada.home", valid_from_ms=NOW_MS + DAY_MS),
    )
    assert person.texts("home") == ["Lives in Oslo."]
    assert person.texts("home", as_of_ms=NOW_MS + DAY_MS) == ["Lives in Graz."]


def test_what_has_expired_is_not_told_but_for_what_is_pinned(person: Person) -> None:
    person.keep(row(1, "Accordion lent.", expires_ms=NOW_MS - 1), row(2, "Accordion due.", expires_ms=NOW_MS + 1))
    assert person.texts("accordion") == ["Accordion due."]
    person.keep(row(1, "Accordion lent.", expires_ms=NOW_MS - 1, pinned=True))
    assert person.texts("accordion") == ["Accordion lent.", "Accordion due."]


# -- legs -------------------------------------------------------------------------------------------------------------


class Bag:
    """Vectors of the letters of a text, compared here; a worker without a process, that can be broken."""

    model_id = "letters"

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self._places: dict[str, dict[int, bytes]] = {}

    def state(self) -> EmbedderState:
        return EmbedderState(not self.fault, self.fault, self.model_id)

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        self._require()
        return [VectorBytes(bytes(min(255, text.lower().count(chr(97 + at))) for at in range(26))) for text in texts]

    async def load(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        self._places[place] = dict(zip(ids, vectors, strict=True))

    async def extend(self, place: str, ids: Sequence[int], vectors: Sequence[bytes]) -> bool:
        if place in self._places:
            self._places[place].update(zip(ids, vectors, strict=True))
        return place in self._places

    async def drop(self, place: str, ids: Collection[int]) -> bool:
        self._require()
        for id in ids:
            self._places.get(place, {}).pop(id, None)
        return place in self._places

    async def nearest(
        self,
        place: str,
        query: str | bytes,
        count: int,
        *,
        allowed: Collection[int] | None = None,
        deadline_s: float = 1.0,
    ) -> list[tuple[int, float]]:
        self._require()
        if place not in self._places:
            raise EmbeddingFault("not loaded", kind="unloaded")
        assert isinstance(query, bytes)
        scored = [
            (id, _cosine(query, vector))
            for id, vector in self._places[place].items()
            if allowed is None or id in allowed
        ]
        return sorted(scored, key=lambda pair: -pair[1])[:count]

    def _require(self) -> None:
        if self.fault:
            raise EmbeddingFault(self.fault, kind="crashed")


def _cosine(first: bytes, second: bytes) -> float:
    product = sum(a * b for a, b in zip(first, second, strict=True))
    lengths = (sum(a * a for a in first) * sum(b * b for b in second)) ** 0.5
    return product / lengths if lengths else 0.0


async def _embedded(person: Person, meaning: Meaning) -> None:
    for index in person.indexes.values():
        while await meaning.embed_some(index):
            pass


def leg(legs: tuple[LegState, ...], name: str) -> LegState:
    return next(one for one in legs if one.leg == name)


def test_without_an_embedder_the_answer_says_so(person: Person) -> None:
    person.keep(turn(1, "The accordion is in Bergen."))
    recalled = person.recall("accordion")
    assert len(recalled.hits) == 1
    assert not leg(recalled.legs, "meaning").alive
    assert "no embedder" in leg(recalled.legs, "meaning").text
    assert all(leg(recalled.legs, name).alive for name in ("pinned", "alias", "words"))


def test_what_is_near_in_meaning_is_found_without_a_word_of_it(tmp_path: Path) -> None:
    bag = Bag()
    meaning = Meaning(bag, bag)
    person = Person(tmp_path, meaning)
    person.keep(row(1, "accordion"), row(2, "zzz www qqq"), turn(1, "wholly unlike"))
    asyncio.run(_embedded(person, meaning))
    recalled = person.recall("cordaccion")
    assert [hit.text for hit in recalled.hits if hit.source == "memory"] == ["accordion"]
    assert recalled.hits[0].why[0].by == "meaning"
    assert all(one.alive for one in recalled.legs)
    person.close()


def test_a_dead_embedder_is_named_and_the_others_answer(tmp_path: Path) -> None:
    bag = Bag("its process ended")
    person = Person(tmp_path, Meaning(bag, bag))
    person.keep(turn(1, "The accordion is in Bergen."))
    recalled = person.recall("accordion")
    assert len(recalled.hits) == 1
    assert leg(recalled.legs, "meaning") == LegState("meaning", False, "its process ended")
    assert leg(person.recall("").legs, "meaning").text == "its process ended"
    person.close()


def test_copies_of_vectors_go_with_what_was_removed_even_after_the_worker_was_away(tmp_path: Path) -> None:
    bag = Bag()
    meaning = Meaning(bag, bag)
    person = Person(tmp_path, meaning)
    person.keep(row(1, "accordion"), row(2, "recordation"))
    asyncio.run(_embedded(person, meaning))
    assert len(person.texts("cordaccion")) == 2
    (void,) = person.index().take(Changes(removed=["m_0000000000000001"]), 2)
    bag.fault = "its process ended"
    assert not leg(person.recall("cordaccion").legs, "meaning").alive
    bag.fault = ""
    assert person.texts("cordaccion") == ["recordation"]
    assert all(void not in place for place in bag._places.values())
    person.close()


def test_private_neighbours_do_not_crowd_out_what_an_objective_may_see(tmp_path: Path) -> None:
    bag = Bag()
    meaning = Meaning(bag, bag)
    person = Person(tmp_path, meaning)
    person.keep(*(turn(number, "accordion", private=True) for number in range(1, 300)), turn(999, "recordations"))
    asyncio.run(_embedded(person, meaning))
    assert person.texts("cordaccion", Viewer(HERE)) == ["recordations"]
    person.close()


def test_an_index_that_cannot_be_read_is_named_and_the_others_answer(person: Person) -> None:
    person.keep(turn(1, "The accordion is in Bergen."))
    person.keep(row(1, "An accordion.", scope=Scope("global", GLOBAL)), place=GLOBAL)
    person.index(HERE).close()
    recalled = person.recall("accordion", ME)
    assert [hit.text for hit in recalled.hits] == ["An accordion."]
    assert not leg(recalled.legs, "words").alive
    assert "is closed" in leg(recalled.legs, "words").text


async def test_what_was_embedded_anew_is_found_by_its_meaning(tmp_path: Path) -> None:
    person, bag = Person(tmp_path), Bag()
    meaning = Meaning(bag, bag)
    person.keep(row(1, "Tea is good."), row(2, "Coffee is bad."))
    await _embedded(person, meaning)
    query = await meaning.vector("tea")
    assert len(await meaning.nearest(person.index(), "known", query, 5)) == 2
    person.keep(row(1, "Tea is good.", aliases=("tea",)))
    await _embedded(person, meaning)
    assert len(await meaning.nearest(person.index(), "known", query, 5)) == 2
    person.close()
