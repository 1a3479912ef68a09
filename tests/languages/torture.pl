# Makes and drops tensors, functions and compiled functions in random order.
use strict;
use warnings;
use Thunder;

srand 1;
my (@slots, @compiled);
my $destroyed = 0;
{ package Witness; sub DESTROY { $destroyed++ } }
sub tensor { my @there = grep { defined } @slots; @there ? $there[rand @there] : Thunder::tensor([[1.5, 2.0], [3.0, 4.0]]) }
my $witnesses = 0;
my @acts = (
    sub { $slots[rand 12] = Thunder::tensor([[rand, 2.0], [3.0, 4.0]], dtype => 'f32') },
    sub { $slots[rand 12] = tensor() * 0.5 + tensor()->tanh },
    sub { $slots[rand 12] = undef },
    sub { $compiled[rand 4] = undef },
    sub {
        my ($captured, $witness) = (tensor(), bless {}, 'Witness');
        $witnesses++;
        my $f = Thunder::compile(sub { $witness ? $_[0] * $captured : undef }, executors => 'host');
        $compiled[rand 4] = rand() < 0.5 ? $f : $f->value_and_grad;
    },
    sub { my ($f) = grep { defined } @compiled; eval { $f->(tensor()) } if $f },
    sub {
        eval { Thunder::compile(sub { die { reason => 'no' } })->(tensor()) };
        die 'another error' unless ref $@ eq 'HASH' && $@->{reason} eq 'no';
    },
);
$acts[rand @acts]->() for 1 .. 800;
@slots = @compiled = ();
die "$destroyed of $witnesses closures were freed" if $destroyed != $witnesses;
print "tortured\n";
