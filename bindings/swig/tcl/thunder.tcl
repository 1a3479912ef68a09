# Thunder for Tcl: tensors from lists, ops as methods and commands, scripts compiled.
#
#   set x [thunder::tensor {{1.0 2.0} {3.0 4.0}}]
#   set f [thunder::compile a { [[[$a matmul $a] add 1] relu] sum }]
#   puts [[$f call $x] item]
#
# Arguments by name are options: $x sum -dim 1 -keepdim 1. Tcl collects no objects: a tensor lives until `$x destroy`, or
# until the end of the thunder::scope in which it was made.
package require Tcl 8.6

namespace eval thunder {
    variable ops {}        ;# name -> row of the registry
    variable raised        ;# exceptions on their way through the library, by ticket: message and options
    variable closures      ;# what owns a script, by ticket
    variable made {}       ;# tensors of the innermost scope
    variable depth 0
    variable formats {bool cu u8 cu i8 c u16 su i16 s u32 iu i32 i u64 wu i64 w f32 r f64 q}
    array set raised {}
    array set closures {}
}

# ---- conversion between Tcl's values and those of the core ----

# A value's type is read from its form: an object, a number, a list, else a text; the empty string means none.
proc thunder::put_item {call value} {
    if {$value eq ""} {
        core::Call_none $call
    } elseif {[is_object $value Tensor]} {
        core::Call_tensor $call [$value core]
    } elseif {[string is wideinteger -strict $value]} {
        core::Call_integer $call $value
    } elseif {[string is double -strict $value]} {
        core::Call_real $call $value
    } elseif {[string is list $value] && [llength $value] > 1} {
        core::Call_open_list $call
        foreach element $value { put_item $call $element }
        core::Call_close $call
    } else {
        core::Call_text $call $value
    }
}

proc thunder::put_named {call names} {
    foreach {name value} $names {
        core::Call_key $call $name
        put_item $call $value
    }
}

proc thunder::is_object {value class} {
    expr {[info object isa object $value] && [info object isa typeof $value ::thunder::$class]}
}

proc thunder::take_item {call kind} {
    switch -- $kind \
        $core::ITEM_BOOLEAN - \
        $core::ITEM_INTEGER { return [core::Call_as_integer $call] } \
        $core::ITEM_REAL { return [core::Call_as_real $call] } \
        $core::ITEM_TEXT { return [core::Call_as_text $call] } \
        $core::ITEM_TENSOR { return [Tensor new [core::Call_as_tensor $call]] } \
        $core::ITEM_LIST { return [take_until $call $core::ITEM_CLOSE] } \
        $core::ITEM_MAP { return [take_map $call] }
    return ""
}

proc thunder::take_map {call} {
    set map {}
    while {[set kind [core::Call_next $call]] != $core::ITEM_CLOSE} {
        set name [core::Call_name $call]
        dict set map $name [take_item $call $kind]
    }
    return $map
}

proc thunder::take_until {call end} {
    set list {}
    while {[set kind [core::Call_next $call]] != $end} { lappend list [take_item $call $kind] }
    return $list
}

# The result of the call: one value, or a list of several. Raises the call's error.
proc thunder::result {call} {
    variable raised
    if {[core::Call_failed $call]} {
        set ticket [core::Call_ticket $call]
        if {[info exists raised($ticket)]} {
            lassign $raised($ticket) message options
            dict incr options -level
            return -options $options $message
        }
        return -code error -errorcode [list THUNDER [core::Call_code $call]] [core::Call_message $call]
    }
    set values [take_until $call $core::ITEM_END]
    if {[llength $values] == 1} { return [lindex $values 0] }
    return $values
}

# perform action {its own arguments} {positional items} {named items}
proc thunder::perform {action {own {}} {args {}} {named {}}} {
    set call [core::new_Call]
    try {
        foreach value $args { put_item $call $value }
        put_named $call $named
        set made [core::Call_$action $call {*}$own]
        set values [result $call]
        if {[string match _*_p_* $made]} { return $made }
        return $values
    } finally {
        core::delete_Call $call
    }
}

# An object of a class around what the core made.
proc thunder::hold {class core} {
    set made [oo::object new]
    oo::objdefine $made class ::thunder::$class
    set [info object namespace $made]::core $core
    return $made
}

