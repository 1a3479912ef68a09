# Trains an MLP on handwritten digits: digits.tcl DIGITS.csv
package require thunder

set epochs 5

proc rows {tensor first last} { $tensor slice -dim 0 -start $first -end $last }

proc network {} {
    set net [thunder::Module new Sequential]
    $net add 0 [thunder::Module new Linear 64 128]
    $net add 1 [thunder::Module new ReLU]
    $net add 2 [thunder::Module new Linear 128 10]
    return $net
}

set table [thunder::read_csv [lindex $argv 0]]
set images [[$table slice -dim 1 -start 0 -end 64] div 16]
set labels [[[$table slice -dim 1 -start 64 -end 65] squeeze 1] to i64]

thunder::seed 42
set net [network]
set params [$net parameters]
set opt [thunder::Optimizer new AdamW $params -lr 4e-3]
set batches [thunder::Batches new [list [rows $images 0 1500] [rows $labels 0 1500]] -size 32 -shuffle 1 -drop_last 1 -seed 2]
set schedule [thunder::Schedule new CosineAnnealingLR $opt -T_max [expr {$epochs * [$batches size]}]]

set step [thunder::compile {x y} { ;# forward, loss, gradients and update: one program
    set loss [[$::net call $x] cross_entropy $y]
    lassign [thunder::clip_grad_norm [thunder::grad_of $loss [dict values $::params]] 1.0] gradients norm
    $::opt step $gradients
    return $loss
}]

for {set epoch 1} {$epoch <= $epochs} {incr epoch} {
    $batches each {x y} {
        set loss [[$step call $x $y] item]
        $schedule step
    }
    puts [format "epoch %d: loss %.4f, lr %.6f" $epoch $loss [lindex [$schedule get_last_lr] 0]]
}

close [file tempfile name]
$net save $name.net
$opt save $name.opt
set again [[network] load $name.net]
set resumed [thunder::Optimizer new AdamW [$again parameters] -lr 1.0]
$resumed load $name.opt
file delete $name $name.net $name.opt
$resumed set lr 1e-4 ;# compiles nothing
puts [format "resumed at step %d, lr %.4f" [expr {int([$resumed get step])}] [$resumed get lr]]

set position [$batches state] ;# and the order of the data
set first [lindex [$batches next] 1]
$batches set_state $position
set again_first [lindex [$batches next] 1]
puts "the same batch again: [[[$first eq $again_first] sum] item] of 32 labels"
puts [format "clipped to %.1f" [[[lindex [thunder::clip_grad_value [list $images $images] 0.5] 0] amax] item]]

set predict [thunder::compile x { [$::again call $x] argmax -1 }]
set count [$images size 0]
set right [[[[$predict call [rows $images 1500 $count]] eq [rows $labels 1500 $count]] sum] item]
puts "$right of [expr {$count - 1500}] right, [dict get [$step stats] misses] programs"
