#!/usr/bin/env python3
"""Makes attend/data/unicode_table.h: what the scores of texts need to know of Unicode.

    python3 -m venv peer && peer/bin/pip install regex
    peer/bin/python scripts/make_unicode.py > attend/data/unicode_table.h

Categories are those of the `regex` package, which sacreBLEU's tokeniser `intl` asks; lower case is that of Python's
str.lower(); letters and digits are those of its str.isalnum(), which a word boundary in its regular expressions goes
by. All are asked about every code point, so the table says what they do and not what a standard says.
"""
import sys
import textwrap
import unicodedata
from importlib.metadata import metadata

import regex

CODE_POINTS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]


def ranges(selected):
    """(first, last) of each run of selected code points."""

    runs = []
    for char in CODE_POINTS:
        code = ord(char)
        if not selected(char):
            continue
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return runs


def categories():
    """(first, last, category) of all punctuation, symbols and numbers."""
    rows = []
    for letter, name in (("P", "kP"), ("S", "kS"), ("N", "kN")):
        rows += [(*run, name) for run in ranges(regex.compile(rf"\p{{{letter}}}").fullmatch)]
    return sorted(rows)


def lower_runs():
    """(first, last, step, what is added) of all code points whose lower case is one other code point."""
    runs = []
    for char in CODE_POINTS:
        lower = char.lower()
        if lower == char or len(lower) != 1:
            continue
        code, added = ord(char), ord(lower) - ord(char)
        run = runs[-1] if runs else None
        if run and run[3] == added and (code - run[1] == run[2] or (run[0] == run[1] and code - run[1] <= 2)):
            run[2], run[1] = code - run[1], code
        else:
            runs.append([code, code, 1, added])
    return runs


def cased(char):
    """Σ is σ before it: Python's final-sigma rule."""
    return f"AΣ{char}".lower()[1] == "σ"


def ignorable(char):
    """The final-sigma rule looks past it."""
    return not cased(char) and f"AΣ{char}A".lower()[1] == "σ"


def number(value):
    return value if isinstance(value, str) else hex(value) if value > 9 else str(value)


def array(kind, name, rows):
    cells = [f"{{{',~'.join(map(number, row))}}}" for row in rows]  # ~ keeps a cell on one line
    lines = textwrap.wrap(", ".join(cells), 116)
    return f"constexpr {kind} {name}[] = {{\n" + "".join(f"    {line}\n" for line in lines).replace("~", " ") + "};\n"


def main():
    longer = [char for char in CODE_POINTS if len(char.lower()) != 1]
    assert longer == ["\u0130"], "unicode.cc knows one code point whose lower case is longer"
    version = regex.search(r"Unicode (\d+\.\d+)", metadata("regex").get_payload() or metadata("regex")["Description"])
    print(f"""\
// Made by scripts/make_unicode.py: categories of Unicode {version[1]} (regex {metadata("regex")["Version"]}),
// lower case, letters and digits of Unicode {unicodedata.unidata_version} (Python {sys.version.split()[0]}).
#pragma once

#include <cstdint>

// clang-format off
namespace attend::data::unicode {{

enum : uint8_t {{ kP = 1, kS = 2, kN = 3 }};
struct Categorised {{ char32_t first, last; uint8_t category; }};
struct Lowered {{ char32_t first, last; uint32_t step; int32_t added; }};
struct Range {{ char32_t first, last; }};
""")
    print(array("Categorised", "kCategories", categories()))
    print(array("Lowered", "kLower", lower_runs()))
    print("// For the rule of the final sigma (Unicode, section 3.13, table 3-17).")
    print(array("Range", "kCased", ranges(cased)))
    print(array("Range", "kIgnorable", ranges(ignorable)))
    print("// str.isalnum().")
    print(array("Range", "kLettersAndDigits", ranges(str.isalnum)))
    print("}  // namespace attend::data::unicode\n// clang-format on")


if __name__ == "__main__":
    main()
