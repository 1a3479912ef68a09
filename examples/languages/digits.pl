# Trains an MLP on handwritten digits: digits.pl DIGITS.csv
use strict;
use warnings;
use File::Temp 'tempdir';
use Thunder;

my $epochs = 5;

sub rows { my ($tensor, $first, $last) = @_; $tensor->slice({ dim => 0, start => $first, end => $last }) }

sub network {
    my $net = Thunder::module('Sequential');
    my @layers = (Thunder::module('Linear', 64, 128), Thunder::module('ReLU'), Thunder::module('Linear', 128, 10));
    $net->add($_, $layers[$_]) for 0 .. $#layers;
    return $net;
}

my $table = Thunder::read_csv($ARGV[0]);
my $images = $table->slice({ dim => 1, start => 0, end => 64 }) / 16;
my $labels = $table->slice({ dim => 1, start => 64, end => 65 })->squeeze(1)->to('i64');

Thunder::seed(42);
my $net = network();
my $params = $net->parameters;
my $opt = Thunder::Optimizer->new('AdamW', $params, lr => 4e-3);
my $batches = Thunder::Batches->new([rows($images, 0, 1500), rows($labels, 0, 1500)],
    size => 32, shuffle => 1, drop_last => 1, seed => 2);
my $schedule = Thunder::Schedule->new('CosineAnnealingLR', $opt, T_max => $epochs * $batches->size);

my $step = Thunder::compile(sub { # forward, loss, gradients and update: one program
    my ($x, $y) = @_;
    my $loss = $net->call($x)->cross_entropy($y);
    my ($gradients, $norm) = Thunder::clip_grad_norm(Thunder::grad_of($loss, $params), 1.0);
    $opt->step($gradients);
    return $loss;
});

for my $epoch (1 .. $epochs) {
    my $loss;
    while (my ($x, $y) = $batches->next) {
        $loss = $step->($x, $y);
        $schedule->step;
    }
    printf "epoch %d: loss %.4f, lr %.6f\n", $epoch, $loss->item, $schedule->get_last_lr;
}

my $folder = tempdir(CLEANUP => 1);
$net->save("$folder/net.safetensors");
$opt->save("$folder/opt.safetensors");
my $again = network()->load("$folder/net.safetensors");
my $resumed = Thunder::Optimizer->new('AdamW', $again->parameters, lr => 1.0)->load("$folder/opt.safetensors");
$resumed->lr(1e-4); # compiles nothing
printf "resumed at step %d, lr %.4f\n", $resumed->get('step'), $resumed->lr;

my $position = $batches->state; # and the order of the data
my (undef, $first) = $batches->next;
$batches->set_state($position);
my (undef, $again_first) = $batches->next;
printf "the same batch again: %d of 32 labels\n", $first->eq($again_first)->sum->item;
printf "clipped to %.1f\n", Thunder::clip_grad_value([$images], 0.5)->[0]->amax->item;

my $predict = Thunder::compile(sub { $again->call($_[0])->argmax(-1) });
my $count = $images->size(0);
my $right = $predict->(rows($images, 1500, $count))->eq(rows($labels, 1500, $count))->sum->item;
printf "%d of %d right, %d programs\n", $right, $count - 1500, $step->stats->{misses};
