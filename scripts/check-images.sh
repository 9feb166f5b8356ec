#!/bin/sh
# Shell scripts, and C sources of the image and of deploy/: no warnings.
set -eu
cd "$(dirname "$0")/.."
find scripts images plugin .ci -type f \( -name '*.sh' -o -name run \) -exec shellcheck {} +
# The programs of the image are for Linux: only there are its headers.
if [ "$(uname -s)" = Darwin ]; then exit 0; fi
find images deploy -name '*.c' -exec gcc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only {} \;
