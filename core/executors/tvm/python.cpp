#include "executors/tvm/python.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "base/blob_store.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "executors/tvm/script.h"

namespace thunder::tvm {
namespace {

constexpr const char* kVariable = "THUNDER_TVM_PYTHON";
constexpr std::chrono::seconds kToSay{60}, kToCompile{3600};
constexpr uint64_t kMostBytes = uint64_t{4} << 30;

std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

// The lines that the script printed for this library, split into words; all other output is warnings.
std::vector<std::vector<std::string_view>> parse_marked_lines(std::string_view text) {
  constexpr std::string_view kMark = "thunder: ";
  std::vector<std::vector<std::string_view>> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    auto& words = out.emplace_back();
    while (!line.empty()) {
      // A folder, which is a line's third word, may have spaces.
      const size_t space = words.size() == 2 && words[0] != "ops" ? line.size() : std::min(line.find(' '), line.size());
      words.push_back(line.substr(0, space));
      line.remove_prefix(std::min(space + 1, line.size()));
    }
  }
  return out;
}

}  // namespace

Python::Python(std::string_view file) {
  const char* const named = std::getenv(kVariable);
  path_ = !file.empty() ? std::string(file) : named && *named ? named : "python3";
  if (const std::string lacking = find_installation(); !opened())
    report_ = cat("none of ", path_, " has TVM: ", lacking, " (", kVariable, " may name a Python that has it)");
}

std::string Python::find_installation() {
  const ChildEnd end = run({"installed"}, kToSay);
  if (end.how == ChildEnd::How::exited && end.number == 1) return std::string(last_line(end.output));
  if (!end.succeeded()) return describe_end(end);
  std::string runtime;
  for (const auto& words : parse_marked_lines(end.output)) {
    if (words.size() != 3) continue;
    if (words[0] == "tvm") version_ = words[1], runtime = cat(words[2], "/lib/libtvm_runtime.so");
    if (words[0] == "tvm_ffi") ffi_ = cat(words[2], "/lib/libtvm_ffi.so");
  }
  if (ffi_.empty() || runtime.empty()) return "it does not say where they are";
  extra_ = cat(std::string_view(runtime).substr(0, runtime.size() - 3), "_extra.so");
  runtime_ = std::move(runtime);
  return "";
}

ChildEnd Python::run(std::initializer_list<std::string_view> words, std::chrono::seconds longest) const {
  std::vector<std::string> all{path_, "-c", kScript};
  all.insert(all.end(), words.begin(), words.end());
  return run_child(all, longest);
}

void Python::fail_with_output(const ChildEnd& end) const {
  const std::string_view last = last_line(end.output);
  fail(Code::backend, "TVM: ", path_, ": ", describe_end(end), last.empty() ? "" : ": ", last);
}

Names Python::ops() const {
  BlobStore store(BlobStore::default_folder());
  const std::string key = cat("tvm ops\n", version_, "\n", kScript);
  std::optional<std::string> text = store.get(key);
  if (!text) {
    ChildEnd end = run({"ops"}, kToSay);
    if (!end.succeeded()) fail_with_output(end);
    text = std::move(end.output);
    store.put(key, *text);
  }
  Names out;
  for (const auto& words : parse_marked_lines(*text)) out.insert(words.begin() + 1, words.end());
  return out;
}

std::string Python::compile(const std::string& model, std::string_view machine) const {
  BlobStore store(BlobStore::default_folder());
  const std::string key = cat("tvm library\n", version_, "\n", machine, "\n", kScript, model);
  if (std::optional<std::string> kept = store.get(key)) return std::move(*kept);
  const TemporaryFolder folder;
  const std::string from = folder.path() + "/region.onnx", to = folder.path() + "/region.so";
  write_file(from, model);
  const ChildEnd end = run({"compile", from, to, runtime_, ffi_}, kToCompile);
  if (end.how == ChildEnd::How::exited && end.number == kRefused)
    fail(Code::declined, "TVM: ", last_line(end.output));
  if (!end.succeeded()) fail_with_output(end);
  std::string library = read_file(to, kMostBytes);
  store.put(key, library);
  return library;
}

}  // namespace thunder::tvm
