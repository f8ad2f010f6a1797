#include "attend/data/batch.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"

namespace attend::data {

Sequences::Sequences(const std::vector<std::vector<int32_t>>& rows) {
  require(!rows.empty(), "Sequences: expected at least one sequence, got none");
  size_t longest = 1;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  ids.shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)};
  ids.values.assign(rows.size() * longest, kPad);
  for (size_t b = 0; b < rows.size(); ++b) {
    std::copy(rows[b].begin(), rows[b].end(), ids.values.begin() + static_cast<std::ptrdiff_t>(b * longest));
    lengths.push_back(static_cast<int32_t>(rows[b].size()));
  }
}

Source::Source(Sequences text) {
  if (text.ids.shape.rank() == 0) return;  // a default Sequences: nothing to read
  add(std::string(kText), std::move(text));
}

Source Source::of_images(Tensor pixels) {
  require(pixels.rank() == 4, "Source: expected images [B,C,H,W], got ", pixels.shape());
  Source source;
  source.add(std::string(kImage), std::move(pixels));
  return source;
}

Source Source::of_frames(Tensor frames, std::vector<int32_t> lengths) {
  Source source;
  source.add(std::string(kSound), std::move(frames), std::move(lengths));
  return source;
}

Source& Source::add(std::string name, Sequences ids) {
  require(empty() || ids.count() == count(), "Source: expected ", empty() ? 0 : count(), " examples in part ", name,
          ", got ", ids.count());
  if (empty()) lengths_ = ids.lengths;
  parts_.push_back({std::move(name), std::move(ids), {}});
  return *this;
}

Source& Source::add(std::string name, Tensor values) {
  require(values.defined() && values.rank() >= 2 && (empty() || values.dim(0) == count()), "Source: expected ",
          empty() ? 0 : count(), " examples in part ", name, ", got ", values.shape());
  if (empty()) lengths_.assign(static_cast<size_t>(values.dim(0)), 1);
  parts_.push_back({std::move(name), {}, std::move(values)});
  return *this;
}

Source& Source::add(std::string name, Tensor frames, std::vector<int32_t> lengths) {
  require(frames.defined() && frames.rank() == 3 && frames.dim(0) == static_cast<int64_t>(lengths.size()),
          "Source: expected frames [B,T,F] and a length for each example in part ", name, ", got ", lengths.size(), " lengths");
  for (const int32_t length : lengths) {
    require(length >= 0 && length <= frames.dim(1), "Source: expected at most ", frames.dim(1), " frames in part ", name, ", got ",
            length);
  }
  add(std::move(name), std::move(frames));
  if (parts_.size() == 1) lengths_ = lengths;
  parts_.back().ids.lengths = std::move(lengths);
  return *this;
}

Source& Source::add_letters(Sequences letters, std::string_view of) {
  const Part* part = of.empty() ? nullptr : find(of);
  require(of.empty() || (part && !part->values.defined()), "Source: expected letters of a text that it has, got ", of);
  const Sequences& words = part ? part->ids : text();
  require(letters.count() == words.count() * words.longest(), "Source: expected the letters of ", words.count(), " × ",
          words.longest(), " words, got ", letters.count(), " rows");
  const std::string name(of.empty() ? std::string_view(parts_.front().name) : of);
  parts_.push_back({name + std::string(Part::kLetters), std::move(letters), {}});
  return *this;
}

Source& Source::add_copies(Sequences copies) {
  require(copies.lengths == text().lengths, "Source: expected what copying each word of the first part says, got ",
          "another number of words");
  return add(parts_.front().name + std::string(Part::kCopies), std::move(copies));
}

Source& Source::add_given(Sequences links) {
  require(!empty(), "Source: expected something to look at before it is said where, got nothing");
  return add(parts_.front().name + std::string(Part::kGiven), std::move(links));
}

Source& Source::add_given(Tensor weights) {
  require(!empty() && weights.rank() == 3, "Source: expected given weights [B,T,S] of what is read, got ",
          weights.shape());
  return add(parts_.front().name + std::string(Part::kGiven), std::move(weights));
}

