"""Writes what Python's str says of each character, for tests/unit/jinja/python_strings_test.ts: one JSON object out.

"assigned" and the questions are ranges: pairs of the numbers between the beginnings and ends, in base 36. The changes are runs of
characters: "first,count,step,offset", or "first=targets" where one becomes several, in base 36 too.
"""

import json
import sys
import unicodedata

POINTS = range(0x110000)
QUESTIONS = "isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper".split()
CHANGES = "capitalize casefold lower swapcase title upper".split()


def base36(number):
    digits = ""
    rest = abs(number)
    while rest or not digits:
        rest, digit = divmod(rest, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return "-" + digits if number < 0 else digits


def ranges(has):
    borders = [at for at in range(0x110001) if (at < 0x110000 and has(at)) != (at > 0 and has(at - 1))]
    return " ".join(base36(at - before) for at, before in zip(borders, [0, *borders]))


def runs(change):
    parts = []
    run = None
    for point in POINTS:
        to = change(chr(point))
        if to == chr(point):
            continue
        if len(to) > 1:
            parts.append(f"{base36(point)}={'+'.join(base36(ord(one)) for one in to)}")
            continue
        offset = ord(to) - point
        if run and run[3] == offset and (run[1] == 1 or point - run[0] == run[1] * run[2]) and point - run[0] < 600:
            run[2] = (point - run[0]) // run[1]
            run[1] += 1
        else:
            run = [point, 1, 1, offset]
            parts.append(run)
    return " ".join(one if isinstance(one, str) else ",".join(map(base36, one)) for one in parts)


print(
    json.dumps(
        {
            "python": sys.version.split()[0],
            "unicode": unicodedata.unidata_version,
            "assigned": ranges(lambda point: unicodedata.category(chr(point)) != "Cn"),
            **{name: ranges(lambda point: getattr(chr(point), name)()) for name in QUESTIONS},
            **{name: runs(lambda text: getattr(text, name)()) for name in CHANGES},
        },
        indent=1,
    )
)
