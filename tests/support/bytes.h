// Files written byte by byte, and the check that no damage to one does more than raise an error.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/files.h"
#include "base/status.h"
#include "support/folder.h"
#include "support/generator.h"

namespace thunder {

// Numbers as the bytes of T in memory, most significant last.
template <class T>
std::string little(std::initializer_list<T> values) {
  std::string out;
  for (T v : values) out.append(reinterpret_cast<const char*>(&v), sizeof v);
  return out;
}
template <class T>
std::string big(std::initializer_list<T> values) {
  std::string out;
  for (T v : values) {
    std::string one = little({v});
    out.append(one.rbegin(), one.rend());
  }
  return out;
}

// A few bytes changed, left out, or copied from elsewhere.
inline std::string mutated(std::string bytes, std::mt19937_64& g) {
  for (size_t edits = 1 + tests::below(g, 4); edits-- > 0 && !bytes.empty();) {
    const size_t at = tests::below(g, bytes.size()), length = 1 + tests::below(g, std::min<size_t>(16, bytes.size() - at));
    switch (tests::below(g, 4)) {
      case 0: bytes.erase(at, length); break;
      case 1: bytes.insert(at, bytes.substr(tests::below(g, bytes.size()), length)); break;
      case 2: bytes.replace(at, length, bytes.substr(tests::below(g, bytes.size()), length)); break;
      default: bytes[at] = static_cast<char>(g());
    }
  }
  return bytes;
}

// Loads every beginning of `bytes`, `bytes` with each byte changed in several ways, and many random mutations of them: an
// Error of the caller's or the file's kind, or a result, but nothing worse. A beginning must fail unless
// `truncation_may_load`.
template <class Load>
void expect_survives_damage(const std::string& bytes, Load&& load, bool truncation_may_load = false) {
  Folder folder;
  auto outcome = [&](const std::string& damaged) {
    std::ofstream(folder / "damaged", std::ios::binary) << damaged;  // write_file would wait for the disk each time
    try {
      load(folder / "damaged");
      return Code::ok;
    } catch (const Error& e) {
      EXPECT_NE(e.message().find("/damaged'"), std::string::npos) << "names no file: " << e.message();
      return e.code();
    }
  };
  ASSERT_EQ(outcome(bytes), Code::ok);
  for (size_t length = 0; length < bytes.size(); length++) {
    const Code code = outcome(bytes.substr(0, length));
    EXPECT_TRUE(truncation_may_load || code == Code::data_lost) << "cut to " << length << " of " << bytes.size();
  }
  for (size_t at = 0; at < bytes.size(); at++)
    for (int change : {0x01, 0x80, 0xff, 0x10}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const Code code = outcome(damaged);
      EXPECT_TRUE(code == Code::ok || code == Code::data_lost || code == Code::unimplemented) << "byte " << at;
    }
  tests::for_each_seed(500, [&](std::mt19937_64& g) {
    const Code code = outcome(mutated(bytes, g));
    EXPECT_TRUE(code == Code::ok || code == Code::data_lost || code == Code::unimplemented) << static_cast<int>(code);
  });
}

}  // namespace thunder
