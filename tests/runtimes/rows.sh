# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/rows.sh, for sourcing: compares tables of offsets with rows that a program printed from headers.
# $folder has the rows, and log, layout and lacking.

# as_rows LETTER NONE VALUE FILE...: rows of name and value, one file a column, as those of a .def file
as_rows() {
	local letter=$1 none=$2 value=$3
	shift 3
	(cd "$folder" && paste -d ' ' "$@") | awk -v letter="$letter" -v none="$none" -v value="$value" '{
		comment = ""
		if (match($1, "/[*].*[*]/"))
			comment = " /* " substr($1, RSTART + 2, RLENGTH - 4) " */"
		sub("/[*].*", "", $1)
		printf "%s(%s", letter, $1
		for (i = 2; i <= NF; i += 2)
			printf ", %s", $i == value ? none : $i
		print ")" comment
	}'
}

# of_def DEF COLUMN NONE VALUE: rows of a version whose sources are not there, as the file has them
of_def() {
	sed -n 's/^O(\(.*\))$/\1/p' "$1" | awk -F ', ' -v column="$2" -v none="$3" -v value="$4" '
		{ print $1, $(column + 1) == none ? value : $(column + 1) }'
}

# lacks VERSION REASON: a version is not compared
lacks() {
	echo "$1 # SKIP $2" >>"$folder/lacking"
}

# conclude NAME WRITE ROWS DEF...: makes the rows by rows_of_all. Prints one TAP stream: whether each file of ROWS has
# the rows of its DEF, and which versions are not compared. WRITE=write: prints the rows instead. Ends the script.
conclude() {
	local name=$1 write=$2 letter result='' rows=() number=1 line
	shift 2
	: >"$folder/lacking"
	if ! rows_of_all >"$folder/log" 2>&1; then
		result=not
		! grep -q 'curl:\|^E: ' "$folder/log" || result="# SKIP $(grep 'curl:\|^E: ' "$folder/log" | tail -n 1)"
	elif [ "$write" = write ]; then
		while [ $# -gt 0 ]; do
			rows+=("$folder/$1")
			shift 2
		done
		cat "${rows[@]}"
		exit
	fi
	while [ $# -gt 0 ] && [ -z "$result" ]; do
		letter=$(head -c 1 "$folder/$1")
		diff "$folder/$1" <(sed -n "s/[ \\t]\\+/ /g; /^$letter(/p" "$2") >"$folder/log" || result=not
		shift 2
	done
	if [ "$result" = not ]; then
		sed 's/^/# /' "$folder/log"
		echo "not ok 1 - offsets of $name"
	else
		echo "ok 1 - offsets of $name${result:+ $result}"
	fi
	while read -r line; do
		number=$((number + 1))
		echo "ok $number - offsets of $name $line"
	done <"$folder/lacking"
	echo "1..$number"
	[ "$result" != not ]
	exit
}
