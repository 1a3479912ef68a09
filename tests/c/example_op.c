/* The example is a program of a user's. */
#include "extend/op.c"
