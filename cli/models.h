// Scripts of the commands that take ONNX models. Their arguments are those of the command line.
#pragma once

// FILE [--input NAME=FILE.npy] [--dim NAME=SIZE] [--backend B] [--check B] [--save FOLDER]
extern const char* const kRunModel;
// FILE
extern const char* const kInspectModel;
