#include "tensor/safetensors.h"

#include <gtest/gtest.h>

#include "support/bytes.h"
#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  return little<uint64_t>({header.size()}) + header + data;
}

SafeTensors load(const std::string& bytes) {
  Folder folder;
  write_file(folder / "x.safetensors", bytes);
  return load_safetensors(folder / "x.safetensors", default_allocator());
}

std::string refusal(const std::string& header, const std::string& data) {
  return failure_of([&] { load(file_of(header, data)); });
}

// A header with one f32[1] tensor and what else is given.
std::string with(const std::string& more) {
  return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})" + more + "}";
}
const std::string kFour = little({1.5f});

TEST(SafeTensors, reads_bytes_written_by_hand) {
  auto file = load(file_of(R"({"__metadata__":{"k":"v\n"},"b":{"dtype":"I64","shape":[2,1],"data_offsets":[4,20]},)"
                           R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                           kFour + little<int64_t>({-1, 7})));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.metadata, (Metadata{{"k", "v\n"}}));
  EXPECT_EQ(file.tensors[0].name, "b");
  EXPECT_EQ(name(file.tensors[0].tensor->type()), "i64[2, 1]");
  EXPECT_EQ(values_of<int64_t>(*file.tensors[0].tensor), (std::vector<int64_t>{-1, 7}));
  EXPECT_EQ(name(file.tensors[1].tensor->type()), "f32[]");
  EXPECT_EQ(values_of<float>(*file.tensors[1].tensor), std::vector<float>{1.5f});
}

TEST(SafeTensors, gives_back_every_dtype) {
  Folder folder;
  std::vector<NamedTensor> all;
  for (auto& row : all_dtypes()) {
    auto t = Tensor::empty(default_allocator(), type_of(row.dtype, {3, 1}));
    for (size_t i = 0; i < t->bytes(); i++) t->data()[i] = static_cast<std::byte>(i % 2);
    all.push_back({cat("x.", row.name), t});
  }
  all.push_back({"empty", Tensor::empty(default_allocator(), type_of(DType::f32, {0, 5}))});
  save_safetensors(folder / "x", all, {{"format", "pt"}, {"quote\"\\", "\x01 \xc3\xa9"}});
  auto back = load_safetensors(folder / "x", default_allocator());
  EXPECT_EQ(back.metadata, (Metadata{{"format", "pt"}, {"quote\"\\", "\x01 \xc3\xa9"}}));
  ASSERT_EQ(back.tensors.size(), all.size());
  size_t last_item = 8;
  for (auto& [name, t] : back.tensors) {
    auto original = std::find_if(all.begin(), all.end(), [&](auto& a) { return a.name == name; });
    ASSERT_NE(original, all.end()) << name;
    EXPECT_EQ(t->type(), original->tensor->type());
    EXPECT_TRUE(t->bytes() == 0 || !std::memcmp(t->data(), original->tensor->data(), t->bytes())) << name;
    EXPECT_LE(size_of(t->type().dtype), last_item) << "larger items come first, so that all are aligned";
    last_item = size_of(t->type().dtype);
  }
}

TEST(SafeTensors, writes_exactly_these_bytes) {
  Folder folder;
  std::vector<NamedTensor> tensors = {{"b", tensor_of<uint8_t>(DType::u8, {1}, {9})},
                                      {"c", tensor_of<float>(DType::f32, {1}, {1.5f})},
                                      {"a", tensor_of<float>(DType::f32, {}, {2})}};
  save_safetensors(folder / "x", tensors, {});
  std::string header = R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                       R"("c":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                       R"("b":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})";
  while (header.size() % 8) header += ' ';
  EXPECT_EQ(read_file(folder / "x", 1000), file_of(header, little({2.0f, 1.5f}) + "\x09"));
}

