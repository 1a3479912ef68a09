// Runs another program to its end for its output and exit status.
#pragma once

#include <chrono>
#include <span>
#include <string>

namespace thunder {

struct ChildEnd {
  enum class How { exited, killed, not_started, too_slow } how = How::not_started;
  int number = 0;      // its exit status, the signal that ended it, or why it was not started
  std::string output;  // the last of what it wrote to its standard output and error, as they came

  bool succeeded() const { return how == How::exited && number == 0; }
};

// "it exited with status 3", "it was ended by signal 9 (Killed)" ...
std::string describe_end(const ChildEnd& end);

// `arguments`: the program first, by a path or a name that is looked for in PATH. It reads nothing, and is ended with
// all that it started when it takes longer. Any thread.
ChildEnd run_child(std::span<const std::string> arguments, std::chrono::seconds longest);

}  // namespace thunder
