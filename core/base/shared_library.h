// A shared library that is opened at run time, and where it was looked for.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace thunder {

// How a library is found, in this order: in the variable of the environment (a file, or a folder that holds one of the
// names), by the linker's rules, in the packages of Python (nvidia/*/lib below each folder of site-packages), in a
// toolkit's folder ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda).
struct LibrarySearch {
  const char* variable;                // null: none
  std::span<const char* const> names;  // versioned, the best first
};

class SharedLibrary {
 public:
  // Opens the library for the rest of the process. What is not found is not an error: see opened(). Any thread.
  explicit SharedLibrary(const LibrarySearch& search);

  bool opened() const { return handle_ != nullptr; }
  // The file that was opened, as the system knows it.
  const std::string& path() const { return path_; }
  // If nothing was opened, which names were tried: "none of A, B could be opened (THUNDER_X names its file)".
  const std::string& report() const { return report_; }

  // Null: the library has no such function.
  void* find(const char* name) const;
  template <class F>
  bool find(const char* name, F& function) const {
    function = reinterpret_cast<F>(find(name));
    return function != nullptr;
  }

 private:
  bool try_open(const std::string& name);
  void set_failure_report(const LibrarySearch& search, std::span<const std::string> tried);

  void* handle_ = nullptr;
  std::string path_, report_;
};

}  // namespace thunder
