// What a file is.
#pragma once

enum class FileKind { script, program, safetensors, model, array, other };

// By its first bytes; by its name if they do not tell, and for pipes, which can be read only once. What is nothing else is a script.
FileKind kind_of(const char* file);
// What is known of a file of another kind: "a zip archive, as ...". A script: "text".
const char* description_of(const char* file);
