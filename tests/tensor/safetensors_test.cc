#include "attend/tensor/safetensors.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <tuple>

#include "attend/base/error.h"
#include "attend/base/memory.h"
#include "attend/base/random.h"
#include "tests/support/changes.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

/// A separate folder for each test, removed with everything in it.
class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest() : folder_(fs::path(testing::TempDir()) / ("attend-safetensors-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~SafetensorsTest() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string little_endian(uint64_t value, size_t bytes = 8) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

/// A file with this header and this data, whatever they are.
std::string framed(const std::string& header, const std::string& data = "") {
  return little_endian(header.size()) + header + data;
}

SafetensorsFile parse(const std::string& bytes) {
  return SafetensorsFile(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.safetensors");
}

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected: " << part << "\ngot:      " << text;
}

std::vector<NamedTensor> some_tensors() {
  const real tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
  const real infinity = std::numeric_limits<real>::infinity();
  return {{"weight", Tensor::of({2, 3}, {real(1), real(-2.5), tiny, huge, infinity, real(-0.0)})},
          {"nothing", Tensor({4, 0, 2})},
          {"scale", Tensor::scalar(7)},
          {"a \"name\"\n\t/\\", Tensor::of({1, 1, 1, 1, 1, 2}, {3, 4})},
          {"घर → maison 家 🏠", Tensor::of({3}, {5, 6, 7})},
          {"", Tensor::of({1}, {8})},
          {"nothing at the end", Tensor({0})}};
}

void expect_same(const std::vector<NamedTensor>& wanted, const std::vector<NamedTensor>& got) {
  ASSERT_EQ(wanted.size(), got.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(wanted[i].name);
    EXPECT_EQ(wanted[i].name, got[i].name);
    ASSERT_EQ(wanted[i].tensor.shape(), got[i].tensor.shape());
    EXPECT_EQ(0, std::memcmp(wanted[i].tensor.data(), got[i].tensor.data(), wanted[i].tensor.size() * sizeof(real)));
  }
}

// Whole files.

TEST_F(SafetensorsTest, RoundTripKeepsEveryBitTheOrderAndTheNames) {
  write_safetensors(path("a"), some_tensors());
  const SafetensorsFile file(path("a"));
  expect_same(some_tensors(), file.read_all());
  for (const NamedTensor& named : some_tensors()) {
    ASSERT_NE(file.find(named.name), nullptr) << named.name;
    expect_same({named}, {{named.name, file.read(named.name)}});
  }
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_EQ(files(), 1u);
}

TEST_F(SafetensorsTest, RoundTripKeepsThePayloadOfNaN) {
  const float nan = std::bit_cast<float>(0x7FC12345u);
  write_safetensors(path("a"), {{"nan", Tensor::of({1}, {static_cast<real>(nan)})}});
  EXPECT_EQ(std::bit_cast<uint32_t>(static_cast<float>(SafetensorsFile(path("a")).read("nan").item())), 0x7FC12345u);
}

TEST_F(SafetensorsTest, RoundTripOfManyValuesInAllChunks) {
  for (const int64_t size : {4095, 4096, 4097, 100'003}) {
    Tensor many({size});
    for (int64_t i = 0; i < size; ++i) many.data()[i] = static_cast<real>(i);
    write_safetensors(path("a"), {{"first", Tensor::scalar(1)}, {"many", many}, {"last", Tensor::scalar(2)}});
    expect_same({{"first", Tensor::scalar(1)}, {"many", many}, {"last", Tensor::scalar(2)}},
                SafetensorsFile(path("a")).read_all());
  }
}

TEST_F(SafetensorsTest, WritesTheBytesOfTheFormat) {
  write_safetensors(path("a"), {{"w", Tensor::of({1, 2}, {1, -2})}, {"b", Tensor::scalar(0.5)}}, {{"k", "v"}});
  const std::string json = R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                           R"("b":{"dtype":"F32","shape":[],"data_offsets":[8,12]}})";
  const std::string header = json + std::string((8 - json.size() % 8) % 8, ' ');
  EXPECT_NE(json.size() % 8, 0u);
  const std::string data("\x00\x00\x80\x3F\x00\x00\x00\xC0\x00\x00\x00\x3F", 12);
  EXPECT_EQ(bytes_of(path("a")), framed(header, data));
}

TEST_F(SafetensorsTest, MetadataComesBack) {
  const std::map<std::string, std::string> metadata = {{"", ""}, {"\"q\" \n", "\\"}, {"step", "12"}, {"ü", "→ 🏠"}};
  write_safetensors(path("a"), some_tensors(), metadata);
  EXPECT_EQ(SafetensorsFile(path("a")).metadata(), metadata);
  expect_same(some_tensors(), SafetensorsFile(path("a")).read_all());
}

TEST_F(SafetensorsTest, AChecksumFindsEveryChangedByte) {
  const std::map<std::string, std::string> metadata = {{"step", "12"}};
  write_checked_safetensors(path("a"), some_tensors(), metadata);
  const SafetensorsFile file(path("a"));
  file.verify();
  expect_same(some_tensors(), file.read_all());
  EXPECT_EQ(file.metadata().at("step"), "12");
  const std::string bytes = bytes_of(path("a")), name = "attend.checksum";
  const size_t before = bytes.find(name), after = before + name.size();
  ASSERT_EQ(before, 8 + std::string_view(R"({"__metadata__":{")").size()) << "first of all";
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= before && at < after) continue;  // under another name it is not the checksum any more
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(error_of([&] { parse(changed).verify(); }), "(no error)") << at;
  }
  write_checked_safetensors(path("b"), file.read_all(), file.metadata());
  EXPECT_EQ(bytes_of(path("b")), bytes) << "the checksum of another file is not taken over";
  write_safetensors(path("c"), some_tensors());
  SafetensorsFile(path("c")).verify();  // has none
}

TEST_F(SafetensorsTest, WhatIsNotFiniteIsNamed) {
  write_safetensors(path("a"), some_tensors());
  const SafetensorsFile file(path("a"));
  EXPECT_EQ(file.read_finite("scale").item(), 7);
  expect_contains(error_of([&] { file.read_finite("weight"); }),
                  "tensor \"weight\": expected finite numbers, got inf at [1, 1]");
}

TEST_F(SafetensorsTest, NoTensorsAtAll) {
  write_safetensors(path("a"), {});
  EXPECT_TRUE(SafetensorsFile(path("a")).read_all().empty());
  EXPECT_TRUE(parse(framed("{}")).entries().empty());
}

TEST_F(SafetensorsTest, TakesAnyFileName) {
  for (const char* name : {"घर", "with space", "no.extension.tmp"}) {
    write_safetensors(path(name), {{"x", Tensor::scalar(3)}});
    EXPECT_EQ(SafetensorsFile(path(name)).read("x").item(), 3);
  }
}

TEST_F(SafetensorsTest, CopiesShareTheOpenFile) {
  write_safetensors(path("a"), {{"x", Tensor::scalar(3)}});
  std::vector<SafetensorsFile> copies(3, SafetensorsFile(path("a")));
  fs::remove(path("a"));
  for (const SafetensorsFile& file : copies) EXPECT_EQ(file.read("x").item(), 3);
}

// The header of a file made elsewhere.

TEST(Safetensors, ListsEveryTensorInTheOrderOfItsBytes) {
  const std::string header = R"({"z":{"shape":[2],"data_offsets":[6,14],"dtype":"F32"},
      "__metadata__":{"format":"pt"}, "e":{"data_offsets":[6,6],"dtype":"I64","shape":[0,281474976710656]},
      "a":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]}} )";
  const std::string bytes = framed(header, std::string(14, '\0'));
  const SafetensorsFile file = parse(bytes);
  ASSERT_EQ(file.entries().size(), 3u);
  const SafetensorsEntry &a = file.entries()[0], &e = file.entries()[1], &z = file.entries()[2];
  EXPECT_EQ(std::tie(a.name, a.dtype), std::make_tuple("a", "BF16"));
  EXPECT_EQ(a.shape, Shape({3, 1}));
  EXPECT_EQ(std::tie(a.begin, a.end), std::make_tuple(0u, 6u));
  EXPECT_EQ(std::tie(e.name, e.dtype), std::make_tuple("e", "I64"));
  EXPECT_EQ(e.shape, Shape({0, int64_t{1} << 48}));
  EXPECT_EQ(std::tie(e.begin, e.end), std::make_tuple(6u, 6u));
  EXPECT_EQ(std::tie(z.name, z.dtype), std::make_tuple("z", "F32"));
  EXPECT_EQ(z.shape, Shape({2}));
  EXPECT_EQ(std::tie(z.begin, z.end), std::make_tuple(6u, 14u));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.find("z"), &z);
  EXPECT_EQ(file.find("b"), nullptr);
  EXPECT_EQ(file.find("zz"), nullptr);
}

