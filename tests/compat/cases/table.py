# SPDX-License-Identifier: Apache-2.0
"""All rows of the matrix, in the order in which they run."""

from cases import (
    building,
    instruments,
    interpreters,
    packages,
    python_suites,
    servers,
    shells,
    stressors,
    tools,
)

CASES = [
    *shells.CASES,
    *interpreters.CASES,
    *building.CASES,
    *packages.CASES,
    *tools.CASES,
    *servers.CASES,
    *instruments.CASES,
    *stressors.CASES,
    *python_suites.CASES,
]
