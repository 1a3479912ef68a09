// Options by name, and modules of the kinds that the library has.
#include <cmath>

#include "action.h"
#include "call.h"

namespace thunder_swig {

static Items select_arguments(const Items& items, bool named) {
  Items made;
  for (size_t at = 0; at < items.size();) {
    const size_t end = end_of_value(items, at);
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(at), last = items.begin() + static_cast<std::ptrdiff_t>(end);
    if (items[at].name.empty() != named) made.insert(made.end(), first, last);
    at = end;
  }
  return made;
}
Items positional(const Items& items) { return select_arguments(items, false); }
Items named(const Items& items) { return select_arguments(items, true); }

size_t count_from(long long value, const char* what) {
  if (value < 0) refuse(THUNDER_INVALID_ARGUMENT, std::string(what) + " must not be negative, got " + std::to_string(value));
  return static_cast<size_t>(value);
}

// Whole numbers are integers, which count as floats where those are wanted: numbers of R and Octave are all floats.
static thunder_any integer_if_whole(thunder_any value) {
  const bool is_whole = value.kind == THUNDER_FLOAT && std::abs(value.u.f) < 0x1p53 && std::trunc(value.u.f) == value.u.f;
  if (is_whole) value.kind = THUNDER_INT, value.u.i = static_cast<int64_t>(value.u.f);
  return value;
}

Options::Options(thunder_context* context, const Items& items) {
  check(thunder_options_create(context, &handle));
  Arguments arguments(items, nullptr);
  for (thunder_any& value : arguments.any) value = integer_if_whole(value);
  for (size_t i = 0; i < arguments.any.size(); i++) {
    const char* name = arguments.names.empty() ? nullptr : arguments.names[i];
    if (name) thunder_options_set(handle, name, &arguments.any[i]);
    if (name) continue;
    thunder_options_release(handle);
    refuse(THUNDER_INVALID_ARGUMENT, "every option has a name");
  }
}

Module* Call::module_new(const char* kind) {
  Module* made = nullptr;
  perform([&] {
    const Arguments arguments(items_, find_schema("modules", kind ? kind : ""));
    thunder_module* handle = nullptr;
    check(thunder_module_create(context(), kind, arguments.any.data(), arguments.any.size(),
                                arguments.names.empty() ? nullptr : arguments.names.data(), &handle));
    made = new Module(handle);
    return Items{};
  });
  return made;
}

}  // namespace thunder_swig
