"""What is known of each vendor ahead of time: its address, its wire, where its key is looked for.

Layer: providers. A table and nothing else: no I/O.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain import ports

Kind = Literal["anthropic", "openai", "google", "rehearsal"]
"""The wire that is spoken."""

REHEARSAL = ports.REHEARSAL
"""The name of the built-in model's preset, provider and model."""


class Preset(msgspec.Struct, frozen=True):
    """One vendor or kind of server.

    Args:
        name: what a person types.
        title: what a person reads.
        kind: the wire.
        base_url: "" when the person must give it.
        key_env: environment variable of the key, "" when there is none.
        url_env: environment variable that may override ``base_url``, "" when there is none.
        model: the default; "" takes the first that the server lists.
        window_tokens: input and output together, where the price list does not say.
        max_output_tokens: what one reply may have.
        prices: the vendor's id in the price list; "" when it has none.
        local: runs on the person's machine and costs nothing.
        patience: how many times longer than usual its first byte may take; a local server may load the model first.
        cap_field: how OpenAI's wire names the cap on the output.
        cache_key: on OpenAI's wire, a session's requests carry its id, so that they reach the machine with its cache.
    """

    name: str
    title: str
    kind: Kind = "openai"
    base_url: str = ""
    key_env: str = ""
    url_env: str = ""
    model: str = ""
    window_tokens: int = 32_768
    max_output_tokens: int = 8192
    prices: str = ""
    local: bool = False
    patience: float = 1.0
    cap_field: str = "max_tokens"
    cache_key: bool = False


class Deadlines(msgspec.Struct, frozen=True):
    """How long a request may take, in seconds.

    Args:
        connect_s: to reach the server.
        first_byte_s: from the request to the head of its answer, times the preset's patience.
        between_s: between two pieces of the answer.
        total_s: all in all.
        probe_s: from a failure to the first look whether the server is back.
        ending_s: from a whole reply to the end of its stream, after which the connection can serve again.
    """

    connect_s: float = 10.0
    first_byte_s: float = 60.0
    between_s: float = 60.0
    total_s: float = 600.0
    ending_s: float = 5.0
    probe_s: float = 5.0


def _local(name: str, title: str, port: int, window_tokens: int) -> Preset:
    url = f"http://127.0.0.1:{port}/v1"
    return Preset(name, title, base_url=url, window_tokens=window_tokens, local=True, patience=5.0)


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "anthropic",
            "Anthropic",
            kind="anthropic",
            base_url="https://api.anthropic.com",
            key_env="ANTHROPIC_API_KEY",
            url_env="ANTHROPIC_BASE_URL",
            model="claude-sonnet-5-5",
            window_tokens=200_000,
            max_output_tokens=64_000,
            prices="anthropic",
        ),
        Preset(
            "openai",
            "OpenAI",
            base_url="https://api.openai.com/v1",
            key_env="OPENAI_API_KEY",
            url_env="OPENAI_BASE_URL",
            model="gpt-5.4-mini",
            window_tokens=128_000,
            max_output_tokens=16_384,
            prices="openai",
            cap_field="max_completion_tokens",
            cache_key=True,
        ),
        Preset(
            "google",
            "Google Gemini",
            kind="google",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_env="GEMINI_API_KEY",
            model="gemini-3.5-flash",
            window_tokens=1_000_000,
            max_output_tokens=65_536,
            prices="google",
        ),
        Preset(
            "openrouter",
            "OpenRouter",
            base_url="https://openrouter.ai/api/v1",
            key_env="OPENROUTER_API_KEY",
            model="anthropic/claude-sonnet-5.5",
            window_tokens=128_000,
            max_output_tokens=16_384,
            prices="openrouter",
        ),
        Preset(
            "moonshot",
            "Moonshot AI (Kimi)",
            base_url="https://api.moonshot.ai/v1",
            key_env="MOONSHOT_API_KEY",
            model="kimi-k2.6",
            window_tokens=262_144,
            max_output_tokens=32_768,
            prices="moonshotai",
        ),
        Preset(
            "minimax",
            "MiniMax",
            base_url="https://api.minimax.io/v1",
            key_env="MINIMAX_API_KEY",
            model="MiniMax-M2.7",
            window_tokens=204_800,
            max_output_tokens=32_768,
            prices="minimax",
        ),
        _local("ollama", "Ollama on this machine", 11434, 16_384),
        _local("llamacpp", "llama.cpp's server on this machine", 8080, 16_384),
        _local("lmstudio", "LM Studio on this machine", 1234, 16_384),
        _local("vllm", "vLLM on this machine", 8000, 32_768),
        Preset("compatible", "any OpenAI-compatible URL", patience=5.0),
        Preset(REHEARSAL, "the built-in rehearsal model (no AI)", kind="rehearsal", model=REHEARSAL, local=True),
    )
}

LOCAL_SERVERS = tuple(preset for preset in PRESETS.values() if preset.local and preset.base_url)
"""What is looked for on this machine."""

# The first prefix that fits. What one reply may have, from the vendors' model pages.
_MOST_OUTPUT: tuple[tuple[str, int], ...] = (
    ("claude-3-haiku", 4096),
    ("claude-3-opus", 4096),
    ("claude-3-5", 8192),
    ("claude-opus-4-0", 32_000),
    ("claude-opus-4-1", 32_000),
    ("gpt-3.5", 4096),
    ("gpt-4-", 4096),
    ("gpt-4.1", 32_768),
    ("gpt-5", 128_000),
    ("gpt-6", 128_000),
    ("gemini-2.0", 8192),
    ("o1", 100_000),
    ("o3", 100_000),
    ("o4", 100_000),
)


def most_output(preset: Preset, model: str) -> int:
    """What one reply of a model may have, in tokens."""
    name = model.rpartition("/")[2].lower()
    return next((most for prefix, most in _MOST_OUTPUT if name.startswith(prefix)), preset.max_output_tokens)
