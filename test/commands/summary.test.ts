import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { itIf } from '../helpers/it-if.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const FULL = process.env.TEST_FULL === '1';

/** Each would be markup, a link or another line. */
const HOSTILE = [
  'a|b',
  '<img src=x>',
  '`tick`',
  '[x](http://h)',
  '*bold*',
  'new\nline',
  'www.evil.example',
  '\u202Egnp',
];
const MARKUP = /(^|[^\\])[`*_[\]<~]|www\./;

const FILL = `
  CREATE TABLE customer (id integer PRIMARY KEY, email text NOT NULL, phone text);
  INSERT INTO customer SELECT i, 'someone' || i || '@real.example', '+49 30 ' || 9000000 + i FROM generate_series(1, 60) i;
  ${HOSTILE.map((name) => `CREATE TABLE "${name}" (id integer)`).join(';')}`;

describeWithPostgres('--summary', () => {
  const server = suiteResource(() => startPostgres());
  let cli: ConfiguredCli;

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', { sql: FILL });
  }, 60_000);

  beforeEach(async () => {
    const url = (name: string) => server.url(name);
    cli = await configuredCli(`working_directory: work
targets:
  app:
    snapshot: {src_url: "${url('shop')}", dst_url: "${url('shop_dev')}"}
    sanitize: {dst_url: "${url('clean')}", override_query: "UPDATE customer SET email = 'x' || id"}
    subset: {src_url: "${url('shop')}", dst_url: "${url('small')}", subset_tables: [{table: public.customer, where: id <= 5}]}
`);
  });

  async function summaryOf(command: string): Promise<string> {
    const run = await cli.tool([...command.split(' '), '--yes', '--summary', 'made.md']);
    expect(run, run.stderr).toMatchObject({ exit: 0 });
    expect((await readdir(cli.folder.path)).filter((name) => name.startsWith('made.md'))).toEqual(['made.md']);
    return readFile(join(cli.folder.path, 'made.md'), 'utf8');
  }

  function expectNoMarkup(text: string): void {
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.length).toBeGreaterThan(HOSTILE.length);
    for (const row of rows) expect(row).not.toMatch(MARKUP);
    const lines = text.split('\n').filter((line) => line !== '' && !/^(\||#{2,3} )/.test(line));
    expect(lines).toEqual([]);
    for (const block of text.split('\n\n').filter((part) => part.startsWith('|'))) {
      const cells = block
        .trim()
        .split('\n')
        .map((row) => row.match(/(?<!\\)\|/g)?.length);
      expect(new Set(cells).size, block).toBe(1);
    }
  }

  it('lists tables, rows, sizes and the duration of a build, and escapes names', async () => {
    const text = await summaryOf('build app --no-sanitize --note a|<b>');
    expect(text).toMatch(/^## Snapshot of app\n\n\| {2}\| {2}\|\n\| --- \| --- \|\n\| Snapshot \| [0-9a-f]{8} \|/);
    expect(text).toContain('| Kind | original |');
    expect(text).toContain('| Note | a\\|&lt;b&gt; |');
    expect(text).toMatch(
      /\| Rows \| 60 \|\n\| Size \| [\d.]+ \w+ \|\n\| Stored \| [\d.]+ \w+ \|\n\| Location \| local \|\n\| Duration \| /,
    );
    expect(text).toMatch(/^\| public.customer \| 60 \| [\d.]+ \w+ \|$/m);
    expect(text).toContain('| public.a\\|b | 0 |');
    expectNoMarkup(text);
  });

  it('shows the coverage of a sanitized build and of a sanitization, without values', async () => {
    for (const command of FULL ? ['build app', 'sanitize app'] : ['build app']) {
      const text = await summaryOf(command);
      expect(text).toMatch(
        /^\| Sanitization \| 1 of 2 personal columns are unchanged; tables: 8 untouched, 1 changed \|$/m,
      );
      expect(text).toMatch(/^\| public.customer.phone \| [^|]+ \| unchanged \|$/m);
      expect(text).toMatch(/^\| public.customer \| 60 \| [\d.]+ \w+ \| changed \|$/m);
      expect(text).toContain(command === 'build app' ? '| Sanitized snapshot |' : '| Kind | sanitized |');
      expect(text).not.toMatch(/real\.example|9000001|\*{3}/);
      expectNoMarkup(text);
    }
  });

  itIf(FULL)('lists the rows of a subset, and of its snapshot where one is stored', async () => {
    const text = await summaryOf('subset app');
    expect(text).toMatch(/^## Subset of app\n[\s\S]*\n\| public.customer \| 5 \| {2}\|\n/);
    expect(await summaryOf('subset app --snapshot')).toMatch(
      /^## Snapshot of app\n[\s\S]*\n\| public.customer \| 5 \| [\d.]+ \w+ \|\n/,
    );
  });

  it('is refused before the work where it cannot be written, and follows a link inside its folder', async () => {
    const before = await cli.json(['target', 'app']);
    await mkdir(join(cli.folder.path, 'reports'));
    await symlink('../tool.yml', join(cli.folder.path, 'reports', 'out.md'));
    for (const file of ['nowhere/made.md', '.', '/dev/null', 'reports/out.md']) {
      const { exit, last } = await cli.json(['build', 'app', '--no-sanitize', '--summary', file]);
      expect({ exit, last }).toMatchObject({ exit: 2, last: { code: 'summary_not_written' } });
    }
    expect(await cli.json(['target', 'app'])).toEqual(before);
    await cli.folder.write('made.md', 'former');
    await symlink('made.md', join(cli.folder.path, 'link.md'));
    await cli.tool(['build', 'app', '--no-sanitize', '--summary', 'link.md', '--note', 'linked']);
    expect(await readFile(join(cli.folder.path, 'made.md'), 'utf8')).toContain('| Note | linked |');
  });
});
