"""What fake_server.py answers with: a few words of each task, by rules that are simple enough to be seen through."""

import re

GERMAN = {"a": "ein", "man": "mann", "in": "in", "blue": "blauem", "shirt": "hemd", "is": "", "standing": "steht",
          "on": "auf", "the": "der", "ladder": "leiter", "cleaning": "putzt", "window": "fenster", "two": "zwei",
          "dogs": "hunde", "run": "rennen", "through": "durch", "snow": "schnee", "and": "und", "young": "junger",
          "girl": "mädchen", "plays": "spielt", "guitar": "gitarre", "unbelievable": "unglaublich", ".": "."}

OPINIONS = ["very good", "good", "neutral", "bad", "very bad"]
SENSE = {"wonderful": 2, "great": 2, "charming": 2, "good": 1, "funny": 1, "dull": -1, "slow": -1, "boring": -2, "terrible": -2}

PARTS = ["DT", "PRP$", "JJ", "CD", "NN", "PRP", "VBZ", "IN", "CC", "."]
LEXICON = {"the": "DT", "a": "DT", "his": "PRP$", "two": "CD", "young": "JJ", "blue": "JJ", "old": "JJ", "big": "JJ", "he": "PRP",
           "she": "PRP", "barks": "VBZ", "runs": "VBZ", "plays": "VBZ", "sees": "VBZ", "stands": "VBZ", "cleans": "VBZ",
           "in": "IN", "on": "IN", "with": "IN", "through": "IN", "at": "IN", "and": "CC", ".": "."}

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
KNOWN = {("ada", "lovelace"): "PER", ("grace", "hopper"): "PER", ("turing",): "PER", ("new", "york"): "LOC", ("london",): "LOC",
         ("river", "thames"): "LOC", ("bell", "labs"): "ORG", ("ibm",): "ORG"}

SOUNDS = [("tion", "SH AH N"), ("ph", "F"), ("sh", "SH"), ("ch", "CH"), ("th", "TH"), ("ee", "IY"), ("ou", "AW"), ("a", "AH"),
          ("b", "B"), ("c", "K"), ("d", "D"), ("e", "EH"), ("f", "F"), ("g", "G"), ("h", "HH"), ("i", "IH"), ("j", "JH"),
          ("k", "K"), ("l", "L"), ("m", "M"), ("n", "N"), ("o", "OW"), ("p", "P"), ("q", "K"), ("r", "R"), ("s", "S"),
          ("t", "T"), ("u", "UW"), ("v", "V"), ("w", "W"), ("x", "K S"), ("y", "Y"), ("z", "Z")]

GALLERY = {
    "transformer": [("two dogs run through the snow", "zwei hunde laufen durch den schnee"),
                    ("a young girl plays the guitar", "ein junges mädchen spielt gitarre"),
                    ("a man is cleaning the window", "ein mann putzt das fenster")],
    "opinions": [("slow but never boring", "good"),
                 ("a terrible film with a dull plot", "very bad"),
                 ("a charming and funny film", "very good")],
    "parts-of-speech": [("the old man the boats .", "DT NN VBZ DT NN ."),
                        ("the young girl plays a big guitar .", "DT JJ NN VBZ DT JJ NN ."),
                        ("he sees two dogs in the snow .", "PRP VBZ CD NN IN DT NN .")],
    "names": [("Grace Hopper left IBM for New York", "B-PER I-PER O O O B-LOC I-LOC"),
              ("Ada Lovelace walked along the River Thames in London", "B-PER I-PER O O O B-LOC I-LOC O B-LOC"),
              ("Turing visited Bell Labs", "B-PER O B-ORG I-ORG")],
    "parser": [("the old man in a blue shirt stands on the ladder .",
                "(S (NP (NP (DT the) (JJ old) (NN man)) (PP (IN in) (NP (DT a) (JJ blue) (NN shirt)))) "
                "(VP (VBZ stands) (PP (IN on) (NP (DT the) (NN ladder)))) (. .))"),
               ("the dog barks .", "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"),
               ("she sees a dog .", "(S (NP (PRP she)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))")],
    "phonemes": [("phase", "F EY Z"), ("nation", "N EY SH AH N"), ("sheep", "SH IY P")],
}


STORY = ("Joe went to the kitchen.\nFred went to the kitchen.\nJoe picked up the milk.\nJoe travelled to the office.\n"
         "Joe left the milk.\nJoe went to the bathroom.")
ISLAND = ("The island of Ærø – “the pearl” – lies in the Baltic Sea. Its old lighthouse was built in 1881 by Søren Kjær. "
          "It burned down in 1902.\n\nThe new lighthouse was rebuilt by the people of the island.")
