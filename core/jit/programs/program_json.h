// The parts of a program file's metadata that are JSON: leaves, and what a program's inputs, results and tensors are.
#pragma once

#include <cJSON.h>

#include "jit/options/compile_options.h"
#include "jit/saved/saved_function.h"

namespace thunder {

std::string leaf_json(const Leaf& leaf);  // of a constant
std::string options_json(const CompileOptions& options);
// `names` by input of the trace: of the tensors that it captured.
std::string program_json(const SavedProgram& program, std::span<const std::string> names);

// A list of texts.
std::string names_json(std::span<const std::string> names);

// Throw invalid_argument where the text is not what the functions above write.
void read_options(std::string_view json, CompileOptions& out);
std::vector<std::string> read_names(std::string_view json);
// Fills everything but the trace and the tensors, and gives their names by input; "" for those that have none.
std::vector<std::string> read_program(std::string_view json, SavedProgram& out);

}  // namespace thunder
