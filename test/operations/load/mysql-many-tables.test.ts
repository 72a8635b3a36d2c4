import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** More than travel together in a packet. */
const TABLES = 130;
/** MySQL, whose disk it keeps busy, in the full suite. */
const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'many small tables' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let context: ReturnType<typeof testContext>;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.sql(
        'source',
        'SET foreign_key_checks = 0',
        // A circle of references: whatever table is made first, one that it references is not there.
        ...Array.from({ length: TABLES }, (_, at) => [
          `CREATE TABLE t${at} (id INT PRIMARY KEY, name VARCHAR(40), next_id INT, KEY (name),
            CONSTRAINT fk_${at} FOREIGN KEY (next_id) REFERENCES t${(at + 1) % TABLES} (id))`,
          ...(at % 10 === 0 ? [] : [`INSERT INTO t${at} VALUES (1, 'a ${at}\\n', 1), (2, NULL, NULL), (3, '', 2)`]),
        ]).flat(),
        // The server keeps few bytes of what is megabytes as text.
        'CREATE TABLE pressed (id INT PRIMARY KEY, body LONGTEXT) ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1',
        ...Array.from({ length: 6 }, (_, at) => `INSERT INTO pressed VALUES (${at}, REPEAT('${at}', 1000000))`),
        'CREATE TABLE fewer (id INT PRIMARY KEY, body LONGTEXT) ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1',
        "INSERT INTO fewer VALUES (1, REPEAT('x', 300000)), (2, REPEAT('y', 300000))",
      );
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
      };
      context = testContext({ settings });
    }, 240_000);

    async function objects(): Promise<Map<string, number>> {
      const root = join(folder.path, 'work', 'objects');
      const names = await readdir(root, { recursive: true });
      const files = names.filter((name) => name.includes('/'));
      return new Map(await Promise.all(files.map(async (name) => [name, (await stat(join(root, name))).ino] as const)));
    }

    it('arrive as they are, and are stored once', async () => {
      const first = await build(context, { target: 'app', cpus: 2 });
      const stored = await objects();
      const second = await build(context, { target: 'app', cpus: 2 });
      expect(second).toMatchObject({ tables: first.tables, rows: first.rows, stored_bytes: 0 });
      // Of small tables: the largest one is packed anew while it is read.
      const again = await objects();
      expect([...again.keys()].sort()).toEqual([...stored.keys()].sort());
      const written = [...again].filter(([name, file]) => stored.get(name) !== file);
      expect(written.length).toBeLessThan(4);

      const planned = await planLoad(context, { target: 'app', cpus: 2 });
      expect(planned.plan.warnings).toEqual([]);
      await applyLoad(context, planned);
      expect(await server.dump('copy')).toBe(await server.dump('source'));
    }, 240_000);

    it('take the place of others, and the plan says how long that takes', async () => {
      const planned = await planLoad(context, { target: 'app', cpus: 2 });
      expect(planned.plan.warnings).toEqual([
        {
          code: 'long_swap',
          message: expect.stringMatching(/renames 264 tables in one statement: copy will be unavailable for .* s/),
        },
      ]);
      await applyLoad(context, planned);
      expect(await server.dump('copy')).toBe(await server.dump('source'));
    }, 240_000);
  });
}
