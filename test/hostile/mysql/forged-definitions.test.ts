import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkDefinitions } from '../../../src/engines/mysql/catalog/definitions/check-definitions.ts';
import type { Code, Definitions } from '../../../src/engines/mysql/catalog/definitions/definitions.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { changeDefinitions } from '../../helpers/databases/change-definitions.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const EMPTY: Definitions = {
  ...{ charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
  ...{ tables: [], sequences: [], routines: [], views: [], triggers: [], events: [] },
};
const REFUSED = expect.objectContaining({ code: 'content_refused', exit: 5 });

function codeOf(kind: string, create: string, more: Partial<Code> = {}): Code {
  return { kind, name: 'x', create, sql_mode: '', charset: null, collation: null, time_zone: null, ...more };
}

function ofCode(code: Code): Definitions {
  const list = { VIEW: 'views', TRIGGER: 'triggers', EVENT: 'events' }[code.kind] ?? 'routines';
  return { ...EMPTY, [list]: [code] };
}

function ofTable(create: string): Definitions {
  return { ...EMPTY, tables: [{ name: 't', create, indexes: [], foreignKeys: [] }] };
}

const EVENT = 'CREATE DEFINER=`root`@`localhost` EVENT `x` ON SCHEDULE EVERY 1 SECOND';
const BODY = 'DO INSERT INTO production.customer (id) VALUES (7)';

describe('a definition that servers read differently', () => {
  it.each([
    ['a later version hides the state', `${EVENT} /*!999999 DISABLE */ ${BODY}`],
    ['an earlier version ends the state', `${EVENT} /*!50000 ENABLE */ ${BODY}`],
    ['a quote in a version comment', `${EVENT} /*!999999 ' */ ENABLE ${BODY} -- ' DISABLE DO SELECT 1`],
    ['a version comment of MariaDB', `${EVENT} /*M!100000 ENABLE */ ${BODY}`],
    ['a version comment of both in one of MariaDB', `${EVENT} /*M!999999 /*! DISABLE */ */ ${BODY}`],
    ['a version comment in the body', `${EVENT} DISABLE DO SELECT 1 /*!999999 ' */ + 1 /* ' */`],
    ['a definer that is a word of a clause', `CREATE DEFINER=a@DISABLE EVENT \`x\` ON SCHEDULE EVERY 1 SECOND ${BODY}`],
    [
      'a definer that is the word of the schedule',
      `CREATE DEFINER=SCHEDULE@DISABLE EVENT \`x\` ON SCHEDULE EVERY 1 SECOND ${BODY}`,
    ],
    ['a state twice', `${EVENT} DISABLE ENABLE ${BODY}`],
    ['a state in another place', `${EVENT} COMMENT 'x' ENABLE DISABLE ${BODY}`],
    [
      'a second statement',
      `${EVENT} DISABLE DO SELECT CASE 1 WHEN 1 THEN 1 END; DROP DATABASE production; BEGIN SELECT 1; END`,
    ],
    ['a second block', `${EVENT} DISABLE DO BEGIN SELECT 1; END; DROP DATABASE production; BEGIN SELECT 1; END`],
    ['a block that is a function', `${EVENT} DISABLE DO SELECT IF(1, 2, 3); DROP DATABASE production; SELECT 1 END IF`],
    ['an asterisk before a comment', `${EVENT} DISABLE DO SELECT 2*/*'*/3; DROP DATABASE production -- '`],
    [
      'a control character after two minus signs',
      `${EVENT} DISABLE DO SELECT 1--\u007f'\n; DROP DATABASE production -- '`,
    ],
    ['a blank of some character sets after two minus signs', `${EVENT} DISABLE DO SELECT 1--\u00a0'`],
    ['a text of MySQL 9 in dollars', `${EVENT} DISABLE DO SELECT $$ ' $$ FROM dual -- '`],
    ['a hint that ends in a name', `${EVENT} DISABLE DO SELECT /*+ BKA(\`*/ 1 /*\`) */`],
    ['a backslash outside quotes', `${EVENT} DISABLE DO SELECT \\'1'`],
  ])('is refused in an event: %s', (_, create) => {
    expect(() => checkDefinitions(ofCode(codeOf('EVENT', create)))).toThrow(REFUSED);
  });

  const ROUTINE = 'CREATE DEFINER=`root`@`localhost` PROCEDURE `x`()';
  const FORGED = 'DROP DATABASE victim';

  it.each([
    ['a function behind DO', `${ROUTINE} DO IF(1, 2, 3); ${FORGED}; END IF`],
    ['the beginning of a distributed transaction', `${ROUTINE} XA BEGIN 'a'; ${FORGED}; END`],
    ['a statement that no list has', `${ROUTINE} UNLISTED BEGIN; ${FORGED}; END`],
    ['a table that is named begin', `${ROUTINE} BEGIN HANDLER begin OPEN; END; ${FORGED}; END`],
    [
      'a condition that is named begin',
      `${ROUTINE} BEGIN DECLARE begin CONDITION FOR 1051; DECLARE EXIT HANDLER FOR 1062, begin SELECT 1; END; ${FORGED}; END`,
    ],
  ])('is refused in a procedure of several statements: %s', (_, create) => {
    expect(() => checkDefinitions(ofCode(codeOf('PROCEDURE', create)))).toThrow(REFUSED);
  });

  it.each([
    ['EVENT', `${EVENT} DISABLE DO DO IF(1, 2, 3); ${FORGED}; END IF`],
    ['TRIGGER', `CREATE TRIGGER \`x\` BEFORE INSERT ON \`t\` FOR EACH ROW DO IF(1, 2, 3); ${FORGED}; END IF`],
    ['FUNCTION', `CREATE FUNCTION \`x\`() RETURNS int DO IF(1, 2, 3); ${FORGED}; END IF`],
  ])('is refused as %s of several statements', (kind, create) => {
    expect(() => checkDefinitions(ofCode(codeOf(kind, create)))).toThrow(REFUSED);
  });

  it.each([
    ['PROCEDURE', `${ROUTINE} READS SQL DATA SQL SECURITY INVOKER COMMENT 'a; b' all_of: BEGIN SELECT 1; END all_of`],
    [
      'FUNCTION',
      'CREATE FUNCTION `x`(a INT(10) UNSIGNED) RETURNS varchar(20) CHARSET utf8mb4 COLLATE utf8mb4_bin NO SQL DETERMINISTIC BEGIN RETURN a; END',
    ],
    [
      'FUNCTION',
      "CREATE FUNCTION `x`() RETURNS enum('a','b') CHARSET latin1 IF 1 THEN RETURN 'a'; ELSE RETURN 'b'; END IF",
    ],
    ['TRIGGER', 'CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW FOLLOWS `y` BEGIN SET NEW.a = 1; END'],
    ['EVENT', `${EVENT} ON COMPLETION PRESERVE DISABLE COMMENT 'x' DO BEGIN SELECT 1; END`],
    [
      'PROCEDURE',
      `${ROUTINE} BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND, SQLSTATE '23000' BEGIN SELECT 1; END; SELECT 2; END`,
    ],
  ])('is one statement as %s with a block: %s', (kind, create) => {
    expect(() => checkDefinitions(ofCode(codeOf(kind, create)))).not.toThrow();
  });

  it('is refused where a name in double quotes ends at a backslash', () => {
    const create = 'CREATE PROCEDURE "x"() BEGIN SELECT "a\\", 1; END; DROP DATABASE production; BEGIN SELECT "; END';
    expect(() => checkDefinitions(ofCode(codeOf('PROCEDURE', create, { sql_mode: 'ANSI_QUOTES' })))).toThrow(REFUSED);
  });

  it.each([
    ['gbk', Buffer.from([0x5c, 0x95, 0x5c])],
    ['sjis', Buffer.from([0x5c, 0x95, 0x5c])],
  ])('is refused where a backslash escapes half a letter in %s', (charset, letter) => {
    const bytes = Buffer.concat([Buffer.from("CREATE VIEW `x` AS SELECT '"), letter, Buffer.from("', 1 AS `' b`")]);
    const create = "CREATE VIEW `x` AS SELECT '\\表', 1 AS `' b`";
    const code = codeOf('VIEW', create, { charset, collation: `${charset}_bin`, bytes: bytes.toString('base64') });
    expect(() => checkDefinitions(ofCode(code))).toThrow(REFUSED);
  });

  it.each(['euckr', 'utf8mb4', 'ujis', 'gbk'])('is refused where a name ends in half a letter in %s', (charset) => {
    const bytes = Buffer.concat([
      Buffer.from('CREATE VIEW `x` AS SELECT 1 AS `a'),
      Buffer.from([0xe0]),
      Buffer.from('`'),
    ]);
    const create = 'CREATE VIEW `x` AS SELECT 1 AS `aà`';
    const code = codeOf('VIEW', create, { charset, collation: `${charset}_bin`, bytes: bytes.toString('base64') });
    expect(() => checkDefinitions(ofCode(code))).toThrow(REFUSED);
  });

  it.each(['filename', 'swe7', 'utf16'])('is refused in the character set %s', (charset) => {
    const code = codeOf('VIEW', 'CREATE VIEW `x` AS SELECT 1', { charset, collation: 'utf8mb4_bin' });
    expect(() => checkDefinitions(ofCode(code))).toThrow(REFUSED);
  });

  const TABLE = 'CREATE TABLE `t` (`a` int NOT NULL)';
  it.each([
    `${TABLE} ENGINE=InnoDB /*!999999 COMMENT=' */ DATA DIRECTORY='/tmp/x' /* ' */`,
    `${TABLE} ENGINE=InnoDB /*!999999 COMMENT=' */ -- ' */ \nDATA DIRECTORY='/tmp/x'`,
    `${TABLE} ENGINE=InnoDB /*M!999999 COMMENT='x' */`,
    `${TABLE} ENGINE=InnoDB /*!50000 COMMENT='x' */`,
    `${TABLE} ENGINE=InnoDB /*!80023 AUTOEXTEND_SIZE=4M */ /*!80021 ENGINE_ATTRIBUTE='*/ DATA DIRECTORY=''/tmp'' /*' */`,
    `${TABLE} ENGINE=InnoDB TABLESPACE \`theirs\``,
    `${TABLE} ENGINE=InnoDB /*!50100 TABLESPACE \`theirs\` */`,
    `${TABLE} ENGINE=InnoDB DATA DIRECTORY='/tmp/x'`,
    `${TABLE} ENGINE=InnoDB INDEX DIRECTORY='/tmp/x'`,
    `${TABLE} ENGINE=InnoDB CONNECTION='mysql://a@b/c'`,
    `${TABLE} ENGINE=InnoDB UNION=(\`production\`.\`customer\`)`,
    `${TABLE} ENGINE=InnoDB FILE_NAME='/etc/passwd'`,
    `${TABLE} ENGINE=InnoDB NOBODY_KNOWS=1`,
    `${TABLE} ENGINE=InnoDB,DATA DIRECTORY='/tmp'`,
    `${TABLE} PARTITION BY HASH (\`a\`) (PARTITION p0 DATA DIRECTORY = '/tmp')`,
    `${TABLE} PARTITION BY HASH (\`a\`) (PARTITION p0 ENGINE = InnoDB TABLESPACE = \`theirs\`)`,
    `${TABLE} PARTITION BY HASH (\`a\`) (PARTITION p0 ENGINE = FEDERATED)`,
    `${TABLE} PARTITION BY HASH (\`a\`) PARTITIONS 2 SELECT`,
    ...['FEDERATED', 'CONNECT', 'SPIDER', 'S3', 'OQGRAPH', 'SPHINX'].map((engine) => `${TABLE} ENGINE=${engine}`),
  ])('is refused in a table: %s', (create) => {
    expect(() => checkDefinitions(ofTable(create))).toThrow(REFUSED);
  });

  it('is refused with its object, position and text', () => {
    const refused = (): unknown => checkDefinitions(ofTable(`CREATE TABLE \`t\` (\n  \`a\` int /*!999999 x */\n)`));
    expect(refused).toThrow(/table t was refused: line 2, column 11: "\/\*!999999": SHOW CREATE writes no such/);
  });
});

describe('a definition that is accepted', () => {
  it('is rendered without comments and with the version comments that a server may skip', () => {
    const create =
      'CREATE TABLE `t` (\n  `a` int /* mariadb-5.3 */ /*!80023 INVISIBLE */, `v` varchar(9) /*M!100301 COMPRESSED*/\n) ENGINE=InnoDB -- x\n/*!50100 PARTITION BY HASH (`a`)\nPARTITIONS 2 */';
    expect(checkDefinitions(ofTable(create)).tables[0]?.create.replaceAll(/ +/g, ' ')).toBe(
      'CREATE TABLE `t` ( `a` int /*!80023 INVISIBLE */, `v` varchar(9) /*M!100301 COMPRESSED */ ) ENGINE=InnoDB PARTITION BY HASH (`a`) PARTITIONS 2',
    );
  });

  it.each([
    "BEGIN SELECT 1; /* it's; END */ SELECT 2; -- END\n END",
    'BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION, NOT FOUND BEGIN SELECT 1; END; SELECT 2; END',
    'BEGIN DECLARE CONTINUE HANDLER FOR 1062 SET @a = IF(1, 2, 3); SELECT 2; END',
    'l: BEGIN IF a > IF(1, 2, 3) THEN LEAVE l; ELSEIF b THEN SELECT 1; ELSE SELECT CASE WHEN 1 THEN IF(1, 2, 3) ELSE 2 END; END IF; END l',
    'BEGIN CASE a WHEN 1 THEN SELECT 1; ELSE BEGIN END; END CASE; WHILE a DO SET a = 0; END WHILE; REPEAT SET a = 1; UNTIL a END REPEAT; END',
    'BEGIN k: LOOP SELECT 1; LEAVE k; END LOOP k; END',
    'IF a THEN SELECT 1; END IF',
    'SELECT 1;',
  ])('is one statement: %s', (body) => {
    const create = `CREATE PROCEDURE \`x\`(a int, b int) READS SQL DATA COMMENT 'x' ${body}`;
    expect(() => checkDefinitions(ofCode(codeOf('PROCEDURE', create)))).not.toThrow();
  });

  it('has neither blanks nor semicolons at its end, so that a copy of a copy is equal', () => {
    const trigger = 'CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1';
    const [rendered] = checkDefinitions(ofCode(codeOf('TRIGGER', `${trigger}\n;\n`))).triggers;
    expect(rendered?.create).toBe(trigger);
  });
});

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a forged snapshot' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour, ['--event-scheduler=ON']));
    let outside: string;

    beforeAll(async () => {
      outside = join(server.directory, 'outside');
      await mkdir(outside, { mode: 0o777 });
      await server.createDatabase('production');
      await server.sql('production', 'CREATE TABLE customer (id INT PRIMARY KEY)');
      await server.createDatabase('source');
      await server.sql(
        'source',
        'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20))',
        "INSERT INTO item VALUES (1, 'one')",
        'CREATE EVENT ticks ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1',
      );
    }, 240_000);

    const ticks = (create: string) => (definitions: Definitions) =>
      Object.assign(definitions.events[0] ?? {}, { create: create.replaceAll('`x`', '`ticks`') });
    const item = (options: string) => (definitions: Definitions) =>
      Object.assign(definitions.tables[0] ?? {}, {
        create: `CREATE TABLE \`item\` (\`id\` int NOT NULL, \`name\` varchar(20), PRIMARY KEY (\`id\`)) ENGINE=InnoDB ${options}`,
      });
    const CHANGES: [string, (definitions: Definitions) => unknown][] = [
      ['an event whose state a later version hides', ticks(`${EVENT} /*!999999 DISABLE */ ${BODY}`)],
      [
        'an event in another database',
        ticks(
          `CREATE EVENT /*!999999 \`x\` ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT ' */ \`production\`.\`x\` ON SCHEDULE EVERY 1 SECOND ${BODY} -- '`,
        ),
      ],
      [
        'an event whose definer is a word',
        ticks(`CREATE DEFINER=root@DISABLE EVENT \`x\` ON SCHEDULE EVERY 1 SECOND ${BODY}`),
      ],
      [
        'an event with a second statement',
        ticks(`${EVENT} DISABLE DO SELECT CASE 1 WHEN 1 THEN 1 END; ${BODY.slice(3)}; BEGIN NOT ATOMIC SELECT 1; END`),
      ],
      [
        'a table whose rows have no definition',
        (definitions) => {
          definitions.tables = [];
        },
      ],
      ['a table outside the data folder', item(`/*!999999 COMMENT=' */ DATA DIRECTORY='OUTSIDE' /* ' */`)],
    ];

    it.each(CHANGES)('is refused, and leaves nothing behind: %s', async (_, change) => {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const context = testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
      const { id } = await build(context, { target: 'app', cpus: 1 });
      const replaceFolder = (definitions: Definitions): unknown => {
        change(definitions);
        for (const table of definitions.tables) {
          table.create = table.create.replace('OUTSIDE', flavour === 'mysql' ? '/mnt/outside' : outside);
        }
        return definitions;
      };
      await changeDefinitions(folder.path, { id, change: replaceFolder });
      const load = planLoad(context, { target: 'app', snapshot: id }).then((planned) => applyLoad(context, planned));
      await expect(load).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
      expect(await server.databases()).toEqual(['production', 'source']);
      expect(await server.sql('production', 'SELECT id FROM customer')).toEqual([]);
      expect(
        await server.sql(
          '',
          "SELECT EVENT_SCHEMA AS found FROM information_schema.EVENTS WHERE EVENT_SCHEMA NOT IN ('source', 'sys')",
        ),
      ).toEqual([]);
      expect(await readdir(outside)).toEqual([]);
    });

    it('keeps triggers as they are through generations of copies', async () => {
      await server.createDatabase('first');
      await server.sql(
        'first',
        'CREATE TABLE item (id INT PRIMARY KEY)',
        'CREATE TRIGGER one BEFORE INSERT ON item FOR EACH ROW SET @a = 1',
        'CREATE TRIGGER two BEFORE INSERT ON item FOR EACH ROW SET @a = 2',
      );
      const texts: string[] = [];
      const names = ['first', 'second', 'third', 'fourth'];
      for (const [at, name] of names.slice(1).entries()) {
        const snapshot = { src_url: server.url(names[at] ?? ''), dst_url: server.url(name) };
        const context = testContext({
          settings: { working_directory: join(folder.path, name), targets: { app: { snapshot } } },
        });
        const { id } = await build(context, { target: 'app', cpus: 1 });
        await applyLoad(context, await planLoad(context, { target: 'app', snapshot: id }));
        const rows = await server.sql<{ body: string }>(
          '',
          `SELECT ACTION_STATEMENT AS body FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '${name}' ORDER BY TRIGGER_NAME`,
        );
        texts.push(JSON.stringify(rows));
      }
      expect(new Set(texts).size).toBe(1);
    });
  });
}
