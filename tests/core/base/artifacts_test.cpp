// What one process packs another reads; whatever else is read does no worse than fail.
// covers: core/base/build_id.cpp
#include "base/artifacts.h"

#include <gtest/gtest.h>

#include "base/build_id.h"
#include "base/digest.h"
#include "base/status.h"
#include "support/failure.h"
#include "support/generator.h"

namespace thunder {
namespace {

Artifacts some() {
  return {"build 1", "machine", "generator",
          {{"kind", "key", std::string("a\0b", 3)}, {"", "", ""}, {"kind", std::string(1000, 'k'), std::string(3000, 'b')}}};
}

// With the digest of what follows it, as somebody who means harm would write it.
std::string with_digest(std::string text) {
  constexpr size_t kDigest = 18 + 8;  // behind the line and the version
  const Digest right = digest({std::string_view(text).substr(kDigest + sizeof(Digest))});
  return text.replace(kDigest, sizeof right, reinterpret_cast<const char*>(right.data()), sizeof right);
}

TEST(Artifacts, are_read_as_they_were_packed) {
  const Artifacts read = unpack(pack(some()), "it"), wanted = some();
  EXPECT_EQ(read.library, wanted.library);
  EXPECT_EQ(read.machine, wanted.machine);
  EXPECT_EQ(read.generator, wanted.generator);
  ASSERT_EQ(read.entries.size(), wanted.entries.size());
  for (size_t i = 0; i < wanted.entries.size(); i++) {
    EXPECT_EQ(read.entries[i].kind, wanted.entries[i].kind);
    EXPECT_EQ(read.entries[i].key, wanted.entries[i].key);
    EXPECT_EQ(read.entries[i].blob, wanted.entries[i].blob);
  }
  EXPECT_EQ(with_digest(pack(some())), pack(some()));
}

TEST(Artifacts, that_are_cut_short_or_changed_are_refused) {
  const std::string text = pack(some());
  for (size_t length = 0; length < text.size(); length++)
    EXPECT_PRED2(contains, failure_of([&] { unpack(text.substr(0, length), "the file"); }), "the file holds no compiled kernels that can be read: ");
  for (size_t at = 0; at < text.size(); at++) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THROW(unpack(damaged, "the file"), Error) << at;
  }
  EXPECT_PRED2(contains, failure_of([&] { unpack(text + "x", "it"); }), "its bytes are not those that were written");
}

TEST(Artifacts, of_another_version_are_refused_by_number) {
  std::string text = pack(some());
  text[18] = 2;
  EXPECT_EQ(failure_of([&] { unpack(text, "the file"); }), "the file holds compiled kernels of version 2; this library reads version 1");
}

TEST(Artifacts, whose_digest_is_right_and_whose_lengths_are_not_do_no_worse_than_fail) {
  const std::string text = pack(some());
  tests::for_each_seed(4000, [&](std::mt19937_64& g) {
    std::string damaged = text;
    for (size_t n = 1 + tests::below(g, 4); n > 0; n--) {
      const size_t at = 58 + tests::below(g, tests::one_in(g, 2) ? 120 : damaged.size() - 58);
      damaged[at] = static_cast<char>(g());
    }
    if (tests::one_in(g, 4)) damaged.resize(58 + tests::below(g, damaged.size() - 58));
    try {
      unpack(with_digest(damaged), "it");
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::data_lost) << e.message();
    }
  });
}

TEST(BuildId, is_that_of_the_file_which_holds_an_address) {
  static const int here = 0;
  const std::string ours = build_id(&here), theirs = build_id(reinterpret_cast<const void*>(&std::fopen));
  EXPECT_FALSE(ours.empty());
  EXPECT_NE(ours, theirs);
  EXPECT_NE(file_of(&here).find("core_base_test"), std::string::npos);
  int somewhere = 0;
  EXPECT_EQ(build_id(&somewhere), "");
}

}  // namespace
}  // namespace thunder