TEST(Safetensors, ReadsAFileOfTheReferenceImplementation) {
  // safetensors.numpy.save (0.8.0) of h = [1, 1/3, 6e-8], d = -2, f = [[1.5, -0.5]], i = [7]
  const std::string header =
      R"({"__metadata__":{"made by":"safetensors 0.8.0"},"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("d":{"dtype":"F64","shape":[],"data_offsets":[8,16]},"f":{"dtype":"F32","shape":[1,2],"data_offsets":[16,24]},)"
      R"("h":{"dtype":"F16","shape":[3],"data_offsets":[24,30]}}      )";
  const std::string bytes = framed(header, little_endian(7) + little_endian(0xC000000000000000) +
                                               little_endian(0xBF0000003FC00000) + little_endian(0x000135553C00, 6));
  ASSERT_EQ(header.size(), 272u);
  const SafetensorsFile file = parse(bytes);
  EXPECT_EQ(file.metadata().at("made by"), "safetensors 0.8.0");
  expect_same({{"d", Tensor::scalar(-2)}}, {{"d", file.read("d")}});
  expect_same({{"f", Tensor::of({1, 2}, {1.5, -0.5})}}, {{"f", file.read("f")}});
  expect_same({{"h", Tensor::of({3}, {1, real(0.333251953125), real(0x1p-24)})}}, {{"h", file.read("h")}});
}

