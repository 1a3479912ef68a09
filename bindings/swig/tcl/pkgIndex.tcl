package ifneeded thunder 0.1 "load [list [file join $dir thunder_core.so]]; source [list [file join $dir thunder.tcl]]"