proc thunder::new_ticket {} {
    variable raised
    variable closures
    while {[set dropped [core::next_dropped]]} { unset -nocomplain raised($dropped) closures($dropped) }
    core::new_ticket
}

# The core calls this to run a script.
proc thunder::dispatch {ticket} {
    variable raised
    variable closures
    set call [core::callback]
    if {[catch { scope { run $call $closures($ticket) } } message options]} {
        set id [new_ticket]
        set raised($id) [list $message $options]
        core::Call_fail $call $message $id
    }
}

proc thunder::run {call lambda} {
    set value [apply $lambda {*}[take_until $call $core::ITEM_END]]
    core::Call_reset $call
    put_item $call $value
    return ""
}

# Runs a script, and then destroys the tensors that it made and did not return.
proc thunder::scope {script} {
    variable made
    variable depth
    set outer $made
    set made {}
    incr depth
    set code [catch { uplevel 1 $script } value options]
    incr depth -1
    foreach tensor $made {
        if {$tensor in $value} { lappend outer $tensor } elseif {[info object isa object $tensor]} { $tensor destroy }
    }
    set made $outer
    if {$code == 0} { return $value }
    dict incr options -level
    return -options $options $value
}

# ---- what users call ----

oo::class create thunder::Tensor {
    variable core
    constructor {pointer} {
        set core $pointer
        if {$::thunder::depth} { lappend ::thunder::made [self] }
    }
    destructor { ::thunder::core::delete_Tensor $core }
    method core {} { return $core }
    method dtype {} { ::thunder::core::Tensor_dtype $core }
    method rank {} { ::thunder::core::Tensor_rank $core }
    method size {axis} { ::thunder::core::Tensor_size $core $axis }
    method is_concrete {} { ::thunder::core::Tensor_is_concrete $core }
    method shape {} {
        set shape {}
        for {set axis 0} {$axis < [my rank]} {incr axis} { lappend shape [my size $axis] }
        return $shape
    }
    # All elements in a flat list.
    method elements {} {
        if {[my dtype] in {bf16 f16}} {
            set wide [my to f32]
            try { return [$wide elements] } finally { $wide destroy }
        }
        set call [::thunder::core::new_Call]
        try {
            ::thunder::core::Call_read $call $core
            ::thunder::result $call
            binary scan [::thunder::core::Call_data $call] [my format scan] list
            return $list
        } finally {
            ::thunder::core::delete_Call $call
        }
    }
    method format {for} {
        set letter [dict get $::thunder::formats [my dtype]]
        if {$for ne "scan"} { set letter [string index $letter 0] }
        return $letter*
    }
    method to_list {} {
        set list [my elements]
        if {[my rank] == 0} { return [lindex $list 0] }
        foreach count [lreverse [lrange [my shape] 1 end]] {
            set rows {}
            for {set at 0} {$count && $at < [llength $list]} {incr at $count} {
                lappend rows [lrange $list $at [expr {$at + $count - 1}]]
            }
            set list $rows
        }
        return $list
    }
    # As PyTorch prints it.
    method text {} { ::thunder::perform tensor_text [list $core] }
    method item {} {
        set list [my elements]
        if {[llength $list] != 1} { return -code error -errorcode {THUNDER 3} "item: the tensor has not one element" }
        lindex $list 0
    }
    # Overwrites the elements, as many as before: functions compiled with this tensor see the new ones.
    method assign {list} {
        ::thunder::perform write [list $core [binary format [my format binary] $list]]
        return [self]
    }
}

# tensor nested_lists ?-dtype name? ?-shape list?: i64 when all are whole, else f32, where no dtype is given.
proc thunder::tensor {values args} {
    set depth 0
    for {set first $values} {![string is double -strict $first]} {set first [lindex $first 0]} {
        incr depth
        if {[llength $first] == 0} break
    }
    set call [core::new_Call]
    try {
        if {[dict exists $args -shape]} { foreach size [dict get $args -shape] { core::Call_integer $call $size } }
        core::Call_open_elements $call
        put_elements $call $values $depth
        core::Call_make_tensor $call [expr {[dict exists $args -dtype] ? [dict get $args -dtype] : ""}]
        return [result $call]
    } finally {
        core::delete_Call $call
    }
}

