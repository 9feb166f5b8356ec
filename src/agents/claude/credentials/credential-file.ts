import type { JsonObject } from '../../../core/text/json-in.ts';
import type { CredentialSource, Secret } from '../../../core/types/agent/credential.ts';
import type { Container } from '../../../core/types/engine.ts';
import { requireExec } from '../../../engines/capabilities/require-part.ts';

/** On the tmpfs at /run: it ends with the container, even when run-claude was killed. */
const FILE = '/run/credential/current';
/** In the agent's home, relative. */
const LOGIN = '.claude/.credentials.json';
const CHECK_MS = 15_000;
const WRITE_MS = 60_000;

/** `--credentials=file`: the access token in the agent's container, for engines on which no gateway can run. */
export interface CredentialFile {
  /** The link to stage in the agent's home. */
  readonly link: { readonly path: string; readonly target: string } | undefined;
  /** For the staged settings.json. */
  readonly settings: JsonObject;
  /** The words of the agent's program, made to wait for the file. */
  argv(argv: readonly string[]): readonly string[];
  /** Writes the file into the running container, and again when the host has refreshed the token. Returns a stop function. */
  serve(agent: Container, user: string, failed: (error: Error) => void): () => void;
  /** Every token that has been inside: none may come back. */
  inside(): readonly string[];
}

/** Reads nothing before `serve()`. The token is in no record, argument, environment or file on the host. */
export function credentialFile(source: CredentialSource): CredentialFile {
  const values = new Set<string>();
  const oauth = source.kind === 'oauth';
  return {
    link: oauth ? { path: LOGIN, target: FILE } : undefined,
    settings: oauth ? {} : { apiKeyHelper: `cat ${FILE}` },
    argv: (argv) => ['/bin/sh', '-c', WAIT, 'sh', ...argv],
    inside: () => [...values],
    serve(agent, user, failed) {
      let stopped = false;
      let timer: NodeJS.Timeout | undefined;
      const step = async (): Promise<void> => {
        const secret = await source.current();
        if (!values.has(secret.value)) {
          values.add(secret.value);
          await write(agent, user, contentOf(secret), () => stopped);
        }
        if (!stopped) timer = setTimeout(() => void step().catch(failed), CHECK_MS);
      };
      void step().catch((error: Error) => {
        if (!stopped) failed(error);
      });
      return () => {
        stopped = true;
        clearTimeout(timer);
      };
    },
  };
}

/** Passes the program's arguments unchanged. Without the file the program does not start. */
const WAIT = `n=0; until [ -s ${FILE} ]; do n=$((n+1)); [ $n -gt 1200 ] && exit 125; sleep 0.05; done; exec "$@"`;

/** Without the refresh token: a rotation inside would log the host out. A far expiry keeps Claude from refreshing. */
function contentOf(secret: Secret): string {
  if (secret.kind !== 'oauth') return secret.value;
  const expiresAt = Date.now() + 365 * 86_400_000;
  const scopes = ['user:inference', 'user:profile'];
  return JSON.stringify({ claudeAiOauth: { accessToken: secret.value, refreshToken: '', expiresAt, scopes } });
}

/** Passes the content over stdin, never as an argument. Retries until the container has started. */
async function write(agent: Container, user: string, content: string, stopped: () => boolean): Promise<void> {
  const script = `umask 077 && mkdir -p ${FILE}.d && cat > ${FILE}.d/new && mv ${FILE}.d/new ${FILE}`;
  const argv = ['/bin/sh', '-c', `mkdir -p -m 700 /run/credential && ${script}`];
  for (const deadline = Date.now() + WRITE_MS; ; ) {
    try {
      const done = await requireExec(agent)(argv, { user, stdin: Buffer.from(content) });
      if (done.status === 0) return;
      throw new Error(`the credential could not be written inside (status ${done.status})`);
    } catch (error) {
      if (stopped()) return;
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
