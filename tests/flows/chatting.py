"""A bot on the fake of Telegram, and a home that has it as a channel."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fakes.models import Call, Seen, Turn
from tests.fakes.telegram import Accepted, Telegram, serve
from tests.flows.house import Json, LivingHome
from tests.flows.places import Aside, aside

NAME = "phone"
GROUP = -1001


class Bot:
    """The double on a thread of its own, and what a person does and sees there."""

    def __init__(self, served: Aside[Telegram]) -> None:
        self.server = served.server
        self.run = served.run
        self.ada: Json = self.run(self.server.person, 42, "Ada")

    def __repr__(self) -> str:
        return f"the bot sent {self.sent()}"

    def writes(self, text: str, *, person: Json | None = None, **more: object) -> Json:
        """Somebody, Ada unless said, writes."""
        return self.run(self.server.writes, person or self.ada, text, **more)

    def presses(self, message: Json, button: str, *, person: Json | None = None) -> str:
        """Somebody presses the button on which this stands."""
        rows = message["reply_markup"]["inline_keyboard"]
        data = next(one["callback_data"] for row in rows for one in row if one["text"] == button)
        return self.run(self.server.presses, person or self.ada, message, data)

    def sent(self, chat: int = 42) -> list[str]:
        """The texts that the bot sent to a chat."""
        return [one.values["text"] for one in self.done("sendMessage") if str(one.values["chat_id"]) == str(chat)]

    def done(self, method: str) -> list[Accepted]:
        """What the fake accepted of a method."""
        return self.run(self.server.done, method)

    def message(self, part: str, chat: int = 42) -> Json:
        """The last message of a chat in which a text stands, as it is now."""
        known = self.run(lambda: list(self.server.messages.values()))
        return [one for one in known if one["chat"]["id"] == chat and part in one.get("text", "")][-1]


@contextmanager
def telegram(token: str = "123456:fake-token-of-tests") -> Iterator[Bot]:
    """The double, served."""
    with aside(lambda: serve(Telegram(token))) as served:
        bot = Bot(served)
        try:
            yield bot
        finally:
            bot.run(bot.server.cut)


def connect(house: LivingHome, bot: Bot, name: str = NAME) -> None:
    """Have the home use the bot."""
    house.post("/secrets", {"name": f"{name}-token", "value": bot.server.token})
    settings, secrets = {"api": bot.server.url}, {"token": f"{name}-token"}
    house.post("/channels", {"name": name, "kind": "telegram", "settings": settings, "secrets": secrets})
    house.until(lambda: channel(house, name)["state"] == "connected", "the channel to connect", last=house.log_tail)


def pair(
    house: LivingHome, bot: Bot, folder: Path, *, profile: str = "ask", budget: Json | None = None, **more: Any
) -> None:
    """Pair Ada's chat with the bot."""
    rights = {"directory": str(folder), "profile": profile, **({"budget": budget} if budget else {})}
    code = house.post(f"/channels/{NAME}/pair", {"rights": rights, **more})["code"]
    bot.writes(f"/start {code.replace('-', '')}")
    house.until(lambda: any("Paired" in text for text in bot.sent()), "the chat to be paired")
    house.until(lambda: channel(house)["chats"][0]["waiting"] == 0, "that to be recorded")


def channel(house: LivingHome, name: str = NAME) -> Json:
    """How a channel stands."""
    rows: list[Json] = house.get("/channels")["items"]
    return next(row for row in rows if row["channel"]["name"] == name)


def pair_group(
    house: LivingHome, bot: Bot, folder: Path, *, others: str = "guest", id: int = GROUP, **more: Any
) -> None:
    """Pair a group with the bot, by Ada, its owner; whoever else writes there is a guest unless said."""
    bot.run(bot.server.group, id)
    rights = {"directory": str(folder), "profile": "ask", "others": others}
    code = house.post(f"/channels/{NAME}/pair", {"rights": rights, **more})["code"]
    bot.writes(code, chat=id)
    house.until(lambda: any("Paired" in text for text in bot.sent(id)), "the group to be paired")


def session_of(house: LivingHome, place: str) -> str:
    """The session that is talked to in a chat, by the end of its door's name."""
    talks = [body for body in house.bodies("home", "chat.talks") if body["current"] and body["chat"] == place]
    return str(talks[-1]["session"])


def told(turns: Mapping[str, Turn]) -> Callable[[Seen], Turn]:
    """Replies by what stands in the last message, and is done after its calls."""

    def reply(seen: Seen) -> Turn:
        last = seen.body["messages"][-1]
        if last["role"] == "tool":
            return Turn("Done.")
        return next((turn for words, turn in turns.items() if words in json.dumps(last)), Turn("So it is."))

    return reply


def through(name: str, **arguments: object) -> Call:
    """A call of a tool that stands in no request."""
    return Call("use_tool", {"name": name, "arguments": arguments})
