// The names of logs, and what a list of them says. Covers base/log.
#include "base/log.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace thunder {
namespace {

TEST(Log, lets_warnings_through_where_nothing_is_said) {
  const LogLevels levels;
  for (size_t i = 0; i < kLogNames; i++) {
    EXPECT_TRUE(levels.wants(static_cast<LogName>(i), LogLevel::warning)) << log_rows()[i].name;
    EXPECT_FALSE(levels.wants(static_cast<LogName>(i), LogLevel::info)) << log_rows()[i].name;
  }
}

TEST(Log, takes_names_in_detail_and_names_that_are_hushed) {
  LogLevels levels;
  levels.set("guards, +fusion,-recompiles", "here");
  EXPECT_TRUE(levels.wants(LogName::guards, LogLevel::info));
  EXPECT_FALSE(levels.wants(LogName::guards, LogLevel::debug));
  EXPECT_TRUE(levels.wants(LogName::fusion, LogLevel::debug));
  EXPECT_FALSE(levels.wants(LogName::recompiles, LogLevel::warning));
  EXPECT_FALSE(levels.wants(LogName::memory, LogLevel::info));
  levels.set("", "here");
  EXPECT_FALSE(levels.wants(LogName::guards, LogLevel::info)) << "each list begins anew";
}

TEST(Log, takes_all_of_them_and_what_follows_overrides) {
  LogLevels levels;
  levels.set("+all,-memory", "here");
  EXPECT_TRUE(levels.wants(LogName::guards, LogLevel::debug));
  EXPECT_FALSE(levels.wants(LogName::memory, LogLevel::warning));
}

TEST(Log, refuses_an_unknown_name_with_the_nearest_and_stays_as_it_was) {
  LogLevels levels;
  levels.set("guards", "here");
  try {
    levels.set("fusion,recompile", "set_logs");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.message()), "set_logs: there is no log 'recompile' (did you mean 'recompiles'?)");
  }
  EXPECT_TRUE(levels.wants(LogName::guards, LogLevel::info));
  EXPECT_FALSE(levels.wants(LogName::fusion, LogLevel::info));
}

TEST(Log, has_a_row_for_each_name) {
  for (const LogRow& row : log_rows()) EXPECT_FALSE(row.name.empty() || row.doc.empty());
  EXPECT_EQ(name(LogName::memory), "memory");
}

}  // namespace
}  // namespace thunder
