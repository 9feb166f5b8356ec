#!/bin/sh
# Makes sure that a container engine answers. If one does, nothing happens. As root on Debian and Ubuntu it installs
# Docker from the distribution and starts it, and reports both.
set -eu

say() { printf '[setup] %s\n' "$1" >&2; }

ANSWER_SECONDS=30

# Runs a program for at most ANSWER_SECONDS: macOS has no timeout(1).
limited() {
  "$@" >/dev/null 2>&1 &
  program=$!
  { sleep "$ANSWER_SECONDS"; kill "$program"; } >/dev/null 2>&1 &
  timer=$!
  status=0
  wait "$program" || status=$?
  kill "$timer" 2>/dev/null || :
  return "$status"
}

# An engine in a virtual machine answers at its socket also where the docker command is not in PATH.
pings() {
  for socket in /var/run/docker.sock "$HOME/.orbstack/run/docker.sock" "$HOME/.docker/run/docker.sock"; do
    if [ -S "$socket" ] && limited curl -fsS --unix-socket "$socket" http://localhost/_ping; then return 0; fi
  done
  return 1
}

answers() {
  if command -v docker >/dev/null 2>&1 && limited docker version; then return 0; fi
  command -v curl >/dev/null 2>&1 && pings
}

if answers; then exit 0; fi

case $(uname -s) in
  Darwin)
    say 'No container engine answers. Start OrbStack or Docker Desktop, then run this again.'
    say 'To install OrbStack: brew install --cask orbstack, or https://orbstack.dev'
    exit 1
    ;;
esac

if [ "$(id -u)" != 0 ]; then
  say 'No container engine answers. Start one (sudo systemctl start docker), or run this script as root on Debian or Ubuntu.'
  exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
  say 'No container engine answers, and this script can install one on Debian and Ubuntu only.'
  exit 1
fi

if ! command -v dockerd >/dev/null 2>&1; then
  say 'Installing Docker (the packages docker.io and debootstrap) with apt-get; this takes some minutes...'
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends docker.io iptables debootstrap ca-certificates >/dev/null
  # Newer releases have the client in a separate package.
  command -v docker >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends docker-cli >/dev/null
fi

say 'Starting the Docker daemon...'
if [ -d /run/systemd/system ]; then
  systemctl start docker
else
  pidfile=/var/run/docker.pid
  # The pidfile of a daemon that has ended prevents the next start, also when its number belongs to another process now.
  if [ -f "$pidfile" ] && ! grep -qx dockerd "/proc/$(cat "$pidfile")/comm" 2>/dev/null; then rm -f "$pidfile"; fi
  log=/var/log/dockerd.log
  setsid nohup dockerd >"$log" 2>&1 </dev/null &
fi

tries=0
until answers; do
  tries=$((tries + 1))
  if [ "$tries" -ge 90 ]; then
    say 'The Docker daemon does not answer. The end of its log:'
    tail -n 20 "${log:-/dev/null}" >&2
    exit 1
  fi
  sleep 1
done
say 'The container engine is ready.'
