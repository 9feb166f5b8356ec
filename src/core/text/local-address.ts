/** The port of an address of this machine's loopback, `http://localhost:3000/mcp` or with 127.0.0.1; undefined for others. */
export function localPort(address: string): number | undefined {
  const [, digits] = /^http:\/\/(?:localhost|127\.0\.0\.1):([1-9]\d{0,4})(?:\/|$)/.exec(address) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
