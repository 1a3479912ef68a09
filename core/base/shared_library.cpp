#include "base/shared_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace thunder {
namespace {

bool is_folder(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

void add_matches(std::vector<std::string>& out, const std::string& pattern) {
  glob_t found;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) out.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
}

std::string variable(const char* name) {
  const char* value = name ? std::getenv(name) : nullptr;
  return value ? value : "";
}

// Folders of libraries in NVIDIA's Python packages: one for each library, or one for all.
constexpr const char* kInPackages = "/nvidia/*/lib/";

std::vector<std::string> folders() {
  std::vector<std::string> out;
  const std::string python = variable("PYTHONPATH"), environment = variable("VIRTUAL_ENV"), home = variable("HOME");
  for (size_t begin = 0; begin < python.size();) {
    const size_t end = std::min(python.find(':', begin), python.size());
    if (end > begin) add_matches(out, python.substr(begin, end - begin) + kInPackages);
    begin = end + 1;
  }
  if (!environment.empty()) add_matches(out, cat(environment, "/lib/python3*/site-packages", kInPackages));
  if (!home.empty()) add_matches(out, cat(home, "/.local/lib/python3*/site-packages", kInPackages));
  for (const char* root : {"/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages",
                           "/usr/lib/python3/dist-packages"})
    add_matches(out, cat(root, kInPackages));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = variable(name); !root.empty()) out.push_back(root + "/lib64/");
  out.push_back("/usr/local/cuda/lib64/");
  return out;
}

}  // namespace

SharedLibrary::SharedLibrary(const LibrarySearch& search) {
  std::vector<std::string> names;
  if (const std::string given = variable(search.variable); !given.empty()) {
    // If a variable names a file, no other is tried.
    if (is_folder(given))
      for (const char* name : search.names) names.push_back(cat(given, "/", name));
    else
      names.push_back(given);
  } else {
    names.assign(search.names.begin(), search.names.end());
    for (const std::string& folder : folders())
      for (const char* name : search.names)
        if (std::string file = folder + name; ::access(file.c_str(), F_OK) == 0) names.push_back(std::move(file));
  }
  for (const std::string& name : names)
    if (try_open(name)) return;
  set_failure_report(search, names);
}

void SharedLibrary::set_failure_report(const LibrarySearch& search, std::span<const std::string> tried) {
  report_ = cat("none of ", join(tried, ", ", [](auto& n) -> const std::string& { return n; }), " could be opened",
                search.variable ? cat(" (", search.variable, " may name its file or folder)") : "");
}

bool SharedLibrary::try_open(const std::string& name) {
  handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle_) return false;
  struct link_map* map = nullptr;
  path_ = ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name ? map->l_name : name;
  return true;
}

void* SharedLibrary::find(const char* name) const { return handle_ ? ::dlsym(handle_, name) : nullptr; }

}  // namespace thunder
