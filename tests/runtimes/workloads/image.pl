# SPDX-License-Identifier: Apache-2.0
#
# image.pl REPORT KIND: functions that stay where they are, for record_image.c. "held": the last one works,
# "released": it waits in C. REPORT-KIND gets the process, then line, file and name of each function, innermost
# first, as caller() says them. A function stays in the line in which it reports.

use strict;
use warnings;
use utf8;
use List::Util ();

package Image;

use constant DEPTH => 12;

# ---- what Perl says ---------------------------------------------------------------------------

# caller() tells of a frame its function, and the place in its caller.
sub functions {
	my (@found, @names, @places);
	for (my $i = 1; my @frame = caller $i; $i++) {
		push @names, $frame[3];
		push @places, "$frame[2]\t$frame[1]";
	}
	shift @names;	# report() itself
	push @names, '(main)';
	return map { "$places[$_]\t$names[$_]" } 0 .. $#names;
}

sub report {
	my $path = "$ARGV[0]-$ARGV[1]";
	open my $file, '>:utf8', "$path.new" or die;
	print $file join "\n", $$, functions(), '';
	close $file;
	rename "$path.new", $path;
}

sub keep {
	if ($ARGV[1] eq 'held') {
		report(); 1 while 1;
	}
	report(); sleep 100_000 while 1;
}

# ---- ways to call a function ------------------------------------------------------------------

package Größe {
	our $AUTOLOAD;
	use overload
		'""' => sub { my $r = $_[0]{further}->(); return 'size' },
		'+' => \&plus;

	sub new { return bless {further => $_[1]}, $_[0] }

	sub method {
		my ($self) = @_;
		my $r = $self->{further}->();
		return $r;
	}

	sub plus {
		my $r = $_[0]{further}->();
		return $r;
	}

	sub AUTOLOAD {
		my $r = $_[0]{further}->();
		return $r;
	}

	sub DESTROY { }
}

package Ends {
	sub DESTROY {
		my $r = $_[0]{further}->();
	}
}

package Tied {
	sub TIESCALAR { return bless {further => $_[1]}, $_[0] }

	sub FETCH {
		my $r = $_[0]{further}->();
		return $r;
	}
}

package Image;

sub by_method {
	my $r = Größe->new($_[0])->method;
	return $r;
}

sub by_autoload {
	my $r = Größe->new($_[0])->something;
	return $r;
}

sub by_text {
	my $size = Größe->new($_[0]);
	my $r = "$size";
	return $r;
}

sub by_operator {
	my $size = Größe->new($_[0]);
	my $r = $size + 1;
	return $r;
}

sub by_end {
	my $object = bless {further => $_[0]}, 'Ends';
	undef $object;
}

sub by_tie {
	tie my $tied, 'Tied', $_[0];
	my $r = $tied;
	return $r;
}

sub by_sort {
	my ($further) = @_;
	my @sorted = sort { my $r = $further->(); 0 } 2, 1;
	return @sorted;
}

our $compares;

sub compare {
	my $r = $compares->();
	return 0;
}

sub by_compare {
	local $compares = $_[0];
	my @sorted = sort compare 2, 1;
	return @sorted;
}

sub by_first {
	my ($further) = @_;
	my $r = List::Util::first { $further->() } 1, 2;
	return $r;
}

sub by_map {
	my ($further) = @_;
	my @r = map { $further->() } 1;
	return @r;
}

our $matches;

sub by_pattern {
	local $matches = $_[0];
	my $r = 'ab' =~ /a(?{ $matches->() })b/;
	return $r;
}

sub by_replacement {
	my ($further) = @_;
	my $text = 'a';
	$text =~ s/a/$further->()/e;
	return $text;
}

sub by_eval {
	my ($further) = @_;
	my $r = eval { $further->() };
	return $r;
}

sub by_text_of_code {
	my ($further) = @_;
	my $r = eval "\n\n\$further->();";
	return $r;
}

sub by_warning {
	my ($further) = @_;
	local $SIG{__WARN__} = sub { my $r = $further->() };
	warn "x\n";
}

sub recursive {
	my ($further, $depth) = @_;
	return $further->() if $depth == 0;
	my $r = recursive($further, $depth - 1);
	return $r;
}

sub by_recursion {
	my $r = recursive($_[0], DEPTH);
	return $r;
}

sub 名前 {
	my $r = $_[0]->();
	return $r;
}

my @steps = qw(by_method by_autoload by_text by_operator by_end by_tie by_sort by_compare by_first by_map by_pattern
	by_replacement by_eval by_text_of_code by_warning by_recursion 名前);

sub chain {
	my ($step, @further) = @_;
	if (!defined $step) {
		my $r = keep();
		return $r;
	}
	my $r = $step->(sub { my $r = chain(@further); return $r; });
	return $r;
}

package main;

no strict 'refs';
Image::chain(map { \&{"Image::$_"} } @steps);
