import { beforeAll, describe, expect, it } from 'vitest';
import { checkDefinitions } from '../../../src/engines/mysql/catalog/definitions/check-definitions.ts';
import type { Code, Definitions } from '../../../src/engines/mysql/catalog/definitions/definitions.ts';
import { leaveOutRemote } from '../../../src/engines/mysql/restore/left-out.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { changeDefinitions } from '../../helpers/databases/change-definitions.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const EMPTY: Definitions = {
  charset: 'utf8mb4',
  collation: 'utf8mb4_general_ci',
  tables: [],
  sequences: [],
  routines: [],
  views: [],
  triggers: [],
  events: [],
};

function ofTable(create: string, name = 't'): Definitions {
  return { ...EMPTY, tables: [{ name, create, indexes: [], foreignKeys: [] }] };
}

function ofCode(kind: string, create: string, sql_mode = ''): Definitions {
  const code: Code = { kind, name: 'x', create, sql_mode, charset: null, collation: null, time_zone: null };
  const list = { VIEW: 'views', TRIGGER: 'triggers', EVENT: 'events' }[kind] ?? 'routines';
  return { ...EMPTY, [list]: [code] };
}

const REFUSED = expect.objectContaining({ code: 'content_refused', exit: 5 });

describe('the definition of a table', () => {
  const COLUMNS = '`a` int(11) DEFAULT NULL';
  it.each([
    'DROP DATABASE production',
    `CREATE TABLE \`t\` (${COLUMNS}); DROP DATABASE production`,
    `CREATE TABLE \`other\` (${COLUMNS})`,
    `CREATE TABLE \`production\`.\`t\` (${COLUMNS})`,
    `CREATE TABLE production.t (${COLUMNS})`,
    `CREATE TABLE \`t\` (${COLUMNS}) AS SELECT * FROM mysql.user`,
    `CREATE TABLE \`t\` (${COLUMNS}) SELECT * FROM mysql.user`,
    `CREATE TABLE \`t\` (${COLUMNS}) (SELECT 1)`,
    `CREATE TABLE \`t\` (${COLUMNS}) /*!40000 AS SELECT * FROM mysql.user */`,
    `CREATE TABLE \`t\` (${COLUMNS}) /*M!100100 SELECT 1 */`,
    `CREATE TABLE \`t\` (${COLUMNS}) TABLE production.customer`,
    `CREATE TABLE \`t\` (${COLUMNS}) VALUES ROW(1)`,
    `CREATE TABLE \`t\` (${COLUMNS}) WITH x AS (VALUES ROW(1)) TABLE x`,
    'CREATE TABLE `t` LIKE production.customer',
    'CREATE TABLE `t` (LIKE production.customer)',
    'CREATE TABLE `t` (LIKE `customer`)',
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE=FEDERATED CONNECTION='mysql://root@db/production/customer'`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE = "FEDERATED"`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE \`connect\` TABLE_TYPE=DIR`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE=SPIDER COMMENT='srv "x"'`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE=InnoDB /*!50000 ENGINE=CONNECT */`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE=MRG_MyISAM UNION=(\`production\`.\`customer\`) INSERT_METHOD=LAST`,
    `CREATE TABLE \`t\` (${COLUMNS}) ENGINE=MyISAM DATA DIRECTORY='/etc/cron.d/'`,
    `CREATE TABLE \`t\` (${COLUMNS}) PARTITION BY HASH (\`a\`) (PARTITION p INDEX DIRECTORY = '/tmp')`,
    'CREATE TABLE `t` (`a` longtext DEFAULT (load_file("/etc/passwd")))',
    'CREATE TABLE `t` (`a` int DEFAULT nextval(`production`.`numbers`))',
    'CREATE TABLE `t` (`a` int DEFAULT (select 1 from production.customer))',
    `CREATE TABLE \`t\` (${COLUMNS}, CONSTRAINT \`f\` FOREIGN KEY (\`a\`) REFERENCES \`p\` (\`a\`) DATA DIRECTORY='x')`,
    `CREATE TABLE \`t\` (${COLUMNS} /*!50000 ) ENGINE=CSV */)`,
    `CREATE TABLE \`t\` (${COLUMNS} /*!50000 , \`b\` int) -- */)`,
    `CREATE TABLE \`t\` (${COLUMNS}) -- '\nSELECT 1`,
    `CREATE TABLE \`t\` (${COLUMNS}) COMMENT='open`,
    `CREATE TABLE \`t\` (${COLUMNS}) COMMENT='\\'; DROP DATABASE production`,
    `CREATE TABLE \`t\` (${COLUMNS}) COMMENT=''\u00a0; DROP DATABASE production`,
    `CREATE TEMPORARY TABLE \`t\` (${COLUMNS})`,
    ...[
      'int NOBODY_KNOWS',
      'int NOT NULL NOT NULL',
      'int DEFAULT 1 DEFAULT 2',
      'int REFERENCES `p` (`a`)',
      'int UNIQUE',
      'int PRIMARY KEY',
      "varchar(9) MASKED WITH (FUNCTION = 'x')",
      "int ENGINE_ATTRIBUTE 'x' ENGINE_ATTRIBUTE 'y'",
      "int `FILE_NAME`='/etc/passwd'",
      "int DATA_DIRECTORY='/tmp'",
      'somebody',
      "enum('a', 1)",
      'decimal(1,2,3)',
      'int DEFAULT a b',
      'int DEFAULT sys_exec',
      'int GENERATED ALWAYS AS',
      'int GENERATED ALWAYS AS (1) ELSEWHERE',
      'int, KEY (`a`)',
      'int, INDEX `k` (`a`)',
      'int, KEY `k` (`a`) NOBODY_KNOWS',
      'int, KEY `k` (`a` SIDEWAYS)',
      'int, PRIMARY KEY (`a`), CHECK (1)',
      'int, CONSTRAINT `c` UNIQUE (`a`)',
      'int, PERIOD FOR `p` (`a`)',
    ].map((rest) => `CREATE TABLE \`t\` (\`a\` ${rest})`),
    `CREATE OR REPLACE TABLE \`t\` (${COLUMNS})`,
    '/*!50000 DROP DATABASE production */',
    `/*!50000 CREATE TABLE \`t\` (${COLUMNS}) */`,
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    '',
  ])('is refused: %s', (create) => {
    expect(() => checkDefinitions(ofTable(create))).toThrow(REFUSED);
  });

  it('may use a sequence of the snapshot, and no other', () => {
    const sequences = [{ name: 's', create: 'CREATE SEQUENCE `s` start with 1', next: '1' }];
    const of = (path: string): Definitions => ({
      ...ofTable(`CREATE TABLE \`t\` (\`a\` int DEFAULT nextval(${path}))`),
      sequences,
    });
    expect(() => checkDefinitions(of('`app`.`s`'), 'app')).not.toThrow();
    expect(() => checkDefinitions(of('`production`.`s`'), 'app')).toThrow(REFUSED);
    expect(() => checkDefinitions(of('`app`.`other`'), 'app')).toThrow(REFUSED);
  });

  it.each(['tool-journal', 'tool-journal-moved', 'Tool-Kept', 'tool-mark'])('is refused by its name: %s', (name) => {
    expect(() => checkDefinitions(ofTable(`CREATE TABLE \`${name}\` (${COLUMNS})`, name))).toThrow(REFUSED);
  });

  it.each([
    `CREATE TABLE \`t\` (\n  ${COLUMNS}\n)`,
    "CREATE TABLE `t` (`select` varchar(20) DEFAULT 'AS SELECT; DROP DATABASE x' COMMENT 'ENGINE=FEDERATED')",
    'CREATE TABLE `t` (`a` decimal(5,2) DEFAULT 1.5, `b` double GENERATED ALWAYS AS (`a` * 2.5e0) VIRTUAL)',
    'CREATE TABLE `t` (`g` geometry NOT NULL /*!80003 SRID 4326 */, `i` int /*!80023 INVISIBLE */)',
    'CREATE TABLE `t` (`a` int) ENGINE=InnoDB\n/*!50100 PARTITION BY RANGE (`a`)\n(PARTITION `p` VALUES LESS THAN (1) ENGINE = InnoDB) */',
    'CREATE TABLE `t` (`a` int) ENGINE=Aria PAGE_CHECKSUM=1 WITH SYSTEM VERSIONING',
    "CREATE TABLE `t` (`a` int)\n/*!50100 PARTITION BY RANGE (`a`)\nSUBPARTITION BY KEY (a)\n(PARTITION low VALUES LESS THAN (1)\n (SUBPARTITION x COMMENT = 'x' ENGINE = InnoDB), PARTITION high VALUES LESS THAN MAXVALUE) */",
    'CREATE TABLE `t` (`a` int, CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `other`.`p` (`a`) ON DELETE SET NULL ON UPDATE CASCADE)',
    'CREATE TABLE `t` (`a;b`` \n) ENGINE=FEDERATED` int)',
  ])('is taken: %s', (create) => {
    expect(() => checkDefinitions(ofTable(create))).not.toThrow();
  });

  it.each([
    'UNIQUE KEY `k` (`a`), DROP COLUMN `b`',
    'KEY `k` (`a`) PARTITION BY HASH (`a`)',
    'KEY `k` (`a`) REMOVE PARTITIONING',
    'COLUMN `b` int',
    'KEY `k` (`a`), RENAME TO production.t',
    'KEY `k` (`a`) /*!50000 , RENAME TO production.t */',
    "KEY `k` (`a`), ENGINE=FEDERATED CONNECTION='x'",
    'PARTITION (PARTITION p VALUES IN (1))',
  ])('is refused by an index: %s', (clause) => {
    const [table] = ofTable(`CREATE TABLE \`t\` (${COLUMNS})`).tables;
    const tables = table ? [{ ...table, indexes: [[clause]] }] : [];
    expect(() => checkDefinitions({ ...EMPTY, tables })).toThrow(REFUSED);
  });

  it.each([
    "UNIQUE KEY `k` (`a`(10),`b` DESC) USING BTREE COMMENT 'x; y'",
    'FULLTEXT KEY `k` (`a`) /*!50100 WITH PARSER `ngram` */',
    'KEY `k` ((lower(`a`))) /*!80000 INVISIBLE */',
    'SPATIAL KEY `k` (`g`)',
    'KEY `k` (`a`) IGNORED',
  ])('is taken with an index: %s', (clause) => {
    const [table] = ofTable(`CREATE TABLE \`t\` (${COLUMNS})`).tables;
    const tables = table ? [{ ...table, indexes: [[clause]] }] : [];
    expect(() => checkDefinitions({ ...EMPTY, tables })).not.toThrow();
  });

  it.each([
    'CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`a`), DROP COLUMN `b`',
    'CONSTRAINT `f` CHECK (1)',
    'CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`a`) ON DELETE CASCADE; DROP DATABASE production',
  ])('is refused by a foreign key: %s', (clause) => {
    const [table] = ofTable(`CREATE TABLE \`t\` (${COLUMNS})`).tables;
    const tables = table ? [{ ...table, foreignKeys: [clause] }] : [];
    expect(() => checkDefinitions({ ...EMPTY, tables })).toThrow(REFUSED);
  });
});

describe('a table without rows of its own', () => {
  const COLUMNS = '`a` int(11) NOT NULL';
  const OF_MYISAM = {
    name: 'a',
    create: `CREATE TABLE \`a\` (${COLUMNS}) ENGINE=MyISAM`,
    indexes: [],
    foreignKeys: [],
  };
  const withChild = (create: string, child = OF_MYISAM): Definitions => {
    const { tables } = ofTable(create);
    return { ...EMPTY, tables: [...tables, child] };
  };
  const REMOTE = [
    "ENGINE=FEDERATED CONNECTION='mysql://root@db/production/customer'",
    'ENGINE = "FEDERATED"',
    "ENGINE=CONNECT `TABLE_TYPE`='DIR' `FILE_NAME`='/etc/*'",
    'ENGINE=SPIDER COMMENT=\'srv "x"\'',
    'ENGINE=InnoDB /*!50000 ENGINE=CONNECT */',
    'ENGINE=MyISAM ENGINE=MRG_MyISAM UNION=(`a`)',
    'ENGINE=MRG_MyISAM ENGINE=MRG_MyISAM UNION=(`a`)',
    'ENGINE=MRG_MyISAM UNION=(`production`.`customer`)',
    'ENGINE=MRG_MyISAM UNION=(`a`,`production`.`customer`)',
    'ENGINE=MRG_MyISAM UNION=(`a`) UNION=(`production`.`customer`)',
    'ENGINE=MRG_MyISAM UNION=(`a`) /*!50000 UNION=(`production`.`customer`) */',
    'ENGINE=MRG_MyISAM UNION (`production`.`customer`)',
    'ENGINE=MRG_MyISAM UNION=(production.customer)',
    'ENGINE=MRG_MyISAM UNION=(`elsewhere`)',
    'ENGINE=NOBODY_KNOWS',
  ];

  it.each(REMOTE)('is not created unasked, and refused where it would be: %s', (options) => {
    const definitions = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ${options}`);
    const trigger: Code = {
      ...{ kind: 'TRIGGER', name: 'x', sql_mode: '', charset: null, collation: null, time_zone: null },
      create: 'CREATE TRIGGER `x` BEFORE UPDATE ON `t` FOR EACH ROW SET @a = 1',
    };
    const arriving = leaveOutRemote({ ...definitions, triggers: [trigger] });
    expect(arriving.leftOut.map(({ table }) => table)).toEqual(['t']);
    expect(arriving.definitions).toEqual({ ...EMPTY, tables: [OF_MYISAM] });
    expect(() => checkDefinitions(definitions)).toThrow(REFUSED);
  });

  it('is left out although it is asked for where the server could not move it', () => {
    const connect = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ENGINE=CONNECT \`TABLE_TYPE\`='csv'`);
    expect(leaveOutRemote(connect, { remoteTables: true }).leftOut).toHaveLength(1);
    const federated = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ENGINE=FEDERATED CONNECTION='x'`);
    expect(leaveOutRemote(federated, { remoteTables: true }).leftOut).toEqual([]);
  });

  it.each(['UNION=(`a`)', 'INSERT_METHOD=LAST UNION=(`a`,`A`)', 'INSERT_METHOD=FIRST', ''])(
    'is a MERGE table over tables of the snapshot: %s',
    (options) => {
      const definitions = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ENGINE=MRG_MyISAM ${options} COMMENT='UNION=(x)'`);
      expect(leaveOutRemote(definitions)).toEqual({ definitions, leftOut: [] });
      expect(() => checkDefinitions(definitions)).not.toThrow();
    },
  );

  it('is remote where what a MERGE table lists is no MyISAM table itself', () => {
    const merged = { ...OF_MYISAM, create: OF_MYISAM.create.replace('MyISAM', 'MRG_MyISAM UNION=(`p`.`x`)') };
    const definitions = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ENGINE=MRG_MyISAM UNION=(\`a\`)`, merged);
    expect(leaveOutRemote(definitions).definitions.tables).toEqual([]);
  });

  it.each([
    'ENGINE=MRG_MyISAM UNION=(`a`) AS SELECT * FROM mysql.user',
    'ENGINE=MRG_MyISAM UNION=(`a`); DROP DATABASE production',
    "ENGINE=MRG_MyISAM UNION=(`a`) DATA DIRECTORY='/tmp'",
    "ENGINE=MRG_MyISAM UNION=(`a`) CONNECTION='x'",
    "ENGINE=FEDERATED CONNECTION='x'; DROP DATABASE production",
    "ENGINE=FEDERATED CONNECTION='x' DATA DIRECTORY='/tmp'",
    "ENGINE=FEDERATED CONNECTION='x' AS SELECT * FROM mysql.user",
    'ENGINE=MRG_MyISAM UNION=(`production`.`x`) TABLE production.customer',
    'ENGINE=MRG_MyISAM UNION=(`production`.`x`) UNION=(`production`.`y`)',
  ])('is one CREATE TABLE even where it is asked for: %s', (options) => {
    const definitions = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ${options}`);
    expect(() => checkDefinitions(definitions, null, new Set(['t']))).toThrow(REFUSED);
  });

  it.each([
    "ENGINE=FEDERATED CONNECTION='mysql://root@db/production/customer'",
    'ENGINE=MRG_MyISAM INSERT_METHOD=LAST UNION=(`a`,`production`.`customer`)',
    "ENGINE=CONNECT DEFAULT CHARSET=latin1 `TABLE_TYPE`='MYSQL' `CONNECTION`='mysql://root@db/production/customer'",
    'ENGINE=SPIDER COMMENT=\'wrapper "mysql"\' PARTITION BY HASH (`a`) (PARTITION `p` COMMENT = \'srv "x"\' ENGINE = SPIDER)',
  ])('is taken where it is asked for by its name: %s', (options) => {
    const definitions = withChild(`CREATE TABLE \`t\` (${COLUMNS}) ${options}`);
    expect(() => checkDefinitions(definitions, null, new Set(['t']))).not.toThrow();
    expect(() => checkDefinitions(definitions, null, new Set(['other']))).toThrow(REFUSED);
  });
});

