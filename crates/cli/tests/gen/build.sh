#!/bin/sh
# Compiles the Java sources again (JDK 17). The class files are checked in, so that tests need none.
set -eu
cd "$(dirname "$0")"
rm -rf classes && mkdir classes
# Names of parameters come from three places: from javac -parameters, from the debugger's table of local
# variables (default methods only), and from nowhere.
javac --release 17 -parameters -d classes $(find java -name '*.java' ! -name Repository.java) -sourcepath java
javac --release 17 -g -d classes -cp classes java/com/acme/shop/Repository.java
# Dubbo's own class is known by its name; the vendor's is not there.
rm -rf classes/org classes/com/vendor