TEST(SafeTensors, writes_a_view_as_what_it_shows) {
  Folder folder;
  auto base = tensor_of<float>(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto columns = Tensor::view(base->storage(), type_of(DType::f32, {3, 2}), Sizes{1, 3}, 0);
  std::vector<NamedTensor> one = {{"t", columns}};
  save_safetensors(folder / "x", one, {});
  auto back = load_safetensors(folder / "x", default_allocator());
  EXPECT_EQ(values_of<float>(*back.tensors[0].tensor), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(SafeTensors, may_hold_nothing) {
  Folder folder;
  save_safetensors(folder / "x", {}, {});
  EXPECT_TRUE(load_safetensors(folder / "x", default_allocator()).tensors.empty());
  save_safetensors(folder / "x", {}, {{"a", "b"}});
  EXPECT_EQ(load_safetensors(folder / "x", default_allocator()).metadata.size(), 1u);
}

TEST(SafeTensors, reads_data_that_is_not_aligned) {
  auto file = load(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                           R"("b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
                           "\x05" + little({0.25})));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.tensors[1].tensor->data()) % 8, 0u);
  EXPECT_EQ(values_of<double>(*file.tensors[1].tensor), std::vector<double>{0.25});
}

TEST(SafeTensors, refuses_headers_that_are_not_the_format) {
  EXPECT_PRED2(contains, failure_of([] { load("1234567"); }), "expected at least 8 bytes, found 7");
  EXPECT_PRED2(contains, failure_of([] { load(little<uint64_t>({100'000'001})); }), "at most 100000000");
  EXPECT_PRED2(contains, failure_of([] { load(little<uint64_t>({UINT64_MAX})); }), "at most 100000000");
  EXPECT_PRED2(contains, failure_of([] { load(little<uint64_t>({3}) + "{}"); }), "claims 3 bytes, but only 2");
  EXPECT_PRED2(contains, refusal("", ""), "does not begin with '{'");
  EXPECT_PRED2(contains, refusal(" {}", ""), "does not begin with '{'");
  EXPECT_PRED2(contains, refusal("[]", ""), "does not begin with '{'");
  EXPECT_PRED2(contains, refusal("{} x", ""), "not JSON");
  EXPECT_PRED2(contains, refusal("{\"a\xff\":1}", ""), "not UTF-8");
  EXPECT_PRED2(contains, refusal(std::string("{}\0", 3), ""), "a zero byte");
  EXPECT_PRED2(contains, refusal(R"({"a\u0000b":1})", ""), "a zero character");
  EXPECT_PRED2(contains, refusal("{\"a\":" + std::string(5000, '[') + "}", ""), "not JSON");
  EXPECT_EQ(load(file_of("{}      ", "")).tensors.size(), 0u);
}

