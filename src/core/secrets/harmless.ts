import { entropy } from './formats.ts';

/** Values that many projects use on a developer's machine, or that stand for a value. */
const COMMON = new Set(
  `postgres postgresql password passwd pass pw localhost changeme change-me changeit root admin administrator
   secret test testing tests dev development example guest user username minio minioadmin redis rabbitmq rabbit
   mysql mongo mongodb mariadb elastic kibana sa none null nil undefined true false yes no on off enabled
   disabled default local insecure dummy placeholder todo tbd foo bar baz foobar production prod staging stage
   demo sample debug info warn warning error db database app api web docker empty unset required optional basic
   bearer token key hs256 hs512 rs256 es256 aes-256-gcm sha256`.split(/\s+/),
);
const STANDS_FOR_ONE =
  /^(?:<[^>]*>|\*+|x+|\.{3,}|-+|_+|\?+|(?:your|my|insert|replace|enter|put|add|set|change|fill)[-_ ]?(?:this|me|it|in|with|your|own|the)?(?:[-_ ][a-z0-9_ -]{0,60})?|(?:todo|fixme|changeme|placeholder|example|dummy)(?:[-_ ][a-z0-9_ -]{0,60})?)$/i;
/** A value that a program takes from elsewhere. */
const REFERENCE =
  /^(?:\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\{\{.*\}\}|<%.*%>|(?:op|aws-sm|gcp-sm|vault|ssm|arn|keyvault):\S*|@[A-Za-z.]+\(.*\)|(?:var|local|data|module|each|env)\.[\w.[\]"-]+)$/;
const PUBLIC =
  /^(?:-----BEGIN (?:CERTIFICATE|[A-Z0-9 ]*PUBLIC KEY|X509 CRL|DH PARAMETERS|EC PARAMETERS)|(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+|sk-\S+@openssh\.com) AAAA|age1[a-z0-9]{58}$|pk_(?:live|test)_|sha(?:1|256|384|512)[-:])/;
const AMOUNT = /^[+-]?\d+(?:[.,_]\d+)*\s?(?:%|[a-zµ]{1,7})?$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const URL_OF = /^[a-z][a-z0-9+.-]*:\/\/\S*$/i;
const PATH = /^(?:\.{1,2}|~|[A-Za-z]:)?(?:[\\/][\w.@ +~-]*)+$|^[\w.@-]+(?:\/[\w.@-]+)*\.[A-Za-z]{2,5}$/;

/** Whether a value is harmless under any name: empty, a word that many projects use, a reference, a public key. */
export function isHarmless(value: string): boolean {
  const text = value.trim();
  if (text.length < 2 || COMMON.has(text.toLowerCase())) return true;
  return STANDS_FOR_ONE.test(text) || REFERENCE.test(text) || PUBLIC.test(text);
}

/** 3000, 30d, 512MB. */
export const isAmount = (value: string): boolean => AMOUNT.test(value.trim());

/** Whether a value is a place rather than a secret. A URL's own password is judged by itself. */
export function isPlace(value: string): boolean {
  const text = value.trim();
  if (URL_OF.test(text)) return true;
  return PATH.test(text) && !text.split(/[\\/]/).some(isRandom);
}

/** Whether a value looks made by a generator: long, of letters and digits, with no words in it. */
export function isRandom(value: string): boolean {
  const text = value.trim();
  if (text.length < MIN_RANDOM || /\s/.test(text) || UUID.test(text)) return false;
  return text.split(/[^A-Za-z0-9+/]+/).some(isRandomRun);
}

const MIN_RANDOM = 20;
/** Bits a character that words and names rarely reach. */
const MIN_BITS = 3.4;

function isRandomRun(run: string): boolean {
  if (run.length < MIN_RANDOM) return false;
  const digits = run.match(/\d/g)?.length ?? 0;
  if (digits < 2 || digits === run.length) return false;
  if (/^[0-9a-f]+$/i.test(run)) return run.length >= 24 && entropy(run) > 2.8;
  return entropy(run) > MIN_BITS && changesOfClass(run) >= run.length / 5;
}

/** How often a character is of another class than the one before: rare in words and identifiers. */
function changesOfClass(run: string): number {
  let changes = 0;
  for (let at = 1; at < run.length; at += 1)
    if (classOf(run.charCodeAt(at)) !== classOf(run.charCodeAt(at - 1))) changes += 1;
  return changes;
}

function classOf(code: number): number {
  if (code >= 48 && code <= 57) return 0;
  return code >= 97 ? 1 : code >= 65 ? 2 : 3;
}
