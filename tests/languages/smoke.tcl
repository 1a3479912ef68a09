# The smoke program in Tcl: smoke.tcl MODEL.safetensors DIGITS.csv
package require thunder
lassign $argv model csv

proc show {label args} {
    puts [list $label {*}[lmap value [concat {*}$args] {
        if {[string is double -strict $value] && ![string is wideinteger -strict $value]} { format %.4f $value } { set value }
    }]]
}
proc show_words {args} { puts [join $args] }
proc flat {list} { concat {*}$list }

set x [thunder::tensor {{1.0 2.0} {3.0 4.0}}]
show operators [[[[$x mul 2] add 1] sub [$x div 2]] elements]
show negated [[$x neg] elements]
show_words text [$x text]
if {![catch { thunder::tensor {{1 2} {3}} } message] || $message ne "tensor: the lists are not those of one shape: a list of 1 stands where a list of 2 is expected"} { error $message }
show reversed [[thunder::sub 2 $x] elements]
show matmul [[$x matmul $x] elements]
show named [[$x sum -dim 1] elements]
show ops [llength [lsearch -all -not [lmap name [dict keys $thunder::ops] { info commands thunder::$name }] ""]]
show integers [[thunder::tensor {9223372036854775807 -9223372036854775808 9007199254740993}] elements]

set f [thunder::compile a { [[[$a matmul $a] add 1] relu] sum }]
show compiled [[$f call $x] item] [[$f call $x] item] misses [dict get [$f stats] misses]
show gradient [[lindex [[$f value_and_grad] call $x] end] elements]

try {
    $x matmul [thunder::tensor {{1.0 2.0 3.0}}]
} trap THUNDER {message options} {
    show_words error [lindex [dict get $options -errorcode] 1] $message
}
try {
    [thunder::compile a { $a matmul [thunder::ones {3 3}] }] call $x
} trap THUNDER {message options} {
    show_words traced error [lindex [dict get $options -errorcode] 1]
}
try {
    [thunder::compile a { throw {MINE 42} mine }] call $x
} trap MINE {message options} {
    show_words raised $message [lindex [dict get $options -errorcode] 1]
}

# An interpreter belongs to its thread, and a thread has its own context's objects; so one after the other.
set row [thunder::compile {a n} { [$a mul $n] sum }]
show threads [lmap n {1.0 2.0 3.0 4.0} { [$row call $x $n] item }]

# The gradient is twice what it should be, which shows whose it is.
thunder::add_op "square_plus(tensor x, float c=1.0) -> tensor" "x * x + c." {a c} { [$a mul $a] add $c } -vjp {
    {args results cotangents wanted} { list [[[lindex $cotangents 0] mul [lindex $args 0]] mul 4] "" }
}
set own [thunder::compile a { [$a square_plus] sum }]
show_words own op {*}[lmap value [[$x square_plus] elements] { format %.4f $value }] gradient \
    {*}[lmap value [[lindex [[$own value_and_grad] call $x] end] elements] { format %.4f $value }]

set w [thunder::tensor {0.0 0.0}]
set y [thunder::tensor {5.0 11.0}]
set miss [thunder::compile v { [[[$v sub $::y] mul [$v sub $::y]] mul $::y] sum }]
set search [thunder::Optimizer new LBFGS [dict create 0 $w] -line_search_fn strong_wolfe]
show_words lbfgs [format %.4f [[$search step_closure [$miss value_and_grad] $w] item]] \
    {*}[lmap value [$w elements] { format %.4f $value }]

thunder::seed 7
set drawn [[thunder::init_orthogonal_ [thunder::zeros {3 4}]] add [thunder::init_trunc_normal_ [thunder::zeros {3 4}]]]
show init [[[[[$drawn to f64] mul [expr {2.0 ** 40}]] to i64] sum] item]

lassign [thunder::save_cache_artifacts] artifacts info
show artifacts [expr {[dict get $info cpu_kernels] - [dict get [thunder::load_cache_artifacts $artifacts] cpu_kernels]}]
try { thunder::load_cache_artifacts $x } trap THUNDER {- options} { show damaged [lindex [dict get $options -errorcode] 1] }

set net [thunder::Module new Sequential]
$net add 0 [thunder::Module new Linear 64 32]
$net add 1 [thunder::Module new ReLU]
$net add 2 [thunder::Module new Linear 32 10]
$net load $model
# Each loop is an epoch of its own.
set batches [thunder::Batches new [list [thunder::tensor {0 1 2 3}]] -size 2]
set count 0
$batches each part break
$batches each part { set first [$part elements]; break }
if {$first ne "0 1"} { error "a loop went on behind a break: $first" }
$batches each part { $batches each part { incr count } }
if {$count != 4} { error "nested loops read $count batches" }
set rows [thunder::read_csv $csv]
set images [[$rows slice -dim 1 -start 0 -end 64] div 16]
set labels [[[$rows slice -dim 1 -start 64 -end 65] squeeze 1] to i64]
set predict [thunder::compile batch { global net; [$net call $batch] argmax -1 }]
set found [$predict call $images]
show digits [[[$found eq $labels] sum] item] of [$images size 0] first [lrange [$found elements] 0 9]
$predict export_onnx $model.tcl.onnx -opset 20
set loaded [thunder::load_program $model.tcl.onnx]
if {![string match {*"dims":\[1797,64\]*} [$loaded signature]]} { error [$loaded signature] }
show loaded [[[[$loaded call $images] eq $labels] sum] item] parameters [dict size [[$loaded program_module] parameters]]
$loaded destroy
show_words relu [lindex [split [thunder::doc relu] \n] 1]
