#include "tensor/idx.h"

#include <gtest/gtest.h>

#include "support/bytes.h"
#include "support/failure.h"
#include "support/tensors.h"

namespace thunder {
namespace {

std::string header_of(int code, std::initializer_list<uint32_t> sizes) {
  return std::string(2, '\0') + static_cast<char>(code) + static_cast<char>(sizes.size()) + big(sizes);
}

// The IDX file u8[2, 2] of 1, 2, 3, 4, as `gzip -n` packs it.
const std::string kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x63\x60\xe0\x60\x62\x60\x60\x00\x63\x46\x26\x66\x16\x00\x1f"
    "\xbf\xf0\x7c\x10\x00\x00\x00",
    32);
// A header alone that claims 16 TiB.
const std::string kPackedClaim(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x63\x60\xe0\x60\xfa\x0f\x04\x0c\x0c\x02\x0c\x00\xda\x9c\xeb"
    "\x96\x0c\x00\x00\x00",
    30);

Ref<Tensor> load(const std::string& bytes) {
  Folder folder;
  write_file(folder / "x.idx", bytes);
  return load_idx(folder / "x.idx", default_allocator());
}
std::string refusal(const std::string& bytes) {
  return failure_of([&] { load(bytes); });
}

TEST(Idx, reads_every_element_type) {
  auto u8 = load(header_of(0x08, {2, 2}) + "\x01\x02\x03\xff");
  EXPECT_EQ(name(u8->type()), "u8[2, 2]");
  EXPECT_EQ(values_of<uint8_t>(*u8), (std::vector<uint8_t>{1, 2, 3, 255}));
  EXPECT_EQ(values_of<int8_t>(*load(header_of(0x09, {1}) + "\xff")), std::vector<int8_t>{-1});
  EXPECT_EQ(values_of<int16_t>(*load(header_of(0x0b, {1}) + big<int16_t>({-300}))), std::vector<int16_t>{-300});
  EXPECT_EQ(values_of<int32_t>(*load(header_of(0x0c, {1}) + big<int32_t>({1 << 20}))), std::vector<int32_t>{1 << 20});
  EXPECT_EQ(values_of<float>(*load(header_of(0x0d, {1}) + big({2.5f}))), std::vector<float>{2.5f});
  EXPECT_EQ(values_of<double>(*load(header_of(0x0e, {1}) + big({0.1}))), std::vector<double>{0.1});
}

TEST(Idx, reads_packed_files) {
  auto t = load(kPacked);
  EXPECT_EQ(name(t->type()), "u8[2, 2]");
  EXPECT_EQ(values_of<uint8_t>(*t), (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(Idx, says_what_is_wrong) {
  EXPECT_PRED2(contains, refusal(std::string("\0\0\x08", 3)), "is truncated");
  EXPECT_PRED2(contains, refusal("PK\x08\x01"), "two zero bytes");
  EXPECT_PRED2(contains, refusal(header_of(0x0a, {1})), "element type is 10; known are 8, 9");
  EXPECT_PRED2(contains, refusal(std::string("\0\0\x08\xff", 4)), "255 dimensions");
  EXPECT_PRED2(contains, refusal(header_of(0x08, {3}) + "12"), "u8[3] needs 3 bytes after the header, found 2");
  EXPECT_PRED2(contains, refusal(header_of(0x08, {1}) + "12"), "found 2");
  EXPECT_PRED2(contains, refusal(header_of(0x0e, {0xffffffff, 0xffffffff})), "would not fit in memory");
  EXPECT_PRED2(contains, refusal(kPackedClaim), "packed bytes can hold");
  EXPECT_PRED2(contains, refusal(kPacked + "x"), "bytes follow its gzip data");
}

TEST(Idx, survives_damage_at_every_byte) {
  auto load_path = [](const std::string& path) { load_idx(path, default_allocator()); };
  expect_survives_damage(header_of(0x0b, {2, 1}) + "1234", load_path);
  expect_survives_damage(kPacked, load_path);
}

}  // namespace
}  // namespace thunder
