import { expect, it } from 'vitest';
import { hideKnown, knownSecrets, redact, redactOwn } from '../../src/process/redact.ts';
import { fc } from '../helpers/fast-check.ts';

const ROWS: [text: string, shown: string][] = [
  ['postgres://me:pass@host:5432/db', 'postgres://me:***@host:5432/db'],
  ['postgres://:pass@host/db', 'postgres://:***@host/db'],
  [
    'postgres://me:p@ss@host/db and mysql://you:word@other/db',
    'postgres://me:***@host/db and mysql://you:***@other/db',
  ],
  ['postgres://me@host/db', 'postgres://me@host/db'],
  ['postgres://me@host:5432/db of a@b', 'postgres://me@host:5432/db of a@b'],
  ['postgres://host:5432/db?password=pass&sslmode=require', 'postgres://host:5432/db?password=***&sslmode=require'],
  ['host=here password=pass user=me', 'host=here password=*** user=me'],
  ["password = 'pass word' user=me", 'password = *** user=me'],
  ['PGPASSWORD=pass psql', 'PGPASSWORD=*** psql'],
  ['AWS_SECRET_ACCESS_KEY=pass aws s3 ls', 'AWS_SECRET_ACCESS_KEY=*** aws s3 ls'],
  ['TOOL_AUTHTOKEN: pass', 'TOOL_AUTHTOKEN: ***'],
  ["CREATE ROLE me LOGIN PASSWORD 'it''s pass' CREATEDB", 'CREATE ROLE me LOGIN PASSWORD *** CREATEDB'],
  [String.raw`ALTER ROLE me ENCRYPTED PASSWORD E'it\'s pass' LOGIN`, 'ALTER ROLE me ENCRYPTED PASSWORD *** LOGIN'],
  ['ALTER ROLE me PASSWORD $p$it is pass$p$ LOGIN', 'ALTER ROLE me PASSWORD *** LOGIN'],
  ["SELECT set_config('a.api_token', 'it''s pass', false)", "SELECT set_config('a.api_token', ***, false)"],
  ["SET LOCAL a.api_token TO 'pass'; SELECT 1", 'SET LOCAL a.api_token TO ***; SELECT 1'],
  ['ALTER ROLE me SET "a.client_secret" = $p$it is pass$p$', 'ALTER ROLE me SET "a.client_secret" = ***'],
  ['SET @api_key := "it is pass", @a = 1', 'SET @api_key := ***, @a = 1'],
  ["SET lock_timeout TO '2s'", "SET lock_timeout TO '2s'"],
  ["ALTER ROLE me PASSWORD U&'pass' LOGIN", 'ALTER ROLE me PASSWORD *** LOGIN'],
  ["EXECUTE 'ALTER ROLE me PASSWORD ''it is pass'''; END", "EXECUTE 'ALTER ROLE me PASSWORD ***; END"],
  ["ALTER ROLE me PASSWORD ''; SELECT 'a'", "ALTER ROLE me PASSWORD ***; SELECT 'a'"],
  ["SET PASSWORD FOR me = PASSWORD('pass')", 'SET PASSWORD FOR me = PASSWORD(***)'],
  ["CREATE USER me IDENTIFIED BY 'it''s pass' ACCOUNT LOCK", 'CREATE USER me IDENTIFIED BY *** ACCOUNT LOCK'],
  ['CREATE USER me IDENTIFIED WITH a_plugin BY "it is pass"', 'CREATE USER me IDENTIFIED WITH a_plugin BY ***'],
  ["CREATE USER me IDENTIFIED BY PASSWORD '*00FF' x", 'CREATE USER me IDENTIFIED BY PASSWORD *** x'],
  ["CREATE USER me IDENTIFIED VIA `a` USING 'pass'", 'CREATE USER me IDENTIFIED VIA `a` USING ***'],
  [String.raw`ALTER USER me IDENTIFIED WITH 'a' AS 'it\'s pass'`, "ALTER USER me IDENTIFIED WITH 'a' AS ***"],
  ['{"password":"pass","user":"me"}', '{"password":***,"user":"me"}'],
  ['secret_key: 0123456789abcdef', 'secret_key: ***'],
  ['value $aes$00ff12 here', 'value $aes$*** here'],
  ['the password is wrong for user "me"', 'the password is wrong for user "me"'],
  ['password authentication failed for user "me"', 'password authentication failed for user "me"'],
];

ROWS.push(
  ["Access denied for user 'me' (using password: YES)", "Access denied for user 'me' (using password: YES)"],
  ['(using password: NO)', '(using password: NO)'],
  ['password: YES please', 'password: *** please'],
);

for (const [text, shown] of ROWS) {
  it(`shows ${shown}`, () => expect(redact(text)).toBe(shown));
}

it('masks the password of a URL at any position', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const account = fc.stringMatching(/^@?[a-z]{1,8}(@[a-z]{1,8})?$/);
  const password = fc.stringMatching(/^[A-Z0-9!$&*+,;=:.~@%-]{4,20}$/);
  fc.assert(
    fc.property(account, password, word, (user, secret, host) => {
      const url = `postgres://${user}:${secret}@${host}/db`;
      expect(redact(`pg_dump: error: ${url}: no\n"${url}"`)).not.toContain(secret);
    }),
  );
});

