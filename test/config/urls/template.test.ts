import { expect, test } from 'vitest';
import { fillTemplate, TemplateError, variablesOf } from '../../../src/config/urls/template.ts';
import { joinUrl } from '../../../src/config/urls/url-insertion.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { fc } from '../../helpers/fast-check.ts';

const PASSWORD = 'p@ss:w/rd?#%41';

const ENVIRONMENT = {
  PASSWORD,
  ENCODED: 'p%40ss',
  USER: 'us:er',
  CREDENTIALS: `me:${PASSWORD}`,
  AUTHORITY: `me:${PASSWORD}@db:5433`,
  HOST: 'db:5432',
  HOSTS: 'a:1,b:2',
  IPV6: '[::1]:5432',
  SOCKET: '/var/run/postgresql',
  DATABASE: 'my db/x?y',
  REST: 'db:1/app?sslmode=require',
  PARAMETERS: 'sslmode=require&connect_timeout=5',
  OPTION: '-c a=b&c',
  URL: 'postgres://a:b%20@c/d',
  EMPTY: '',
};

const fill = (text: string) => joinUrl(fillTemplate(text, variablesOf(ENVIRONMENT)));

test.for([
  ['{{`HOST` | env}}', 'db:5432'],
  ['{{"HOST" | env}}', 'db:5432'],
  ['{{env "HOST"}}', 'db:5432'],
  ['{{ env `HOST` }}', 'db:5432'],
  ['{{`raw\\n`}}', 'raw\\n'],
  ['{{"a\\x41\\u00e9\\101\\""}}', 'aAéA"'],
  ['{{CONSTANT}}', 'CONSTANT'],
  ['{{5432}}', '5432'],
  ['a  {{- `b` -}}  c', 'abc'],
  ['a {{`b`}} c', 'a b c'],
  ['{{`a`}}{{`b`}}', 'ab'],
  ['no template', 'no template'],
] as const)('%s gives %s', ([text, filled]) => {
  expect(
    fillTemplate(text, variablesOf(ENVIRONMENT))
      .map((piece) => piece.text)
      .join(''),
  ).toBe(filled);
});

test.for([
  ['x{{`A` | env', '{{ is not closed by }}', 1],
  ['{{}}', 'nothing is between the braces', 0],
  ['{{ | env}}', 'nothing is before the |', 3],
  ['{{`A` | }}', 'nothing is behind the |', 6],
  ['{{`A | env}}', 'the ` is not closed', 2],
  ['{{env}}', 'env takes a name in quotes: {{env "NAME"}}', 2],
  ['{{`A` | upper}}', 'only env may follow the |', 8],
  ['{{`HOST` | env | env}}', '"|" is not expected here', 15],
  ['{{env "HOST" `secret`}}', 'a text in quotes is not expected here', 13],
  ['{{.Host}}', '. is not expected here', 2],
  ['{{"\\q"}}', '\\q is not an escape of Go', 2],
  ['u:{{`NOPE` | env}}', 'the variable NOPE is not set', 4],
  ['{{`constructor` | env}}', 'the variable constructor is not set', 2],
] as const)('%s cannot be filled in: %s', ([text, message, offset]) => {
  const error = (() => {
    try {
      return fillTemplate(text, variablesOf(ENVIRONMENT));
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(TemplateError);
  expect(error).toMatchObject({ message, offset });
});

test.for([
  'postgres://me:{{`PASSWORD` | env}}@db:5433/app',
  'postgres://{{`CREDENTIALS` | env}}@db:5433/app',
  'postgres://{{`AUTHORITY` | env}}/app',
  '{{postgres}}://me:{{`PASSWORD` | env}}@db:5433/app',
])('%s passes any password to the server unchanged', (text) => {
  const { user, password, hosts, database } = parsePostgresUrl(fill(text));
  expect({ user, password, hosts, database }).toEqual({
    user: 'me',
    password: PASSWORD,
    hosts: [{ host: 'db', port: 5433 }],
    database: 'app',
  });
});

test.for([
  ['a value that is valid is taken as it is', 'postgres://me:{{`ENCODED` | env}}@h/d', 'postgres://me:p%40ss@h/d'],
  ['a user holds no colon', 'postgres://{{`USER` | env}}:x@h/d', 'postgres://us%3Aer:x@h/d'],
  ['a password may be empty', 'postgres://me:{{`EMPTY` | env}}@h/d', 'postgres://me:@h/d'],
  ['a host may bring its port', 'postgres://u:p@{{`HOST` | env}}/d', 'postgres://u:p@db:5432/d'],
  ['a host may be several', 'postgres://u:p@{{`HOSTS` | env}}/d', 'postgres://u:p@a:1,b:2/d'],
  ['a host may be an IPv6 address', 'postgres://u:p@{{`IPV6` | env}}/d', 'postgres://u:p@[::1]:5432/d'],
  ['a host may be a socket', 'postgres://u:p@{{`SOCKET` | env}}/d', 'postgres://u:p@%2Fvar%2Frun%2Fpostgresql/d'],
  ['a database is one part', 'postgres://h/{{`DATABASE` | env}}', 'postgres://h/my%20db%2Fx%3Fy'],
  ['a parameter is one part', 'postgres://h/d?options={{`OPTION` | env}}', 'postgres://h/d?options=-c%20a%3Db%26c'],
  [
    'parameters are URL text',
    'postgres://h/d?{{`PARAMETERS` | env}}',
    'postgres://h/d?sslmode=require&connect_timeout=5',
  ],
  ['all behind the @ is URL text', 'postgres://u:p@{{`REST` | env}}', 'postgres://u:p@db:1/app?sslmode=require'],
  ['a whole URL is URL text', '{{`URL` | env}}', 'postgres://a:b%20@c/d'],
  ['what is written around is not changed', 'postgres://u:a%20b@h/{{`d`}}?x=%41', 'postgres://u:a%20b@h/d?x=%41'],
] as const)('%s', ([, text, url]) => {
  expect(fill(text)).toBe(url);
});

/** One with %41 that is valid otherwise is percent-encoded already, by the rule of joinUrl; no password contains NUL. */
const anyPassword = fc.string({ unit: 'binary' }).filter((text) => !/%[0-9a-f]{2}|\0/i.test(text));

test.for([
  'postgres://me:{{`PASSWORD` | env}}@db:5433/app',
  'postgres://{{`me`}}:{{- env "PASSWORD" -}}@{{db}}:{{5433}}/{{`app`}}',
])('through %s every password arrives as it is', (text) => {
  fc.assert(
    fc.property(anyPassword, (password) => {
      const url = parsePostgresUrl(joinUrl(fillTemplate(text, variablesOf({ PASSWORD: password }))));
      expect(url).toMatchObject({ user: 'me', password, hosts: [{ host: 'db', port: 5433 }], database: 'app' });
    }),
    { numRuns: 1000 },
  );
});

test('any template is filled in, or the error has a location', () => {
  const pieces = fc.oneof(
    fc.constantFrom('{{', '}}', '{{- ', ' -}}', '`', '"', '|', 'env', 'NAME', '\\', '\\x4', '\\UFFFFFFFF', '://', '@'),
    fc.constantFrom('constructor', '__proto__', ':', '/', '?', '#', ' '),
    fc.string(),
  );
  const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, fc.string({ unit: 'binary' }), (text, value) => {
      try {
        expect(joinUrl(fillTemplate(text, variablesOf({ NAME: value })))).toBeTypeOf('string');
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        expect(error.offset).toBeGreaterThanOrEqual(0);
        expect(error.offset).toBeLessThan(text.length);
      }
    }),
    { numRuns: 3000 },
  );
});
