#!/usr/bin/env python3
"""PyTorch on the speech recogniser of `make bench`: its training step and memory.

    python3 bench/peers/torch_speech.py               # every row
    python3 bench/peers/torch_speech.py --compiled    # by torch.compile; minutes to warm up
    python3 bench/peers/torch_speech.py --list        # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run, "peak_mb": peak so far} in
milliseconds and MiB. A row memory/... trains three steps in a process of its own and has no "ms". All sounds have the same
length, so that nothing is packed or masked.
"""
import sys

from one_step import measure

SOUNDS, FRAMES, FEATURES = 16, 800, 80
LETTERS, VOCABULARY = 59, 50  # and the end
HIDDEN, FILTERS, REACH = 256, 10, 16
BEGIN, END = 2, 3
NAME = "listener + speller lstm B16 T800"


def networks(torch):
    """The classes, which exist only if PyTorch does."""
    nn, F = torch.nn, torch.nn.functional

    class ListenAndSpell(nn.Module):
        """A pyramid of bidirectional LSTMs (Chan et al. 2016) under a speller with location-aware attention (Chorowski et al.
        2015), asked before each update."""

        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.LSTM(width, HIDDEN, bidirectional=True, batch_first=True)
                                        for width in (FEATURES, 4 * HIDDEN, 4 * HIDDEN))
            self.letters = nn.Embedding(VOCABULARY, HIDDEN)
            self.hidden, self.memory = nn.Linear(2 * HIDDEN, HIDDEN), nn.Linear(2 * HIDDEN, HIDDEN)
            self.key, self.query = nn.Linear(2 * HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.filters = nn.Conv1d(1, FILTERS, 2 * REACH + 1, padding=REACH, bias=False)
            self.location = nn.Linear(FILTERS, HIDDEN, bias=False)
            self.vector = nn.Linear(HIDDEN, 1, bias=False)
            self.cell = nn.LSTMCell(HIDDEN + 2 * HIDDEN, HIDDEN)
            self.output = nn.Linear(HIDDEN + 2 * HIDDEN + HIDDEN, VOCABULARY)

        def forward(self, frames, inputs, targets):
            x = frames
            for i, layer in enumerate(self.layers):
                if i > 0:
                    x = x.reshape(x.size(0), x.size(1) // 2, 2 * x.size(2))
                x, (last, _) = layer(x)
            summary = torch.cat((last[0], last[1]), 1)
            h, c = torch.tanh(self.hidden(summary)), torch.tanh(self.memory(summary))
            keys, a = self.key(x), None
            letters, read = self.letters(inputs), []
            for letter in letters.unbind(1):
                argument = keys + self.query(h).unsqueeze(1)
                if a is not None:
                    argument = argument + self.location(self.filters(a.unsqueeze(1)).transpose(1, 2))
                a = torch.softmax(self.vector(torch.tanh(argument)).squeeze(2), 1)
                context = torch.bmm(a.unsqueeze(1), x).squeeze(1)
                h, c = self.cell(torch.cat((letter, context), 1), (h, c))
                read.append(torch.cat((h, context, letter), 1))
            logits = self.output(torch.stack(read, 1))
            return F.cross_entropy(logits.reshape(-1, VOCABULARY), targets.reshape(-1))

    def trained(compiled):
        """-> one training step: forward, backward, gradients clipped to norm 1, Adam."""
        frames = torch.randn(SOUNDS, FRAMES, FEATURES)
        said = torch.randint(4, VOCABULARY, (SOUNDS, LETTERS))
        inputs, targets = F.pad(said, (1, 0), value=BEGIN), F.pad(said, (0, 1), value=END)
        model = ListenAndSpell()
        forward = torch.compile(model) if compiled else model
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def step():
            adam.zero_grad()
            forward(frames, inputs, targets).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    return trained


if __name__ == "__main__":
    sys.exit(measure(__file__, __doc__, NAME, networks))
