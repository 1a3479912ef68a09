// Programs that are run to their end.
#include "base/child_process.h"

#include <gtest/gtest.h>

#include <vector>

namespace thunder {
namespace {

ChildEnd shell(const char* text, std::chrono::seconds longest = std::chrono::seconds(60)) {
  const std::vector<std::string> arguments{"/bin/sh", "-c", text};
  return run_child(arguments, longest);
}

TEST(ChildProcess, gives_what_both_streams_said_and_the_status) {
  const ChildEnd end = shell("echo one; echo two >&2; exit 3");
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.number, 3);
  EXPECT_FALSE(end.succeeded());
  EXPECT_EQ(end.output, "one\ntwo\n");
  EXPECT_EQ(describe_end(end), "it exited with status 3");
  EXPECT_TRUE(shell("exit 0").succeeded());
}

TEST(ChildProcess, reads_nothing_of_ours) {
  EXPECT_EQ(shell("cat").output, "");
}

TEST(ChildProcess, says_which_signal_ended_it) {
  const ChildEnd end = shell("kill -9 $$");
  EXPECT_EQ(end.how, ChildEnd::How::killed);
  EXPECT_EQ(describe_end(end), "it was ended by signal 9 (Killed)");
}

TEST(ChildProcess, says_why_it_was_not_started) {
  const std::vector<std::string> arguments{"/no/such/program"};
  const ChildEnd end = run_child(arguments, std::chrono::seconds(60));
  EXPECT_EQ(end.how, ChildEnd::How::not_started);
  EXPECT_EQ(describe_end(end), "it could not be started: No such file or directory");
}

TEST(ChildProcess, ends_one_that_takes_too_long_with_what_it_started) {
  const ChildEnd end = shell("echo begun; sleep 1000 & sleep 1000", std::chrono::seconds(1));
  EXPECT_EQ(end.how, ChildEnd::How::too_slow);
  EXPECT_EQ(end.output, "begun\n");
  EXPECT_EQ(describe_end(end), "it did not end in time");
}

TEST(ChildProcess, keeps_the_end_of_a_long_output) {
  const ChildEnd end = shell("yes first | head -c 1000000; echo last");
  EXPECT_TRUE(end.succeeded());
  EXPECT_LT(end.output.size(), 200000u);
  EXPECT_TRUE(end.output.ends_with("last\n"));
}

}  // namespace
}  // namespace thunder
