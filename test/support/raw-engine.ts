import { request } from 'node:http';

/**
 * The engine's API without any of our own code, for what a test must do behind its back: containers weaker than ours,
 * records as the engine keeps them. Throws on any answer that is not 2xx.
 */
export function requestEngine<T>(
  method: string,
  path: string,
  body?: unknown,
  socketPath: string = process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock',
): Promise<T> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        answer += chunk;
      });
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve((answer === '' ? {} : JSON.parse(answer)) as T);
        else reject(new Error(`${method} ${path}: ${status} ${answer}`));
      });
    });
    call.on('error', reject);
    call.end(payload);
  });
}

/** The engine's record of a container. */
export function inspectContainer(id: string): Promise<unknown> {
  return requestEngine('GET', `/containers/${id}/json`);
}
