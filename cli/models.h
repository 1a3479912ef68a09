// Scripts of the commands that take ONNX models. Their arguments are those of the command line.
#pragma once

// The beginning of the next two.
extern const char* const kModelInputs;
// FILE [--input NAME=FILE.npy] [--dim NAME=SIZE] [--backend B] [--check B] [--save FOLDER]
extern const char* const kRunModel;
// FILE FILE.thunder [--input NAME=FILE.npy] [--dim NAME=SIZE]
extern const char* const kConvertModel;
// FILE
extern const char* const kInspectModel;
