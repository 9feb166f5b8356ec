/** Token formats that their issuers publish, so that scanners may find them. */
const FORMATS: readonly (readonly [string, RegExp])[] = [
  ['private key', /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/],
  ['AWS access key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/],
  ['GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{60,251})\b/],
  ['GitLab token', /\bgl(?:pat|ptt|dt|rt|cbt|agent|soat|ft|imt|oas)-[A-Za-z0-9_-]{20,64}\b/],
  ['Anthropic key', /\bsk-ant-(?:api|oat|ort|admin|sid)\d{2}-[A-Za-z0-9_-]{20,200}/],
  ['OpenAI key', /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,74}T3BlbkFJ[A-Za-z0-9_-]{20,74}/],
  [
    'Slack token',
    /\bxox[abposr]-[A-Za-z0-9-]{10,250}|https:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,12}\/[A-Za-z0-9]{20,30}/,
  ],
  ['Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,247}\b/],
  ['Google key', /\bAIza[A-Za-z0-9_-]{35}\b/],
  ['Google OAuth secret', /\bGOCSPX-[A-Za-z0-9_-]{28}\b/],
  ['npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['PyPI token', /\bpypi-AgE[A-Za-z0-9_-]{50,500}/],
  ['SendGrid key', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b/],
  ['Twilio key', /\bSK[0-9a-f]{32}\b/],
  ['DigitalOcean token', /\bdo[opr]_v1_[0-9a-f]{64}\b/],
  ['Hugging Face token', /\bhf_[A-Za-z]{34}\b/],
  ['Azure storage key', /AccountKey=[A-Za-z0-9+/]{86}==/],
  ['Age key', /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/],
  ['Docker token', /\bdckr_pat_[A-Za-z0-9_-]{27}\b/],
  ['Shopify token', /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b/],
  [
    'password in a URL',
    /\b[a-z][a-z0-9+]{1,20}:\/\/[^\s:@/"'<>{}$]{1,64}:(?!\*+@|x+@|password@|pass@|secret@|user@|changeme@|example@)[^\s:@/"'<>{}$]{6,128}@[A-Za-z0-9.-]{3,128}/i,
  ],
  ['JSON web token', /\beyJhbGci[A-Za-z0-9_-]{10,200}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,1000}/],
];
const ASSIGNED =
  /\b(?:api[_-]?key|secret[_-]?key|client[_-]?secret|access[_-]?token|auth[_-]?token|private[_-]?key|passwd|password)["']?\s{0,4}[:=]\s{0,4}["']([A-Za-z0-9+/_=.-]{16,200})["']/i;
const PLACEHOLDER =
  /example|placeholder|dummy|sample|changeme|your[_-]|xxxx|\.\.\.|<[^>]{1,40}>|1234567890|abcdefgh|0{8}|test[_-]?(key|token|secret)|localhost|127\.0\.0\.1/i;
const EXAMPLE_FILE = /\.(example|sample|template|dist|tmpl)$|(^|\/)\.env\.example/i;

/** Whether any line of a text is worth {@link secretIn}: one look, which may see more than there is, never less. */
export function mayHoldSecret(text: string): boolean {
  return /[A-Za-z0-9+/]{40}/.test(text) || ASSIGNED.test(text) || FORMATS.some(([, regex]) => regex.test(text));
}

/** The kind of secret that stands in a line, also behind one layer of base64, or undefined. Never gives the secret. */
export function secretIn(line: string, path: string): string | undefined {
  if (line.length < 16 || EXAMPLE_FILE.test(path)) return undefined;
  const plain = findSecret(line);
  if (plain !== undefined) return plain;
  for (const [word] of line.matchAll(/[A-Za-z0-9+/]{40,2000}={0,2}/g)) {
    const inner = findSecret(Buffer.from(word, 'base64').toString('latin1'));
    if (inner !== undefined && inner !== 'password in a URL') return `${inner}, in base64`;
  }
  return undefined;
}

function findSecret(text: string): string | undefined {
  for (const [name, regex] of FORMATS) {
    const match = regex.exec(text);
    if (match !== null && !PLACEHOLDER.test(match[0])) return name;
  }
  const assigned = ASSIGNED.exec(text);
  if (assigned?.[1] !== undefined && !PLACEHOLDER.test(assigned[0]) && entropy(assigned[1]) > 3.6)
    return 'key or password in an assignment';
  return undefined;
}

/** Bits a character, of the text's own letter frequencies. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
