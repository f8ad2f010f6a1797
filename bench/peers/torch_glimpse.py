#!/usr/bin/env python3
"""PyTorch on the glimpse network of `make bench`: its retina, and training steps.

    python3 bench/peers/torch_glimpse.py                                      # every row
    python3 bench/peers/torch_glimpse.py --rows 'glimpse/step 28x28 B128 M1'  # these, separated by commas
    python3 bench/peers/torch_glimpse.py --list                               # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run in milliseconds}. Without
loops over images: patches are gathered by index from a padded image, coarser ones pooled.
"""
import json
import sys

from rows import best, options_of, parser_of, torch_with, requested_rows

IMAGES, GLIMPSES, LABELS, HIDDEN, DEVIATION = 128, 6, 10, 256, 0.15
# name: (side of the image, patch, scales, copies); copies of None: the retina alone, for ten copies
ROWS = {
    "glimpse/patches 28x28 8x8": (28, 8, 1, None),
    "glimpse/patches 60x60 12x12 three scales": (60, 12, 3, None),
    "glimpse/step 28x28 B128 M1": (28, 8, 1, 1),
    "glimpse/step 28x28 B128 M10": (28, 8, 1, 10),
    "glimpse/step 60x60 three scales B128 M1": (60, 12, 3, 1),
}


def networks(torch):
    nn, F = torch.nn, torch.nn.functional

    class Retina:
        """Squares of patch · 2^j pixels around places in -1 … 1, on whole pixels, zeros outside."""

        def __init__(self, images, patch, scales):
            self.patch, self.scales, self.side = patch, scales, images.shape[2]
            self.margin = patch * 2 ** (scales - 1)
            self.padded = F.pad(images[:, 0], (self.margin,) * 4)
            self.offsets = [torch.arange(patch * 2 ** j) for j in range(scales)]

        def __call__(self, rows, places):
            seen = []
            for offsets in self.offsets:
                pixels = len(offsets)
                corner = torch.floor((places + 1) * (self.side / 2) - pixels / 2 + 0.5).long() + self.margin
                x, y = corner[:, 0, None] + offsets, corner[:, 1, None] + offsets
                square = self.padded[rows[:, None, None], y[:, :, None], x[:, None, :]]
                if pixels > self.patch:
                    square = F.avg_pool2d(square.unsqueeze(1), pixels // self.patch).squeeze(1)
                seen.append(square.flatten(1))
            return torch.cat(seen, 1) if len(seen) > 1 else seen[0]

    class Glimpse(nn.Module):
        """Mnih et al. 2014: what and where, a rectified core, a Gaussian over places, a learned baseline."""

        def __init__(self, seen):
            super().__init__()
            self.what, self.where = nn.Linear(seen, 128), nn.Linear(2, 128)
            self.glimpse_what, self.glimpse_where = nn.Linear(128, 256), nn.Linear(128, 256)
            self.input, self.state = nn.Linear(256, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
            self.location, self.baseline = nn.Linear(HIDDEN, 2), nn.Linear(HIDDEN, 1)
            self.output = nn.Linear(HIDDEN, LABELS)

        def loss(self, retina, rows, labels):
            count = len(rows)
            place, h = torch.rand(count, 2) * 2 - 1, torch.zeros(count, HIDDEN)
            log_p, guesses = [], []
            for step in range(GLIMPSES):
                what, where = F.relu(self.what(retina(rows, place))), F.relu(self.where(place))
                g = F.relu(self.glimpse_what(what) + self.glimpse_where(where))
                h = F.relu(self.input(g) + self.state(h))
                if step + 1 == GLIMPSES:
                    break
                known = h.detach()
                mean = torch.tanh(self.location(known))
                drawn = (mean + DEVIATION * torch.randn_like(mean)).detach()
                log_p.append(torch.distributions.Normal(mean, DEVIATION).log_prob(drawn).sum(1))
                guesses.append(self.baseline(known).squeeze(1))
                place = drawn.clamp(-1, 1)
            logits = self.output(h)
            reward = (logits.detach().argmax(1) == labels).float()
            log_p, guesses = torch.stack(log_p), torch.stack(guesses)
            reinforce = -(log_p * (reward - guesses.detach())).mean()
            return F.cross_entropy(logits, labels) + reinforce + F.mse_loss(guesses, reward.expand_as(guesses))

    def prepared(side, patch, scales, copies):
        images = torch.rand(IMAGES, 1, side, side)
        retina, rows = Retina(images, patch, scales), torch.arange(IMAGES).repeat(copies or 10)
        if copies is None:
            places = torch.rand(len(rows), 2) * 2 - 1

            def look():
                with torch.no_grad():
                    retina(rows, places)
            return look
        model, labels = Glimpse(scales * patch * patch), rows % LABELS
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def step():
            adam.zero_grad()
            model.loss(Retina(images, patch, scales), rows, labels).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    return prepared


def main():
    parser = parser_of(__doc__)
    arguments = options_of(parser)
    requested = requested_rows(parser, arguments, ROWS)
    torch = torch_with(arguments.threads)
    prepared = networks(torch)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for name in requested:
        ms = best(prepared(*ROWS[name]), arguments.seconds, least=6) * 1e3
        print(json.dumps({"name": name, "ms": float(f"{ms:.6g}")}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
