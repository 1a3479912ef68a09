// Every exported function, called with nothing but zeros: a status or a harmless value, never a crash.
#include <gtest/gtest.h>
#include <thunder.h>

#include <string>
#include <type_traits>

namespace {

// What a function may answer to arguments that are all NULL and 0.
template <class R, class... A>
void call_with_zeros(const std::string& name, R (*function)(A...) noexcept) {
  if constexpr (std::is_void_v<R>) {
    function(A{}...);
  } else {
    R result = function(A{}...);
    if constexpr (std::is_same_v<R, thunder_status*>) {
      const bool harmless =
          name == "thunder_status_create" || name == "thunder_status_retain" || name == "thunder_handle_status";
      if (!harmless) {
        ASSERT_NE(result, nullptr) << name << " takes NULL for granted";
        EXPECT_EQ(thunder_status_code(result), THUNDER_INVALID_ARGUMENT) << name;
        const std::string message = thunder_status_message(result);
        const bool names_it = message.find(name) == 0 || message.find("the scope is NULL") == 0;
        EXPECT_TRUE(names_it && message.find("NULL") != std::string::npos) << name << ": " << message;
      }
      thunder_status_release(result);
    } else if constexpr (std::is_same_v<R, thunder_tensor*>) {
      const bool optional = name == "thunder_tensor_retain" || name.find("thunder_node_") == 0;
      EXPECT_EQ(result == nullptr, optional) << name;
    } else if constexpr (std::is_same_v<R, const char*>) {
      if (result) {
        EXPECT_STREQ(result, "") << name;
      }
    }
  }
}

TEST(Null, is_refused_by_every_function) {
#define THUNDER_SYMBOL(name) call_with_zeros(#name, name);
#include <abi.inc>
#undef THUNDER_SYMBOL
}

}  // namespace
