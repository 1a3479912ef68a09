// The words after a command that needs no script: places, and options of thunder_options.
#pragma once

#include <span>
#include <string>

#include "thunder.h"

struct WordOption {
  enum class Kind { flag, integer, text };
  const char* word;  // "--external-data", which sets the option external_data
  Kind kind;
  const char** to = nullptr;  // of a text that is no option: where it goes
};

// Fills every positional argument with one word that is no option. False: the words do not fit.
bool read_words(std::span<char* const> words, std::span<const char** const> places, std::span<const WordOption> known,
                thunder_options* options);

// Prints and releases what failed. The exit status.
int report(thunder_status* failed);
