// Whether a text is JSON. Looking allocates nothing, so that what a parser cannot read then is for lack of memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace thunder {

// Where the text stops being JSON (RFC 8259), or npos if all of it is: one value, with white space around it. A value
// that lies deeper than 500 others and a number of more than 60 characters are refused.
size_t json_error(std::string_view text);

// Where a text holds a zero, as a byte or escaped, or npos: a parser of C strings would end there.
size_t json_zero(std::string_view text);

}  // namespace thunder
