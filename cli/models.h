// Scripts of the commands that take ONNX models and saved programs. Their arguments are the options, then the places.
#pragma once

// The beginning of the next two.
extern const char* const kModelInputs;
extern const char* const kRunModel;
extern const char* const kConvertModel;
extern const char* const kRunProgram;
