import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../../../../src/core/config/config-file.ts';

const read = (text: string) => readConfigFile(text, 'config.toml').services;
const WEB = '[[service]]\nname = "web"\ncommand = "serve"\nport = 8080\n';

describe('a [[service]] table', () => {
  it('has what its package says, and limits, where it says nothing', () => {
    const [db] = read('[[service]]\nname = "db"\npackages = ["postgresql"]\n');
    expect(db).toMatchObject({
      port: 5432,
      data: '/data',
      memoryMb: 1024,
      diskMb: 4096,
      readyMs: 120_000,
      reaches: [],
    });
    expect(db?.command.slice(0, 2)).toEqual(['/bin/bash', '-c']);
    expect(db?.ready).toContain('pg_isready');
    expect(read('[[service]]\nname = "q"\npackages = ["redis-server"]\n')[0]?.port).toBe(6379);
    expect(read('[[service]]\nname = "q"\npackages = ["mariadb-server"]\n')[0]?.port).toBe(3306);
  });

  it('has its own values in place of those of its package', () => {
    const own = read('[[service]]\nname = "db"\npackages = ["postgresql"]\ncommand = ["pg", "-p"]\nport = 5433\n')[0];
    expect(own).toMatchObject({ command: ['pg', '-p'], port: 5433 });
    expect(own?.ready).toBeUndefined();
  });

  it.each([
    ['no command', '[[service]]\nname = "a"\nport = 80\n', /command: missing/],
    ['no port', '[[service]]\nname = "a"\ncommand = "x"\n', /port: missing/],
    [
      'a port that its command does not have',
      '[[service]]\nname = "a"\npackages = ["postgresql"]\nport = 1\n',
      /write both/,
    ],
    ['a port of run-claude', WEB.replace('8080', '47801'), /run-claude itself listens there/],
    ['the name of the machine', WEB.replace('"web"', '"localhost"'), /small letters/],
    ['a name that is an option', WEB.replace('"web"', '"-v"'), /small letters/],
    ['image and packages', `${WEB}image = "x"\npackages = ["yy"]\n`, /either image or packages/],
    ['a package with a version', `${WEB}packages = ["y=1"]\n`, /Debian package/],
    ['data in the system', `${WEB}data = "/etc"\n`, /a directory below/],
    ["data over run-claude's programs", `${WEB}data = "/usr/lib/run-claude"\n`, /a directory below/],
    ['data behind ..', `${WEB}data = "/srv/../etc"\n`, /without \. and \.\./],
    ['files without a seed', `${WEB}files = ["a.sql"]\n`, /add seed/],
    ['files outside of the project', `${WEB}seed = "x"\nfiles = ["../a"]\n`, /a path in the project/],
    ['an unknown key', `${WEB}privileged = true\n`, /unknown key 'privileged'/],
    ['a capability', `${WEB}capabilities = ["SYS_ADMIN"]\n`, /unknown key 'capabilities'/],
    ['two of one name', WEB + WEB.replace('8080', '8081'), /two services have the name web/],
    ['two of one port', WEB + WEB.replace('"web"', '"b"'), /two services have the port 8080/],
    ['a service that is not there', `${WEB}reaches = ["db"]\n`, /reaches names a service/],
    ['itself', `${WEB}reaches = ["web"]\n`, /reaches names a service/],
    ['little memory', `${WEB}memory = "1m"\n`, /at least 16m/],
  ])('is refused with %s', (_, text, why) => {
    expect(() => read(text)).toThrow(why);
  });

  it('comes after those that it reaches', () => {
    const all = read(`${WEB}reaches = ["db"]\n[[service]]\nname = "db"\ncommand = "x"\nport = 1\n`);
    expect(all.map(({ name }) => name)).toEqual(['db', 'web']);
  });
});
