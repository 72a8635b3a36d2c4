import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptStatement } from '../../src/engines/mysql/restore/script/accept-statement.ts';
import { createSplitter as createMysqlSplitter } from '../../src/engines/mysql/restore/script/split.ts';
import { createSplitter as createPostgresSplitter } from '../../src/engines/postgres/restore/script/split.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { type AnyServer, type ServerKind, startAnyServer } from '../helpers/databases/any-server.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { type Round, trials } from '../helpers/trials.ts';

const LEDGER = 'INSERT INTO ledger VALUES (1)';

/** Pieces of hostile files; `CANARY` is a command or the path of a file that must not appear. */
const PIECES = {
  shared: [
    ...["'", "''", '"', '`', '\\', "\\'", "E'", '$$', '$a$', '$', '--', '-- ', '#', '/*', '*/', '/**/', '\n', '\r\n'],
    ...[';', ';', ';', '(', ')', ' ', '\t', 'BEGIN', 'END', 'ü', 'x', '1', "SELECT 'a'", 'SELECT 1', LEDGER, LEDGER],
    ...[`${LEDGER};`, `${LEDGER};\n`, `;\n${LEDGER};\n`, `\n;\n${LEDGER};\n`, 'CREATE TABLE t (a text)'],
    ...['\\! touch CANARY', '\n\\! touch CANARY\n', 'DROP DATABASE prod', '\\.', '\n\\.\n', '\\', '\\g |touch CANARY'],
  ],
  postgres: [
    ...[
      'COPY ledger FROM stdin;\n1\n\\.\n',
      'COPY ledger FROM stdin;\n',
      'COPY nowhere FROM stdin;\n',
      '\n1\n',
      '\\N\n',
    ],
    ...['\\c prod', '\\o |touch CANARY', "\\copy ledger to program 'touch CANARY'", '\\gexec', '\\restrict a\n'],
    ...["SELECT set_config('standard_conforming_strings', 'off', false);", 'SET standard_conforming_strings = off;'],
    ...["SELECT set_config('client_encoding', 'SJIS', false);", "U&'", ':USER', ":'USER'", 'COMMIT;', 'BEGIN;'],
    ...['CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1;', 'END;', 'SELECT $1', "E'\\'", '[1:2]'],
  ],
  mysql: [
    ...[
      '/*!50000 ',
      '/*!50000',
      '/*!999999 ',
      '/*M!100000 ',
      '/*M!999999\\- enable the sandbox mode */\n',
      'USE prod',
      'use/**/prod;',
    ],
    ...[
      'DELIMITER //\n',
      '//',
      '\nDELIMITER ;\n',
      'DELIMITER $$\n',
      'system touch CANARY\n',
      '\nsource CANARY\n',
      '\\u prod\n',
    ],
    ...[
      'tee CANARY\n',
      "SET sql_mode = 'NO_BACKSLASH_ESCAPES';",
      "SET sql_mode = 'ANSI_QUOTES';",
      'SET sql_mode = DEFAULT;',
    ],
    ...[
      "SET sql_mode = CONCAT('NO_BACKSLASH_', 'ESCAPES');",
      "EXECUTE IMMEDIATE 'USE prod';",
      'DROP TABLE ledger_of_prod;',
    ],
    ...["LOAD DATA LOCAL INFILE 'CANARY' INTO TABLE ledger;", "PREPARE s FROM 'USE prod'; EXECUTE s;", '\0', '\\N'],
  ],
};

for (const kind of ['postgres', 'mariadb', 'mysql'] as ServerKind[]) {
  const part = trials(`borders/sql-${kind}`);
  if (part.isEmpty) continue;
  describe(`hostile SQL files: ${kind}`, () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
      await server.create('prod');
      await server.run('prod', [
        'CREATE TABLE ledger_of_prod (id INT PRIMARY KEY)',
        'INSERT INTO ledger_of_prod VALUES (1)',
      ]);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('reach nothing but their database, and run as accepted'), { timeout: part.timeout }, async () => {
      const outside = await server.dump('prod');
      await part.each((round) => tryFile(round, outside));
    });

    async function tryFile(round: Round, outside: string): Promise<void> {
      const canary = join(folder.path, 'canary');
      const file = join(folder.path, 'script.sql');
      const text = writeScript(round, kind).replaceAll('CANARY', canary);
      await writeFile(file, text);
      await server.create('copy');
      await server.run('copy', ['CREATE TABLE ledger (id INT)']);
      const before = await server.databases();
      try {
        const settings = {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { dst_url: server.url('copy') } } },
        };
        const context = testContext({ settings });
        const planned = await planLoad(context, { target: 'app', file, noDrop: true });
        const outcome = await applyLoad(context, planned).then(
          () => 'run',
          (error) => {
            if (!(error instanceof UserError)) throw error;
            return 'failed';
          },
        );
        if (outcome === 'run') {
          const [rows = ''] = await server.column('copy', 'SELECT count(*) FROM ledger');
          expect(Number(rows), text).toBe(ledgerOf(text, kind));
        }
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        expect(error.code, text).toBe('script_refused');
      } finally {
        expect(existsSync(canary), text).toBe(false);
        expect(await server.databases(), text).toEqual(before);
        expect(await server.dump('prod'), text).toBe(outside);
        await server.drop('copy');
      }
    }
  });
}

function writeScript({ random, oneOf }: Round, kind: ServerKind): string {
  const pieces = [...PIECES.shared, ...(kind === 'postgres' ? PIECES.postgres : PIECES.mysql)];
  return Array.from({ length: 1 + Math.floor(random() * 12) }, () => oneOf(pieces)).join(oneOf(['', ' ', '\n']));
}

/** Rows that the accepted statements insert: the splitter says which they are. */
function ledgerOf(text: string, kind: ServerKind): number {
  const splitter =
    kind === 'postgres' ? createPostgresSplitter({ asFile: true }) : createMysqlSplitter({ accept: acceptStatement });
  return [...splitter.push(Buffer.from(text)), ...splitter.end()].reduce((rows, part) => {
    if (part.kind === 'rows') return rows + part.bytes.toString().split('\n').length - 1;
    return rows + (part.words.slice(0, 3).join(' ') === 'INSERT INTO LEDGER' ? 1 : 0);
  }, 0);
}
