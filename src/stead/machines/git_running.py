"""Running the person's git from the daemon: for reading, with an environment that is said, and within a time.

Layer: machines. Which commands start nothing by themselves is for the callers to know.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence


class GitFailed(Exception):
    """It ended with an error."""


def run_git(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit_s: float,
    input: bytes = b"",
    passed: Sequence[int] = (),
) -> bytes:
    """What git prints.

    Args:
        words: of its command line.
        environment: all that it gets except the search path.
        limit_s: it is killed then.
        input: that it reads.
        passed: descriptors that it gets.

    Raises:
        GitFailed: it ended with an error.
        FileNotFoundError: there is no git.
        OSError: it could not be started, or took too long.
    """
    env = {"PATH": os.environ.get("PATH", os.defpath), **environment}
    try:
        done = subprocess.run(
            ["git", *words], input=input, capture_output=True, timeout=limit_s, cwd="/", env=env, pass_fds=passed
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(errno.ETIMEDOUT, "git took too long") from error
    if done.returncode != 0:
        raise GitFailed
    return done.stdout


def persons_environment() -> dict[str, str]:
    """What has git read the person's own settings, and any repository."""
    safe = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    return safe | {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
