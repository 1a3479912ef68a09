#include "onnx/external.h"

#include <cstdlib>
#include <memory>

#include "base/text.h"

namespace thunder::onnx {
namespace {

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

// The canonical path; "" if the file does not exist.
std::string real_path(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : "";
}

bool is_inside(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  if (folder == "/") return path.starts_with("/");
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// Part by part: empty ones and "." are refused, too, so that a name has one spelling.
bool is_plain_relative_path(std::string_view location) {
  if (location.empty() || location.find('\0') != location.npos || location.find('\\') != location.npos) return false;
  for (size_t from = 0; from <= location.size();) {
    const size_t to = std::min(location.find('/', from), location.size());
    const std::string_view part = location.substr(from, to - from);
    if (part.empty() || part == "." || part == "..") return false;
    from = to + 1;
  }
  return true;
}

}  // namespace

std::string ExternalFiles::resolve_checked(std::string_view location) const {
  if (path_.empty())
    fail(Code::failed_precondition, "it is in the file '", location,
         "', and a model that is loaded from memory has none beside it");
  if (location.starts_with("./")) location.remove_prefix(2);  // as some writers have it
  if (!is_plain_relative_path(location))
    fail(Code::data_lost, "it is in the file '", location.substr(0, 200),
         "'; a model names files of its own folder alone, relative and without '..'");
  const std::string path = cat(folder_of(path_), "/", location), real = real_path(path);
  if (real.empty()) fail(Code::not_found, "it is in the file '", path, "', which is not there");
  const std::string given = real_path(folder_of(path_)), resolved = folder_of(real_path(path_));
  if (!is_inside(real, given) && !is_inside(real, resolved))
    fail(Code::data_lost, "it is in the file '", location, "', which is a link out of the folder of the model");
  return real;
}

const Ref<Mapping>& ExternalFiles::open(std::string_view location) {
  const auto it = open_.find(location);
  if (it != open_.end()) return it->second;
  return open_.emplace(std::string(location), Mapping::map_file(resolve_checked(location))).first->second;
}

}  // namespace thunder::onnx
