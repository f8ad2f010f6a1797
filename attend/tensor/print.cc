// How a tensor is written: its shape and its values; of many, those at the ends of every axis, as numpy does it.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include "attend/tensor/tensor.h"

namespace attend {
namespace {

constexpr size_t kMostWhole = 100;  // more values than these are summarised

/// Values that are shown at each end of an axis; with it at most 6³ values are written, whatever the rank.
int64_t ends_of(int rank) { return rank <= 3 ? 3 : 1; }

std::string number_of(real value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", static_cast<double>(value));
  return text;
}

/// The values that are shown, in brackets by axis, columns aligned.
class ValueText {
 public:
  explicit ValueText(const Tensor& tensor)
      : tensor_(tensor), ends_(tensor.size() > kMostWhole ? ends_of(tensor.rank()) : 0) {
    visit(0, 0, [this](real value) { width_ = std::max(width_, number_of(value).size()); });
  }

  std::string text() {
    print(0, 0);
    return std::move(out_);
  }

 private:
  bool cut(int axis) const { return ends_ > 0 && tensor_.dim(axis) > 2 * ends_; }
  /// The place after i, past what an axis leaves out.
  int64_t after(int axis, int64_t i) const {
    return cut(axis) && i + 1 == ends_ ? tensor_.dim(axis) - ends_ : i + 1;
  }
  size_t place(int axis, size_t begin, int64_t i) const {
    return begin + static_cast<size_t>(i) * tensor_.shape().inner(axis);
  }

  template <class Visit>
  void visit(int axis, size_t begin, const Visit& value) const {
    if (axis == tensor_.rank()) return value(tensor_.data()[begin]);
    for (int64_t i = 0; i < tensor_.dim(axis); i = after(axis, i)) visit(axis + 1, place(axis, begin, i), value);
  }

  void print(int axis, size_t begin) {
    if (axis == tensor_.rank()) {
      const std::string number = number_of(tensor_.data()[begin]);
      out_ += std::string(width_ - number.size(), ' ') + number;
      return;
    }
    const bool rows = axis + 1 < tensor_.rank();
    const std::string between = rows ? ",\n" + std::string(static_cast<size_t>(axis) + 1, ' ') : ", ";
    out_ += '[';
    for (int64_t i = 0; i < tensor_.dim(axis); i = after(axis, i)) {
      if (i > 0) out_ += between;
      if (cut(axis) && i == tensor_.dim(axis) - ends_) out_ += "…" + between;
      print(axis + 1, place(axis, begin, i));
    }
    out_ += ']';
  }

  const Tensor& tensor_;
  const int64_t ends_;  // 0: all values are shown
  size_t width_ = 0;
  std::string out_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "undefined tensor";
  return out << tensor.shape() << (tensor.rank() > 1 ? "\n" : " ") << ValueText(tensor).text();
}

}  // namespace attend