it('masks a quotation without an end to the end of the text', () => {
  expect(redact("ALTER ROLE me PASSWORD 'pass and\nmore")).toBe('ALTER ROLE me PASSWORD ***');
  expect(redact('ALTER ROLE me PASSWORD $p$pass and\nmore')).toBe('ALTER ROLE me PASSWORD ***');
});

it('masks secrets that the cut of a long text would divide', () => {
  const secret = 'hunter2-'.repeat(8);
  const fill = (length: number): string => 'x'.repeat(length);
  for (let length = 24_000; length < 33_000; length += 20) {
    expect(redact(`${fill(length)} postgres://u:${secret}@h/d ${fill(20_000)}`)).not.toContain('hunter2');
    expect(redact(`${fill(length)} password="${'word '.repeat(20)}${secret}" ${fill(20_000)}`)).not.toContain(
      'hunter2',
    );
  }
  for (const before of ['"password":\n', "PASSWORD 'first\n", 'PASSWORD $p$first\n']) {
    const quote = before.startsWith('"') ? '"' : '';
    const after = before.includes('$p$') ? '$p$' : before.startsWith('"') ? '"' : "'";
    const text = `${fill(40_000)} ${before}${quote}${secret}${after}${fill(8000)}`;
    expect(redact(text), before).not.toContain('hunter2');
  }
});

it('masks a secret parameter inside of the value of another one, and a token inside of a word', () => {
  expect(redact('https://h/cb?next=https://x/?token=hunter2&a=b')).toBe('https://h/cb?next=https://x/?token=***&a=b');
  expect(redactOwn('postgres://h/d?options=x?password=hunter2')).toBe('postgres://h/d?options=x?password=***');
  expect(redact('x-eyJhbGciOiJI.eyJzdWIiOiIx.sig')).toBe('x-***');
});

it('masks a quotation of any length', () => {
  for (const before of ["password '", "password E'", "password='", 'password $a$']) {
    expect(() => redact(before + 'hunter2 '.repeat(2_000_000)), before).not.toThrow();
  }
});

it('takes no longer than a linear time with hostile text', () => {
  const texts = [
    'eyJ-',
    'eyJaaaaa.',
    '?password',
    '?a=b',
    'a://b:',
    "password '",
    'password $a$',
    'password=',
    "password ''x",
    'password (',
    'identified with ',
    "identified by 'x\\\\",
    '$aes$',
  ];
  for (const part of texts) {
    const text = part.repeat(2_000_000 / part.length);
    const started = performance.now();
    redact(text);
    expect(performance.now() - started, part).toBeLessThan(3000);
  }
});

it('cuts a long text, and begins its end with a whole line', () => {
  const text = `ERROR: ${'x'.repeat(40_000)} password=${'secret'.repeat(2000)}\nHINT: last`;
  const shown = redact(text);
  expect(shown.length).toBeLessThan(33_000);
  expect(shown).toMatch(/^ERROR: x+…\nHINT: last$/);
  expect(redact('password=secret'.repeat(10_000))).not.toContain('secret');
});

it("leaves a hint's own ellipsis, but no password that begins with one", () => {
  expect(redact('Set it: export APP_PASSWORD=…')).toBe('Set it: export APP_PASSWORD=…');
  expect(redact('password=…hunter2')).toBe('password=***');
});

/** What the program writes itself: SQL, plans, results. */
const OWN: [text: string, shown: string][] = [
  [
    'UPDATE users SET password = pg_temp.hash(password), token = NULL',
    'UPDATE users SET password = pg_temp.hash(password), token = NULL',
  ],
  [
    "SET access_token = left(pg_temp.hash(x), 8), secret_key='removed'",
    "SET access_token = left(pg_temp.hash(x), 8), secret_key='removed'",
  ],
  ['public.users.password: password, token or key', 'public.users.password: password, token or key'],
  ['"password"=1', '"password"=1'],
  ['postgres://me:pass@host:5432/db', 'postgres://me:***@host:5432/db'],
  ['postgres://host/db?sslmode=require&password=pass#x', 'postgres://host/db?sslmode=require&password=***#x'],
  ['mysql://host/db?ssl_password=pass', 'mysql://host/db?ssl_password=***'],
  ["CREATE ROLE me LOGIN PASSWORD 'it''s pass' CREATEDB", 'CREATE ROLE me LOGIN PASSWORD *** CREATEDB'],
  ['value $aes$00ff12 here', 'value $aes$*** here'],
  ['Bearer abcdefghijklmnopqrstuvwxyz', 'Bearer ***'],
];

for (const [text, shown] of OWN) {
  it(`shows of the program's own ${shown}`, () => expect(redactOwn(text)).toBe(shown));
}

it('masks known secrets at any position, also in JSON and URLs, the longest first', () => {
  const known = knownSecrets(['S3cr3t', 'S3cr3t/"Longer"', 'S3cr3t']);
  expect(hideKnown('a S3cr3t, b S3cr3t/"Longer"', known)).toBe('a ***, b ***');
  expect(hideKnown(JSON.stringify({ S3cr3t: 'S3cr3t/"Longer"' }), known)).toBe('{"***":"***"}');
  expect(hideKnown(`x=${encodeURIComponent('S3cr3t/"Longer"')}`, known)).toBe('x=***');
});

it('takes no plain word for a known secret, since it would hide the names of everything', () => {
  expect(knownSecrets(['postgres', 'app', 'ADMIN', '123456', 'a1b2', ''])).toEqual([]);
});
