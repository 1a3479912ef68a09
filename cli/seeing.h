// The script of the commands that show what a script or a program does. Its arguments are the options, FILE, and what follows it.
#pragma once

// examine | profile | trace | explain | repro
extern const char* const kSee;
