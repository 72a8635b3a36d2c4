import { readdir } from 'node:fs/promises';
import { expect } from 'vitest';
import { checkDefinitions } from '../../src/engines/mysql/catalog/definitions/check-definitions.ts';
import { createCode } from '../../src/engines/mysql/catalog/definitions/code.ts';
import type { Code, Definitions } from '../../src/engines/mysql/catalog/definitions/definitions.ts';
import { withEventsDisabled } from '../../src/engines/mysql/catalog/definitions/events.ts';
import { tokensOf } from '../../src/engines/mysql/catalog/definitions/tokens.ts';
import { openSession } from '../../src/engines/mysql/connection/session.ts';
import { SqlError } from '../../src/engines/mysql/connection/session-errors.ts';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { createTables } from '../../src/engines/mysql/restore/rows/fill.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { TestMysql } from '../helpers/mysql/mysql-server.ts';
import type { Round } from '../helpers/trials.ts';

/** Definitions that one round tries. */
const CASES = 40;

/** Databases of the test's server: the one in which definitions are created, and one that nothing may reach. */
const SHADOW = 'shadow';
export const PRODUCTION = 'production';

const MARKERS = [
  ...[
    '/*',
    '*/',
    '/*!',
    '/*!50000',
    '/*!50100',
    '/*!80023',
    '/*!100301',
    '/*!999999',
    '/*M!',
    '/*M!100000',
    '/*M!999999',
  ],
  ...['-- ', '--', '#', '\n', ';', '$$', '$a$', '\\', "\\'", '\u00a0', '\u0000', '\u007f', '/*+', '*/*'],
  ...["'", '"', '`', "''", '``', '(', ')', ',', '=', '@', '.'],
];
const CLAUSES = [
  ...[
    ' ENABLE ',
    ' DISABLE ',
    ' DISABLE ON SLAVE ',
    ' ON COMPLETION PRESERVE ',
    ` DO INSERT INTO ${PRODUCTION}.customer (id) VALUES (1) `,
  ],
  ...[` ${PRODUCTION}.`, ' DEFINER=a@DISABLE ', ' BEGIN ', ' END ', ' IF ', ' CASE ', ` DROP DATABASE ${PRODUCTION} `],
  ...[
    " DATA DIRECTORY='OUTSIDE' ",
    " INDEX DIRECTORY='OUTSIDE' ",
    " CONNECTION='mysql://root@127.0.0.1/production/customer' ",
  ],
  ...[
    ' ENGINE=FEDERATED ',
    ' ENGINE=CONNECT ',
    ' ENGINE=MyISAM ',
    ' ENGINE=BLACKHOLE ',
    ' TABLESPACE theirs ',
    ' SELECT 1 ',
  ],
  ...[
    ` UNION=(${PRODUCTION}.customer) `,
    ` LIKE ${PRODUCTION}.customer `,
    " INTO OUTFILE 'OUTSIDE/x' ",
    ' COMMENT ',
    ' INVISIBLE ',
  ],
];

const TABLE =
  "CREATE TABLE `t` (\n  `a` int NOT NULL AUTO_INCREMENT COMMENT 'it''s',\n  `b` varchar(20) DEFAULT 'x',\n  PRIMARY KEY (`a`),\n  KEY `k` (`b`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='a table'";
