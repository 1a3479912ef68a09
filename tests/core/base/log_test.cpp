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

TEST(Log, drops_messages_without_a_sink) { Log().write(LogLevel::error, "cache", "nobody listens"); }

}  // namespace
}  // namespace thunder