struct DtypeRow {
  const char* name;
  int bits;
  bool read;
  friend std::ostream& operator<<(std::ostream& out, const DtypeRow& row) { return out << row.name; }
};

class SafetensorsDtype : public testing::TestWithParam<DtypeRow> {};

TEST_P(SafetensorsDtype, IsListedAndReadOrRefused) {
  const auto& [name, bits, readable] = GetParam();
  const int bytes = 4 * bits / 8;
  const std::string data(static_cast<size_t>(bytes), '\0');
  const std::string begin = std::string(R"({"x":{"dtype":")") + name + R"(","shape":[4],"data_offsets":[0,)";
  const std::string bytes_in_memory = framed(begin + std::to_string(bytes) + "]}}", data);
  const SafetensorsFile file = parse(bytes_in_memory);
  EXPECT_EQ(file.entries().at(0).dtype, name);
  if (readable) {
    const Tensor zeros = file.read("x");
    EXPECT_EQ(zeros.shape(), Shape({4}));
    for (const real x : zeros) EXPECT_EQ(x, 0);
  } else {
    const std::string message =
        std::string(R"(x.safetensors: tensor "x": expected F32, F64, F16 or BF16, got )") + name;
    EXPECT_EQ(error_of([&] { file.read("x"); }), message);
    EXPECT_EQ(error_of([&] { file.read_all(); }), message);
  }
  expect_contains(error_of([&] { parse(framed(begin + std::to_string(bytes + 1) + "]}}", data + '\0')); }),
                  "expected " + std::to_string(bytes) + " bytes for " + name + " [4], got data_offsets [0, ");
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsDtype,
    testing::ValuesIn<DtypeRow>({{"F32", 32, true},         {"F64", 64, true},     {"F16", 16, true},
                                 {"BF16", 16, true},        {"I64", 64, false},    {"I32", 32, false},
                                 {"I16", 16, false},        {"I8", 8, false},      {"U64", 64, false},
                                 {"U32", 32, false},        {"U16", 16, false},    {"U8", 8, false},
                                 {"BOOL", 8, false},        {"C64", 64, false},    {"F8_E4M3", 8, false},
                                 {"F8_E5M2", 8, false},     {"F8_E8M0", 8, false}, {"F8_E4M3FNUZ", 8, false},
                                 {"F8_E5M2FNUZ", 8, false}, {"F6_E2M3", 6, false}, {"F6_E3M2", 6, false},
                                 {"F4", 4, false}}),
    [](const auto& info) { return std::string(info.param.name); });

// Conversions.

/// The tensor of a file that holds these bytes as `count` numbers of a dtype.
Tensor read_one(const std::string& dtype, size_t count, const std::string& data) {
  const std::string header = R"({"x":{"dtype":")" + dtype + R"(","shape":[)" + std::to_string(count) +
                             R"(],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
  return parse(framed(header, data)).read("x");
}

std::string every_16_bits() {
  std::string data;
  for (uint32_t bits = 0; bits < 65536; ++bits) data += little_endian(bits, 2);
  return data;
}

TEST(Safetensors, ReadsEveryFloat16) {
  const Tensor all = read_one("F16", 65536, every_16_bits());
  for (int bits = 0; bits < 65536; ++bits) {
    // (-1)^s · 2^(e-15) · 1.f; for e = 0: (-1)^s · 2^-14 · 0.f; for e = 31: infinity, or not a number
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double wanted = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) wanted = fraction == 0 ? INFINITY : NAN;
    const real got = all.data()[bits];
    ASSERT_EQ(std::signbit(got), bits >= 32768) << bits;
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(std::abs(got), wanted) << bits;
    }
  }
  EXPECT_EQ(all.data()[0x3555], real(0.333251953125));  // the nearest to 1/3
  EXPECT_EQ(all.data()[0x7BFF], real(65504));           // the largest
  EXPECT_EQ(all.data()[0x0400], real(0x1p-14));         // the smallest normal one
  EXPECT_EQ(all.data()[0x8001], real(-0x1p-24));        // a subnormal one
  EXPECT_EQ(all.data()[0xFC00], -std::numeric_limits<real>::infinity());
}

