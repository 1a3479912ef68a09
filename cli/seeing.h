// The script of the commands that show what a script or a program does. Its arguments are the command, then those of the command line.
#pragma once

// examine | profile | trace | repro, FILE [REPORT] [--html OUT] [--chrome OUT] [--step N] [--output OUT] [--json] [ARGUMENT...]
extern const char* const kSee;
