// Pieces of JSON that descriptions are made of, over cJSON. Throw std::bad_alloc.
#pragma once

#include <cjson/cJSON.h>

#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace thunder::capi {

struct Json {
  cJSON* item;
  explicit Json(cJSON* made) : item(made) {
    if (!item) throw std::bad_alloc();
  }
  ~Json() { cJSON_Delete(item); }
  Json(const Json&) = delete;
  // Gives it to an object that now owns it.
  void add_to(cJSON* object, const char* key) {
    if (!cJSON_AddItemToObject(object, key, item)) throw std::bad_alloc();
    item = nullptr;
  }
};

// Owned by what they are added to; cJSON answers a missing item with a failed addition.
inline void add_text(cJSON* to, const char* key, std::string_view text) {
  if (!cJSON_AddStringToObject(to, key, std::string(text).c_str())) throw std::bad_alloc();
}
inline void add_flag(cJSON* to, const char* key, bool flag) {
  if (!cJSON_AddBoolToObject(to, key, flag)) throw std::bad_alloc();
}
inline cJSON* add_object(cJSON* array) {
  cJSON* made = cJSON_CreateObject();
  if (!made || !cJSON_AddItemToArray(array, made)) throw std::bad_alloc();
  return made;
}

// An object with these texts.
inline cJSON* add_row(cJSON* array, std::initializer_list<std::pair<const char*, std::string_view>> texts) {
  cJSON* made = add_object(array);
  for (const auto& [key, text] : texts) add_text(made, key, text);
  return made;
}

inline cJSON* add_array(cJSON* to, const char* key) {
  cJSON* made = cJSON_AddArrayToObject(to, key);
  if (!made) throw std::bad_alloc();
  return made;
}
inline cJSON* add_object_in(cJSON* to, const char* key) {
  cJSON* made = cJSON_AddObjectToObject(to, key);
  if (!made) throw std::bad_alloc();
  return made;
}

}  // namespace thunder::capi
