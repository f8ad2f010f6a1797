// Values as bytes, and back.
#include "attend/base/packed.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/base/temporary_folder.h"
#include "tests/support/message.h"

namespace attend {
namespace {

using Pairs = std::vector<std::pair<std::string, double>>;

TEST(Packed, ComesBackAsItWas) {
  const Pairs pairs{{"a", 0.1}, {std::string("\0\xff", 2), -0.0}, {"", std::numeric_limits<double>::infinity()}};
  const std::vector<std::vector<std::string>> nested{{"x", "yz"}, {}, {""}};
  Packing out;
  out.add(int64_t{-7}).add(true).add(pairs).add(nested).add(std::string("end"));
  const std::string bytes = std::move(out).bytes();
  Unpacking in(bytes);
  EXPECT_EQ(in.taken<int64_t>(), -7);
  EXPECT_EQ(in.taken<bool>(), true);
  EXPECT_EQ(in.taken<Pairs>(), pairs);
  EXPECT_EQ(in.taken<std::vector<std::vector<std::string>>>(), nested);
  EXPECT_FALSE(in.at_end());
  EXPECT_EQ(in.taken<std::string>(), "end");
  EXPECT_TRUE(in.at_end());
}

TEST(Packed, RefusesToBeCutShort) {
  Packing out;
  out.add(std::string("some text")).add(Pairs{{"a", 1}});
  const std::string bytes = std::move(out).bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = test::message_of([&] {
      Unpacking in(std::string_view(bytes).substr(0, size));
      in.taken<std::string>(), in.taken<Pairs>();
    });
    EXPECT_TRUE(test::says(message, "unpacking: expected")) << size;
  }
}

TEST(TemporaryFolder, IsGoneWithWhatWasPutIntoIt) {
  std::filesystem::path path;
  {
    const TemporaryFolder one("attend-test"), other("attend-test");
    path = one.path();
    EXPECT_NE(one.path(), other.path());
    std::filesystem::create_directories(path / "a" / "b");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace attend
