// An interface to watch the steps of a running program: to time them, or to check their results.
#pragma once

#include "program/program.h"

namespace thunder {

class StepWatch {
 public:
  // Called before the first step, with the memory that the program has on the CPU during the call.
  virtual void begin(std::span<const std::byte> /*arena*/) {}
  // Around step `at` of the plan, on the thread of the call; where the call is watched closely, devices have done what
  // was asked of them before `after` is called. The launch is the step's own. Neither throws anything but Error, which
  // ends the call.
  virtual void before(const Program&, size_t at, const Launch&) = 0;
  virtual void after(const Program&, size_t at, const Launch&) = 0;

 protected:
  ~StepWatch() = default;
};

}  // namespace thunder
