#!/usr/bin/env python3
"""PyTorch on the readers of `make bench`: training steps, and their memory.

    python3 bench/peers/torch_readers.py                                 # every row
    python3 bench/peers/torch_readers.py --rows 'step/reader d128 B32 V8000'
    python3 bench/peers/torch_readers.py --compiled                      # by torch.compile; minutes to warm up
    python3 bench/peers/torch_readers.py --list                          # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run, "peak_mb": peak so far} in
milliseconds and MiB. A row memory/… trains three steps in a process of its own and has no "ms". All texts of a batch have the
same length, so that nothing is packed or masked.
"""
import sys

from one_step import measure

DOCUMENTS, DOCUMENT, QUESTION, VOCABULARY, SIZE, DROPOUT = 32, 150, 15, 8000, 128, 0.2
READER = "reader d128 B32 V8000"


def networks(torch):
    """The classes, which exist only if PyTorch does."""
    nn = torch.nn

    class Reader(nn.Module):
        """Attention both ways and pointers to the first and the last word (Seo et al. 2017); words of the document that the
        question has too are marked, and the spans have one distribution."""

        def __init__(self):
            super().__init__()
            wide = 2 * SIZE
            self.words, self.marks = nn.Embedding(VOCABULARY, SIZE), nn.Embedding(3, SIZE)
            self.encoder = nn.LSTM(SIZE, SIZE, bidirectional=True, batch_first=True)
            self.of_document, self.of_question = nn.Parameter(torch.rand(wide) - 0.5), nn.Parameter(torch.rand(wide) - 0.5)
            self.of_both = nn.Parameter(torch.rand(wide) - 0.5)
            self.modelling = nn.LSTM(4 * wide, SIZE, 2, bidirectional=True, batch_first=True, dropout=DROPOUT)
            self.last = nn.LSTM(wide, SIZE, bidirectional=True, batch_first=True)
            self.dropout = nn.Dropout(DROPOUT)
            self.start, self.end = nn.Linear(5 * wide, 1), nn.Linear(5 * wide, 1)

        def forward(self, document, question, spans):
            shared = (document.unsqueeze(2) == question.unsqueeze(1)).any(2).long()
            h = self.encoder(self.dropout(self.words(document) + self.marks(shared)))[0]
            asked = self.marks(torch.full_like(question, 2))
            u = self.encoder(self.dropout(self.words(question) + asked))[0]
            scores = torch.bmm(h * self.of_both + self.of_question, u.transpose(1, 2)) + (h @ self.of_document).unsqueeze(2)
            read = torch.bmm(torch.softmax(scores, 2), u)
            of_document = torch.bmm(torch.softmax(scores.amax(2), 1).unsqueeze(1), h)
            met = self.dropout(torch.cat((h, read, h * read, h * of_document), 2))
            m = self.dropout(self.modelling(met)[0])
            m2 = self.dropout(self.last(m)[0])
            start = self.start(torch.cat((met, m), 2)).squeeze(2)
            end = self.end(torch.cat((met, m2), 2)).squeeze(2)
            onward = torch.logcumsumexp(end.flip(1), 1).flip(1)  # ln of the sum over all ends from here on
            gold = start.gather(1, spans[:, :1]) + end.gather(1, spans[:, 1:])
            return (torch.logsumexp(start + onward, 1, keepdim=True) - gold).mean() / 2

    def trained(compiled):
        """-> one training step: forward, backward, gradients clipped to norm 1, Adam."""
        model = Reader()
        document = torch.randint(4, VOCABULARY, (DOCUMENTS, DOCUMENT))
        question = torch.randint(4, VOCABULARY, (DOCUMENTS, QUESTION))
        first = torch.randint(DOCUMENT - 3, (DOCUMENTS, 1))
        spans = torch.cat((first, first + torch.randint(3, first.shape)), 1)
        forward = torch.compile(model) if compiled else model
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def step():
            adam.zero_grad()
            forward(document, question, spans).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    return trained


if __name__ == "__main__":
    sys.exit(measure(__file__, __doc__, READER, networks))