const PARTED = `${TABLE}\n/*!50100 PARTITION BY HASH (\`a\`)\n(PARTITION \`p\` ENGINE = InnoDB) */`;
const CODE: [kind: string, create: string][] = [
  [
    'EVENT',
    "CREATE DEFINER=`root`@`localhost` EVENT `x` ON SCHEDULE EVERY 1 SECOND ON COMPLETION PRESERVE ENABLE COMMENT 'it''s' DO SET @a = 1",
  ],
  ['EVENT', 'CREATE EVENT `x` ON SCHEDULE EVERY 1 SECOND DISABLE DO BEGIN SET @a = 1; SET @b = 2; END'],
  ['PROCEDURE', "CREATE PROCEDURE `x`(a int) COMMENT 'it''s' BEGIN /* it's */ SELECT 1; -- it's\n SELECT 2; END"],
  ['FUNCTION', 'CREATE FUNCTION `x`() RETURNS int DETERMINISTIC RETURN CASE 1 WHEN 1 THEN 2 END'],
  ['VIEW', 'CREATE ALGORITHM=UNDEFINED SQL SECURITY DEFINER VIEW `x` AS select 1 AS `a`'],
];
const MODES = ['', 'ANSI_QUOTES', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'];
const LISTS: Record<string, string> = { VIEW: 'views', EVENT: 'events', PROCEDURE: 'routines', FUNCTION: 'routines' };

function mutated({ random, oneOf }: Round, sql: string): string {
  let text = sql;
  for (let left = 1 + Math.floor(random() * 4); left > 0; left -= 1) {
    const places = [...tokensOf(text)].map(({ at }) => at);
    const at = random() < 0.8 ? oneOf([...places, text.length]) : Math.floor(random() * text.length);
    text = `${text.slice(0, at)}${oneOf(random() < 0.6 ? MARKERS : CLAUSES)}${text.slice(at)}`;
  }
  return text;
}

function definitionsOf(round: Round, outside: string): Definitions {
  const empty: Definitions = {
    ...{ charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
    ...{ tables: [], sequences: [], routines: [], views: [], triggers: [], events: [] },
  };
  const text = (sql: string): string => mutated(round, sql).replaceAll('OUTSIDE', outside);
  if (round.random() < 0.4) {
    return {
      ...empty,
      tables: [{ name: 't', create: text(round.oneOf([TABLE, PARTED])), indexes: [], foreignKeys: [] }],
    };
  }
  const [kind, create] = round.oneOf(CODE);
  const code: Code = {
    ...{ kind, name: 'x', create: text(create), sql_mode: round.oneOf(MODES), time_zone: null },
    ...{ charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
  };
  return { ...empty, [LISTS[kind] ?? '']: [code] };
}

/**
 * Mutated definitions are refused, or do on the server what their check has read: no event runs, no table has another
 * engine or folder, and nothing exists outside the shadow database. A session of several statements executes them, as
 * that of the swap.
 */
export async function checkForgedDefinitions(
  { server, outside, seen }: { server: TestMysql; outside: { there: string; here: string }; seen: Set<string> },
  round: Round,
): Promise<void> {
  for (let left = CASES; left > 0; left -= 1) {
    const given = definitionsOf(round, outside.there);
    const shown = JSON.stringify([...given.tables, ...given.events, ...given.routines, ...given.views]);
    let checked: Definitions;
    try {
      checked = withEventsDisabled(checkDefinitions(given));
    } catch (error) {
      expect(error, shown).toBeInstanceOf(UserError);
      seen.add('refused');
      continue;
    }
    await server.sql('', `DROP DATABASE IF EXISTS ${SHADOW}`, `CREATE DATABASE ${SHADOW}`);
    await using session = await openSession({ url: parseMysqlUrl(server.url(SHADOW)), several: true });
    try {
      await createTables(session, checked);
      await createCode(session, checked, { definers: 'theirs' });
      seen.add('created');
    } catch (error) {
      expect(error instanceof SqlError || (error instanceof UserError && error.code === 'restore_failed'), shown).toBe(
        true,
      );
      seen.add('refused by the server');
    }
    expect(await stateOf(server), shown).toEqual(UNTOUCHED);
    expect(await readdir(outside.here), shown).toEqual([]);
  }
}

const UNTOUCHED = { databases: [PRODUCTION, SHADOW], outside: [], running: [], engines: [], rows: [] };

async function stateOf(server: TestMysql) {
  const system = "('information_schema', 'mysql', 'performance_schema', 'sys')";
  const elsewhere = (column: string): string => `${column} NOT IN ${system} AND ${column} <> '${SHADOW}'`;
  return {
    databases: await server.databases(),
    outside: await server.sql(
      '',
      `SELECT EVENT_NAME AS name FROM information_schema.EVENTS WHERE ${elsewhere('EVENT_SCHEMA')}
       UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ${elsewhere('ROUTINE_SCHEMA')}
       UNION ALL SELECT TABLE_NAME FROM information_schema.TABLES WHERE ${elsewhere('TABLE_SCHEMA')} AND TABLE_NAME <> 'customer'`,
    ),
    running: await server.sql(
      '',
      `SELECT EVENT_NAME AS name FROM information_schema.EVENTS WHERE STATUS = 'ENABLED' AND EVENT_SCHEMA NOT IN ${system}`,
    ),
    engines: await server.sql(
      '',
      `SELECT TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${SHADOW}' AND ENGINE NOT IN ('InnoDB', 'MyISAM', 'BLACKHOLE')`,
    ),
    rows: await server.sql(PRODUCTION, 'SELECT id FROM customer'),
  };
}