QUESTIONS = {
    "reader": [(ISLAND, "when did it burn down ?", "1902"), (ISLAND, "who built the old lighthouse ?", "Søren Kjær")],
    "memory": [(STORY, "where is Fred ?", "kitchen"), (STORY, "where is the milk ?", "office")],
}
DICTATED = ["low mid high", "high low"]
DULL = {"the", "a", "is", "was", "who", "where", "when", "what", "in", "it", "to", "of", "by", "did", "?"}
PLACES = ["bathroom", "kitchen", "office", "nowhere"]


def sentences(text):
    """Where its sentences begin and end, in bytes: at line breaks, and after a full stop and a space."""
    found = [match.span() for match in re.finditer(r"\S(?:[^\n]*?[.!?](?=\s|$)|[^\n]*)", text)]
    return [[len(text[:at].encode()) for at in span] for span in found]


def stems(text):
    return {word.strip(".,?“”").lower()[:4] for word in text.split()} - {word[:4] for word in DULL}


def likely(parts, question):
    """Each sentence's share: the more words it has in common with the question, and the later, the more."""
    worth = [4.0 ** len(stems(part) & stems(question)) * 1.1 ** place for place, part in enumerate(parts)]
    return [value / sum(worth) for value in worth]


def headline(text):
    """Its longest words, as they stand; a verb that is not in it is the second."""
    words = sorted(set(word.strip(".,“”") for word in text.split()), key=lambda word: (-len(word), word))[:3]
    return [words[0], "shakes", *words[1:]]


def translation(text):
    words = [GERMAN.get(word.lower(), word.lower()) for word in text.split()]
    return " ".join(word for word in words if word)


def opinion(text):
    """All labels with their probabilities, the likeliest first."""
    total = sum(SENSE.get(word, 0) for word in text.lower().split())
    middle = 2 - max(-2, min(2, total))
    weights = [0.25 ** abs(place - middle) for place in range(len(OPINIONS))]
    chances = [(label, round(weight / sum(weights), 4)) for label, weight in zip(OPINIONS, weights)]
    return sorted(chances, key=lambda pair: -pair[1])


def parts_of_speech(words):
    return [LEXICON.get(word.lower(), "NN") for word in words]


def names(words):
    tags = ["O"] * len(words)
    lower = [word.lower() for word in words]
    for known, kind in KNOWN.items():
        for first in range(len(words) - len(known) + 1):
            if tuple(lower[first:first + len(known)]) == known:
                tags[first:first + len(known)] = [f"B-{kind}"] + [f"I-{kind}"] * (len(known) - 1)
    return tags


def phonemes(text):
    rest, sounds = text.lower(), []
    while rest:
        letters, sound = next(((letters, sound) for letters, sound in SOUNDS if rest.startswith(letters)), (rest[0], ""))
        sounds += sound.split()
        rest = rest[len(letters):]
    return " ".join(sounds)


# A tree is (label, word) or (label, [child, …]).

def tree(words):
    """S → NP VP, NP → noun phrase PP*, VP → verb NP PP*; what does not fit stays beside it."""
    leaves = list(zip(parts_of_speech(words), words))

    def phrase():
        inside = []
        while leaves and leaves[0][0] in ("DT", "PRP$", "JJ", "CD", "NN", "PRP"):
            inside.append(leaves.pop(0))
        return ("NP", inside) if inside else None

    def prepositions():
        found = []
        while leaves and leaves[0][0] == "IN":
            head = leaves.pop(0)
            found.append(("PP", [part for part in (head, phrase()) if part]))
        return found

    parts = []
    subject = phrase()
    if subject:
        after = prepositions()
        parts.append(("NP", [subject, *after]) if after else subject)
    if leaves and leaves[0][0] == "VBZ":
        verb = leaves.pop(0)
        parts.append(("VP", [part for part in (verb, phrase(), *prepositions()) if part]))
    if leaves and leaves[0][0] == "CC":
        also = leaves.pop(0)
        last = [leaves.pop()] if leaves and leaves[-1][0] == "." else []
        second = tree([word for _, word in leaves]) if leaves else None
        return ("S", [("S", parts), also, *([second] if second else []), *last]) if parts else ("FRAG", [also])
    return ("S" if len(parts) > 1 else "FRAG", parts + leaves)


def tree_tokens(node):
    label, inside = node
    return [label] if isinstance(inside, str) else [f"({label}", *[token for child in inside for token in tree_tokens(child)], ")"]


def printed(node):
    label, inside = node
    return f"({label} {inside if isinstance(inside, str) else ' '.join(map(printed, inside))})"


def tree_from(text):
    """The tree that is written so; None where it is none."""
    tokens = re.findall(r"[()]|[^\s()]+", text)

    def read():
        if len(tokens) < 3 or tokens[0] != "(":
            tokens[:] = []
            return None
        tokens.pop(0)
        label, inside = tokens.pop(0), []
        if tokens[0] != "(":
            inside = tokens.pop(0)
        while tokens and tokens[0] == "(":
            inside.append(read())
        closed = bool(tokens) and tokens.pop(0) == ")"
        return (label, inside) if closed and inside and None not in list(inside) else None

    found = read()
    return found if not tokens else None
