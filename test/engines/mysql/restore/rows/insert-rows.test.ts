import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type MysqlSession, openSession } from '../../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../../src/engines/mysql/connection/url.ts';
import { rowStatements } from '../../../../../src/engines/mysql/restore/rows/insert-rows.ts';
import { loadRows } from '../../../../../src/engines/mysql/restore/rows/load-tables.ts';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../../../src/operations/snapshots/snapshots.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

const MEGABYTE = 1024 * 1024;

/** The text in blocks of so many bytes. */
async function* blocks(text: string | Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function statementsOf(text: string, options: { size?: number; statementBytes?: number } = {}): Promise<string[]> {
  const statements = [''];
  const to = { table: 't', columns: ['a', 'b'], texts: ['b'], statementBytes: options.statementBytes ?? 1000 };
  for await (const { bytes, last } of rowStatements(blocks(text, options.size), to)) {
    statements.push(statements.pop() + Buffer.from(bytes).toString('latin1'));
    if (last) statements.push('');
  }
  return statements.slice(0, -1);
}

const HEAD = 'INSERT INTO `t` (`a`, `b`) VALUES ';

describe('rows as INSERT statements', () => {
  it('quotes values, keeps escapes and converts text', async () => {
    const text = "it's\t\\N\n\t\\\\N\n\\t\\n\\\\\t\\N\n";
    const expected = [
      `${HEAD}(_binary'it''s',NULL),`,
      "(_binary'',CONVERT(_binary'\\\\N' USING utf8mb4)),",
      "(_binary'\\t\\n\\\\',NULL)",
    ].join('');
    expect(await statementsOf(text)).toEqual([expected]);
    for (const size of [1, 2, 3, 5]) expect(await statementsOf(text, { size })).toEqual([expected]);
  });

  it('cuts between rows, and a row that is longer than a statement goes alone', async () => {
    const long = 'x'.repeat(5000);
    const statements = await statementsOf(`1\t\\N\n${long}\t\\N\n2\t\\N\n3\t\\N\n`, { size: 7, statementBytes: 100 });
    expect(statements).toEqual([
      `${HEAD}(_binary'1',NULL)`,
      `${HEAD}(_binary'${long}',NULL)`,
      `${HEAD}(_binary'2',NULL),(_binary'3',NULL)`,
    ]);
  });

  it.each(["\\'),(1,(SELECT 2))-- \t\\N\n", "\\\\\\'),(1,2)-- \t\\N\n"])('no byte ends a literal: %j', async (text) => {
    const [statement = ''] = await statementsOf(text);
    const values = statement.slice(HEAD.length).replaceAll(/_binary'(?:\\.|''|[^'\\])*'/gs, 'L');
    expect(values).toBe('(L,NULL)');
  });

  it.each(['\\Nx\t\\N\n', 'a\tb'])('refuses an invalid row: %j', async (text) => {
    await expect(statementsOf(text)).rejects.toThrow(/^(a NULL of t|the rows of t end)/);
  });
});