TEST(SafeTensors, refuses_duplicates_and_keeps_case_apart) {
  EXPECT_PRED2(contains, refusal(with(R"(,"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), kFour + kFour),
               "the name 'a' occurs twice");
  EXPECT_PRED2(contains, refusal(R"({"__metadata__":{"k":"1","k":"2"}})", ""), "metadata 'k' occurs twice");
  EXPECT_PRED2(contains, refusal(R"({"__metadata__":{},"__metadata__":{}})", ""), "'__metadata__' occurs twice");
  EXPECT_PRED2(contains, refusal(R"({"a":{"dtype":"F32","dtype":"U8","shape":[1],"data_offsets":[0,4]}})", kFour),
               "has 'dtype' twice");
  EXPECT_PRED2(contains, refusal(R"({"a":{"DTYPE":"F32","shape":[1],"data_offsets":[0,4]}})", kFour),
               "unknown field 'DTYPE'");
  EXPECT_EQ(
      load(file_of(with(R"(,"A":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), kFour + kFour)).tensors.size(),
      2u);
}

TEST(SafeTensors, refuses_fields_of_the_wrong_kind) {
  auto entry = [](const std::string& fields) { return refusal("{\"a\":" + fields + "}", kFour); };
  EXPECT_PRED2(contains, entry("3"), "not described by an object");
  EXPECT_PRED2(contains, entry("{}"), "lacks a dtype string");
  EXPECT_PRED2(contains, entry(R"({"dtype":1,"shape":[1],"data_offsets":[0,4]})"), "lacks a dtype string");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":{},"data_offsets":[0,4]})"), "a shape list");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,5]})"), "other than two");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":["1"],"data_offsets":[0,4]})"), "not a number");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "expected an integer from 0");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), "of 1.5");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,1e400]})"), "of inf");
  EXPECT_PRED2(contains, entry(R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})"), "dtype F8_E4M3; these can be read");
  EXPECT_PRED2(contains, refusal(R"({"__metadata__":{"k":1}})", ""), "metadata 'k' is not a string");
  EXPECT_PRED2(contains, refusal(R"({"__metadata__":[]})", ""), "metadata is not an object");
  EXPECT_PRED2(contains, refusal(R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x02"), "byte 1");
}

TEST(SafeTensors, refuses_holes_overlaps_and_wrong_sizes) {
  auto two = [](const std::string& first, const std::string& second, size_t bytes) {
    return refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
                       R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}",
                   std::string(bytes, '\0'));
  };
  EXPECT_PRED2(contains, two("[0,4]", "[5,9]", 9), "begins at byte 5, but the one before it ends at 4");
  EXPECT_PRED2(contains, two("[0,4]", "[2,6]", 6), "begins at byte 2");
  EXPECT_PRED2(contains, two("[4,8]", "[8,12]", 12), "begins at byte 4");
  EXPECT_PRED2(contains, two("[0,4]", "[4,9]", 9), "needs 4 bytes, but its data_offsets are [4, 9]");
  EXPECT_PRED2(contains, two("[0,4]", "[8,4]", 9), "[8, 4]");
  EXPECT_PRED2(contains, two("[0,4]", "[4,8]", 7), "truncated: its tensors need 8 bytes, but only 7");
  EXPECT_PRED2(contains, two("[0,4]", "[4,8]", 9), "1 bytes at its end belong to no tensor");
  const std::string most = "281474976710655";
  EXPECT_PRED2(contains,
               refusal(R"({"a":{"dtype":"F32","shape":[)" + most + "," + most + R"(],"data_offsets":[0,4]}})", kFour),
               "would not fit in memory");
}

TEST(SafeTensors, survives_damage_at_every_byte) {
  const std::string bytes = file_of(R"({"__metadata__":{"k":"\u00e9"},"b":{"dtype":"BOOL","shape":[2,1],)"
                                    R"("data_offsets":[4,6]},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                                    kFour + std::string("\0\1", 2));
  expect_survives_damage(bytes, [](const std::string& path) { load_safetensors(path, default_allocator()); });
}

TEST(SafeTensors, refuses_to_save_what_it_could_not_load) {
  Folder folder;
  auto t = tensor_of<float>(DType::f32, {1}, {1});
  auto save = [&](std::vector<NamedTensor> tensors, const Metadata& metadata) {
    return failure_of([&] { save_safetensors(folder / "x", tensors, metadata); });
  };
  EXPECT_PRED2(contains, save({{"a", t}, {"a", t}}, {}), "tensor 'a' occurs twice");
  EXPECT_PRED2(contains, save({{"__metadata__", t}}, {}), "does not allow");
  EXPECT_PRED2(contains, save({{"\xff", t}}, {}), "does not allow");
  EXPECT_PRED2(contains, save({{"a", Tensor::proxy(t->type(), nullptr, 0)}}, {}), "has no data");
  TensorType deep = t->type();
  deep.shape.clear();
  for (size_t d = 0; d <= kMaxRank; d++) deep.shape.push_back(1);
  EXPECT_PRED2(contains, save({{"a", Tensor::view(t->storage(), deep, dense_strides(deep.shape), 0)}}, {}), "tensor 'a' has 33 dims; files hold tensors of at most 32");
  EXPECT_PRED2(contains, save({}, {{"k", "1"}, {"k", "2"}}), "metadata 'k' occurs twice");
  EXPECT_PRED2(contains, save({}, {{"k", std::string("\0", 1)}}), "without zeros");
  EXPECT_EQ(folder.count(), 0u);
}

}  // namespace
}  // namespace thunder
