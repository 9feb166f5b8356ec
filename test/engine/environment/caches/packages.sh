#!/bin/sh
# Packages of one file each, below /out as HOST/PATH, in the form that each registry serves.
set -eu
cd /tmp

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

# cargo: three crates with their index. The manifests are as cargo publishes them.
crates=/out/static.crates.io/crates
index=/out/index.crates.io
crate() {
  mkdir -p $crates/$1
  tar czf $crates/$1/$1-1.0.0.crate $1-1.0.0
  mkdir -p "$(dirname $index/$2)"
  sum=$(sha256sum $crates/$1/$1-1.0.0.crate | cut -d' ' -f1)
  printf '{"name":"%s","vers":"1.0.0","deps":[%s],"features":{%s},"cksum":"%s","yanked":false}\n' "$1" "$3" "$4" "$sum" >$index/$2
}
mkdir -p tiny-1.0.0/src leaf-1.0.0/src other-1.0.0/src
cat >tiny-1.0.0/Cargo.toml <<'END'
[package]
name = "tiny"
version = "1.0.0"
edition = "2021"
[dependencies.leaf]
version = "1"
optional = true
[features]
loud = ["leaf"]
END
cat >tiny-1.0.0/src/lib.rs <<'END'
#[cfg(feature = "loud")]
pub fn word() -> String { format!("from the crates, {}", leaf::WORD) }
END
printf '[package]\nname = "leaf"\nversion = "1.0.0"\n' >leaf-1.0.0/Cargo.toml
echo 'pub const WORD: &str = "LOUD";' >leaf-1.0.0/src/lib.rs
printf '[package]\nname = "other"\nversion = "1.0.0"\n' >other-1.0.0/Cargo.toml
touch other-1.0.0/src/lib.rs
leaf='{"name":"leaf","req":"^1","features":[],"optional":true,"default_features":true,"target":null,"kind":"normal"}'
crate tiny ti/ny/tiny "$leaf" '"loud":["leaf"]'
crate leaf le/af/leaf '' ''
crate other ot/he/other '' ''
echo '{"dl":"https://static.crates.io/crates","api":"https://crates.io"}' >$index/config.json
