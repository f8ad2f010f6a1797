"""Sounds that a test can tell: high, middle and low tones, a WAV of them, and a listener that says which they were and when."""

import base64
import io
import math
import struct
import wave

TONES = {"low": 240, "mid": 480, "high": 960}  # Hz
RATE = 16000
STEP = 0.02  # seconds of a place


def wav(words, rate=RATE, tone=0.4, pause=0.2):
    """A WAV of the tones that the words name, after a pause each."""
    samples = []
    for word in words.split():
        samples += [0.0] * int(pause * rate)
        samples += [0.5 * math.sin(2 * math.pi * TONES[word] * i / rate) for i in range(int(tone * rate))]
    samples += [0.0] * int(pause * rate)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1), out.setsampwidth(2), out.setframerate(rate)
        out.writeframes(struct.pack(f"<{len(samples)}h", *(round(32767 * x) for x in samples)))
    return file.getvalue()


def samples_of(sound):
    """Of a WAV of one channel and 16 bits: its samples from -1 to 1, and their rate."""
    with wave.open(io.BytesIO(sound)) as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError(f"one channel of 16 bits is wanted, got {file.getnchannels()} of {8 * file.getsampwidth()}")
        frames = file.readframes(file.getnframes())
        return [x / 32768 for x in struct.unpack(f"<{len(frames) // 2}h", frames)], file.getframerate()


def power(samples, rate, hertz):
    """How much of a tone there is (Goertzel)."""
    turn = 2 * math.cos(2 * math.pi * hertz / rate)
    before = last = 0.0
    for x in samples:
        before, last = last, x + turn * last - before
    return max(0.0, last * last + before * before - turn * last * before) / max(1, len(samples)) ** 2


def tone_at(samples, rate):
    """The word for a stretch of sound; "" if it is quiet."""
    shares = {word: power(samples, rate, hertz) for word, hertz in TONES.items()}
    best = max(shares, key=shares.get)
    return best if shares[best] > 1e-4 else ""


def heard(samples, rate):
    """[word, begin, end] of each tone that lasts."""
    size, found = int(STEP * rate), []
    for place in range(len(samples) // size):
        word, begin = tone_at(samples[place * size:(place + 1) * size], rate), place * STEP
        if word and found and found[-1][0] == word and abs(found[-1][2] - begin) < 1e-6:
            found[-1][2] = begin + STEP
        elif word:
            found.append([word, begin, begin + STEP])
    return [[word, round(begin, 4), round(end, 4)] for word, begin, end in found if end - begin > 0.1]


def spectrogram(samples, rate, bands=24):
    """Levels of bands from 100 to 2000 Hz, fifty frames a second."""
    size = int(STEP * rate)
    frames = max(1, len(samples) // size)
    levels = bytearray()
    for frame in range(frames):
        part = samples[frame * size:(frame + 1) * size]
        for band in range(bands):
            share = power(part, rate, 100 * 20 ** (band / (bands - 1)))
            levels.append(int(255 * min(1, max(0, 1 + math.log10(share * 16 + 1e-9) / 5))))
    return {"frames": frames, "bands": bands, "levels": base64.b64encode(bytes(levels)).decode()}


def letters(words):
    """Tokens of a spelled answer, the word of each (a space belongs to the word after it), and their times."""
    tokens, word_of, times = [], [], []
    for number, (word, begin, end) in enumerate(words):
        if number:
            tokens.append("▁"), word_of.append(number), times.append(["▁", words[number - 1][2], begin])
        each = (end - begin) / len(word)
        for place, letter in enumerate(word):
            tokens.append(letter), word_of.append(number)
            times.append([letter, round(begin + place * each, 4), round(begin + (place + 1) * each, 4)])
    return tokens, word_of, times


def bump(begin, end, places):
    """Where a letter listens: around the middle of its time."""
    middle, width = (begin + end) / 2, max(STEP, end - begin) / 2
    values = [math.exp(-(((place + 0.5) * STEP - middle) / width) ** 2) for place in range(places)]
    return [float(f"{value / sum(values):.4g}") for value in values]


def trace(model, asked):
    """Of a listener that spells."""
    sound = base64.b64decode(asked["sound"])
    samples, rate = samples_of(sound)
    words = heard(samples, rate)
    tokens, word_of, times = letters(words)
    places = max(1, math.ceil(len(samples) / rate / STEP))
    rows = [bump(begin, end, places) for _, begin, end in times]
    by_word = [[sum(row[p] for row, word in zip(rows, word_of) if word == number) / word_of.count(number) for p in range(places)]
               for number in range(len(words))]
    names = [f"{place * STEP:.2f}" for place in range(places)]
    text = " ".join(word for word, _, _ in words)
    target = {"text": text, "tokens": tokens, "words": [word for word, _, _ in words], "word_of": word_of, "unknown": [],
              "kind": "words", "times": times, "given": False, "ended": True, "score": -0.1, "log_probability": -0.1,
              "log_probabilities": [-0.1] * len(tokens)}
    return {"format": "attend-trace/1", "model": {key: model[key] for key in ("name", "task", "network", "parameters")},
            "options": {}, "target": target, "sites": [], "evidence": [], "beam": [], "notes": [],
            "source": {"text": "sound", "tokens": names, "words": names, "word_of": list(range(places)), "unknown": [],
                       "kind": "words",
                       "sound": {"seconds": len(samples) / rate, "place_seconds": STEP, "place_offset": 0, "frame_seconds": STEP,
                                 "low": 100, "high": 2000, "spectrogram": spectrogram(samples, rate), "words": [], "phonemes": [],
                                 "wav": asked["sound"]}},
            "maps": [{"method": asked["method"], "label": asked["method"], "site": "decoder.memory", "layer": -1, "head": -1,
                      "signed": False, "queries": "target", "keys": "source", "tokens": rows, "words": by_word}],
            "answers": [{"text": text, "score": -0.1, "log_probability": -0.1, "ended": True, "node": -1}]}
