#include "base/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace thunder {
namespace {

TEST(Log, hands_the_sink_level_component_and_text) {
  std::vector<std::string> lines;
  Log log{[](int32_t level, const char* component, const char* text, size_t bytes, void* user) {
            auto* to = static_cast<std::vector<std::string>*>(user);
            EXPECT_EQ(text[bytes], 0);
            to->push_back(cat(level, " ", component, " ", std::string_view(text, bytes)));
          },
          &lines};
  log.write(LogLevel::warning, "cache", "recompiled ", 8, " times: 100%s");
  EXPECT_EQ(lines, std::vector<std::string>{"2 cache recompiled 8 times: 100%s"});
}

// A part of a message that counts how often it is made text.
struct Part {
  int& times;
};
void append(std::string&, const Part& part) { part.times++; }

TEST(Log, makes_no_text_of_messages_without_a_sink) {
  int times = 0;
  Log().write(LogLevel::error, "cache", Part{times});
  EXPECT_EQ(times, 0);
  Log{[](int32_t, const char*, const char*, size_t, void*) {}, nullptr}.write(LogLevel::error, "cache", Part{times});
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace thunder
