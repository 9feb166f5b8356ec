#!/bin/sh
# Maven Central, below /out: what Debian has of it, and a library of the test.
set -eu
m2=/out/repo.maven.apache.org/maven2
mkdir -p $m2/test/lib/1.0
cp -rL /usr/share/maven-repo/. $m2/
# Poms of Debian name it, and another package has it.
mkdir -p $m2/org/junit/junit-bom/debian
echo '<project><modelVersion>4.0.0</modelVersion><groupId>org.junit</groupId><artifactId>junit-bom</artifactId><version>debian</version><packaging>pom</packaging></project>' >$m2/org/junit/junit-bom/debian/junit-bom-debian.pom
cd /tmp
mkdir test
echo 'package test; public class Lib { public static final String WORD = "from the library"; }' >test/Lib.java
javac test/Lib.java
jar --create --file $m2/test/lib/1.0/lib-1.0.jar test/Lib.class
echo '<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>lib</artifactId><version>1.0</version></project>' >$m2/test/lib/1.0/lib-1.0.pom
