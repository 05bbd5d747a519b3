"""A platform's process behind the proxy of the daemon: every connection goes through it, by TLS, and nothing else.

None is a fork: whom the library trusts is settled while it is loaded.
"""

from __future__ import annotations

from pathlib import Path

from stead.domain import channel_wire as wire
from tests.channels.driving import channel
from tests.channels.proxying import proxy
from tests.fakes.discord import DM, discord
from tests.fakes.discord import TOKEN as DISCORD_TOKEN
from tests.fakes.slack import APP_TOKEN, slack
from tests.fakes.slack import TOKEN as SLACK_TOKEN
from tests.tools.test_fetch import certificate

HOST = "chat.example.com"


async def test_slack_is_reached_by_the_proxy_alone(tmp_path: Path) -> None:
    tls, _ = certificate(tmp_path, HOST)
    ca = (tmp_path / "cert.pem").read_text()
    tokens = {"token": SLACK_TOKEN, "app_token": APP_TOKEN}
    async with slack(tls, HOST) as fake, proxy(HOST) as (address, asked):
        way = {"HTTPS_PROXY": address, "HTTP_PROXY": address, "NO_PROXY": HOST}
        async with channel(
            "slack", {"api": f"{fake.base}/api/"}, tokens, ca=ca, environment=way, forked=False
        ) as driven:
            await driven.next(wire.Up)
            fake.files["F1"] = "a.txt", b"abc"
            await fake.says("hello", files=[{"id": "F1", "name": "a.txt"}])
            assert (await driven.update()).text == "hello"
            assert (await driven.ask(wire.Fetch(0, "F1"))).data == b"abc"
            files = (wire.FileOut("b.txt", "text/plain", b"def"),)
            assert not (await driven.ask(wire.Send(0, "", "D0ANN", "", "hi", files=files))).error
        assert set(asked) == {f"CONNECT {fake.base.removeprefix('https://')}"}


async def test_discord_is_reached_by_the_proxy_alone(tmp_path: Path) -> None:
    tls, _ = certificate(tmp_path, HOST)
    ca = (tmp_path / "cert.pem").read_text()
    tokens = {"token": DISCORD_TOKEN}
    async with discord(tls, HOST) as fake, proxy(HOST) as (address, asked):
        way = {"HTTPS_PROXY": address, "HTTP_PROXY": address, "NO_PROXY": HOST}
        async with channel(
            "discord", {"api": f"{fake.base}/api/v10"}, tokens, ca=ca, environment=way, forked=False
        ) as driven:
            await driven.next(wire.Up)
            fake.files["a.txt"] = b"abc"
            about = [{"id": "1", "filename": "a.txt", "url": f"{fake.base}/attachments/1/1/a.txt"}]
            await fake.says("hello", attachments=about)
            update = await driven.update()
            assert (await driven.ask(wire.Fetch(0, update.files[0].id))).data == b"abc"
            assert not (await driven.ask(wire.Send(0, "", DM, "", "hi"))).error
        assert set(asked) == {f"CONNECT {fake.base.removeprefix('https://')}"}


async def test_a_server_whose_certificate_nobody_trusts_is_not_spoken_to(tmp_path: Path) -> None:
    tls, _ = certificate(tmp_path, HOST)
    async with slack(tls, HOST) as one, discord(tls, HOST) as other, proxy(HOST) as (address, _):
        way = {"HTTPS_PROXY": address}
        for kind, api, tokens in (
            ("slack", f"{one.base}/api/", {"token": SLACK_TOKEN, "app_token": APP_TOKEN}),
            ("discord", f"{other.base}/api/v10", {"token": DISCORD_TOKEN}),
        ):
            async with channel(kind, {"api": api}, tokens, environment=way, forked=False) as driven:
                assert not (await driven.next(wire.Down)).final
        assert not one.calls and not other.calls
