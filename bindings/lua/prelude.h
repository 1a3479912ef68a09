/* The Lua files of this folder as text, in the order in which they run; the build makes the array. */
#pragma once
#include <stddef.h>

typedef struct thunder_prelude {
    const char *name; /* NULL: the end */
    const char *text;
    size_t bytes;
} thunder_prelude;
extern const thunder_prelude thunder_prelude_files[];
