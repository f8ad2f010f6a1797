#!/usr/bin/env python3
"""PyTorch on the taggers and classifiers of `make bench`: training steps.

    python3 bench/peers/torch_labels.py                                     # every row
    python3 bench/peers/torch_labels.py --rows 'step/tagger crf B32 V8000'  # these, separated by commas
    python3 bench/peers/torch_labels.py --compiled                          # by torch.compile; minutes to warm up
    python3 bench/peers/torch_labels.py --list                              # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run in milliseconds}. All texts
of a batch have the same length, so that nothing is packed or masked but the letters of words.
"""
import json
import sys
import warnings

from rows import best, options_of, parser_of, torch_with, requested_rows

WORDS, VOCABULARY = 24, 8000
SENTENCES, TAGS, LETTERS, LONGEST_WORD = 32, 45, 100, 12
TEXTS, LABELS = 64, 6
# name: (network, kind, width of words and states)
ROWS = {
    "step/tagger crf B32 V8000": ("tagger", "crf", 128),
    "step/tagger softmax B32 V8000": ("tagger", "softmax", 128),
    "step/classifier lstm d128 B64 V8000": ("classifier", "lstm", 128),
    "step/classifier lstm d256 B64 V8000": ("classifier", "lstm", 256),
    "step/classifier transformer 2 d256 B64 V8000": ("classifier", "transformer", 256),
}


def networks(torch):
    """The classes, which exist only where PyTorch does."""
    nn, F = torch.nn, torch.nn.functional

    class Crf(nn.Module):
        """Linear-chain conditional random field (Lafferty et al. 2001), all sequences of a batch at once."""

        def __init__(self, tags):
            super().__init__()
            self.transitions = nn.Parameter(torch.zeros(tags, tags))
            self.start, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))

        def forward(self, emissions, tags):
            """emissions [B,T,L], tags [B,T] -> mean over the places of -ln p."""
            score = emissions.gather(2, tags.unsqueeze(2)).sum() + self.transitions[tags[:, :-1], tags[:, 1:]].sum() \
                + self.start[tags[:, 0]].sum() + self.end[tags[:, -1]].sum()
            first, *others = emissions.unbind(1)
            alpha = self.start + first
            for emission in others:
                alpha = torch.logsumexp(alpha.unsqueeze(2) + self.transitions, 1) + emission
            return (torch.logsumexp(alpha + self.end, 1).sum() - score) / tags.numel()

    class Tagger(nn.Module):
        """Words and a convolution over their letters, an LSTM both ways, a field or a softmax (Ma & Hovy 2016)."""

        def __init__(self, crf, size, letter=30, filters=30):
            super().__init__()
            self.words, self.letters = nn.Embedding(VOCABULARY, size), nn.Embedding(LETTERS, letter)
            self.convolution = nn.Conv1d(letter, filters, 3)
            self.encoder = nn.LSTM(size + filters, size, bidirectional=True, batch_first=True)
            self.output = nn.Linear(2 * size, TAGS)
            self.crf = Crf(TAGS) if crf else None

        def forward(self, text, letters, beyond, tags):
            """letters [B*T,1+L+1], padded at both ends; beyond [B*T,1,L]: not within the word."""
            found = self.convolution(self.letters(letters).transpose(1, 2)).masked_fill(beyond, float("-inf"))
            words = torch.cat((self.words(text), found.amax(2).view(*text.shape, -1)), 2)
            emissions = self.output(self.encoder(words)[0])
            return self.crf(emissions, tags) if self.crf else F.cross_entropy(emissions.flatten(0, 1), tags.flatten())

    class Classifier(nn.Module):
        """An LSTM both ways or a Transformer, and a learned query that asks all its states (additive score)."""

        def __init__(self, kind, size):
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, size)
            self.lstm = kind == "lstm"
            if self.lstm:
                self.encoder = nn.LSTM(size, size, bidirectional=True, batch_first=True)
            else:
                block = nn.TransformerEncoderLayer(size, 4, 4 * size, dropout=0.1, batch_first=True, norm_first=True)
                self.encoder = nn.TransformerEncoder(block, 2, nn.LayerNorm(size), enable_nested_tensor=False)
                self.dropout, self.scale = nn.Dropout(0.1), size ** 0.5
                places, slowness = torch.arange(WORDS).unsqueeze(1), 1e4 ** (torch.arange(0, size, 2) / size)
                sines = torch.stack(((places / slowness).sin(), (places / slowness).cos()), 2)
                self.register_buffer("positions", sines.flatten(1))
            width = 2 * size if self.lstm else size
            self.question = nn.Parameter(torch.randn(width) * width ** -0.5)
            self.query, self.key = nn.Linear(width, width, bias=False), nn.Linear(width, width)
            self.vector = nn.Linear(width, 1, bias=False)
            self.output = nn.Linear(width, LABELS)

        def forward(self, text, labels):
            words = self.words(text)
            if self.lstm:
                states = self.encoder(words)[0]
            else:
                states = self.encoder(self.dropout(self.scale * words + self.positions))
            energies = self.vector(torch.tanh(self.key(states) + self.query(self.question)))
            context = torch.bmm(torch.softmax(energies, 1).transpose(1, 2), states).squeeze(1)
            return F.cross_entropy(self.output(context), labels)

    def spelled(text):
        """1 to LONGEST_WORD letters for each word -> letters, and where there are none."""
        lengths = torch.randint(1, LONGEST_WORD + 1, (text.numel(), 1))
        beyond = torch.arange(LONGEST_WORD) >= lengths
        letters = torch.randint(4, LETTERS, beyond.shape).masked_fill(beyond, 0)
        return F.pad(letters, (1, 1)), beyond.unsqueeze(1)

    def trained(network, kind, size, compiled):
        """-> one training step: forward, backward, gradients clipped to norm 1, Adam."""
        if network == "tagger":
            model, text = Tagger(kind == "crf", size), torch.randint(4, VOCABULARY, (SENTENCES, WORDS))
            batch = (text, *spelled(text), torch.randint(TAGS, text.shape))
        else:
            model, text = Classifier(kind, size), torch.randint(4, VOCABULARY, (TEXTS, WORDS))
            batch = (text, torch.randint(LABELS, (TEXTS,)))
        forward = torch.compile(model) if compiled else model
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def step():
            adam.zero_grad()
            forward(*batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    return trained


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--compiled", action="store_true", help="by torch.compile")
    arguments = options_of(parser)
    requested = requested_rows(parser, arguments, ROWS)
    torch = torch_with(arguments.threads)
    warnings.filterwarnings("ignore")
    trained = networks(torch)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for name in requested:
        ms = best(trained(*ROWS[name], arguments.compiled), arguments.seconds, least=6) * 1e3
        print(json.dumps({"name": name, "ms": float(f"{ms:.6g}")}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
