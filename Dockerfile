# The image that agents run in, for the classic builder (Docker 20.10). Built by `run-claude build`, which puts into
# the context: images/, fetched/ (npm packages verified by their integrity hash) and ca/ (this
# machine's extra certificate authorities). Slow layers come first: a change in images/ rebuilds only the end.
ARG BASE=run-claude-base:bookworm
FROM $BASE AS system
# gc recognises what builds leave behind by this label, whichever step they reached.
LABEL run-claude.image=stage
ARG TOOLCHAIN=
# Nobody reads manuals or translations inside. Licences stay.
RUN printf 'path-exclude /usr/share/%s\n' 'doc/*' 'info/*' 'locale/*' 'man/man?/*' 'man/*/man?/*' > /etc/dpkg/dpkg.cfg.d/run-claude \
 && echo 'path-include /usr/share/doc/*/copyright' >> /etc/dpkg/dpkg.cfg.d/run-claude \
 && apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates curl git git-lfs openssh-client gnupg \
      ripgrep fd-find jq less procps psmisc file tree patch make \
      python3 python3-pip python3-venv \
      bzip2 xz-utils zip unzip nano vim-tiny tmux sqlite3 bc \
      $TOOLCHAIN \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/ldconfig/aux-cache /var/log/apt /var/log/dpkg.log

# Compiles run-claude's programs. Nothing else of this stage reaches the image.
FROM system AS builder
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
COPY images/ /src/
RUN sh /src/build.sh /src /out

# Without the headers, a third of the package.
FROM system AS node
ADD fetched/node.tgz /opt/node/

FROM system
COPY --from=node /opt/node/package/bin/ /opt/node/package/bin/
COPY --from=node /opt/node/package/LICENSE /opt/node/package/package.json /opt/node/package/
ADD fetched/npm.tgz /opt/npm/
COPY ca/ /usr/local/share/ca-certificates/host/
COPY images/finish.sh /tmp/finish.sh
RUN sh /tmp/finish.sh && rm /tmp/finish.sh
COPY --from=builder /out/ /
# The last large layer: another release of Claude Code builds nothing else again.
ADD fetched/claude.tgz /opt/claude/
WORKDIR /workspace
USER agent
ENTRYPOINT []
CMD ["/bin/bash"]
ARG CLAUDE
LABEL run-claude.image=$CLAUDE
