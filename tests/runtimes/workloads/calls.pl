# SPDX-License-Identifier: Apache-2.0
#
# calls.pl REPORT: functions that call each other in ways that are known, until a signal ends it. With THREADS=N, N
# threads do so.
#
# At first burn() notes what caller() says of all functions, and REPORT gets that as JSON: stacks, outermost function
# first; calls, as (caller, file, line, called function); lines of each function. Then REPORT.ready is there, and
# the same goes on without the notes. Runs in Perl 5.32 and later. What these lack is a text, for the versions that
# have it: try, defer, and classes.

use strict;
use warnings;
use Config;
use if $Config{useithreads}, 'threads';
use List::Util ();
use JSON::PP ();

package Observer;

sub thread {
	return $Config::Config{useithreads} ? threads->tid : 0;
}

our ($on, %stacks, %calls, %lines) = (1);

# caller() tells of a frame its function, and the place in its caller.
sub observe {
	my @frames;
	for (my $i = 1; my @frame = caller $i; $i++) {
		my ($file, $line, $name) = @frame[1 .. 3];
		push @frames, [$name, $file =~ s,.*/,,r, $line];
	}
	# the function that called burn() is in the last frame's place
	my @names = map { $_->[0] } @frames;
	push @names, '(main)' unless thread();
	my (@stack, $callee);
	for my $i (reverse 0 .. $#names) {
		my ($file, $line) = $i ? @{$frames[$i - 1]}[1, 2] : (caller 0)[1, 2];
		$file =~ s,.*/,,;
		push @stack, [$names[$i], $file];
		$lines{"$names[$i]\0$file"}{$line} = 1;
		$calls{join "\0", $names[$i], $file, $line, $names[$i - 1]} = 1 if $i;
	}
	$stacks{JSON::PP::encode_json(\@stack)} = \@stack;
}

# A loop has lines of its own.
sub lines {
	my @all;
	for my $function (keys %lines) {
		my @sorted = sort { $a <=> $b } keys %{$lines{$function}};
		push @all, [split(/\0/, $function), [$sorted[0] - 3 .. $sorted[-1] + 3]];
	}
	return \@all;
}

sub report {
	my ($path) = @_;
	open my $file, '>', "$path.new" or die;
	print $file JSON::PP->new->canonical->encode({
		version => sprintf('%vd', $^V),
		stacks => [values %stacks],
		calls => [map { my @call = split /\0/; $call[2] += 0; \@call } keys %calls],
		lines => lines(),
		proven => 97,
		files => ['calls.pl', 'evaluated.pl', 'try.pl', 'defer.pl', 'class.pl'],
		orders => [
			['Work::in_first', ['Work::by_lists', 'Util.so', 'Work::in_first']],
			['Work::in_caught', ['Work::by_caught', 'Util.so', 'Work::__ANON__', 'Util.so', 'Work::in_caught']],
			['Work::in_tried', ['Work::by_try', 'Util.so', 'Work::__ANON__', 'Util.so', 'Work::in_tried']],
			['Work::in_deferred', ['Work::by_defer', 'Util.so', 'Work::__ANON__', 'Util.so', 'Work::in_deferred']],
		],
	});
	close $file;
	rename "$path.new", $path;
	open $file, '>', "$path.ready" or die;
}

# ---- functions --------------------------------------------------------------------------------

package Work;

use constant {ROUNDS => 3, BURN => 400, DEPTH => 60};

sub burn {
	my ($total, $rounds) = (0, $Observer::on ? 3 : BURN);
	for my $i (1 .. $rounds) {
		$total += $i % 7;
		Observer::observe() if $Observer::on;
		$total ^= $i;
	}
	return $total;
}

package Shape {
	sub new {
		Work::burn();
		return bless {side => $_[1]}, $_[0];
	}

	sub sum {
		my $total = 0;
		for my $shape (@_) {
			$total += $shape->area;
		}
		return $total;
	}
}

package Square {
	our @ISA = ('Shape');
	our $AUTOLOAD;
	use overload
		'+' => \&add,
		'""' => sub { Work::burn(); return 'square'; },
		'<=>' => sub { my $r = Work::burn(); return 0; };

	sub add {
		my $r = Work::burn();
		return $r;
	}

	sub area {
		my $r = Work::burn();
		return $r;
	}

	sub AUTOLOAD {
		my $r = Work::burn();
		return $r;
	}

	sub DESTROY {
		my $r = Work::burn();
	}
}

package Tied {
	sub TIESCALAR {
		Work::burn();
		return bless [], $_[0];
	}

	sub FETCH {
		my $r = Work::burn();
		return $r;
	}

	sub STORE {
		my $r = Work::burn();
		eval { Work::burn(); die "no\n" };
		Work::burn();
	}
}

package Work;

sub by_methods {
	my $r = Shape::sum(Square->new(1), Square->new(2));
	return $r;
}

sub by_magic {
	my $square = Square->new(3);
	my $r = $square->anything;
	$r = $square + 1;
	$r = "$square";
	undef $square;
	tie my $tied, 'Tied';
	$tied = 3;
	$r = $tied;
	return $r;
}

sub by_number {
	burn();
	return $a <=> $b;
}

sub by_sort {
	my @sorted = sort { burn(); $a <=> $b } 3, 1, 2;
	@sorted = sort by_number 3, 1, 2;
	my $compare = sub { my $r = burn(); return $a <=> $b; };
	@sorted = sort $compare 2, 1;
	@sorted = sort { $a <=> $b } Square->new(1), Square->new(2);
	return @sorted;
}