const Part* Source::find(std::string_view name) const {
  for (const Part& part : parts_) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

int64_t Source::count() const { return static_cast<int64_t>(lengths_.size()); }

const Sequences& Source::text() const {
  require(!empty() && !parts_.front().values.defined(), "Source: expected text, got ", empty() ? "nothing"
          : parts_.front().values.rank() == 3 ? "sound" : "an image");
  return parts_.front().ids;
}

const Sequences* Source::letters(std::string_view of) const {
  if (empty()) return nullptr;
  const std::string name(of.empty() ? std::string_view(parts_.front().name) : of);
  const Part* part = find(name + std::string(Part::kLetters));
  return part ? &part->ids : nullptr;
}

const Sequences* Source::copies() const {
  const Part* part = empty() ? nullptr : find(parts_.front().name + std::string(Part::kCopies));
  return part ? &part->ids : nullptr;
}

const Part* Source::given() const { return empty() ? nullptr : find(parts_.front().name + std::string(Part::kGiven)); }

namespace {

/// The numbers of the first part if they are frames, or if they are not; otherwise an undefined tensor.
const Tensor& first_values(const std::vector<Part>& parts, bool frames) {
  static const Tensor kNone;
  if (parts.empty() || !parts.front().values.defined()) return kNone;
  return (parts.front().values.rank() == 3) == frames ? parts.front().values : kNone;
}

}  // namespace

const Tensor& Source::pixels() const { return first_values(parts_, false); }
const Tensor& Source::frames() const { return first_values(parts_, true); }

Sequences letter_rows(std::span<const std::vector<std::vector<int32_t>>> examples, int64_t longest) {
  std::vector<std::vector<int32_t>> rows(examples.size() * static_cast<size_t>(longest));
  for (size_t b = 0; b < examples.size(); ++b) {
    std::copy(examples[b].begin(), examples[b].end(), rows.begin() + static_cast<std::ptrdiff_t>(b) * longest);
  }
  return Sequences(rows);
}

std::vector<int32_t> Sequences::row(int64_t b) const {
  const auto begin = ids.values.begin() + b * longest();
  return {begin, begin + lengths[static_cast<size_t>(b)]};
}

Ids transposed(const Ids& ids) {
  const size_t rows = static_cast<size_t>(ids.shape[0]), columns = static_cast<size_t>(ids.shape[1]);
  std::vector<int32_t> values(rows * columns);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) values[c * rows + r] = ids.values[r * columns + c];
  }
  return Ids({ids.shape[1], ids.shape[0]}, std::move(values));
}

void require_sources(const char* where, const Batch& batch) {
  const size_t sources = batch.source.lengths().size(), targets = batch.target.lengths.size();
  require(targets > 0, where, ": expected at least one target, got none");
  if (batch.source_of.empty()) {
    require(sources == targets, where, ": expected as many targets as sources, got ", targets, " and ", sources);
    return;
  }
  require(batch.source_of.size() == targets, where, ": source_of needs one source for each of ", targets,
          " targets, got ", batch.source_of.size());
  for (const int32_t source : batch.source_of) {
    require(source >= 0 && static_cast<size_t>(source) < sources, where, ": source_of needs sources within 0 … ",
            static_cast<int64_t>(sources) - 1, ", got ", source);
  }
}

int64_t target_tokens(const Batch& batch) {
  return std::accumulate(batch.target.lengths.begin(), batch.target.lengths.end(), batch.target.count());
}

Ids decoder_inputs(const Sequences& target) {
  const size_t B = static_cast<size_t>(target.count()), T = static_cast<size_t>(target.longest());
  std::vector<int32_t> values(B * (T + 1), kBegin);
  for (size_t b = 0; b < B; ++b) std::copy_n(&target.ids.values[b * T], T, &values[b * (T + 1) + 1]);
  return Ids({target.count(), target.longest() + 1}, std::move(values));
}

Ids decoder_targets(const Sequences& target, int32_t ignored) {
  const size_t B = static_cast<size_t>(target.count()), T = static_cast<size_t>(target.longest());
  std::vector<int32_t> values(B * (T + 1), ignored);
  for (size_t b = 0; b < B; ++b) {
    const size_t length = static_cast<size_t>(target.lengths[b]);
    std::copy_n(&target.ids.values[b * T], length, &values[b * (T + 1)]);
    values[b * (T + 1) + length] = kEnd;
  }
  return Ids({target.count(), target.longest() + 1}, std::move(values));
}

Ids decoder_targets(const Batch& batch) {
  Ids targets = decoder_targets(batch.target);
  count_only(batch, targets);
  return targets;
}

void count_only(const Batch& batch, Ids& targets) {
  if (batch.only.empty()) return;
  const size_t B = batch.only.size(), T = static_cast<size_t>(targets.shape[1]);
  require(static_cast<int64_t>(B) == targets.shape[0], "Batch::only: expected one place for each of ", targets.shape[0],
          " pairs, got ", B);
  for (size_t b = 0; b < B; ++b) {
    for (size_t t = 0; t < T; ++t) {
      if (static_cast<int64_t>(t) != batch.only[b]) targets.values[b * T + t] = -1;
    }
  }
}

}  // namespace attend::data
