import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withoutPassword } from '../../src/cloud/contract/url-password.ts';
import { settingsSchema } from '../../src/config/schema/settings.ts';
import { shapeOf } from '../../src/config/schema/shape.ts';
import type { Tree } from '../../src/config/tree.ts';
import { effectsOf } from '../../src/config/trust/effects.ts';
import { parameterProblem } from '../../src/config/urls/url-scheme.ts';
import { parseYaml } from '../../src/config/yaml/yaml-source.ts';
import type { DatabaseUrl } from '../../src/engines/database-url.ts';
import { parseMysqlUrl, urlWithPassword as writeMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { connectionEnvironment, parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { type Round, trials } from '../helpers/trials.ts';

const run = promisify(execFile);
const PG_ISREADY = '/usr/lib/postgresql/15/bin/pg_isready';
const part = trials('borders/urls');

describe('hostile connection URLs', () => {
  it('refuses a parameter whose name contains further parameters', () => {
    const hidden = 'postgres://u@localhost:5432/app?sslpassword%3Dx%26port%3D8653%26hostaddr=127.0.0.1';
    for (const text of [hidden, hidden.replace('sslpassword', 'application_name'), 'mysql://u@h/d?tls%3Dfalse%26x=1']) {
      const parse = text.startsWith('mysql') ? parseMysqlUrl : parsePostgresUrl;
      expect(() => parse(text), text).toThrow(expect.objectContaining({ code: 'url_invalid', exit: 3 }));
      expect(parameterProblem(text), text).toContain('not a parameter of');
    }
  });

  it('shows no name of a parameter that may be the rest of a password', () => {
    expect(() => parsePostgresUrl('postgres://u?hunter=2@h/d')).toThrow('not a parameter of');
    expect(() => parsePostgresUrl('postgres://u?hunter=2@h/d')).not.toThrow('hunter');
    expect(() => parsePostgresUrl('postgres://u:pa?hunter=2@h/d')).toThrow('the end of the password is unknown');
    expect(() => parsePostgresUrl('postgres://u:pa?hunter=2@h/d')).not.toThrow('hunter');
  });

  it('accepts a template in place of several parameters, and judges those beside it', () => {
    expect(parameterProblem('postgres://h/d?{{`PARAMETERS` | env}}')).toBeNull();
    expect(parameterProblem('postgres://h/d?sslmode={{`MODE` | env}}')).toBeNull();
    expect(parameterProblem('postgres://u:{{`A?` | env}}@h/d?hostadr=1&{{`B` | env}}')).toContain(
      'did you mean hostaddr?',
    );
  });

  it('treats every parameter that no engine has as a password where URLs are shown', () => {
    expect(withoutPassword('mysql://u@h/d?passwd=x&tls=required&PWD=y')).toBe('mysql://u@h/d?tls=required');
    expect(withoutPassword('postgres://h/d?ssl%70assword=x&sslmode=require')).toBe('postgres://h/d?sslmode=require');
  });

  // Unencoded / and ? of a password end the authority: what follows is no port, database or parameter to show.
  it.each(['u:hunter2/x@h/d', 'u:hunter2?sslmode=x@h/d', 'u:hunter2?tls=x@h/d', 'u:hun:ter2/x@h/d', 'u:1234/x@h/d'])(
    'shows and uses no part of the password of %s',
    (rest) => {
      for (const [scheme, parse] of PARSERS) {
        const text = `${scheme}://${rest}`;
        const refused = refusal(parse, text);
        expect(refused, text).toMatchObject({ code: 'url_invalid' });
        expect(JSON.stringify([refused.message, withoutPassword(text), questionOf(text)]), text).not.toMatch(
          /hun|ter2|1234/,
        );
      }
    },
  );

  it.each(['a%2C127.0.0.1', '[::1%2C127.0.0.1]', 'a%3A5433', 'a b', 'h%0AX', '-h', 'a=b', 'a%3A%2F%2Fb', '[x]', "a'b"])(
    'refuses the host %s, which is no name, address or path of a socket',
    (host) => {
      for (const [scheme, parse] of PARSERS) {
        expect(refusal(parse, `${scheme}://${host}/d`), scheme).toMatchObject({ code: 'url_invalid' });
      }
      if (!host.startsWith('[')) {
        expect(refusal(parsePostgresUrl, `postgres:///d?host=${host.replace('%2C', ';')}`)).toMatchObject({
          code: 'url_invalid',
        });
      }
    },
  );

  it('accepts names, addresses and sockets', () => {
    for (const host of [
      'db.example.com',
      'my_db-1',
      'münchen.example',
      '[::1]',
      '[fe80::1%25eth0]',
      '%2Frun%2Fmy%20db',
    ]) {
      for (const [scheme, parse] of PARSERS) expect(() => parse(`${scheme}://${host}:5433/d`), host).not.toThrow();
    }
    expect(parsePostgresUrl('postgres:///d?host=::1,%40name,/run').hosts.map(({ host }) => host)).toEqual([
      '::1',
      '@name',
      '/run',
    ]);
  });

  it('shows no password of a web address in the question of trust', () => {
    const effects = effectsOf(
      plainTree({
        storage_profiles: {
          team: { provider: 'minio', bucket: 'b', endpoint: 'https://key:hun/ter2@evil.example.com' },
        },
        base_url: 'https://key:hun/ter2@evil.example.com',
      }),
      { shape: shapeOf(settingsSchema), secretKey: undefined, files: [] },
    );
    expect(JSON.stringify(effects)).not.toMatch(/hun|ter2/);
  });

  it.skipIf(!existsSync(PG_ISREADY))(
    part.title('libpq reads the servers that the program has judged'),
    { timeout: part.timeout },
    () =>
      part.each(async (round) => {
        const accepted = Array.from({ length: 50 }, () => hostileUrl(round)).flatMap((text) => {
          const url = parsed(parsePostgresUrl, text);
          if (url) expect(described(parsePostgresUrl(written(url))), text).toEqual(described(url));
          const other = text.replace(/^\w+/, 'mysql');
          const mysql = parsed(parseMysqlUrl, other);
          if (mysql) expect(described(parseMysqlUrl(writeMysqlUrl(mysql))), other).toEqual(described(mysql));
          return url ? [{ text, url }] : [];
        });
        for (const { text, url } of accepted.slice(0, 3)) {
          const judged = serversOf(url);
          expect(await serversByLibpq(written(url)), text).toBe(judged);
          const asWritten = await serversByLibpq(text);
          // libpq refuses an empty pair, which a template may leave.
          if (!asWritten.startsWith('pg_isready: error:')) expect(asWritten, text).toBe(judged);
        }
      }),
  );
});

const PARSERS = [
  ['postgres', parsePostgresUrl],
  ['mysql', parseMysqlUrl],
] as const;

function refusal(parse: (text: string) => DatabaseUrl, text: string): UserError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error(`${text} is accepted`);
}

/** The effects that the question of trust shows. */
function questionOf(url: string) {
  const tree = plainTree({ targets: { app: { snapshot: { src_url: url } } } });
  return effectsOf(tree, { shape: shapeOf(settingsSchema), secretKey: undefined, files: [] });
}

function plainTree(value: object): Tree {
  return parseYaml(JSON.stringify(value)).tree;
}

const NAMES = [
  ...['sslmode', 'host', 'hostaddr', 'port', 'dbname', 'user', 'application_name', 'options', 'sslpassword', 'tls'],
  ...['connect_timeout', 'target_session_attrs', 'socket', 'charset', 'schema', 'ssl', 'x', ''],
];
const VALUES = [
  ...['127.0.0.1', '127.0.0.2,127.0.0.3', '/nowhere', '5433', '5434,5435', 'require', 'disable', 'a b', '%00', '%', ''],
  ...['x%26port%3D1', '%26hostaddr%3D127.0.0.9', 'a%23b', "'", '"', 'any', '1', '::1'],
];
const HOSTS = [
  '127.0.0.1',
  '127.0.0.1:5433',
  '[::1]:5434',
  '127.0.0.4,127.0.0.5:99',
  '',
  '%2Fnowhere',
  ':5435',
  '127.0.0.1%3A1',
];
const SEPARATORS = ['=', '=', '=', '=', '%3D', '', '=='];
const JOINTS = ['&', '&', '&', '%26', ';', '&&', '#', '?'];

function hostileUrl({ oneOf, random }: Round): string {
  const user = oneOf(['', 'u@', 'u:p@', ':@', 'u%40v@', 'u:%26port%3D1@']);
  const path = oneOf(['/d', '', '/', '/a%2Fb', '/d%3Fport%3D1', '/d#e']);
  const pairs = Array.from({ length: Math.floor(random() * 4) }, () => {
    const name = oneOf(NAMES);
    const spelled = random() < 0.2 ? encoded(name) : name;
    return `${spelled}${oneOf(SEPARATORS)}${oneOf(VALUES)}`;
  });
  const query = pairs.length === 0 ? '' : `?${pairs.reduce((text, pair) => `${text}${oneOf(JOINTS)}${pair}`)}`;
  return `${oneOf(['postgres', 'postgresql'])}://${user}${oneOf(HOSTS)}${path}${query}`;
}

function encoded(text: string): string {
  return Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
}

function parsed(parse: (text: string) => DatabaseUrl, text: string): DatabaseUrl | null {
  try {
    return parse(text);
  } catch (error) {
    expect(error, text).toMatchObject({ code: 'url_invalid' });
    return null;
  }
}

function described({ toJSON: _, password: __, ...url }: DatabaseUrl) {
  return url;
}

function written(url: DatabaseUrl): string {
  return connectionEnvironment(url).args[1] ?? '';
}

function serversOf({ hosts, parameters }: DatabaseUrl): string {
  const names = parameters.hostaddr ?? hosts.map(({ host }) => host).join(',');
  return `${names || '/var/run/postgresql'}:${portsOf(hosts.map(({ port }) => `${port ?? ''}`))}`;
}

/** One port stands for equal ones, and nothing for the default. */
function portsOf(ports: string[]): string {
  return [...new Set(ports.map((port) => port || '5432'))].join(',');
}

/** The servers that pg_isready, and so libpq, reads from a URL. */
async function serversByLibpq(url: string): Promise<string> {
  const environment = { PATH: process.env.PATH, LC_ALL: 'C' };
  const { stdout, stderr } = await run(PG_ISREADY, ['--timeout=1', '--dbname', url], { env: environment }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const { names, ports } = /^(?<names>.*):(?<ports>[\d,]*) - /.exec(stdout)?.groups ?? {};
  return names === undefined ? stderr : `${names}:${portsOf((ports ?? '').split(','))}`;
}
