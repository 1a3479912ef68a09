# Makes and drops tensors, functions and compiled functions in random order.
package require thunder
expr {srand(1)}
proc pick {n} { expr {int(rand() * $n)} }
array set slots {}
array set compiled {}
proc tensor {} {
    global slots
    set there [array names slots]
    if {![llength $there]} { return [set slots(0) [thunder::tensor {{1.0 2.0} {3.0 4.0}}]] }
    return $slots([lindex $there [pick [llength $there]]])
}
proc drop {array index} {
    upvar #0 $array of
    if {[info exists of($index)]} { $of($index) destroy; unset of($index) }
}
proc keep {array index value} { drop $array $index; set ::${array}($index) $value }
set acts {
    { keep slots [pick 12] [thunder::tensor [list [list [expr {rand()}] 2.0] {3.0 4.0}]] }
    { keep slots [pick 12] [thunder::scope { [[tensor] mul 0.5] add [[tensor] tanh] }] }
    { drop slots [pick 12] }
    { drop compiled [pick 4] }
    { keep compiled [pick 4] [thunder::compile a { [$a mul 2.0] sum } -executors host] }
    {
        foreach index [array names compiled] {
            thunder::scope { set both [$compiled($index) value_and_grad]; $both call [tensor]; $both destroy; list }
            break
        }
    }
    {
        set failing [thunder::compile a { throw {NO REASON} no }]
        if {![catch { $failing call [tensor] } message options] || [dict get $options -errorcode] ne "NO REASON"} {
            error "another error: $message"
        }
        $failing destroy
    }
}
for {set i 0} {$i < 800} {incr i} { eval [lindex $acts [pick [llength $acts]]] }
foreach array {slots compiled} { foreach index [array names $array] { drop $array $index } }
if {[llength [info class instances ::thunder::Tensor]]} { error "tensors are left: [info class instances ::thunder::Tensor]" }
puts tortured
