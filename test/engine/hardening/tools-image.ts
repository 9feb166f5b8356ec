import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runLabel } from '../../support/image.ts';

/** What the audit tools and language suites run, laid over run-claude's image like a user's own layer. */
const dockerfile = (): string => `ARG OURS
FROM $OURS AS selftests
LABEL ${runLabel()}
USER 0
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
  gcc libc6-dev linux-libc-dev libcap-dev linux-source-6.1
RUN mkdir /src /selftests && cd /src && tar -xJf /usr/src/linux-source-6.1.tar.xz --strip-components=4 \\
  --wildcards '*/tools/testing/selftests/seccomp/*' '*/tools/testing/selftests/landlock/*' '*/tools/testing/selftests/*.h'
RUN cd /src && gcc -O2 -I. -o /selftests/seccomp seccomp/seccomp_bpf.c -lpthread -lcap \\
  && gcc -O2 -I. -o /selftests/landlock landlock/base_test.c -lcap
FROM $OURS
LABEL ${runLabel()}
USER 0
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
  golang-go rustc cargo default-jdk-headless chromium gcc libc6-dev \\
  libcap2-bin libcap-ng-utils stress-ng lynis iproute2 net-tools
COPY --from=selftests /selftests/ /selftests/
RUN find / -xdev -perm /6000 -exec chmod ug-s {} +
USER agent
`;

/**
 * Builds it from Debian's packages (some minutes); a second call, also one from another file at the same time, finds it in the
 * engine's cache. It is removed at the end of the test run.
 */
export function toolsImage(ours: string): string {
  const shared = process.env['RUN_CLAUDE_TESTS_SHARED'] ?? tmpdir();
  const tag = `run-claude-test-tools:${path.basename(shared)}`;
  const lock = path.join(shared, 'tools.lock');
  execFileSync('flock', [lock, 'docker', 'build', '-q', '--build-arg', `OURS=${ours}`, '-t', tag, '-'], {
    input: dockerfile(),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  return tag;
}
