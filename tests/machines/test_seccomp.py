"""The system-call filter, call by call, from inside a machine, and as bytes for the other architecture."""

from __future__ import annotations

import ctypes
import json
import platform
import struct

import pytest

from stead.machines import seccomp
from tests.machines.bench import Bench

_CALLER = """
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
calls = json.load(open("calls.json"))
answers = []
for number, *arguments in calls:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    if result == 0 and number in (56, 220) and arguments:
        os._exit(0)  # a clone that was let through: this is the child
    answers.append([result, ctypes.get_errno()])
print(json.dumps(answers))
"""
_I386 = """
import ctypes, mmap
code = bytes([0x53, 0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0x5B, 0xC3])  # getpid, as i386 calls it
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
EPERM, ENOSYS, ENOTTY, EBADF = 1, 38, 25, 9
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86_64")


async def call(bench: Bench, *calls: tuple[int, ...]) -> list[tuple[int, int]]:
    """(result, errno) of raw system calls made inside, one after another."""
    (bench.project / "caller.py").write_text(_CALLER)
    (bench.project / "calls.json").write_text(json.dumps(calls))
    return [(result, error) for result, error in json.loads(await bench.output("python3 -I caller.py"))]


async def test_every_listed_call_is_refused(bench: Bench) -> None:
    refused = seccomp.refused(platform.machine())
    answers = await call(bench, *((number, 0, 0, 0, 0, 0) for number in refused.values()))
    assert {name: answer for name, answer in zip(refused, answers, strict=True) if answer != (-1, EPERM)} == {}


@ON_X86
async def test_clone_makes_no_namespace_and_clone3_is_unknown(bench: Bench) -> None:
    flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
    answers = await call(bench, *((56, flag | 17, 0, 0, 0, 0) for flag in flags), (435, 0, 88))
    assert answers == [(-1, EPERM)] * len(flags) + [(-1, ENOSYS)]


@ON_X86
async def test_clone_for_an_ordinary_process_works(bench: Bench) -> None:
    ((result, _),) = await call(bench, (56, 17, 0, 0, 0, 0))
    assert result > 0


@ON_X86
async def test_a_terminal_cannot_be_typed_into(bench: Bench) -> None:
    high = 1 << 32
    answers = await call(bench, (16, 0, 0x5412, 0), (16, 0, 0x541C, 0), (16, 0, high | 0x5412, 0), (16, 0, 0x5401, 0))
    assert answers == [(-1, EPERM), (-1, EPERM), (-1, EPERM), (-1, ENOTTY)]


@ON_X86
async def test_only_its_own_limits_can_be_touched(bench: Bench) -> None:
    assert await call(bench, (302, 0, 7, 0, 0), (302, 1, 7, 0, 0)) == [(0, 0), (-1, EPERM)]


@ON_X86
async def test_only_four_socket_families_exist(bench: Bench) -> None:
    answers = await call(bench, *((41, family, 2, 0) for family in range(46)))
    assert [family for family, (result, error) in enumerate(answers) if error != EPERM] == [1, 2, 10, 16]
    assert all(result >= 0 for result, error in answers if error != EPERM)
    assert await call(bench, (53, 40, 1, 0, 0)) == [(-1, EPERM)]


@ON_X86
async def test_x32_calls_are_refused(bench: Bench) -> None:
    assert await call(bench, (0x40000000 | 39,), (0x40000000 | 101, 0, 0, 0, 0)) == [(-1, EPERM), (-1, EPERM)]


@ON_X86
async def test_a_program_of_another_architecture_is_killed(bench: Bench) -> None:
    (bench.project / "old.py").write_text(_I386)
    ran = await bench.run("python3 -I old.py")
    assert ran.exit_code == 128 + 31 and not ran.output.strip().isdigit()


async def test_threads_and_programs_work_under_the_filter(bench: Bench) -> None:
    script = "import threading, subprocess; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()"
    assert await bench.output(f"python3 -u -c \"{script}; subprocess.run(['echo', 'child'])\"") == "thread\nchild\n"


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_the_filter_has_only_forward_jumps_to_instructions_and_ends_in_a_return(machine: str) -> None:
    program = list(struct.iter_unpack("<HBBI", seccomp.assemble(machine)))
    for line, (code, yes, no, _) in enumerate(program):
        if code & 0x07 == 0x05:
            assert max(yes, no) + line + 1 < len(program)
    assert program[-1][0] == 0x06


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_the_filter_decides_as_it_should_when_it_is_interpreted(machine: str) -> None:
    audit, clone, ioctl, socket, prlimit, read = {
        "x86_64": (0xC000003E, 56, 16, 41, 302, 0),
        "aarch64": (0xC00000B7, 220, 29, 198, 261, 63),
    }[machine]
    allow, eperm, enosys, kill = 0x7FFF0000, 0x50001, 0x50026, 0x80000000
    cases = [
        *((audit, number, 0, 0, eperm) for number in seccomp.refused(machine).values()),
        (audit, read, 0, 0, allow),
        (audit, 435, 0, 0, enosys),
        (audit, clone, 0x3D0F00, 0, allow),
        (audit, clone, 0x10000000, 0, eperm),
        (audit, ioctl, 0, 0x5412, eperm),
        (audit, ioctl, 0, 0x5401, allow),
        (audit, prlimit, 0, 0, allow),
        (audit, prlimit, 1, 0, eperm),
        (audit, socket, 1, 0, allow),
        (audit, socket, 40, 0, eperm),
        (0x40000003, read, 0, 0, kill),
    ]
    program = seccomp.assemble(machine)
    for architecture, number, first, second, action in cases:
        assert interpret(program, architecture, number, first, second) == action, (number, first, second)


CHMODS = {"x86_64": {90: 1, 91: 1, 268: 2, 452: 2, 85: 1, 133: 1, 259: 2}, "aarch64": {52: 1, 53: 2, 452: 2, 33: 2}}
"""Numbers of the calls that take a mode, and which argument that is."""
OPENS = {"x86_64": {2: 2, 257: 3}, "aarch64": {56: 3}}


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
@pytest.mark.parametrize("mode", [0o4000, 0o2000, 0o6000, 0o4755, 0o2750, 0o6777, 0o104755, (1 << 32) | 0o4755])
def test_no_call_gives_a_file_a_set_user_or_set_group_bit(machine: str, mode: int) -> None:
    audit, program = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine], seccomp.assemble(machine)
    allow, eperm = 0x7FFF0000, 0x50001
    for number, at in CHMODS[machine].items():
        for given, action in ((mode, eperm), (mode & ~0o6000, allow), (0o1777, allow)):
            assert interpret(program, audit, number, *[0] * at, given) == action, (number, oct(given))
    for number, at in OPENS[machine].items():
        for flags, action in ((0o101, eperm), (0o20200002, eperm), (0o1101, eperm), (0, allow), (0o200002, allow)):
            assert interpret(program, audit, number, *[0] * (at - 1), flags, mode) == action, (number, oct(flags))
        assert interpret(program, audit, number, *[0] * (at - 1), 0o101, 0o644) == allow


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_what_a_filter_cannot_look_into_is_unknown_or_unsupported(machine: str) -> None:
    audit, program = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine], seccomp.assemble(machine)
    assert interpret(program, audit, 437) == 0x50026  # openat2: ENOSYS
    attributes = {"x86_64": (188, 189, 190, 463), "aarch64": (5, 6, 7, 463)}[machine]
    assert {interpret(program, audit, number) for number in attributes} == {0x5005F}  # ENOTSUP


def interpret(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel's machine would answer: the few instructions that the filter uses."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", ctypes.c_int32(number).value, architecture, 0, *given)
    lines = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += yes if holds else no


def test_an_architecture_without_a_filter_has_no_machine() -> None:
    with pytest.raises(KeyError):
        seccomp.assemble("riscv64")
