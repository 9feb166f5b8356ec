// AWS Signature Version 4 in headers (AWS General Reference, "Create a signed AWS API request").
import { createHash, createHmac } from 'node:crypto';

/**
 * @typedef {{ accessKeyId: string, secretAccessKey: string, sessionToken?: string | undefined }} AwsKeys
 * @typedef {{ method: string, host: string, path: string, body: Uint8Array }} Signed
 */

/** @param {Uint8Array | string} data */
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
/** @param {Uint8Array | string} key @param {string} data */
const hmac = (key, data) => createHmac('sha256', key).update(data).digest();

/** Every byte but the unreserved ones as %XX; a path that is encoded already is encoded once more, as AWS does for all
 * services but S3. @param {string} path */
const encodedPath = (path) =>
  path
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');

/**
 * The headers that sign a request without a query. Host is signed and not among them.
 * @param {Signed} request @param {AwsKeys} keys @param {{ region: string, service: string }} scope @param {Date} now
 * @returns {string[]} names and values in turn
 */
export function signedHeaders({ method, host, path, body }, keys, { region, service }, now) {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const date = time.slice(0, 8);
  /** @type {[string, string][]} */
  const headers = [['x-amz-date', time]];
  if (keys.sessionToken !== undefined) headers.push(['x-amz-security-token', keys.sessionToken]);
  const all = [['host', host], ...headers];
  const names = all.map(([name]) => name).join(';');
  const lines = all.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = [method, encodedPath(path), '', lines, names, sha256(body)].join('\n');
  const credential = `${date}/${region}/${service}/aws4_request`;
  const key = hmac(hmac(hmac(hmac(`AWS4${keys.secretAccessKey}`, date), region), service), 'aws4_request');
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${credential}\n${sha256(canonical)}`).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return [...headers.flat(), 'authorization', authorization];
}
