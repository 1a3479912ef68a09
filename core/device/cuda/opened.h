// NVIDIA's libraries as tables of functions, each opened once in a process.
#pragma once

#include <string>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::nvidia {

// Of NVIDIA's libraries, whose versions are numbers like 130002: "13.0.2".
inline std::string version_text(size_t version) {
  return cat(version / 10000, ".", version % 10000 / 100, ".", version % 100);
}

// A library that is loaded at run time. `Table` holds its functions.
template <class Table>
class OpenedTable {
 public:
  // `resolve`: fills the table, and returns the name of a function that the library lacks, or null. `start`: gives
  // its version as text; empty where it cannot be used, and `why` says what it answered.
  OpenedTable(const LibrarySearch& search, const char* (*resolve)(const SharedLibrary&, Table&),
              std::string (*start)(const Table&, std::string& why)) {
    const SharedLibrary file(search);
    why_ = file.report();
    if (!file.opened()) return;
    if (const char* missing = resolve(file, table_)) {
      why_ = cat(file.path(), " has no ", missing);
      return;
    }
    std::string why;
    const std::string version = start(table_, why);
    if (version.empty()) why_ = cat(file.path(), ": ", why);
    else report_ = cat(file.path(), ", ", version);
  }

  // Null: `why` says what was tried.
  const Table* open(std::string& why) const {
    why = why_;
    return report_.empty() ? nullptr : &table_;
  }
  // The file and its version; empty where it could not be opened.
  const std::string& report() const { return report_; }

 private:
  Table table_;
  std::string report_, why_;
};

}  // namespace thunder::nvidia
