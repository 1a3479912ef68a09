// The commands of the tool. Each gets the arguments after its name and returns the exit status; 2: they were not understood.
#pragma once

int run_script(int argc, char** argv);
int inspect_model(int argc, char** argv);
int read_and_run(int argc, char** argv);
int list_ops(int argc, char** argv);
int examine_installation(int argc, char** argv);
// Of a script, a saved program or a model; argv[-1] is the command's name.
int examine_script(int argc, char** argv);
int profile_script(int argc, char** argv);
int trace_script(int argc, char** argv);
int write_repro(int argc, char** argv);
int export_program(int argc, char** argv);
// A saved program as a model, and a model as a saved program.
int convert_program(int argc, char** argv);
int convert_file(int argc, char** argv);
