import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Settings } from '../../src/config/schema/settings.ts';
import { readKeepComments } from '../../src/sanitize/keep-comments.ts';
import { chooseQuery } from '../../src/sanitize/query.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';

type Sanitize = NonNullable<Settings['targets'][string]['sanitize']>;

function choose(sanitize: Sanitize, san_query?: string) {
  const override = san_query === undefined ? {} : { san_query };
  return chooseQuery(testContext({ settings: { override, targets: { app: { sanitize } } } }), 'app');
}

it("the target's override_query wins, then override.san_query, then the file", async () => {
  await using folder = await temporaryFolder();
  const query_file = join(folder.path, 'query.sql');
  await writeFile(query_file, 'DELETE FROM file');
  const override_query = 'DELETE FROM own';
  const chosen = [
    await choose({ override_query, query_file }, 'DELETE FROM everybody'),
    await choose({ query_file }, 'DELETE FROM everybody'),
    await choose({ query_file }),
    await choose({}),
  ];
  expect(chosen).toEqual([
    { text: 'DELETE FROM own', chosenBy: 'targets.app.sanitize.override_query', file: null, base64: false },
    { text: 'DELETE FROM everybody', chosenBy: 'override.san_query', file: null, base64: false },
    { text: 'DELETE FROM file', chosenBy: 'targets.app.sanitize.query_file', file: query_file, base64: false },
    null,
  ]);
});

it('base64 is decoded wherever the query comes from, a byte order mark dropped', async () => {
  await using folder = await temporaryFolder();
  const query_file = join(folder.path, 'query.sql');
  const encoded = Buffer.from('DELETE FROM t').toString('base64');
  await writeFile(query_file, `\ufeff${encoded}\n`);
  const chosen = [await choose({ override_query: encoded }), await choose({}, encoded), await choose({ query_file })];
  expect(chosen).toEqual(chosen.map(() => expect.objectContaining({ text: 'DELETE FROM t', base64: true })));
});

it('a file that is not there, or is no text, is an error that names it', async () => {
  await using folder = await temporaryFolder();
  const query_file = join(folder.path, 'query.sql');
  await expect(choose({ query_file })).rejects.toMatchObject({
    code: 'query_file_not_found',
    exit: 3,
    message: expect.stringContaining(query_file),
  });
  await writeFile(query_file, Buffer.from([0x80, 0xff]));
  await expect(choose({ query_file })).rejects.toMatchObject({ code: 'query_file_unreadable', exit: 3 });
});

it('keep comments name a column, with quotes where its name needs them, and a reason', () => {
  const query = `
-- keep: public.country.name names of countries
UPDATE t SET a = 1; -- about keep: nothing
  --keep: public."Gift Cards"."given to" they agreed`;
  expect(readKeepComments(query)).toEqual([
    { column: 'public.country.name', reason: 'names of countries', line: 2 },
    { column: 'public.Gift Cards.given to', reason: 'they agreed', line: 4 },
  ]);
});

it.each(['-- keep: country.name too short', '-- keep: public.country.name', '-- keep:'])(
  '%j is refused with its line',
  (comment) => {
    expect(() => readKeepComments(`SELECT 1;\n${comment}`)).toThrow(
      expect.objectContaining({ code: 'keep_malformed', message: expect.stringContaining('Line 2') }),
    );
  },
);
