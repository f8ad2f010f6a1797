#include "attend/data/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> 8 * i);
  return bytes + header + data;
}

std::string header(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }           \n";
}

Tensor npy_tensor(std::string_view bytes) { return decode_npy(std::as_bytes(std::span(bytes)), "x"); }

std::string npy_refusal(const std::string& bytes) {
  return message_of([&] { npy_tensor(bytes); });
}

TEST(Npy, IsReadInEveryVersionAndPrecision) {
  for (const int version : {1, 2, 3}) {
    const Tensor tensor = npy_tensor(npy(header("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, -0.5F}), version));
    EXPECT_EQ(tensor.shape(), Shape({2, 3}));
    EXPECT_EQ(tensor.data()[5], real(-0.5));
  }
  EXPECT_EQ(npy_tensor(npy(header("<f8", "(2,)"), bytes_of<double>({0.25, 8}))).data()[1], real(8));
  EXPECT_EQ(npy_tensor(npy(header("<f8", "()"), bytes_of<double>({3}))).item(), real(3));
  EXPECT_EQ(npy_tensor(npy(header("<f4", "(0, 4)"), "")).size(), 0u);
  const test::TestFolder folder;
  EXPECT_EQ(read_npy(folder.file("a.npy", npy(header("<f4", "(1,)"), bytes_of<float>({7})))).item(), real(7));
}

TEST(Npy, IsRefusedWhereItIsCutShortOrTooLong) {
  const std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, '\0'));
  ASSERT_EQ(npy_refusal(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(npy_refusal(whole.substr(0, size)), "") << size;
  EXPECT_EQ(npy_refusal(whole.substr(0, whole.size() - 1)), "x: expected 6 numbers of 4 bytes, got 23 bytes");
  EXPECT_EQ(npy_refusal(whole + "1234"), "x: expected 6 numbers of 4 bytes, got 28 bytes");
}

TEST(Npy, IsRefusedWhereItsHeaderLies) {
  EXPECT_NE(npy_refusal(npy(header("<f4", "(4294967296, 4294967296)"), "")), "");
  EXPECT_NE(npy_refusal(npy(header("<f4", "(1, 1, 1, 1, 1, 1, 1)"), "1234")), "");
  EXPECT_TRUE(says(npy_refusal(npy(header("<f4", "(1099511627776,)"), "")), "x: expected 1099511627776 numbers of 4 bytes"));
  for (const char* shape : {"(-1,)", "(1", "1", "(1 1)", "('a',)", "(99999999999999999999,)"}) {
    EXPECT_TRUE(says(npy_refusal(npy(header("<f4", shape), "1234")), "x: expected a header")) << shape;
  }
  EXPECT_TRUE(says(npy_refusal(npy("{'descr': '<f4', 'shape': (1,)}", "1234")), "x: expected a header"));
  EXPECT_TRUE(says(npy_refusal(npy("import os", "1234")), "x: expected a header"));
}

TEST(Npy, IsRefusedWhereItHoldsSomethingElse) {
  EXPECT_TRUE(says(npy_refusal(npy(header(">f4", "(1,)"), "1234")), ", got \">f4\""));
  EXPECT_TRUE(says(npy_refusal(npy(header("<i8", "(1,)"), "12345678")), "astype"));
  EXPECT_TRUE(says(npy_refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "1234")), "Fortran"));
  EXPECT_TRUE(says(npy_refusal(npy(header("<f4", "(1,)"), "1234", 4)), "version 1, 2 or 3"));
  EXPECT_TRUE(says(npy_refusal("PK\x03\x04 a zip of arrays"), "expected an .npy file"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(says(npy_refusal(npy(header("<f4", "(2,)"), bytes_of<float>({0, nan}))), "finite"));
}

}  // namespace
}  // namespace attend::data
