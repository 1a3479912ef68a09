// A folder of the user alone, in $TMPDIR or /tmp, which goes with all that is in it.
#pragma once

#include <string>

namespace thunder {

class TemporaryFolder {
 public:
  TemporaryFolder();  // throws failed_precondition with the system's reason
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace thunder
