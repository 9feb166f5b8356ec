#!/bin/sh
# Makes the image, pushes it to a registry, and writes its digest into images/pins.json, with the digest of its base:
#   sh scripts/publish-image.sh REGISTRY/NAME [DOCKER_HOST...]
# Each DOCKER_HOST is an engine of one architecture; without one, this machine's engine is used. What each image was
# made of (provenance, list of its packages) is pushed as the tag VERSION-ARCH.origin, and left in image-origin/.
set -eu
cd "$(dirname "$0")/.."

usage() { printf 'usage: sh scripts/publish-image.sh REGISTRY/NAME [DOCKER_HOST...]\n' >&2; exit 2; }
[ "$#" -ge 1 ] || usage
case "$1" in -* | *@* | *' '* | '') usage ;; esac
repository=$1
shift
[ "$#" -gt 0 ] || set -- "${DOCKER_HOST:-}"
[ -f dist/main.js ] || { printf 'dist/ is missing: npm run build\n' >&2; exit 1; }
version=$(node -p 'require("./package.json").version')

# The digest that the registry gave the image: of several, the one of this repository.
pushed_digest() {
  docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$1" | sed -n "s|^$repository@||p" | head -n 1
}

for host in "$@"; do
  if [ -n "$host" ]; then export DOCKER_HOST="$host"; else unset DOCKER_HOST; fi
  arch=$(docker version --format '{{.Server.Arch}}')
  # A base with a digest is what makes the next build of this release the same.
  node scripts/image-origin.mjs base "$arch"
  tag=$(node dist/main.js build --without-certificates)
  name="$repository:$version-$arch"
  docker tag "$tag" "$name"
  docker push --quiet "$name" >/dev/null
  digest=$(pushed_digest "$name")
  [ -n "$digest" ] || { printf 'The registry gave no digest for %s\n' "$name" >&2; exit 1; }
  node scripts/image-origin.mjs describe "$tag" "$repository" "$digest" "image-origin/$arch"
  docker build --quiet --tag "$name.origin" --file - "image-origin/$arch" >/dev/null <<'END'
FROM scratch
COPY provenance.json sbom.spdx.json /
LABEL run-claude.image=stage
END
  docker push --quiet "$name.origin" >/dev/null
  docker rmi "$name" "$name.origin" >/dev/null
  node scripts/image-origin.mjs pin "$arch" "$repository" "$tag" "$digest"
  printf '%s %s@%s\n' "$arch" "$repository" "$digest"
done