# In Tcl a number is a list too: the nesting depth is that of the first element at each level.
proc thunder::put_elements {call values depth} {
    if {$depth == 0} {
        if {[string is wideinteger -strict $values]} { core::Call_integer $call $values
        } elseif {[string is double -strict $values]} { core::Call_real $call $values
        } elseif {[llength $values] == 1} { core::Call_text $call $values
        } else {
            core::Call_open_list $call
            core::Call_close $call
        }
        return
    }
    core::Call_open_list $call
    foreach value $values { put_elements $call $value [expr {$depth - 1}] }
    core::Call_close $call
}

oo::class create thunder::Compiled {
    variable core
    # Releases a function of the core.
    constructor {function options} {
        try {
            set core [::thunder::perform compile [list $function] {} $options]
        } finally {
            ::thunder::core::delete_Function $function
        }
    }
    destructor { if {[info exists core]} { ::thunder::core::delete_Compiled $core } }
    method core {} { return $core }
    method call {args} { ::thunder::perform call [list $core] $args }
    # The same function, returning its results and the gradients of the first. -wrt: paths of arguments, such as "0,1.w".
    method value_and_grad {args} {
        set wrt ""
        if {[dict exists $args -wrt]} { set wrt [dict get $args -wrt] }
        ::thunder::Compiled new [::thunder::perform value_and_grad [list $core $wrt]] {}
    }
    # @members Compiled@
}

# compile parameters body ?-option value ...?
proc thunder::compile {parameters body args} {
    set options {}
    foreach {name value} $args { lappend options [string range $name 1 end] $value }
    Compiled new [perform make_function [list "" [keep [list $parameters $body]]]] $options
}

# @classes@

# @functions@

# Positional arguments, and those that follow an option's name.
proc thunder::split_options {words} {
    set at [lsearch -regexp $words {^-[A-Za-z]\w*$}]
    if {$at < 0} { return [list $words {}] }
    set named {}
    foreach {name value} [lrange $words $at end] { lappend named [string range $name 1 end] $value }
    list [lrange $words 0 [expr {$at - 1}]] $named
}

proc thunder::version {} { core::version }

# The line of the user's program, for traces.
proc thunder::place {} {
    if {![core::is_tracing]} { return "" }
    for {set level [info frame]} {$level > 0} {incr level -1} {
        set frame [info frame $level]
        if {[dict exists $frame file] && ![string match *thunder.tcl [dict get $frame file]]} {
            return [dict get $frame file]:[dict get $frame line]
        }
    }
    return ""
}

# Every op, from the registry: thunder::NAME ... and, when a tensor comes first, $tensor NAME ...
proc thunder::define_op {row} {
    variable ops
    set base [dict get $row name]
    dict set ops $base $row
    foreach name [list $base {*}[expr {[dict get $row inplace] ? "${base}_" : ""}]] {
        proc ::thunder::$name {args} "perform op \[list $name \[place\]\] {*}\[split_options \$args\]"
        oo::define ::thunder::Tensor method $name args \
            "::thunder::perform op \[list $name \[::thunder::place\]\] {*}\[::thunder::split_options \[list \[self\] {*}\$args\]\]"
        oo::define ::thunder::Tensor export $name
    }
}
foreach thunder::row [thunder::describe ops] { thunder::define_op $thunder::row }

# add_op schema doc parameters body ?-vjp {parameters body}?: an op of your own, for ever. The body computes it from its
# arguments by other ops. vjp gets lists of the arguments, the results, their cotangents and which gradients are wanted, and
# returns a gradient for each argument; without it, it is that of the body.
proc thunder::add_op {schema doc parameters body args} {
    set vjp [expr {[dict exists $args -vjp] ? [keep [dict get $args -vjp]] : 0}]
    perform add_op [list $schema $doc [keep [list $parameters $body]] $vjp]
    foreach row [describe ops] { if {[string match "[dict get $row name](*" $schema]} { define_op $row } }
}

# The ticket of a lambda, for as long as the library knows it.
proc thunder::keep {lambda} {
    variable closures
    set ticket [new_ticket]
    set closures($ticket) $lambda
    return $ticket
}

package provide thunder 0.1
