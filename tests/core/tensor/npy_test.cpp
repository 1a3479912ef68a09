#include "tensor/npy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/bytes.h"
#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

std::string file_of(const std::string& header, const std::string& data, int version = 1) {
  std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  if (version == 1) out += little({static_cast<uint16_t>(header.size())});
  else out += little({static_cast<uint32_t>(header.size())});
  return out + header + data;
}
std::string header_of(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Ref<Tensor> load(const std::string& bytes) {
  Folder folder;
  write_file(folder / "x.npy", bytes);
  return load_npy(folder / "x.npy", default_allocator());
}
std::string refusal(const std::string& header, const std::string& data) {
  return failure_of([&] { load(file_of(header, data)); });
}

TEST(Npy, reads_every_version) {
  for (int version : {1, 2, 3}) {
    auto t = load(file_of(header_of("'<f4'", "(2, 1)"), little({1.5f, -2.0f}), version));
    EXPECT_EQ(name(t->type()), "f32[2, 1]");
    EXPECT_EQ(values_of<float>(*t), (std::vector<float>{1.5f, -2}));
  }
}

TEST(Npy, takes_the_keys_in_any_order_and_style) {
  auto t = load(file_of(R"({"shape":(3L,),"fortran_order":False,"descr":"|u1"})", "\x01\x02\x03"));
  EXPECT_EQ(name(t->type()), "u8[3]");
  EXPECT_EQ(name(load(file_of(header_of("'<i8'", "()"), little<int64_t>({5})))->type()), "i64[]");
  EXPECT_EQ(name(load(file_of(header_of("'<i8'", "(0, 3)"), ""))->type()), "i64[0, 3]");
}

TEST(Npy, turns_columns_into_rows) {
  auto t = load(file_of(header_of("'<i4'", "(2, 3)", "True"), little<int32_t>({1, 4, 2, 5, 3, 6})));
  EXPECT_TRUE(t->contiguous());
  EXPECT_EQ(values_of<int32_t>(*t), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, swaps_the_bytes_of_big_endian_files) {
  EXPECT_EQ(values_of<int32_t>(*load(file_of(header_of("'>i4'", "(2,)"), big<int32_t>({-2, 258})))),
            (std::vector<int32_t>{-2, 258}));
  EXPECT_EQ(values_of<double>(*load(file_of(header_of("'>f8'", "(1,)"), big({0.1})))), std::vector<double>{0.1});
}

TEST(Npy, keeps_narrow_types) {
  const auto expect = [](const char* code, std::string bytes, DType dtype) {
    const auto t = load(file_of(header_of(code, "(1,)"), bytes));
    EXPECT_EQ(t->type().dtype, dtype) << code;
    EXPECT_EQ(std::memcmp(t->data(), bytes.data(), bytes.size()), 0) << code;
  };
  expect("'|i1'", "\x80", DType::i8);
  expect("'<u2'", "\xff\xfe", DType::u16);
  expect("'<i2'", "\xff\xfe", DType::i16);
  expect("'<u4'", "\xff\xff\xff\xfe", DType::u32);
  expect("'<u8'", "\xff\xff\xff\xff\xff\xff\xff\xfe", DType::u64);
  expect("'<f2'", "\x01\x7c", DType::f16);
}

TEST(Npy, refuses_other_types_by_name) {
  EXPECT_PRED2(contains, refusal(header_of("'<c8'", "(1,)"), std::string(8, '\0')), "dtype '<c8'; these can be read");
  EXPECT_PRED2(contains, refusal(header_of("'|O'", "(1,)"), std::string(8, '\0')), "dtype '|O'");
  EXPECT_PRED2(contains, refusal(header_of("[('a', '<f4')]", "(1,)"), std::string(4, '\0')), "a structured type");
  EXPECT_EQ(code_of([] { load(file_of(header_of("'<c8'", "(1,)"), "")); }), Code::unimplemented);
}

TEST(Npy, refuses_damaged_headers) {
  EXPECT_PRED2(contains, failure_of([] { load("hello, I am text"); }), "does not begin with the letters NUMPY");
  EXPECT_PRED2(contains, failure_of([] { load(file_of(header_of("'<f4'", "(1,)"), "1234", 4)); }), "version is 4.0");
  EXPECT_PRED2(contains, refusal("{}", ""), "is missing");
  EXPECT_PRED2(contains, refusal("{'descr': '<f4', 'descr': '<f4'}", ""), "'descr' occurs twice");
  EXPECT_PRED2(contains, refusal("{'color': 3}", ""), "unknown key 'color'");
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(1,)", "Maybe"), ""), "expected True or False");
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(-1,)"), ""), "expected a size");
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(99999999999999999999,)"), ""), "expected a size");
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(1,)") + "x", "1234"), "text after the dictionary");
  std::string many = "(";
  for (int i = 0; i < 33; i++) many += "1,";
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", many + ")"), "1234"), "more than 32 dimensions");
}

TEST(Npy, checks_the_size_before_it_allocates) {
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(1073741824,)"), ""), "needs 4294967296 bytes");
  EXPECT_PRED2(contains, refusal(header_of("'|i1'", "(1099511627776, 1099511627776)"), ""), "would not fit in memory");
  EXPECT_PRED2(contains, refusal(header_of("'<f4'", "(1,)"), "12345"), "found 5");
  EXPECT_PRED2(contains, refusal(header_of("'|b1'", "(2,)"), "\x01\x07"), "byte 1 of a bool array");
}

TEST(Npy, survives_damage_at_every_byte) {
  auto load_path = [](const std::string& path) { load_npy(path, default_allocator()); };
  expect_survives_damage(file_of(header_of("'<i2'", "(2, 2)", "True"), "12345678"), load_path);
  expect_survives_damage(file_of(header_of("'|b1'", "(2,)"), std::string("\0\1", 2), 3), load_path);
}

TEST(Npy, writes_exactly_what_numpy_does) {
  Folder folder;
  save_npy(folder / "x", *tensor_of<float>(DType::f32, {2}, {1, 2}));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  EXPECT_EQ(read_file(folder / "x", 1000), file_of(header + "\n", little({1.0f, 2.0f})));
}

TEST(Npy, gives_back_what_was_saved) {
  Folder folder;
  for (auto& row : all_dtypes()) {
    if (row.dtype == DType::bf16) continue;
    auto t = Tensor::empty(default_allocator(), type_of(row.dtype, {2, 3}));
    for (size_t i = 0; i < t->bytes(); i++) t->data()[i] = static_cast<std::byte>(i % 2);
    save_npy(folder / "x", *t);
    auto back = load_npy(folder / "x", default_allocator());
    EXPECT_EQ(back->type(), t->type());
    EXPECT_EQ(std::memcmp(back->data(), t->data(), t->bytes()), 0) << row.name;
  }
  EXPECT_PRED2(contains, failure_of([&] {
                 save_npy(folder / "x", *Tensor::empty(default_allocator(), type_of(DType::bf16, {1})));
               }),
               "cannot hold bf16");
}

TEST(Npy, saves_views_of_any_order) {
  Folder folder;
  auto base = tensor_of<float>(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto columns = Tensor::view(base->storage(), type_of(DType::f32, {3, 2}), Sizes{1, 3}, 0);
  save_npy(folder / "columns", *columns);
  EXPECT_PRED2(contains, read_file(folder / "columns", 1000), "'fortran_order': True");
  EXPECT_EQ(values_of<float>(*load_npy(folder / "columns", default_allocator())), values_of<float>(*columns));
  auto sparse = Tensor::view(base->storage(), type_of(DType::f32, {2, 2}), Sizes{3, 2}, 0);
  save_npy(folder / "sparse", *sparse);
  EXPECT_EQ(values_of<float>(*load_npy(folder / "sparse", default_allocator())), (std::vector<float>{1, 3, 4, 6}));
}

}  // namespace
}  // namespace thunder
