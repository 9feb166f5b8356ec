#!/bin/sh
# Runs in a container of the test's own: registries of one small package each, as files, then serves them by host name
# over TLS on 443 and plain HTTP on 80 (files.mjs).
set -eu
www=/tmp/www
mkdir -p $www /tmp/work && cd /tmp/work

# cargo: a sparse index and one crate.
crate=$www/crates.test
mkdir -p "$crate/index/ti/ny" "$crate/dl/tiny/1.0.0" tiny-1.0.0/src
printf '[package]\nname = "tiny"\nversion = "1.0.0"\n' >tiny-1.0.0/Cargo.toml
echo '// from the crates' >tiny-1.0.0/src/lib.rs
tar czf "$crate/dl/tiny/1.0.0/download" tiny-1.0.0
sum=$(sha256sum <"$crate/dl/tiny/1.0.0/download" | cut -d' ' -f1)
echo '{"dl":"https://crates.test/dl"}' >"$crate/index/config.json"
echo "{\"name\":\"tiny\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"$sum\",\"features\":{},\"yanked\":false}" \
  >"$crate/index/ti/ny/tiny"

# go: a module proxy.
go=$www/go.test/example.test/tiny/@v
mkdir -p "$go"
echo v1.0.0 >"$go/list"
echo '{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}' >"$go/v1.0.0.info"
echo 'module example.test/tiny' >"$go/v1.0.0.mod"
python3 - "$go/v1.0.0.zip" <<'PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.writestr('example.test/tiny@v1.0.0/go.mod', 'module example.test/tiny\n')
    z.writestr('example.test/tiny@v1.0.0/tiny.go', 'package tiny // from the module proxy\n')
PY

# apt: one package, reached by plain HTTP as Debian's own.
deb=$www/deb.test
mkdir -p "$deb" pkg/DEBIAN pkg/usr/share/tiny
printf 'Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@t>\nDescription: tiny\n' >pkg/DEBIAN/control
echo 'from the archive' >pkg/usr/share/tiny/word
dpkg-deb -b pkg "$deb/tiny.deb" >/dev/null
{
  cat pkg/DEBIAN/control
  echo "Filename: ./tiny.deb"
  echo "Size: $(wc -c <"$deb/tiny.deb")"
  echo "SHA256: $(sha256sum <"$deb/tiny.deb" | cut -d' ' -f1)"
  echo
} >"$deb/Packages"

# maven and gradle: a parent and a library.
m2=$www/maven.test/m2/test
mkdir -p "$m2/parent/1.0" "$m2/lib/1.0"
model='<modelVersion>4.0.0</modelVersion><groupId>test</groupId>'
echo "<project>$model<artifactId>parent</artifactId><version>1.0</version><packaging>pom</packaging><description>from the parent</description></project>" \
  >"$m2/parent/1.0/parent-1.0.pom"
echo "<project>$model<artifactId>lib</artifactId><version>1.0</version></project>" >"$m2/lib/1.0/lib-1.0.pom"
echo 'from the library' >"$m2/lib/1.0/lib-1.0.jar"

exec node /srv/files.mjs $www
