import { expect, it } from 'vitest';
import { maskWords } from '../../../../src/core/text/mask-words.ts';

it.each([
  [['npm', 'test'], 'npm test'],
  [['run', '--token', 'abc', '--port', '80'], 'run --token [masked] --port 80'],
  [['run', '--api-key=abc def'], 'run --api-key=[masked]'],
  [['env', 'DB_PASSWORD=hunter2', 'make'], 'env DB_PASSWORD=[masked] make'],
  [
    ['sh', '-c', 'export API_KEY="a b"; curl -H "Authorization: Bearer xyz" x; run --secret s3 y'],
    'sh -c export API_KEY=[masked]; curl -H "Authorization: [masked] x; run --secret [masked] y',
  ],
  [['curl', '-u', 'me:pass', 'https://u:p@h/x'], 'curl -u [masked] https://[masked]@h/x'],
  [['login', 'sk-ant-api03-abcdefgh', 'ghp_abcdefghijkl'], 'login [masked] [masked]'],
  [['cat', 'tokenizer.py', '--max-tokens'], 'cat tokenizer.py --max-tokens'],
])('masks text that looks like a secret in %j', (words, shown) => {
  expect(maskWords(words).join(' ')).toBe(shown);
});
