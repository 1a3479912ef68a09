// Files: bounded reads of regular files, and writes that leave the old file whole on any failure.
//
// Nothing here is mapped: a mapping of a file that another process cuts short kills this one on the next load. What is
// too large to copy is a Mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace thunder {

// What the system says of an errno.
std::string system_message(int error);

// A regular file open for reading. Errors name the file, what was expected and what was found.
class InputFile {
 public:
  // Throws not_found, or failed_precondition with the system's reason. Never blocks: a pipe is refused.
  explicit InputFile(std::string path);
  // Bytes in memory, which must outlive it, as a file of this name.
  InputFile(std::string name, std::span<const std::byte> bytes)
      : path_(std::move(name)), memory_(bytes.data()), size_(bytes.size()) {}
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  // Fills `to` from the bytes at `offset`; throws data_lost when the file ends before that.
  void read(uint64_t offset, std::span<std::byte> to) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  const std::byte* memory_ = nullptr;  // in place of a descriptor
  uint64_t size_ = 0;
};

// The whole file. Throws data_lost when it is larger than `limit`.
std::string read_file(const std::string& path, uint64_t limit);

// Collects what is to replace `path` in a temporary file of the same folder. Without a commit nothing changes.
// Temporary files that killed processes left in the folder are removed.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  // Makes the bytes durable, then gives them the name in one step. Requires: called once.
  void commit();

 private:
  void open_temporary(const std::string& folder);
  [[noreturn]] void give_up(std::string_view doing, int error) const;

  std::string path_, temporary_, folder_;
  int descriptor_ = -1;
};

void write_file(const std::string& path, std::string_view text);

}  // namespace thunder
