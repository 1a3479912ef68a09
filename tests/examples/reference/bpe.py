"""A vocabulary of byte pairs in the form of GPT-2's files, and the tokens of some lines: by a search at every step, and by
Python's regular expressions with classes written out for the characters that these lines hold."""
import collections
import json
import re
import unicodedata

TEXT = "the cat sat on the mat, the rat saw that; it's what they'll say: we've 12 more, 1234 in all!"
LINES = ["", " ", "the cat's hat", "  two  spaces\n\n and lines \t", "they'll've I'd", "caf\u00e9 na\u00efve \u2014 \u201cthat\u201d\u2026",
         "\u65e5\u672c\u8a9e 12\u00bd \u0661\u0662 \u2167", "a\u00a0b\u3000\u3000c", "\U0001f44b the \U0001f30d", "tabs\t\tat the end  "]
MERGES = 60


def alphabet():
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [value for value in range(256) if value not in visible]
    return {value: chr(value) for value in visible} | {value: chr(256 + i) for i, value in enumerate(hidden)}


CHARACTERS = alphabet()


def words(text):
    seen = set(text) | set(TEXT)
    letters = "".join(re.escape(c) for c in seen if unicodedata.category(c)[0] == "L") or "a"
    numbers = "".join(re.escape(c) for c in seen if unicodedata.category(c)[0] == "N") or "0"
    pattern = rf"'s|'t|'re|'ve|'m|'ll|'d| ?[{letters}]+| ?[{numbers}]+| ?[^\s{letters}{numbers}]+|\s+(?!\S)|\s+"
    return ["".join(CHARACTERS[byte] for byte in word.encode()) for word in re.findall(pattern, text)]


def joined(parts, pair):
    out = []
    for part in parts:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


def learn():
    """The merges of the commonest pairs of TEXT."""
    parts, merges = [list(word) for word in words(TEXT)], []
    while len(merges) < MERGES:
        counts = collections.Counter(pair for word in parts for pair in zip(word, word[1:]))
        if not counts:
            break
        best = max(sorted(counts), key=counts.get)
        merges.append(best)
        parts = [joined(word, best) for word in parts]
    return merges


def encode(text, merges, ids):
    out = []
    for word in words(text):
        parts = list(word)
        while True:
            pairs = [pair for pair in merges if pair in zip(parts, parts[1:])]
            if not pairs:
                break
            parts = joined(parts, pairs[0])
        out += [ids[part] for part in parts]
    return out


def write(folder):
    merges = learn()
    ids = {token: i for i, token in enumerate([*CHARACTERS.values(), *("".join(pair) for pair in merges), "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [json.dumps(text.encode().hex()) + ": " + json.dumps(encode(text, merges, ids)) for text in LINES]
    (folder / "tokens.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