TEST(Safetensors, ReadsEveryBFloat16) {
  const Tensor all = read_one("BF16", 65536, every_16_bits());
  for (int bits = 0; bits < 65536; ++bits) {
    // (-1)^s · 2^(e-127) · 1.f; for e = 0: (-1)^s · 2^-126 · 0.f; for e = 255: infinity, or not a number
    const int exponent = bits >> 7 & 255, fraction = bits & 127;
    double wanted = exponent == 0 ? std::ldexp(fraction, -133) : std::ldexp(128 + fraction, exponent - 134);
    if (exponent == 255) wanted = fraction == 0 ? INFINITY : NAN;
    const real got = all.data()[bits];
    ASSERT_EQ(std::signbit(got), bits >= 32768) << bits;
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(std::abs(got), wanted) << bits;
    }
  }
  EXPECT_EQ(all.data()[0x4049], real(3.140625));  // the nearest to π
}

TEST(Safetensors, ReadsFloat64RoundedToReal) {
  const double values[] = {1.0 / 3, -0.0, 1e300, 5e-324, -INFINITY, 16777217};
  std::string data;
  for (const double value : values) data += little_endian(std::bit_cast<uint64_t>(value));
  const Tensor got = read_one("F64", 6, data);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(got.data()[i], static_cast<real>(values[i]));
  EXPECT_TRUE(std::signbit(got.data()[1]));
}

