import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

describeWithPostgres('the first minute', () => {
  const server = suiteResource(() => startPostgres());
  let terminal: TestTerminal;

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', { sql: 'CREATE TABLE item AS SELECT i AS id FROM generate_series(1, 2000) i' });
  });
  afterEach(() => terminal.close());
  it('two URLs lead to a loaded database with one question and two keys', async () => {
    await using folder = await temporaryFolder();
    terminal = openTerminal({
      command: [process.execPath, PROGRAM, 'load', '--from', server.url('shop'), '--to', server.url('shop_dev')],
      cwd: folder.path,
      environment: { HOME: folder.path, XDG_CACHE_HOME: join(folder.path, 'cache') },
    });
    await terminal.waitFor(/Create database "shop_dev" on 127\.0\.0\.1:\d+\? \[y\/N\]/);
    expect(terminal.screen()).toMatch(/Chosen by +--to/);
    terminal.press('y', 'enter');
    await terminal.waitFor('save the target with the same URLs');
    expect((await terminal.exited()).exitCode).toBe(0);
    expect(terminal.screen()).toContain('1 table, 2,000 rows');
    expect(terminal.screen().match(/\[y\/N\]/g)).toHaveLength(1);
  });
});
