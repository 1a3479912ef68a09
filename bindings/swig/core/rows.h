// The context's descriptions of itself.
#pragma once
#include <string>
#include <vector>

#include "items.h"

struct cJSON;

namespace thunder_swig {

// One object of a description, borrowed from it.
struct Row {
  const cJSON* object;
  std::string text(const char* key) const;  // "" if it has none
  bool flag(const char* key) const;
  size_t count(const char* key) const;
  std::vector<Row> list(const char* key) const;
};

// Owns the rows.
struct Description {
  explicit Description(const std::string& what);
  Description(const Description&) = delete;
  ~Description();
  cJSON* array;
  std::vector<Row> rows;
  auto begin() const { return rows.begin(); }
  auto end() const { return rows.end(); }
};
inline Description rows_of(const std::string& what) { return Description(what); }

// A description (thunder_describe) as a list of maps; for ops only the public ones.
Items describe_rows(const std::string& what);

}  // namespace thunder_swig
