// What some kernels can say of themselves, for people.
#pragma once

#include <string>
#include <string_view>

namespace thunder {

// A second base of kernels that have something to say; found by a cast.
class KernelTexts {
 public:
  // Its code: "llvm" (LLVM's IR), "assembly" or "cuda" (CUDA C++); "": there is none of that form.
  virtual std::string source(std::string_view) const { return ""; }
  // What was the fastest of several ways that were timed; "": nothing was.
  virtual std::string choice() const { return ""; }

 protected:
  ~KernelTexts() = default;
};

}  // namespace thunder