sub by_regex {
	my $text = 'abc';
	my $r = $text =~ /b(?{ burn() })c/;
	$text =~ s/([ab])/burn()/e;
	my $code = qr/a(?{ burn() })/;
	$r = $text =~ $code;
	return $r;
}

sub in_first {
	my $total = 0;
	for my $i (1 .. BURN) { $total += $i % 3; $total ^= $i }
	burn() if $Observer::on;
	return 0;
}

sub by_lists {
	my $r = List::Util::first { in_first() } 1 .. 3;
	$r = List::Util::reduce { burn() + $a + $b } 1 .. 3;
	$r = List::Util::any { my $one = burn(); $one < 0 } 1, 2;
	return $r;
}

sub in_caught {
	my $total = 0;
	for my $i (1 .. BURN) { $total += $i % 3; $total ^= $i }
	burn() if $Observer::on;
	return 0;
}

# The eval in native code's call has a loop of its own, which goes on behind it.
sub by_caught {
	my $r = List::Util::reduce {
		eval { die "no\n" };
		burn();
		List::Util::first { in_caught() } 1, 2;
	} 1 .. 3;
	return $r;
}

sub by_eval {
	my $r = eval { burn() };
	$r = eval { eval { burn(); die "no\n" }; burn() };
	$r = eval qq{#line 1 "evaluated.pl"\nWork::burn();\nWork::by_methods();};
	return $r;
}

my $closure = do {
	my $seen = 0;
	sub { $seen++; my $r = burn(); return $r + $_[0] };
};

sub by_closures {
	my ($x) = @_;
	my $r = $closure->(1);
	my $inner = sub { my $one = burn(); return $one + $x };
	$r = $inner->();
	$r = List::Util::sum(map { burn() } 1, 2);
	my @found = grep { burn() } 1, 2;
	return $r;
}

sub gone {
	burn();
	goto &by_methods;
}

sub by_goto {
	my $r = gone();
	return $r;
}

sub by_handlers {
	local $SIG{__WARN__} = sub { burn() };
	warn "x\n";
	local $SIG{__DIE__} = sub { burn() };
	eval { die "x\n" };
	local $SIG{USR1} = sub { burn() };
	kill USR1 => $$ unless Observer::thread(); for my $i (1 .. 3) { my $waits = $i } # the handler runs here
}

sub recursive {
	my ($depth) = @_;
	return burn() + burn() if $depth == 0;
	my $r = recursive($depth - 1);
	return $r;
}

sub by_recursion {
	my $r = recursive(DEPTH);
	return $r;
}

# ---- of newer versions ------------------------------------------------------------------------

my @newer;

# with_newer VERSION, NAME, TEXT: defines by_NAME() by a text
sub with_newer {
	my ($version, $name, $text) = @_;
	return if $] < $version;
	eval qq{no warnings;\n#line 1 "$name.pl"\n$text; 1} or die;
	push @newer, \&{$Work::{"by_$name"}};
}

with_newer 5.034, 'try', <<'END';
use feature 'try';
sub in_tried {
	my $total = 0;
	for my $i (1 .. BURN) { $total += $i % 3; $total ^= $i }
	burn() if $Observer::on;
	return 0;
}
sub by_try {
	my $r;
	try { $r = burn(); die "no\n" } catch ($no) { $r = burn() }
	# a try in native code's call has a loop of its own, too
	$r = List::Util::reduce {
		try { die "no\n" } catch ($no) { $r = burn() }
		try { $r = burn() } catch ($no) { }
		List::Util::first { in_tried() } 1, 2;
	} 1 .. 3;
	return $r;
}
END

with_newer 5.036, 'defer', <<'END';
use feature 'defer', 'try';
sub in_deferred {
	my $total = 0;
	for my $i (1 .. BURN) { $total += $i % 3; $total ^= $i }
	burn() if $Observer::on;
	return 0;
}
# The loop runs a deferred block in a loop of its own.
sub by_defer {
	my $r;
	{
		defer { $r = burn(); $r = by_methods() }
		$r = burn();
	}
	eval { defer { $r = burn() } die "no\n" };
	try { $r = burn() } catch ($no) { } finally { $r = burn() }
	$r = List::Util::reduce {
		{
			defer { $r = List::Util::first { in_deferred() } 1, 2 }
			burn();
		}
		burn();
	} 1 .. 3;
	return $r;
}
END

# Perl 5.42 crashes where a thread has a clone of a class.
with_newer $ENV{THREADS} ? 'inf' : 5.038, 'class', <<'END';
use feature 'class';
class Box {
	field $side = Work::burn();
	ADJUST { my $r = Work::burn(); $side = $r }
	method area {
		my $r = Work::burn();
		return $r + $side;
	}
}
class Crate :isa(Box) {
	field $lid = Work::burn();
	method open {
		my $r = $self->area;
		return $r;
	}
}
sub by_class {
	my $box = Box->new;
	my $r = $box->area;
	# the constructor of a class that has another one above is not for threads (class.c)
	$r = Crate->new->open if !$Config::Config{useithreads};
	return $r;
}
END

sub work {
	by_methods();
	by_magic();
	by_sort();
	by_regex();
	by_lists();
	by_caught();
	by_eval();
	by_closures(2);
	by_goto();
	by_handlers();
	by_recursion();
	$_->() for @newer;
}

sub forever {
	for (my $round = 1;; $round++) {
		work();
		next if $round != ROUNDS;
		Observer::report($ARGV[0]) if Observer::thread() <= 1;
		$Observer::on = 0;
	}
}

package main;

if ($ENV{THREADS}) {
	threads->create(\&Work::forever) for 1 .. $ENV{THREADS};
	sleep 1 while 1;
}
Work::forever();
