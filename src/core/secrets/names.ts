/** Words that make a name the name of a secret, each a whole word of it. */
const SECRET_WORDS = new Set(
  `key keys apikey apikeys token tokens secret secrets pass password passwords passwd passphrase passcode pw pwd
   pat psk credential credentials creds mnemonic seed salt pepper otp totp pin auth authtoken authorization
   cookie bearer jwt signature sig hmac`.split(/\s+/),
);
/** Ends of words that are written together: PGPASSWORD, dbpass, accesstoken. */
const SECRET_ENDS =
  /(?:password|passwd|passphrase|secret|token|apikey|secretkey|accesskey|authkey|credentials?|dbpass|userpass|rootpass)$/;
/** After one of those, a word that makes the value one about the secret: TOKEN_TTL, SECRET_NAME. */
const ABOUT = new Set(
  `ttl expiry expires expire expiration lifetime duration age length size bits count rounds timeout rotation
   rotate interval enabled disabled required url uri host hostname port endpoint file filename path dir directory
   folder name id type kind algorithm alg algo prefix suffix header headers issuer audience scope scopes region
   version format mode method strategy provider policy label description alias field column in days hours minutes
   seconds ms usage`.split(/\s+/),
);
/** Anywhere in a name: a value that is a number is an amount. */
const AMOUNT = new Set('max min num number total limit'.split(' '));
/** Directly before 'key': not one that opens anything. */
const HARMLESS_KEY = new Set(
  `public publishable primary foreign sort partition cache routing idempotency hash range shard index unique hot
   host`.split(/\s+/),
);

/** The words of a name: 'dbPassword' and 'DB_PASSWORD' have the same two. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])(?=[A-Z][a-z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** Whether a name says that its value is a secret. */
export function isSecretName(name: string): boolean {
  const words = wordsOfName(name);
  const last = words.findLastIndex((word) => SECRET_WORDS.has(word) || SECRET_ENDS.test(word));
  if (last === -1) return false;
  const [word = '', before = ''] = [words[last], words[last - 1]];
  if (/^keys?$/.test(word) && HARMLESS_KEY.has(before)) return false;
  return !words.slice(last + 1).some((after) => ABOUT.has(after));
}

/** Words that name a secret, and many other things. */
const VAGUE = new Set('key keys pin auth salt seed cookie signature sig hmac pat otp totp pepper'.split(' '));
/** Before 'key': one that opens something. */
const OPENING = new Set(
  'api access secret private auth encryption signing client master account app license shared deploy admin'.split(' '),
);

/** As {@link isSecretName}, of a file that is not known to hold secrets: there, 'key' and 'auth' alone say nothing. */
export function isTellingName(name: string): boolean {
  if (!isSecretName(name)) return false;
  const words = wordsOfName(name);
  return words.some(
    (word, at) =>
      (SECRET_WORDS.has(word) && !VAGUE.has(word)) ||
      SECRET_ENDS.test(word) ||
      (/^keys?$/.test(word) && OPENING.has(words[at - 1] ?? '')),
  );
}

/** Whether a number with this name is an amount: MAX_TOKENS. */
export const isAmountName = (name: string): boolean => wordsOfName(name).some((word) => AMOUNT.has(word));

/** Whether a name says that its value is public, whatever it looks like: a publishable key, a digest. */
export function isPublicName(name: string): boolean {
  const words = wordsOfName(name);
  if (words.some((word) => PUBLIC_WORDS.has(word))) return true;
  return words.some((word, index) => word === 'public' && /^keys?$/.test(words[index + 1] ?? ''));
}

const PUBLIC_WORDS = new Set(
  `publishable publickey pubkey fingerprint checksum digest sha256 sha512 sha1 md5 integrity commit revision
   certificate cert`.split(/\s+/),
);

/** Whether builds of web pages put a key of this name into what they write, where every visitor can read it. */
export const isPublishedName = (name: string): boolean => PUBLISHED.test(name);

const PUBLISHED =
  /^(VITE|NEXT_PUBLIC|NUXT_PUBLIC|REACT_APP|VUE_APP|GATSBY|EXPO_PUBLIC|PUBLIC|PARCEL|STORYBOOK)_|FIREBASE.*(API_?KEY|APP_?ID)/i;
