#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace thunder {

TemporaryFolder::TemporaryFolder() {
  const char* const given = std::getenv("TMPDIR");
  path_ = cat(given && *given ? given : "/tmp", "/thunder-XXXXXX");
  if (!::mkdtemp(path_.data()))
    fail(Code::failed_precondition, "cannot make a folder ", path_, ": ", std::generic_category().message(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace thunder
