#!/bin/sh
# Packages of one file each, below /out as HOST/PATH, in the form that each registry serves.
set -eu
cd /tmp

# cargo: one crate.
crates=/out/static.crates.io/crates/tiny
mkdir -p $crates tiny-1.0.0/src
printf '[package]\nname = "tiny"\nversion = "1.0.0"\n' >tiny-1.0.0/Cargo.toml
echo '// from the crates' >tiny-1.0.0/src/lib.rs
tar czf $crates/tiny-1.0.0.crate tiny-1.0.0

# go: one module, with a capital letter in its name.
go=/out/proxy.golang.org/example.test/!tiny/@v
mkdir -p "$go"
printf 'module example.test/Tiny\n' >"$go/v1.0.0.mod"
python3 - "$go/v1.0.0.zip" <<'PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('example.test/Tiny@v1.0.0/go.mod', 'module example.test/Tiny\n')
    z.writestr('example.test/Tiny@v1.0.0/tiny.go', 'package tiny\n\n// Word is from the module proxy.\nconst Word = "from the module proxy"\n')
    z.writestr('example.test/Tiny@v1.0.0/a.txt', '')
PY

# gradle: a library.
m2=/out/repo.maven.apache.org/maven2/test/lib/1.0
mkdir -p $m2
echo '<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>lib</artifactId><version>1.0</version></project>' >$m2/lib-1.0.pom
echo 'from the library' >$m2/lib-1.0.jar

# pip: a wheel.
wheels=/out/files.pythonhosted.org/packages
mkdir -p $wheels
python3 - $wheels/tiny-1.0.0-py3-none-any.whl <<'PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.writestr('tiny.py', 'word = "from the wheel"\n')
    z.writestr('tiny-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0.0\n')
    z.writestr('tiny-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    z.writestr('tiny-1.0.0.dist-info/RECORD', '')
PY
