#!/usr/bin/env python3
"""PyTorch on the pointer-generator of `make bench`: its training step and memory.

    python3 bench/peers/torch_copying.py               # every row
    python3 bench/peers/torch_copying.py --compiled    # by torch.compile; minutes to warm up
    python3 bench/peers/torch_copying.py --list        # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run, "peak_mb": peak so far} in
milliseconds and MiB. A row memory/... trains three steps in a process of its own and has no "ms". All texts have the same
length, so that nothing is packed or masked.
"""
import sys

from one_step import measure

TEXTS, WORDS, HEADLINE, VOCABULARY = 32, 60, 11, 8000
OUTSIDE, COPIED = 6, 3  # every so many words of a text are unknown, and of a headline copied
WORD, HIDDEN = 128, 256
UNKNOWN, BEGIN, END = 1, 2, 3
NAME = "pointer-generator gru B32 V8000"


def networks(torch):
    """The classes, which exist only if PyTorch does."""
    nn, F = torch.nn, torch.nn.functional

    class PointerGenerator(nn.Module):
        """Attention after the update, fed into the next one (Luong et al. 2015); a gate between words and places (See et al.
        2017). As there, the mixture is a distribution over the extended vocabulary, from which the target is taken."""

        def __init__(self):
            super().__init__()
            self.source_words, self.target_words = nn.Embedding(VOCABULARY, WORD), nn.Embedding(VOCABULARY, WORD)
            self.encoder = nn.GRU(WORD, HIDDEN, bidirectional=True, batch_first=True)
            self.bridge = nn.Linear(2 * HIDDEN, HIDDEN)
            self.key, self.query = nn.Linear(2 * HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.vector = nn.Linear(HIDDEN, 1, bias=False)
            self.cell = nn.GRUCell(WORD + HIDDEN, HIDDEN)
            self.combine = nn.Linear(3 * HIDDEN, HIDDEN, bias=False)
            self.output = nn.Linear(HIDDEN, VOCABULARY)
            self.gate = nn.Linear(2 * HIDDEN + HIDDEN + WORD, 1)

        def forward(self, read, copies, inputs, targets, beyond):
            """beyond: words outside the vocabulary, at most, of any text."""
            memory, last = self.encoder(self.source_words(read))
            h = torch.tanh(self.bridge(torch.cat((last[0], last[1]), 1)))
            keys, fed = self.key(memory), torch.zeros_like(h)
            words, states, contexts, weights = self.target_words(inputs), [], [], []
            for word in words.unbind(1):
                h = self.cell(torch.cat((word, fed), 1), h)
                energies = self.vector(torch.tanh(keys + self.query(h).unsqueeze(1))).squeeze(2)
                a = torch.softmax(energies, 1)
                context = torch.bmm(a.unsqueeze(1), memory).squeeze(1)
                fed = torch.tanh(self.combine(torch.cat((context, h), 1)))
                states.append(fed), contexts.append(context), weights.append(a)
            states, contexts, weights = torch.stack(states, 1), torch.stack(contexts, 1), torch.stack(weights, 1)
            p = torch.sigmoid(self.gate(torch.cat((contexts, states, words), 2)))
            said = F.pad(p * torch.softmax(self.output(states), 2), (0, beyond))
            mixture = said.scatter_add(2, copies.unsqueeze(1).expand_as(weights), (1 - p) * weights)
            return -mixture.gather(2, targets.unsqueeze(2)).clamp_min(1e-30).log().mean()

    def trained(compiled):
        """-> one training step: forward, backward, gradients clipped to norm 1, Adam."""
        copies = torch.randint(4, VOCABULARY, (TEXTS, WORDS))
        beyond = len(range(0, WORDS, OUTSIDE))
        copies[:, ::OUTSIDE] = VOCABULARY + torch.arange(beyond)
        target = torch.randint(4, VOCABULARY, (TEXTS, HEADLINE))
        target[:, ::COPIED] = copies[:, [5 * t for t in range(0, HEADLINE, COPIED)]]
        read, said = (x.masked_fill(x >= VOCABULARY, UNKNOWN) for x in (copies, target))
        inputs = F.pad(said, (1, 0), value=BEGIN)
        targets = F.pad(target, (0, 1), value=END)
        model = PointerGenerator()
        forward = torch.compile(model) if compiled else model
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def step():
            adam.zero_grad()
            forward(read, copies, inputs, targets, beyond).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    return trained


if __name__ == "__main__":
    sys.exit(measure(__file__, __doc__, NAME, networks))