describe('the definition of a sequence', () => {
  const of = (create: string): Definitions => ({ ...EMPTY, sequences: [{ name: 's', create, next: '1' }] });

  it('is taken as the server writes it', () => {
    const create =
      'CREATE SEQUENCE `s` start with 100 minvalue -5 maxvalue 9223372036854775806 increment by 5 cache 1000 nocycle ENGINE=InnoDB';
    expect(() => checkDefinitions(of(create))).not.toThrow();
  });

  it.each([
    'CREATE SEQUENCE `production`.`s` start with 1',
    'CREATE SEQUENCE `s` start with 1 ENGINE=FEDERATED',
    'CREATE SEQUENCE `s` start with 1; DROP DATABASE production',
    'DROP DATABASE production',
  ])('is refused: %s', (create) => {
    expect(() => checkDefinitions(of(create))).toThrow(REFUSED);
  });
});

describe('the definition of a view or stored program', () => {
  it.each([
    ['VIEW', 'DROP DATABASE production'],
    ['VIEW', 'CREATE VIEW `y` AS SELECT 1'],
    ['VIEW', 'CREATE VIEW `production`.`x` AS SELECT 1'],
    ['VIEW', 'CREATE VIEW `x` AS SELECT 1; DROP DATABASE production'],
    ['VIEW', "CREATE VIEW `x` AS SELECT 1 INTO OUTFILE '/tmp/x'"],
    ['VIEW', 'CREATE VIEW `x` AS SELECT 1 /*!50000 INTO @a */'],
    ['VIEW', 'CREATE TABLE `x` (a int)'],
    ['VIEW', 'CREATE DEFINER=`VIEW`@`x` TABLE `x` (a int)'],
    ['TRIGGER', 'CREATE TRIGGER `x` BEFORE INSERT ON `production`.`t` FOR EACH ROW SET @a = 1'],
    ['TRIGGER', 'CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1; DROP DATABASE production'],
    ['TRIGGER', 'CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW BEGIN END; DROP DATABASE production'],
    ['TRIGGER', 'CREATE /*!50000 DATABASE */ TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1'],
    ['FUNCTION', "CREATE FUNCTION `x` RETURNS STRING SONAME 'udf.so'"],
    ['FUNCTION', "CREATE AGGREGATE FUNCTION `x` RETURNS INTEGER SONAME 'udf.so'"],
    ['FUNCTION', 'CREATE PROCEDURE `x`() SELECT 1'],
    ['PROCEDURE', 'CREATE PROCEDURE production.x() SELECT 1'],
    ['PROCEDURE', 'CREATE USER `PROCEDURE`'],
    ['PROCEDURE', 'CREATE SERVER PROCEDURE FOREIGN DATA WRAPPER mysql OPTIONS (HOST "x")'],
    ['PROCEDURE', "CREATE PROCEDURE `x`() SELECT 'open"],
    ['EVENT', 'CREATE EVENT `production`.`x` ON SCHEDULE EVERY 1 DAY DO SELECT 1'],
    ['EVENT', 'CREATE EVENT `x` DO SELECT 1'],
  ])('is refused: %s %s', (kind, create) => {
    expect(() => checkDefinitions(ofCode(kind, create))).toThrow(REFUSED);
  });

  it('is read in its own mode: what one takes for a text, another runs', () => {
    const create = "CREATE PROCEDURE `x`() SELECT '\\'; DROP DATABASE production -- '";
    expect(() => checkDefinitions(ofCode('PROCEDURE', create, ''))).not.toThrow();
    expect(() => checkDefinitions(ofCode('PROCEDURE', create, 'NO_BACKSLASH_ESCAPES'))).toThrow(REFUSED);
    const quoted = 'CREATE PROCEDURE "x"() SELECT 1';
    expect(() => checkDefinitions(ofCode('PROCEDURE', quoted, 'ANSI_QUOTES'))).not.toThrow();
    expect(() => checkDefinitions(ofCode('PROCEDURE', quoted, ''))).toThrow(REFUSED);
  });

  it.each([
    ['VIEW', 'CREATE ALGORITHM=UNDEFINED DEFINER=`VIEW`@`%` SQL SECURITY DEFINER VIEW `x` AS select `t`.`a` from `t`'],
    ['TRIGGER', 'CREATE DEFINER=`a`@`b` TRIGGER x BEFORE UPDATE ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END'],
    ['FUNCTION', "CREATE DEFINER=`a`@`b` FUNCTION `x`(a int) RETURNS int DETERMINISTIC RETURN 1 -- it's; mine"],
    ['FUNCTION', 'CREATE FUNCTION `x`() RETURNS int l: LOOP SET @a = 1; LEAVE l; END LOOP l'],
    ['EVENT', "CREATE DEFINER=`a`@`b` EVENT `x` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DISABLE DO DELETE FROM t"],
  ])('is taken: %s %s', (kind, create) => {
    expect(() => checkDefinitions(ofCode(kind, create))).not.toThrow();
  });
});

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a snapshot whose definitions somebody has changed' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.createDatabase('production');
      await server.sql('production', 'CREATE TABLE customer (id INT PRIMARY KEY)', 'INSERT INTO customer VALUES (1)');
      await server.createDatabase('source');
      await server.sql(
        'source',
        'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20), KEY (name))',
        "INSERT INTO item VALUES (1, 'one')",
        'CREATE TABLE later (id INT PRIMARY KEY)',
        'CREATE VIEW seen AS SELECT id FROM item',
        'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
        'CREATE TRIGGER named BEFORE INSERT ON item FOR EACH ROW SET NEW.id = 2',
      );
    }, 240_000);

    const CHANGES: [string, (definitions: Definitions) => unknown][] = [
      [
        'a table that drops a database',
        ({ tables }) => Object.assign(tables[0] ?? {}, { create: 'DROP DATABASE production' }),
      ],
      [
        'an index that renames the table',
        ({ tables }) => tables[0]?.indexes.push(['KEY `k` (`id`), RENAME TO `production`.`stolen`']),
      ],
      [
        'a view that is something else',
        ({ views }) => Object.assign(views[0] ?? {}, { create: 'DROP DATABASE production' }),
      ],
      [
        'a kind of program that is dropped',
        ({ routines }) => Object.assign(routines[0] ?? {}, { kind: 'DATABASE', name: 'production' }),
      ],
      [
        'a mode with a statement',
        ({ triggers }) => Object.assign(triggers[0] ?? {}, { sql_mode: "', GLOBAL general_log = 1, @a = '" }),
      ],
      ['a character set with a statement', (all) => Object.assign(all, { charset: 'utf8mb4 COLLATE utf8mb4_bin -- ' })],
      [
        'a setting of a program',
        ({ routines }) => Object.assign(routines[0] ?? {}, { charset: 'utf8mb4, GLOBAL general_log = 1' }),
      ],
      [
        'a table that poses as a journal',
        ({ tables }) =>
          Object.assign(tables[1] ?? {}, {
            name: 'tool-journal-moved',
            create: 'CREATE TABLE `tool-journal-moved` (`json` longtext)',
          }),
      ],
    ];

    it.each(CHANGES)('is refused before anything is made: %s', async (_, change) => {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
      const context = testContext({ settings });
      const { id } = await build(context, { target: 'app', cpus: 1 });
      await changeDefinitions(folder.path, { id, change });
      await expect(
        planLoad(context, { target: 'app', snapshot: id }).then((planned) => applyLoad(context, planned)),
      ).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
      expect(await server.databases()).toEqual(['production', 'source']);
      expect(await server.sql('production', 'SELECT * FROM customer')).toEqual([{ id: 1 }]);
    });
  });
}
