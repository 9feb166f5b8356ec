import { describe, expect, it } from 'vitest';
import { judgedMessage } from '../../../../images/gateway/mcp.mjs';

// What a hostile agent says to an MCP server of which it may call some tools.

const TOOLS = { tools: ['read_issue', 'search'] };
const judge = (text: string | Buffer, rule = TOOLS) => judgedMessage(Buffer.from(text), rule);
const call = (params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });

describe('a message to an MCP server', () => {
  it.each([
    [call({ name: 'search', arguments: { query: 'x', name: 'delete_all' } }), 'search'],
    [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }), undefined],
    [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), undefined],
    [JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }), undefined],
    [JSON.stringify({ jsonrpc: '2.0', id: 's1', result: { ok: true } }), undefined],
  ])('passes, and is sent as it was read: %s', (text, tool) => {
    const { body, tool: named } = judge(` ${text}\n`);
    expect([body.toString(), named]).toEqual([text, tool]);
  });

  it.each([
    ['another tool', call({ name: 'delete_repo' }), 'the tool delete_repo is not allowed'],
    ['a tool in other letters', call({ name: 'Search' }), 'the tool Search is not allowed'],
    ['a second name', '{"method":"tools/call","params":{"name":"search","Name":"delete_repo"}}', 'names no tool'],
    ['only a name in other letters', call({ NAME: 'search' }), 'names no tool'],
    ['a name that is a list', call({ name: ['search'] }), 'names no tool'],
    ['no parameters', call(undefined), 'names no tool'],
    ['a second method', '{"method":"ping","Method":"tools/call","params":{"name":"x"}}', 'no member Method'],
    ['a member with an accent', '{"method":"ping","m\u00e9thod":"x"}', 'no member'],
    ['a method that is a list', '{"method":["tools/call"]}', 'not a text'],
    ['a batch', `[${call({ name: 'search' })}]`, 'not one MCP message'],
    ['two messages', `${call({ name: 'search' })}\n${call({ name: 'delete_repo' })}`, 'not one MCP message'],
    ['no JSON', 'tools/call', 'not one MCP message'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d]), 'not one MCP message'],
    ['nesting without end', `{"params":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'nested too deeply'],
    ['a million values', `{"params":[${'0,'.repeat(300_000)}0]}`, 'too many parts'],
    ['resources', '{"id":1,"method":"resources/read","params":{"uri":"file:///x"}}', 'is not allowed'],
    ['a call in other letters', '{"id":1,"method":"Tools/Call","params":{"name":"search"}}', 'is not allowed'],
    ['a call with a blank', '{"id":1,"method":"tools/call ","params":{"name":"search"}}', 'is not allowed'],
  ])('is refused with %s', (_, text, why) => {
    expect(() => judge(text)).toThrow(why);
  });

  it('keeps of a repeated member what was judged', () => {
    const twice = '{"method":"tools/call","params":{"name":"delete_repo","name":"search"}}';
    expect(judge(twice).body.toString()).toBe('{"method":"tools/call","params":{"name":"search"}}');
    expect(() => judge('{"method":"tools/call","params":{"name":"search","name":"delete_repo"}}')).toThrow(
      'delete_repo',
    );
  });

  it('may call every tool, and read resources, where the rule names none; calls are still named', () => {
    expect(judge(call({ name: 'delete_repo' }), {} as typeof TOOLS).tool).toBe('delete_repo');
    expect(judge('{"id":1,"method":"resources/list"}', {} as typeof TOOLS).tool).toBeUndefined();
  });
});
