#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks perf what it makes of each string of strings.tsv, and writes its answers to perf.tsv.

As root, with linux-perf and strace: each tree of trees/ is laid over the machine's own folder of PMUs in
a mount namespace, and what perf stat gives to perf_event_open(2) is read by strace. The kernel need not
have the PMUs: perf asks for them all the same. Tracepoints get the numbers of this kernel, which are
written to trees/tracing.tree for the test that reads the table.

    tests/expectations/record.py [STRING…]      # with strings: shows what perf makes of them
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICES = '/sys/bus/event_source/devices'
TRACING = '/sys/kernel/tracing/events'
HEAD = '# SPDX-License-Identifier: Apache-2.0\n#\n'
SYSTEMS = ('sched', 'raw_syscalls')
SINGLE = re.compile(r'(syscalls):(\w+)')


def lines_of(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]


def grow(tree, folder):
    """Makes the files of a tree."""
    with open(os.path.join(HERE, 'trees', tree + '.tree'), encoding='utf-8') as file:
        for line in file:
            if line.startswith('#'):
                continue
            path, text = line.rstrip('\n').split(': ', 1)
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as out:
                out.write(text + '\n')


def number(words, name):
    """A field of an attribute as strace prints it, where flags may be put together by | and <<."""
    found = re.search(r'\b%s=([^,}]*)' % name, words)
    return eval(re.sub(r'/\*.*?\*/', '', found.group(1))) if found else 0  # pylint: disable=eval-used


def attribute(words):
    config1 = number(words, 'config1') or number(words, 'bp_addr')
    config2 = number(words, 'config2') or number(words, 'bp_len')
    sides = ''.join(letter for letter, name in zip('ukhIG', ('user', 'kernel', 'hv', 'idle', 'host'))
                    if number(words, 'exclude_' + name))
    return '%x,%x,%x,%x,%x,%s,%d' % (number(words, 'type'), number(words, 'config'), config1, config2,
                                     number(words, 'bp_type'), sides, number(words, 'precise_ip'))


def run(folder, string, verb, *more):
    """What perf says, with its calls among it."""
    command = ['unshare', '-m', 'sh', '-c',
               'mount --make-rprivate / && mount --bind "$0" ' + DEVICES + ' && exec "$@"', folder,
               'strace', '-f', '-v', '-X', 'raw', '-e', 'trace=perf_event_open', *more, 'perf', *verb,
               '-e', string, 'true']
    return subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                          errors='replace', timeout=60).stderr


def ask(folder, string):
    """no, or yes with the attributes in order."""
    text = run(folder, string, ['stat'])
    is_sampled = "is not usable in 'perf stat'" in text
    if is_sampled:
        text = run(folder, string, ['record', '-o', '/dev/null'])
    if 'event parser found nothing' in text:  # it asked the kernel before: let that say yes
        text = run(folder, string, ['stat'], '-e', 'inject=perf_event_open:retval=5:when=1..16')
    found, taken = [], False
    for call in re.finditer(r'perf_event_open\(\{(.*?)\}, (-?\d+), .*?\) = (-?\d+)', text):
        words, pid, result = call.groups()
        if pid == '0' or (is_sampled and (found or not number(words, 'enable_on_exec'))):
            continue  # perf asks, of itself, what the kernel has; or takes another event
        taken |= int(result) >= 0 or number(words, 'type') != 5
        if attribute(words) not in found:
            found.append(attribute(words))
    refused = 'syntax error' in text or 'parser error' in text or 'Usage:' in text or not found
    return 'no' if refused or not taken else 'yes ' + ';'.join(found)


def write_tracing(strings):
    wanted = {(system, name) for system in SYSTEMS for name in os.listdir(f'{TRACING}/{system}')}
    wanted |= {found.groups() for string in strings for found in SINGLE.finditer(string)}
    with open(os.path.join(HERE, 'trees', 'tracing.tree'), 'w', encoding='utf-8') as out:
        out.write(HEAD + '# Numbers of tracepoints, as they were when perf was asked.\n')
        for system, name in sorted(wanted):
            try:
                with open(f'{TRACING}/{system}/{name}/id', encoding='utf-8') as file:
                    out.write(f'events/{system}/{name}/id: {file.read().strip()}\n')
            except OSError:
                pass


def main():
    rows = lines_of('strings.tsv') if len(sys.argv) < 2 else [['skylake', s] for s in sys.argv[1:]]
    out = sys.stdout
    if len(sys.argv) < 2:
        write_tracing(string for _, string in rows)
        out = open(os.path.join(HERE, 'perf.tsv'), 'w', encoding='utf-8')
        version = subprocess.run(['perf', 'version'], stdout=subprocess.PIPE, text=True).stdout.strip()
        out.write(HEAD + f'# Of {version}: tree, string, and no, or yes with TYPE,CONFIG,CONFIG1,CONFIG2,'
                  'BP_TYPE,EXCLUDED,PRECISE\n# of each attribute, numbers in hexadecimal. By record.py.\n')
    with tempfile.TemporaryDirectory() as folder:
        for tree, string in rows:
            if not os.path.exists(f'{folder}/{tree}'):
                grow(tree, f'{folder}/{tree}')
            out.write(f'{tree}\t{string}\t{ask(f"{folder}/{tree}", string)}\n')
            out.flush()


if __name__ == '__main__':
    main()
