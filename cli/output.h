// Standard output that cannot be written is an error.
#pragma once

// From now on: where standard output is a pipe that nobody reads, the process ends with one line on standard error and exit
// status 1; likewise at its end, where what was printed could not be written.
void guard_output();

// While this lives, what is printed goes to standard error: standard output is for one document alone.
class OutputToError {
 public:
  OutputToError();
  ~OutputToError();
  OutputToError(const OutputToError&) = delete;
  OutputToError& operator=(const OutputToError&) = delete;

 private:
  const int kept_;
};
