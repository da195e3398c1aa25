"""System calls that no answer needs, refused in the sandbox: a filter that bubblewrap hands to the kernel.

Without it a process could keep memory where no limit counts it (memfd, System V, a file system of its own in
a user namespace), or reach parts of the system that are not in any namespace (keys, vsock, perf).
The format is classic BPF: struct sock_filter {u16 code; u8 jump_true; u8 jump_false; u32 k}.
Reference: W. Drewry, Dynamic seccomp policies using BPF filters, 2012 (seccomp(2)).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from typing import Final

LOAD, EQUAL, ABOVE, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST = 0, 4, 16
"""Where struct seccomp_data has the call's number, the kind of machine, and the first argument."""
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
SPACES: Final = 0x7E020000
"""Flags of clone(2) for new namespaces: mount, cgroup, uts, ipc, user, pid, net."""
FAMILIES: Final = (1, 2, 10, 16)
"""Sockets that Python's own library makes: unix, IPv4, IPv6, netlink. The network itself is not there."""
NEW: Final = (*range(425, 434), 442, 447)
"""io_uring, file systems by descriptor, memfd_secret: the same numbers on every machine."""
CLONE3: Final = 435
"""Its flags are in memory, where a filter cannot look; the C library then uses clone instead."""

# kind of machine; clone; socket; then: shm, sem and msg calls, memfd_create, unshare, setns, mount, umount2,
# pivot_root, chroot, ptrace, process_vm_readv and _writev, bpf, userfaultfd, perf_event_open, keys,
# open_by_handle_at
MACHINES: Final = {
    "x86_64": (
        *(0xC000003E, 56, 41),
        (
            *(29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 319, 272, 308, 165, 166),
            *(155, 161, 101, 310, 311, 321, 323, 298, 248, 249, 250, 304),
        ),
    ),
    "aarch64": (
        *(0xC00000B7, 220, 198),
        (
            *(194, 195, 196, 197, 190, 191, 192, 193, 186, 187, 188, 189, 279, 97, 268, 40, 39),
            *(41, 51, 117, 270, 271, 280, 282, 241, 217, 218, 219, 265),
        ),
    ),
}
Line = tuple[int, int, int, int]


def program(machine: str = platform.machine()) -> bytes:
    """The filter for a kind of machine; empty where we do not know the numbers of its calls.

    >>> len(program("x86_64")) % 8, program("abacus")
    (0, b'')
    """
    if machine not in MACHINES:
        return b""
    return b"".join(struct.pack("=HBBI", *line) for line in _lines(*MACHINES[machine]))


def _lines(kind: int, clone: int, socket: int, refused: tuple[int, ...]) -> Iterator[Line]:
    yield (LOAD, 0, 0, MACHINE)
    yield (EQUAL, 1, 0, kind)
    yield (RETURN, 0, 0, KILL)  # calls of another machine, which this one can also make
    yield (LOAD, 0, 0, NUMBER)
    yield (ABOVE, 0, 1, 0x40000000)  # another set of numbers for the same calls
    yield (RETURN, 0, 0, REFUSE | errno.ENOSYS)
    for number in (*refused, *NEW):
        yield (EQUAL, 0, 1, number)
        yield (RETURN, 0, 0, REFUSE | errno.EPERM)
    yield (EQUAL, 0, 1, CLONE3)
    yield (RETURN, 0, 0, REFUSE | errno.ENOSYS)
    yield (EQUAL, 0, 4, clone)
    yield (LOAD, 0, 0, FIRST)
    yield (ANY_BIT, 0, 1, SPACES)
    yield (RETURN, 0, 0, REFUSE | errno.EPERM)
    yield (RETURN, 0, 0, ALLOW)
    yield (EQUAL, 0, 2 + len(FAMILIES), socket)
    yield (LOAD, 0, 0, FIRST)
    for place, family in enumerate(FAMILIES):
        yield (EQUAL, len(FAMILIES) - place, 0, family)
    yield (RETURN, 0, 0, REFUSE | errno.EAFNOSUPPORT)
    yield (RETURN, 0, 0, ALLOW)
