#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/services/install.sh FOLDER: fetches what the services need, unless the folder has it. Prints the services: NAME,
# the root of its file system, KIND, and the command that begins it; or NAME, - and REASON. FOLDER is that of
# tests/runtimes/install.sh.

# shellcheck source=tests/runtimes/install.sh
. tests/runtimes/install.sh
here=tests/services

# libraries NAME COMMAND...: runs the command in a folder of its own, once. Sets `reason`.
libraries() {
	local log=$folder/$1.log
	tree=$folder/$1
	shift
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		"$@" >"$log" 2>&1 && touch "$tree/done"
	fi
	reason=$(why "$log")
	[ -e "$tree/done" ]
}

# Spring Boot, and the service
spring() {
	command -v mvn && command -v javac || return 1
	cp $here/pom.xml "$tree" &&
		mvn -q -B -f "$tree/pom.xml" -Dmaven.repo.local="$folder/maven" \
			org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory="$tree/lib"
}

express() {
	(cd "$tree" && echo '{"private": true}' >package.json &&
		npm install --ignore-scripts --no-audit --no-fund express@5.1.0 ejs@3.1.10)
}

get libraries services-spring spring
spring=$here_it_is
for version in 17 21 25; do
	[ -z "$spring" ] || get debian java-$version-sid sid openjdk-$version-jre-headless
	java=/usr/lib/jvm/java-$version-openjdk-amd64/bin/java
	have "spring, java$version" "$tree" spring $java
	[ $version = 17 ] || have "spring, java$version, virtual threads" "$tree" spring "env VIRTUAL=1 $java"
done

get libraries services-express express
express=$here_it_is
for version in 20.20.2 22.23.3 24.21.0; do
	[ -z "$express" ] || get node $version
	have "express, node${version%%.*}" / express "$tree/bin/node"
done

get debian services-ruby trixie ruby ruby-sinatra puma ruby-sqlite3
have 'sinatra, ruby3.3' "$tree" sinatra /usr/bin/puma

get debian services-php trixie php8.4-fpm php8.4-sqlite3 php8.4-opcache nginx-light
have 'php-fpm8.4' "$tree" php /usr/sbin/php-fpm8.4