// Hostile files.

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets) {
  return '"' + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string with_shape(const std::string& shape) { return framed("{" + tensor("w", shape, "[0,4]") + "}", "1234"); }
std::string with_offsets(const std::string& offsets) { return framed("{" + tensor("w", "[1]", offsets) + "}", "1234"); }

struct HostileRow {
  const char* name;
  std::string bytes;
  std::string message;
  friend std::ostream& operator<<(std::ostream& out, const HostileRow& row) { return out << row.name; }
};

std::vector<HostileRow> hostile_rows() {
  const std::string all = "[0,4]", four = "1234", brackets(1 << 20, '[');
  std::string nested_objects = R"({"a":)";
  for (int i = 0; i < 100'000; ++i) nested_objects += R"({"a":)";
  return {
      // The frame.
      {"empty", "", "expected a safetensors file, at least 8 bytes, got 0"},
      {"seven_bytes", std::string(7, '\0'), "at least 8 bytes, got 7"},
      {"no_header", std::string(8, '\0'), "expected a header that begins with {, got \"\""},
      {"header_longer_than_file", little_endian(3) + "{}", "expected a header of 3 bytes, got a file with 2 bytes"},
      {"header_longest_allowed", little_endian(100'000'000) + "{}", "expected a header of 100000000 bytes, got a file"},
      {"header_too_long", little_endian(100'000'001) + "{}", "a header of at most 100000000 bytes, got 100000001"},
      {"header_length_overflows", little_endian(~uint64_t{0} - 7) + "{}", "got 18446744073709551608"},
      {"data_missing", framed("{" + tensor("w", "[1]", "[0,4]") + "}"), "within the 0 bytes of data, got [0, 4]"},
      {"data_too_short", framed("{" + tensor("w", "[1]", all) + "}", "123"), "within the 3 bytes of data, got [0, 4]"},
      {"data_too_long", framed("{" + tensor("w", "[1]", all) + "}", "12345"), "expected 4 bytes of data after the"},
      {"data_without_tensors", framed("{}", "1"),
       "expected 0 bytes of data after the header, as its tensors have, got 1"},
      // JSON.
      {"text", framed("hello"), "expected a header that begins with {, got \"hello\""},
      {"spaces_first", framed(" {}"), "begins with {, got \" {}\""},
      {"byte_order_mark", framed("\xEF\xBB\xBF{}"), "begins with {"},
      {"list", framed("[]"), "begins with {, got \"[]\""},
      {"null", framed("null"), "begins with {, got \"null\""},
      {"open_object", framed("{"), "expected a header in JSON, got an error at its byte 2"},
      {"open_string", framed(R"({"w)"), "expected a header in JSON, got an error at its byte 4"},
      {"bad_literal", framed(R"({"w":nul})"), R"(got an error at its byte 9, near "\"w\":nul}")"},
      {"no_comma", framed("{" + tensor("v", "[1]", "[0,4]") + tensor("w", "[1]", "[4,8]") + "}"),
       "got an error at its"},
      {"comma_at_end", framed("{" + tensor("w", "[1]", all) + ",}", four), "got an error at its byte"},
      {"comment", framed("{/**/}"), "got an error at its byte 2"},
      {"two_objects", framed("{}{}"), "got an error at its byte 3"},
      {"zero_behind_object", framed(std::string("{}\0x", 4)), "expected a header in JSON, got a zero byte at 2"},
      {"not_utf8", framed("{\"\xFF\":{}}"), "expected a header in JSON, got an error at its byte 3"},
      {"surrogate_alone", framed(R"({"\ud800":{}})"), "expected a header in JSON, got an error"},
      {"nested_lists", framed(brackets), "begins with {, got \"[[[["},
      {"nested_lists_in_object", framed(R"({"a":)" + brackets), "tensor \"a\": expected an object with dtype"},
      {"nested_lists_in_shape", framed(R"({"a":{"shape":)" + brackets),
       "expected a list of whole numbers, none negative"},
      {"nested_objects", framed(nested_objects), R"(tensor "a": "a": expected dtype, shape and data_offsets, nothing)"},
      {"number_beyond_double", with_shape("[1e999]"), "expected a header in JSON, got an error at its byte"},
      {"long_name", framed("{\"" + std::string(1 << 20, 'n') + "\":0}"),
       std::string(80, 'n') + "\"…: expected an object"},
      // Duplicate names.
      {"tensor_twice", framed("{" + tensor("w", "[1]", "[0,4]") + "," + tensor("w", "[1]", "[4,8]") + "}", "12345678"),
       R"(expected each tensor once, got "w" again)"},
      {"same_tensor_twice", framed("{" + tensor("w", "[1]", all) + "," + tensor("w", "[1]", all) + "}", four),
       R"(expected each tensor once, got "w" again)"},
      {"tensor_twice_by_escape",
       framed("{" + tensor("w", "[0]", "[0,0]") + "," + tensor("\\u0077", "[0]", "[0,0]") + "}"),
       R"(expected each tensor once, got "w" again)"},
      {"metadata_twice", framed(R"({"__metadata__":{},"__metadata__":{}})"), "expected __metadata__ at most once"},
      {"metadata_name_twice", framed(R"({"__metadata__":{"k":"1","k":"2"}})"),
       R"(__metadata__: "k": expected each name)"},
      {"dtype_twice", framed(R"({"w":{"dtype":"F32","dtype":"F32"}})"),
       R"(tensor "w": "dtype": given twice)"},
      {"shape_twice", framed(R"({"w":{"shape":[2],"shape":[1]}})"),
       R"(tensor "w": "shape": given twice)"},
      {"offsets_twice", framed(R"({"w":{"data_offsets":[0,4],"data_offsets":[0,4]}})"),
       R"("data_offsets": given twice)"},
      // Fields.
      {"metadata_string", framed(R"({"__metadata__":"k"})"), R"(__metadata__: expected an object of strings, got "k")"},
      {"metadata_null", framed(R"({"__metadata__":null})"), "__metadata__: expected an object of strings, got null"},
      {"metadata_number", framed(R"({"__metadata__":{"k":1}})"), R"(__metadata__: "k": expected a string, got 1)"},
      {"metadata_object", framed(R"({"__metadata__":{"k":{}}})"),
       R"(__metadata__: "k": expected a string, got an object)"},
      {"tensor_null", framed(R"({"w":null})"),
       R"(tensor "w": expected an object with dtype, shape and data_offsets, got null)"},
      {"tensor_true", framed(R"({"w":true})"),
       R"(tensor "w": expected an object with dtype, shape and data_offsets, got true)"},
      {"tensor_number", framed(R"({"w":3})"),
       R"(tensor "w": expected an object with dtype, shape and data_offsets, got 3)"},
      {"tensor_string", framed(R"({"shape":"F32"})"), R"(tensor "shape": expected an object with dtype, shape and)"},
      {"tensor_list", framed(R"({"w":[]})"),
       R"(tensor "w": expected an object with dtype, shape and data_offsets, got a list)"},
      {"no_fields", framed(R"({"w":{}})"), R"(tensor "w": expected dtype, shape and data_offsets, got no dtype)"},
      {"no_dtype", framed(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", four), "got no dtype"},
      {"no_shape", framed(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", four), "got no shape"},
      {"no_offsets", framed(R"({"w":{"dtype":"F32","shape":[1]}})", four), "got no data_offsets"},
      {"another_field", framed(R"({"w":{"stride":[1]}})"),
       R"(tensor "w": "stride": expected dtype, shape and data_offsets)"},
      {"dtype_number", framed(R"({"w":{"dtype":32}})"), R"(tensor "w": "dtype": expected a string, got 32)"},
      {"dtype_list", framed(R"({"w":{"dtype":["F32"]}})"), R"(tensor "w": "dtype": expected a string, got a list)"},
      {"dtype_unknown", framed(R"({"w":{"dtype":"F33"}})"),
       R"("dtype": expected a dtype of the format (F32, BF16, I64, …), got "F33")"},
      {"dtype_small_letters", framed(R"({"w":{"dtype":"f32"}})"), R"(got "f32")"},
      {"dtype_empty", framed(R"({"w":{"dtype":""}})"), R"(expected a dtype of the format (F32, BF16, I64, …), got "")"},
      {"shape_number", with_shape("1"),
       R"(tensor "w": "shape": expected a list of whole numbers, none negative, got 1)"},
      {"shape_object", with_shape("{}"), R"("shape": expected a list of whole numbers, none negative, got an object)"},
      {"shape_of_lists", with_shape("[[1]]"),
       R"("shape": expected a list of whole numbers, none negative, got a list)"},

      {"shape_of_strings", with_shape(R"(["1"])"),
       R"("shape": expected a list of whole numbers, none negative, got "1")"},
      {"shape_negative", with_shape("[-1]"), R"("shape": expected a list of whole numbers, none negative, got -1)"},
      {"shape_negative_twice", with_shape("[-1,-1]"), "none negative, got -1"},
      {"shape_fraction", with_shape("[1.5]"), R"("shape": expected a list of whole numbers, none negative, got 1.5)"},
      {"shape_exponent", with_shape("[1e0]"), "none negative, got 1e0"},
      {"shape_null", with_shape("[null]"), "none negative, got null"},
      {"shape_beyond_64_bits", with_shape("[18446744073709551617]"), "none negative, got 18446744073709551617"},
      {"shape_below_64_bits", with_shape("[-9223372036854775809]"), "none negative, got -9223372036854775809"},
      {"shape_64_bits", with_shape("[18446744073709551615]"),
       "expected at most 2^48 elements, got [] times 18446744073709551615"},
      {"shape_product_overflows", with_shape("[4294967296,4294967296]"),
       "expected at most 2^48 elements, got [4294967296] times"},
      {"shape_product_is_one_mod_2_64", with_shape("[274177,67280421310721]"),
       "expected at most 2^48 elements, got [274177] times"},
      {"shape_beyond_int64_after_zero", with_shape("[0,9223372036854775808]"),
       "expected at most 2^48 elements, got [0] times"},
      {"seven_axes", with_shape("[1,1,1,1,1,1,1]"),
       R"("shape": expected at most 6 axes, got more after [1, 1, 1, 1, 1, 1])"},
      {"offsets_number", with_offsets("4"),
       R"("data_offsets": expected a list of two whole numbers, none negative, got 4)"},
      {"offsets_none", with_offsets("[]"), "expected a list of two whole numbers, none negative, got none"},
      {"offsets_one", with_offsets("[4]"), "expected a list of two whole numbers, none negative, got one"},
      {"offsets_three", with_offsets("[0,4,4]"), "expected a list of two whole numbers, none negative, got more"},
      {"offsets_list", with_offsets("[0,[4]]"), "expected a list of two whole numbers, none negative, got a list"},
      {"offsets_string", with_offsets(R"(["0","4"])"), R"(two whole numbers, none negative, got "0")"},
      {"offsets_negative", with_offsets("[-4,0]"), "two whole numbers, none negative, got -4"},
      {"offsets_fraction", with_offsets("[0,4.0]"), "two whole numbers, none negative, got 4.0"},
      {"offsets_beyond_64_bits", with_offsets("[0,18446744073709551620]"), "none negative, got 18446744073709551620"},
      // Ranges.
      {"begin_behind_end", with_offsets("[4,0]"), R"(tensor "w": expected data_offsets in order, got [4, 0])"},
      {"range_outside", with_offsets("[4,8]"),
       R"(tensor "w": expected data_offsets within the 4 bytes of data, got [4, 8])"},
      {"range_far_outside", with_offsets("[18446744073709551611,18446744073709551615]"), "within the 4 bytes of data"},
      {"empty_range_outside", framed("{" + tensor("w", "[0]", "[5,5]") + "}", four),
       "within the 4 bytes of data, got [5, 5]"},
      {"claims_a_petabyte", framed("{" + tensor("w", "[281474976710656]", "[0,1125899906842624]") + "}", four),
       "expected data_offsets within the 4 bytes of data, got [0, 1125899906842624]"},
      {"claims_petabyte_in_4_bytes", with_shape("[281474976710656]"),
       R"(tensor "w": expected 1125899906842624 bytes for F32 [281474976710656], got data_offsets [0, 4])"},
      {"too_few_bytes", with_offsets("[0,3]"), R"(tensor "w": expected 4 bytes for F32 [1], got data_offsets [0, 3])"},
      {"too_many_bytes", with_shape("[0]"), R"(tensor "w": expected 0 bytes for F32 [0], got data_offsets [0, 4])"},
      {"bytes_of_a_scalar", with_offsets("[0,0]"),
       R"(tensor "w": expected 4 bytes for F32 [1], got data_offsets [0, 0])"},
      {"half_a_byte", framed(R"({"w":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", "1"),
       R"(tensor "w": expected whole bytes, got 12 bits for F4 [3])"},
      {"overlap", framed("{" + tensor("v", "[2]", "[0,8]") + "," + tensor("w", "[2]", "[4,12]") + "}", "123456789012"),
       R"(tensor "w": expected bytes of its own from 8 on, got an overlap from 4 on)"},
      {"same_range", framed("{" + tensor("v", "[1]", all) + "," + tensor("w", "[1]", all) + "}", four),
       R"(tensor "w": expected bytes of its own from 4 on, got an overlap from 0 on)"},
      {"range_within_range",
       framed("{" + tensor("v", "[3]", "[0,12]") + "," + tensor("w", "[1]", "[4,8]") + "}", "123456789012"),
       R"(tensor "w": expected bytes of its own from 12 on, got an overlap from 4 on)"},
      {"empty_within_range",
       framed("{" + tensor("v", "[2]", "[0,8]") + "," + tensor("w", "[0]", "[4,4]") + "}", "12345678"),
       R"(tensor "w": expected bytes of its own from 8 on, got an overlap from 4 on)"},
      {"hole_at_begin", framed("{" + tensor("w", "[1]", "[4,8]") + "}", "12345678"),
       R"(tensor "w": expected no hole in the data, got one of 4 bytes before 4)"},
      {"hole_between",
       framed("{" + tensor("v", "[1]", "[0,4]") + "," + tensor("w", "[1]", "[7,11]") + "}", "12345678901"),
       R"(tensor "w": expected no hole in the data, got one of 3 bytes before 7)"},
      {"hole_at_end", framed("{" + tensor("w", "[1]", "[0,4]") + "}", "12345678"),
       "expected 4 bytes of data after the header, as its tensors have, got 8"},
  };
}

class SafetensorsHostile : public testing::TestWithParam<HostileRow> {};

TEST_P(SafetensorsHostile, IsRefusedBeforeAnythingIsAllocated) {
  const auto& [name, bytes, wanted] = GetParam();
  memory::reset_peak();
  const memory::Usage before = memory::usage();
  const std::string message = error_of([&bytes = bytes] { parse(bytes); });
  const memory::Usage after = memory::usage();
  EXPECT_EQ(message.substr(0, 15), "x.safetensors: ");
  expect_contains(message, wanted);
  EXPECT_LT(message.size(), 400u);
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_EQ(after.peak, before.peak);
}

INSTANTIATE_TEST_SUITE_P(All, SafetensorsHostile, testing::ValuesIn(hostile_rows()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(SafetensorsTest, HostileFilesOnDiskGiveTheSameMessages) {
  for (const HostileRow& row : hostile_rows()) {
    SCOPED_TRACE(row.name);
    put(path("x.safetensors"), row.bytes);
    const std::string message = error_of([&] { SafetensorsFile file(path("x.safetensors")); });
    EXPECT_EQ(message.substr(0, path("x.safetensors").native().size() + 2), path("x.safetensors").native() + ": ");
    expect_contains(message, row.message);
  }
}

TEST_F(SafetensorsTest, MemoryIsTakenWhenATensorIsReadAndNotBefore) {
  write_safetensors(path("a"), {{"big", Tensor::zeros({1 << 16})}, {"small", Tensor::scalar(1)}});
  memory::reset_peak();
  const memory::Usage before = memory::usage();
  const SafetensorsFile file(path("a"));
  EXPECT_EQ(memory::usage().peak, before.peak);
  EXPECT_EQ(file.read("small").item(), 1);
  EXPECT_LT(memory::usage().peak, before.peak + 1024);
  const Tensor big = file.read("big");
  EXPECT_GE(memory::usage().in_use, before.in_use + sizeof(real) * (1 << 16));
}

TEST_F(SafetensorsTest, EveryShorterCopyIsRefused) {
  write_safetensors(path("a"), some_tensors(), {{"step", "12"}});
  const std::string whole = bytes_of(path("a"));
  ASSERT_GT(whole.size(), 500u);
  for (size_t length = whole.size(); length-- > 0;) {
    EXPECT_THROW(parse(whole.substr(0, length)), Error) << length;
    fs::resize_file(path("a"), length);
    EXPECT_THROW(SafetensorsFile{path("a")}, Error) << length;
  }
  EXPECT_THROW(parse(whole + '\0'), Error);
}

TEST_F(SafetensorsTest, AnyChangedByteGivesAnErrorOrTensors) {
  write_safetensors(path("a"), some_tensors(), {{"step", "12"}});
  const std::string whole = bytes_of(path("a"));
  size_t refused = 0, taken = 0;
  const auto attempt = [&](const std::string& bytes) {
    try {
      for (const NamedTensor& named : parse(bytes).read_all()) ASSERT_LE(named.tensor.size(), whole.size());
      ++taken;
    } catch (const Error&) {
      ++refused;
    }
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
      attempt(changed);
    }
  }
  Random random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string changed = whole;
    changed[random.below(whole.size())] = static_cast<char>(random.below(256));
    attempt(changed);
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(taken, 1000u);  // those that change a name or a number of the data
}

// Reading: what the file system brings.

TEST_F(SafetensorsTest, RefusesWhatIsNoFile) {
  expect_contains(error_of([&] { SafetensorsFile file(path("none")); }),
                  path("none").native() + ": cannot open the file: No such file or directory");
  expect_contains(error_of([&] { SafetensorsFile file(folder_); }), "expected a regular file, got a folder");
  expect_contains(error_of([&] { SafetensorsFile file("/dev/zero"); }), "/dev/zero: expected a regular file");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_contains(error_of([&] { SafetensorsFile file(path("pipe")); }), "expected a regular file");
}

TEST_F(SafetensorsTest, NamesTheTensorThatIsMissing) {
  write_safetensors(path("a"), some_tensors());
  const SafetensorsFile file(path("a"));
  EXPECT_EQ(error_of([&] { file.read("bias"); }),
            path("a").native() + R"(: expected a tensor "bias", got none of that name among 7)");
}

TEST_F(SafetensorsTest, AFileThatShrinksWhileOpenGivesAnError) {
  write_safetensors(path("a"), {{"w", Tensor::zeros({1000})}});
  const SafetensorsFile file(path("a"));
  fs::resize_file(path("a"), fs::file_size(path("a")) - 1);
  expect_contains(error_of([&] { file.read("w"); }), "got the end of the file: it was shortened after it was opened");
}

// Writing: what can go wrong.

TEST_F(SafetensorsTest, RefusesToWriteWhatCannotBeReadBack) {
  const Tensor one = Tensor::scalar(1);
  const auto message = [&](const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, std::string>& metadata) {
    return error_of([&] { write_safetensors(path("a"), tensors, metadata); });
  };
  const std::string where = "write_safetensors: " + path("a").native() + ": ";
  EXPECT_EQ(message({{"w", one}, {"v", one}, {"w", one}}, {}), where + R"(expected each name once, got "w" again)");
  EXPECT_EQ(message({{"w", Tensor()}}, {}), where + R"(tensor "w" is undefined)");
  EXPECT_EQ(message({{"__metadata__", one}}, {}), where + "no tensor may have the name __metadata__");
  expect_contains(message({{"\xFF", one}}, {}), where + "expected names and metadata in UTF-8, got \"");
  expect_contains(message({}, {{"k", "\xC3"}}), where + "expected names and metadata in UTF-8, got \"");
  expect_contains(message({}, {{"\xC3", "v"}}), where + "expected names and metadata in UTF-8, got \"");
  expect_contains(message({}, {{"k", std::string(100'000'000, 'v')}}),
                  where + "expected names and metadata of at most");
  EXPECT_EQ(files(), 0u);
}

TEST_F(SafetensorsTest, AFolderThatIsMissingIsNamed) {
  const fs::path target = path("missing") / "a";
  EXPECT_EQ(
      error_of([&] { write_safetensors(target, some_tensors()); }),
      "write_safetensors: " + target.native() + ": cannot create a file beside it: No such file or directory");
  EXPECT_EQ(files(), 0u);
}

TEST_F(SafetensorsTest, AFolderInThePlaceOfTheFileIsLeftAlone) {
  fs::create_directory(path("a"));
  put(path("a") / "inside", "kept");
  EXPECT_EQ(error_of([&] { write_safetensors(path("a"), some_tensors()); }),
            "write_safetensors: " + path("a").native() + ": cannot replace it: Is a directory");
  EXPECT_EQ(bytes_of(path("a") / "inside"), "kept");
  EXPECT_EQ(files(), 1u);
}

/// For its lifetime no file may grow beyond `bytes`: writing on fails half-way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    signal_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  sighandler_t signal_;
};

TEST_F(SafetensorsTest, AWriteThatFailsHalfWayLeavesTheFileAndNothingElse) {
  write_safetensors(path("a"), some_tensors());
  const std::string before = bytes_of(path("a"));
  std::string message;
  {
    FileSizeLimit limit(10'000);
    message = error_of([&] { write_safetensors(path("a"), {{"big", Tensor::zeros({100'000})}}); });
  }
  EXPECT_EQ(message, "write_safetensors: " + path("a").native() + ": cannot write it: File too large");
  EXPECT_EQ(bytes_of(path("a")), before);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SafetensorsTest, AKillAtAnyMomentLeavesAGoodFile) {
  const auto version = [](real x) { return std::vector<NamedTensor>{{"w", Tensor::full({100'000}, x)}}; };
  write_safetensors(path("a"), version(0));
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    test::Changes changes(path("a").parent_path());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (real x = 1;; ++x) write_safetensors(path("a"), version(x));
    }
    for (size_t left = random.below(40); left > 0;) left -= std::min(left, changes.wait());
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Tensor got = SafetensorsFile(path("a")).read("w");
    ASSERT_EQ(got.shape(), Shape({100'000}));
    for (const real x : got) ASSERT_EQ(x, *got.begin());
  }
  write_safetensors(path("a"), version(0));
  EXPECT_EQ(SafetensorsFile(path("a")).read("w").data()[0], 0);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SafetensorsTest, NewFilesHaveTheUsualPermissions) {
  const mode_t before = umask(027);
  write_safetensors(path("a"), some_tensors());
  umask(before);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
}

}  // namespace
}  // namespace attend
