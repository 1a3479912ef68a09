#include "base/cpu_count.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "support/failure.h"
#include "support/folder.h"

namespace thunder {
namespace {

TEST(CpuCount, rounds_a_quota_up) {
  EXPECT_EQ(threads_of_quota("150000 100000\n"), 2u);
  EXPECT_EQ(threads_of_quota("200000 100000\n"), 2u);
  EXPECT_EQ(threads_of_quota("1 100000"), 1u);
}

TEST(CpuCount, takes_what_it_cannot_read_for_no_limit) {
  for (const char* text : {"max 100000", "-1 100000", "", "5", "5 0", "x y", "1e9 1", "99999999999999999999 1"})
    EXPECT_EQ(threads_of_quota(text), 0u) << text;
  EXPECT_EQ(threads_of_quota("9223372036854775807 1"), 1024u) << "bounded";
}

TEST(CpuCount, obeys_the_tightest_ancestor) {
  Folder mount;
  std::filesystem::create_directories(mount / "a/b");
  write_file(mount / "a/cpu.max", "300000 100000\n");
  write_file(mount / "a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(threads_of_groups("0::/a/b\n", mount.path()), 3u);
  EXPECT_EQ(threads_of_groups("0::/\n", mount.path()), 0u);
  write_file(mount / "cpu.max", "200000 100000\n");
  EXPECT_EQ(threads_of_groups("0::/a/b\n", mount.path()), 2u);
  EXPECT_EQ(threads_of_groups("0::/not/there\n", mount.path()), 2u);
}

TEST(CpuCount, reads_version_1_groups) {
  Folder mount;
  std::filesystem::create_directories(mount / "cpu,cpuacct/x");
  write_file(mount / "cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
  write_file(mount / "cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(threads_of_groups("7:memory:/y\n4:cpu,cpuacct:/x\n", mount.path()), 4u);
  EXPECT_EQ(threads_of_groups("nonsense\n:\n", mount.path()), 0u);
}

class ThreadCount : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("THUNDER_NUM_THREADS"); }
};

TEST_F(ThreadCount, is_what_the_environment_says) {
  ::setenv("THUNDER_NUM_THREADS", "5", 1);
  EXPECT_EQ(thread_count(), 5u);
}

TEST_F(ThreadCount, is_at_least_one_without_it) {
  ::unsetenv("THUNDER_NUM_THREADS");
  EXPECT_GE(thread_count(), 1u);
  EXPECT_LE(thread_count(), 1024u);
}

TEST_F(ThreadCount, refuses_nonsense_by_name) {
  for (const char* text : {"0", "-1", "1025", "two", "2 "}) {
    ::setenv("THUNDER_NUM_THREADS", text, 1);
    EXPECT_PRED2(contains, failure_of([] { thread_count(); }), cat("from 1 to 1024, got '", text, "'"));
  }
}

}  // namespace
}  // namespace thunder