const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'rows and max_allowed_packet' }, () => {
    const server = suiteResource(() => startMysql(flavour, ['--local-infile=ON', '--max-allowed-packet=1M']));
    const session = (): Promise<MysqlSession> => openSession({ url: parseMysqlUrl(server.url('rows')) });

    beforeAll(async () => {
      await server.createDatabase('rows');
      await server.sql(
        'rows',
        'CREATE TABLE large (id INT, value LONGBLOB)',
        'CREATE TABLE texts (a LONGBLOB, b JSON, c VARCHAR(20) CHARACTER SET latin1)',
      );
    }, 240_000);

    it('stores every byte as LOAD DATA does', async () => {
      await using own = await session();
      const escaped = [...Array(256).keys()]
        .map((byte) => ({ 9: '\\t', 10: '\\n', 92: '\\\\' })[byte] ?? String.fromCharCode(byte))
        .join('');
      const rows = `${escaped}\t{"a": "\xc3\xbc'"}\t\xfc'\n\\N\t\\N\t\\N\n\t[]\t\n`.repeat(400);
      const stored: unknown[] = [];
      for (const localInfile of [true, false]) {
        await own.execute('TRUNCATE texts');
        const content = blocks(rows, 999);
        const to = { table: 'texts', columns: ['a', 'b', 'c'], texts: ['b'], content };
        expect((await loadRows(own, { name: 'texts', localInfile, rows: to })).loaded).toBe(1200);
        stored.push(await own.query('SELECT HEX(a), b, HEX(c), COUNT(*) FROM texts GROUP BY 1, 2, 3 ORDER BY 1'));
      }
      expect(stored[0]).toHaveLength(3);
      expect(stored[1]).toEqual(stored[0]);
    });

    it('names the setting when a row is too long for INSERT', async () => {
      await using own = await session();
      const loadValue = async (value: string, longest_row?: number): Promise<number> => {
        const { loaded } = await loadRows(own, {
          name: 'rows.large',
          localInfile: false,
          rows: {
            ...{ table: 'large', columns: ['id', 'value'], texts: [], content: blocks(`1\t${value}\n`) },
            ...(longest_row !== undefined && { longest_row }),
          },
        });
        return loaded;
      };
      await own.execute('TRUNCATE large');
      expect(await loadValue('x'.repeat(MEGABYTE - 100))).toBe(1);
      await expect(loadValue("'".repeat(MEGABYTE - 100), MEGABYTE - 98)).rejects.toMatchObject({
        code: 'row_too_long',
        message:
          'The longest row of rows.large (1.0 MB) does not fit into max_allowed_packet (1.0 MB) of the destination',
        hint: expect.stringContaining('SET GLOBAL max_allowed_packet = 2097152'),
      });
      // The statement that was given up was not run.
      expect(await server.sql('rows', 'SELECT COUNT(*) AS n FROM large')).toEqual([{ n: 1 }]);
    });

    it('loads rows of any length by LOAD DATA, but JSON on MySQL, which names the setting', async () => {
      await using own = await session();
      const loadValue = async (value: string, columns: string[]): Promise<number> => {
        const { loaded } = await loadRows(own, {
          name: 'rows.any',
          localInfile: true,
          rows: {
            ...{ table: columns.includes('b') ? 'texts' : 'large', columns, texts: ['b'] },
            content: blocks(`1\t${value}\n`, 2 * MEGABYTE),
          },
        });
        return loaded;
      };
      expect(await loadValue('x'.repeat(3 * MEGABYTE), ['id', 'value'])).toBe(1);
      const json = loadValue(`["${'x'.repeat(3 * MEGABYTE)}"]`, ['a', 'b']);
      if (flavour === 'mariadb') expect(await json).toBe(1);
      else await expect(json).rejects.toMatchObject({ code: 'row_too_long' });
    });

    it('is compared with the longest row before a load, which names the value to set', async () => {
      await using folder = await temporaryFolder();
      await server.sql('', 'SET GLOBAL max_allowed_packet = 16777216', 'CREATE DATABASE source');
      await server.sql('source', 'CREATE TABLE t (id INT PRIMARY KEY, value LONGTEXT)');
      await server.sql('source', "INSERT INTO t VALUES (1, 'short'), (2, REPEAT('x', 3000000)), (3, NULL)");
      const snapshot = { src_url: server.url('source'), dst_url: server.url('destination') };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
      const context = testContext({ settings });
      await build(context, { target: 'app' });
      const { manifest } = await findSnapshot(context, { target: 'app' });
      expect(manifest.details.data).toMatchObject({ '0001.rows': { longest_row: 3_000_003 } });
      await server.sql('', 'SET GLOBAL max_allowed_packet = 1048576, GLOBAL local_infile = OFF');
      await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject({
        code: 'row_too_long',
        message:
          'The longest row of source.t (3.0 MB) does not fit into max_allowed_packet (1.0 MB) of the destination',
        hint: expect.stringContaining('SET GLOBAL max_allowed_packet = 6291456'),
      });
      await server.sql('', 'SET GLOBAL max_allowed_packet = 6291456');
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      expect(await server.sql('destination', 'SELECT SUM(LENGTH(value)) AS n FROM t')).toEqual([{ n: '3000005' }]);
      await server.sql('', 'SET GLOBAL max_allowed_packet = 1048576, GLOBAL local_infile = ON');
      expect((await planLoad(context, { target: 'app' })).plan.warnings).toEqual([]);
    });

    it('holds a small part of a long row in memory', async () => {
      await server.sql('rows', 'SET GLOBAL max_allowed_packet = 268435456');
      const script = new URL('../../fixtures/insert-large-row.ts', import.meta.url).pathname;
      const peak = async (megabytes: number): Promise<number> => {
        const args = [script, server.url('rows'), String(megabytes)];
        const { stdout } = await promisify(execFile)(process.execPath, args);
        return JSON.parse(stdout).kilobytes / 1024;
      };
      await server.sql('rows', 'TRUNCATE large');
      const [small, large] = [await peak(1), await peak(64)];
      console.info(`${flavour}: ${small.toFixed(0)} MB for 1 MB, ${large.toFixed(0)} MB for 64 MB`);
      expect(large - small).toBeLessThan(64);
      const rows = await server.sql('rows', 'SELECT LENGTH(value) AS bytes FROM large ORDER BY 1');
      expect(rows).toEqual([{ bytes: MEGABYTE }, { bytes: 64 * MEGABYTE }]);
    });
  });
}
