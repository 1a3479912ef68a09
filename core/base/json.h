// Whether a text is JSON. Looking allocates nothing, so that what a parser cannot read then is for lack of memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace thunder {

// The place where the text stops being JSON (RFC 8259), or npos if all of it is one value with white space around it.
// Values nested deeper than 500 and numbers of more than 60 characters are refused.
size_t json_error(std::string_view text);

// The place of a zero, as a byte or escaped, or npos: a parser of C strings would end there.
size_t json_zero(std::string_view text);

}  // namespace thunder
