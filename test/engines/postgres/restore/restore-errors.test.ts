import { expect, test } from 'vitest';
import { groupErrors, restoreErrors } from '../../../../src/engines/postgres/restore/restore-errors.ts';

test('errors of one cause are reported once, with the first failed SQL', () => {
  const one = (
    table: string,
  ): string => `pg_restore: error: could not execute query: ERROR:  type "geometry" does not exist
LINE 3:     place geometry
                  ^
Command was: CREATE TABLE public.${table} (
    id integer,
    place geometry
);

`;
  const lines = groupErrors(
    `pg_restore: while PROCESSING TOC:\n${one('a')}${one('b')}pg_restore: warning: errors ignored on restore: 2\n`,
  );
  expect(lines).toEqual([
    'ERROR:  type "geometry" does not exist | LINE 3:     place geometry | ^ (2 times)',
    '  CREATE TABLE public.a ( id integer, place geometry );',
  ]);
});

test('a setting that an older server does not know is no error', () => {
  const stderr = `pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter "transaction_timeout"
Command was: SET transaction_timeout = 0;
pg_restore: warning: errors ignored on restore: 1
`;
  expect(groupErrors(stderr)).toEqual([]);
});

test('a text of a server that looks like a password hides no later error', () => {
  const stderr = `pg_restore: error: could not execute query: ERROR:  no password 'x
Command was: SET transaction_timeout = 0;
pg_restore: error: could not execute query: ERROR:  permission denied
Command was: CREATE TABLE public.a (id int);
pg_restore: error: could not execute query: ERROR:  '
Command was: SET transaction_timeout = 0;
pg_restore: warning: errors ignored on restore: 3
`;
  expect(restoreErrors({ exitCode: 1, stderr }).join('\n')).toContain('CREATE TABLE public.a');
});

test('an error without SQL is reported unchanged, and never with a password', () => {
  const stderr = 'pg_restore: error: connection to postgres://u:secret@h/d failed: FATAL:  sorry\n';
  expect(groupErrors(stderr)).toEqual(['connection to postgres://u:***@h/d failed: FATAL:  sorry']);
});

test("the server's DETAIL stays with its cause, and a parallel worker's error is an error", () => {
  const stderr = `pg_restore: error: could not execute query: ERROR:  could not create unique index "u"
DETAIL:  Key (id)=(1) is duplicated.
Command was: CREATE UNIQUE INDEX u ON public.a USING btree (id);
pg_restore: [parallel archiver] fatal: a worker process died unexpectedly
pg_restore: creating TABLE "public.error"
`;
  expect(groupErrors(stderr)).toEqual([
    'ERROR:  could not create unique index "u" | DETAIL:  Key (id)=(1) is duplicated.',
    '  CREATE UNIQUE INDEX u ON public.a USING btree (id);',
    'a worker process died unexpectedly',
  ]);
});

test('a password in the SQL that failed is hidden', () => {
  const stderr = `pg_restore: error: could not execute query: ERROR:  server "other" does not exist
Command was: CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (password 'it''s secret', "user" 'me');
`;
  expect(groupErrors(stderr)[1]).toContain(`OPTIONS (password ***, "user" 'me')`);
});

test('a long list of causes is shortened, with their number', () => {
  const stderr = Array.from({ length: 14 }, (_, i) => `pg_restore: error: cause ${i}\n`).join('');
  expect(groupErrors(stderr).at(-1)).toBe('and 4 more causes');
});
