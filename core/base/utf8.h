// Text from outside: is it UTF-8, and how does it look inside JSON quotes?
#pragma once

#include <string>
#include <string_view>

namespace thunder {

// Whether the text is valid UTF-8: shortest forms only, no surrogates, nothing above U+10FFFF.
bool valid_utf8(std::string_view text);

// The text in double quotes, escaped as JSON demands. Requires: valid_utf8(text).
std::string json_quote(std::string_view text);

}  // namespace thunder
