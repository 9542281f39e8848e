# SPDX-License-Identifier: Apache-2.0
"""Source packages of Debian, configured, built by `make -j2` and tested by their own `make check`, with
the preload in all of it: shells, make, compilers, assemblers, linkers and the tests. What each wrote,
sorted, is compared, and the files that were built."""

from case import Case, shell

BUILD = """
cd source || exit
{{ ./configure --quiet {options} && make -j2 -Otarget; }} >../build.log 2>&1
echo "built: $?"
make -j2 -Otarget check >../check.log 2>&1
echo "tested: $?"
sort ../build.log ../check.log
"""


def package(name, options="", packages="", files_vary=(), **rest):
    return Case(
        f"package-{name}",
        shell(BUILD.format(options=options)),
        f"gcc libc6-dev make patch {packages}".strip(),
        needs="gcc make patch",
        source=name,
        files_vary=("*.log", *files_vary),
        seconds=400,
        once=True,
        **rest,
    )


CASES = [
    package("xz-utils", "--disable-nls"),
    package("gzip"),
]
