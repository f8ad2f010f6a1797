#include "attend/tasks/example.h"

namespace attend::tasks {

Examples examples_of(std::vector<Example> all) {
  const auto kept = std::make_shared<const std::vector<Example>>(std::move(all));
  const auto of = [kept](int64_t i) -> const Example& { return (*kept)[static_cast<size_t>(i) % kept->size()]; };
  return {static_cast<int64_t>(kept->size()), [of](int64_t i) { return of(i); }, [of](int64_t i) { return of(i).right; }};
}

void Corpus::each_right(const std::function<void(const std::vector<std::string>&)>& visit) const {
  if (stream) {
    stream->rewind();
    for (Example example; stream->next(example);) visit(example.right);
    return;
  }
  for (int64_t i = 0; i < train.count; ++i) visit(train.right(i));
}

}  // namespace attend::tasks
