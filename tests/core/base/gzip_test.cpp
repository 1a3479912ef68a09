#include "base/gzip.h"

#include <gtest/gtest.h>

#include "support/failure.h"

namespace thunder {
namespace {

// "hello", as `gzip -n` packs it.
const std::string kHello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00", 25);

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

std::string unpack(const std::string& packed, size_t bytes) {
  Gunzip gunzip("x.gz", bytes_of(packed));
  std::string out(bytes, ' ');
  // In two pieces, since nobody promises that reads are whole.
  auto to = std::as_writable_bytes(std::span(out));
  gunzip.read(to.first(bytes / 2));
  gunzip.read(to.subspan(bytes / 2));
  gunzip.finish();
  return out;
}

TEST(Gzip, unpacks_in_pieces) { EXPECT_EQ(unpack(kHello, 5), "hello"); }

TEST(Gzip, knows_its_format) {
  EXPECT_TRUE(is_gzip(bytes_of(kHello)));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f")));
  EXPECT_FALSE(is_gzip(bytes_of("hello")));
}

TEST(Gzip, counts_what_comes_out) {
  EXPECT_PRED2(contains, failure_of([] { unpack(kHello, 8); }), "expected 4 more bytes, found 1");
  EXPECT_PRED2(contains, failure_of([] { unpack(kHello, 4); }), "more bytes than its header announces");
}

TEST(Gzip, notices_damage_anywhere) {
  for (size_t cut = 0; cut < kHello.size(); cut++)
    EXPECT_EQ(code_of([&] { unpack(kHello.substr(0, cut), 5); }), Code::data_lost) << cut;
  std::string flipped = kHello;
  flipped[flipped.size() - 6] ^= 1;
  EXPECT_PRED2(contains, failure_of([&] { unpack(flipped, 5); }), "incorrect data check");
  EXPECT_PRED2(contains, failure_of([] { unpack("hello", 5); }), "'x.gz' is damaged");
  EXPECT_PRED2(contains, failure_of([] { unpack(kHello + "!", 5); }), "bytes follow");
}

}  // namespace
}  // namespace thunder
