import { afterEach, expect, it } from 'vitest';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

let standIn: StandIn | undefined;
afterEach(() => standIn?.close());

const ask = (url: string, body: object, key = 'k') =>
  fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body: JSON.stringify(body) });

it('streams text and tool calls in the order of the script, one turn for each request with tools', async () => {
  standIn = await startMessagesApi({
    turns: [{ text: 'Let me look.', tools: [{ name: 'Bash', input: { command: 'ls' } }] }, { text: 'That was it.' }],
  });
  const first = await (await ask(standIn.url, { model: 'm', stream: true, tools: [{}] })).text();
  expect(first).toContain('"name":"Bash"');
  expect(first).toContain('"stop_reason":"tool_use"');
  expect(await (await ask(standIn.url, { model: 'm', stream: true })).text()).not.toContain('That was it.');
  const last = (await (await ask(standIn.url, { model: 'm', tools: [{}] })).json()) as { content: unknown };
  expect(last.content).toEqual([{ type: 'text', text: 'That was it.' }]);
  expect(standIn.requests.map((request) => request.main)).toEqual([true, false, true]);
  expect((await fetch(`${standIn.url}/api/hello`, { method: 'HEAD' })).status).toBe(200);
});

it('refuses a credential that it does not know', async () => {
  standIn = await startMessagesApi({ turns: [], accepts: (credential) => credential === 'good' });
  expect((await ask(standIn.url, {}, 'bad')).status).toBe(401);
  expect((await ask(standIn.url, {}, 'good')).status).toBe(200);
});
