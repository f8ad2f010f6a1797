// How right a model is: examples answered, by one or by several ranks, and what scores look at of them.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/packed.h"
#include "attend/tasks/model.h"

namespace attend::tasks {

std::map<std::string, double> Scored::scores(const TaskRow& row) const {
  std::map<std::string, double> all;
  if (judged.outputs.empty()) return all;
  for (const std::string_view name : row.scores) {
    const double score = train::score_named(name).score(judged);
    if (!std::isnan(score)) all[std::string(name)] = score;
  }
  return all;
}

namespace {

using Loss = std::pair<double, double>;  // of a batch, and its weight

/// Some examples that were answered together.
struct Block {
  std::vector<Loss> losses;
  Scored scored;
};

/// With right answers in the spelling that the model has.
void add_spelled(const TaskModel& model, const Example& example, train::Judged& judged) {
  add_example(example, judged);
  for (std::string& one : judged.right.back()) one = model.output().spelled(one);
}

/// The loss of one batch, and how much it weighs: targets of searched answers, else examples.
Loss loss_of(const TaskModel& model, const data::Batch& batch) {
  const TapePause pause;
  const double weight =
      static_cast<double>(model.output().searches() ? data::target_tokens(batch) : batch.source.count());
  return {static_cast<double>(model.model().loss(batch).item()), weight};
}

/// How many of the first examples can be in one batch.
size_t joined_count(const TaskModel& model, std::span<const Example> examples) {
  const auto* first = std::get_if<data::Image>(&examples[0].inputs.at(0));
  if (!first || !model.config().options.images.keep_size) return examples.size();
  const auto other = std::ranges::find_if(examples, [&](const Example& e) {
    const auto* image = std::get_if<data::Image>(&e.inputs.at(0));
    return !image || image->height != first->height || image->width != first->width;
  });
  return static_cast<size_t>(other - examples.begin());
}

/// The texts of an example by the names of the task's inputs.
std::vector<std::pair<std::string, std::string>> named_texts(const TaskRow& row, const Example& example) {
  std::vector<std::pair<std::string, std::string>> all;
  for (size_t i = 0; i < example.inputs.size(); ++i) {
    if (const auto* text = std::get_if<std::string>(&example.inputs[i])) all.emplace_back(row.inputs[i].name, *text);
  }
  return all;
}

void add_links(Packing& out, const std::vector<data::Links>& all) {
  std::vector<std::string> texts;
  for (const data::Links& one : all) texts.push_back(data::print_links(one));
  out.add(texts);
}

void take_links(Unpacking& in, std::vector<data::Links>& all) {
  for (const std::string& one : in.taken<std::vector<std::string>>()) all.push_back(data::parse_links("rank", one));
}

void add_block(Packing& out, const Block& block) {
  const Scored& s = block.scored;
  out.add(block.losses).add(s.examples).add(s.titles).add(s.inputs);
  out.add(s.judged.outputs).add(s.judged.right).add(s.judged.sources).add(s.judged.groups);
  add_links(out, s.links), add_links(out, s.gold);
}

Block take_block(Unpacking& in) {
  Block block;
  Scored& s = block.scored;
  in.take(block.losses), in.take(s.examples), in.take(s.titles), in.take(s.inputs);
  in.take(s.judged.outputs), in.take(s.judged.right), in.take(s.judged.sources), in.take(s.judged.groups);
  take_links(in, s.links), take_links(in, s.gold);
  return block;
}

template <class Item>
void append(std::vector<Item>& all, std::vector<Item>& some) {
  std::ranges::move(some, std::back_inserter(all));
}

void append(Scored& all, Scored& some) {
  all.examples += some.examples;
  append(all.titles, some.titles), append(all.inputs, some.inputs);
  append(all.judged.outputs, some.judged.outputs), append(all.judged.right, some.judged.right);
  append(all.judged.sources, some.judged.sources), append(all.judged.groups, some.judged.groups);
  append(all.links, some.links), append(all.gold, some.gold);
}

/// Examples [begin, end).
Block evaluate_some(const TaskModel& model, const Examples& examples, int64_t begin, int64_t end,
                    const EvaluateOptions& options) {
  Block block;
  Scored& result = block.scored;
  std::vector<Example> some;
  for (int64_t i = begin; i < end; ++i) some.push_back(examples.at(i));
  result.examples = std::ssize(some);
  for (std::span<const Example> rest = some; options.loss && !rest.empty();) {
    const size_t count = joined_count(model, rest);
    block.losses.push_back(loss_of(model, model.batch(rest.first(count))));
    rest = rest.subspan(count);
  }
  if (model.output().is_image()) return block;
  AnswerOptions answer = options.answer;
  answer.align = options.align && std::ranges::any_of(some, [](const Example& e) { return !e.links.empty(); });
  answer.search.first_sentence += begin;
  const auto answers = model.answer(some, answer);
  for (size_t i = 0; i < some.size(); ++i) {
    result.titles.push_back(some[i].title()), result.judged.outputs.push_back(answers[i].at(0).text);
    if (some[i].inputs.size() > 1) result.inputs.push_back(named_texts(model.row(), some[i]));
    add_spelled(model, some[i], result.judged);
    if (options.align) result.links.push_back(answers[i][0].links), result.gold.push_back(some[i].links);
  }
  return block;
}

/// The blocks of all ranks, in the order of the examples: rank r computed every size-th, from its r-th on.
std::vector<Block> exchanged(train::Company& company, std::vector<Block> own, size_t count) {
  if (company.alone()) return own;
  Packing packed;
  for (const Block& block : own) add_block(packed, block);
  const std::vector<std::string> texts = company.gathered(std::move(packed).bytes());
  std::vector<Unpacking> ranks(texts.begin(), texts.end());
  std::vector<Block> all;
  for (size_t b = 0; b < count; ++b) all.push_back(take_block(ranks[b % ranks.size()]));
  return all;
}

}  // namespace

void add_example(const Example& example, train::Judged& judged) {
  const auto* text = std::get_if<std::string>(&example.inputs.at(0));
  judged.right.push_back(example.right);
  judged.sources.push_back(text ? *text : "");
  judged.groups.push_back(example.group);
}

bool has_links(const Examples& examples) {
  for (int64_t i = 0; i < examples.count; ++i) {
    if (!examples.at(i).links.empty()) return true;
  }
  return false;
}

Scored evaluate(const TaskModel& model, const Examples& examples, const EvaluateOptions& options) {
  train::Company& company = options.company ? *options.company : train::alone();
  const int64_t count = options.most > 0 ? std::min(options.most, examples.count) : examples.count;
  const int64_t at_once = model.row().input().at_once;
  std::vector<Block> own;
  for (int64_t at = at_once * company.rank(); at < count; at += at_once * company.size()) {
    own.push_back(evaluate_some(model, examples, at, std::min(count, at + at_once), options));
    if (options.done) options.done(std::min(count, at + at_once * company.size()));
  }
  Scored result;
  double weights = 0;
  for (Block& block : exchanged(company, std::move(own), static_cast<size_t>((count + at_once - 1) / at_once))) {
    for (const auto& [loss, weight] : block.losses) result.loss += weight * loss, weights += weight;
    append(result, block.scored);
  }
  if (options.loss) result.loss /= weights;
  return result;
}

Scored evaluate_answer(const TaskModel& model, const Examples& examples, const std::string& answer) {
  require(!model.output().is_image(), "answer: expected a model that answers with words, got an ",
          model.config().model.name, ", which answers with images");
  Scored result{.examples = examples.count};
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example one = examples.at(i);
    result.titles.push_back(one.title()), result.judged.outputs.push_back(model.output().spelled(answer));
    add_spelled(model, one, result.judged);
  }
  return result;
}

}  // namespace attend::tasks
