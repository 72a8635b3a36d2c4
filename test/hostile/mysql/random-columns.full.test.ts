import { beforeAll, expect, it } from 'vitest';
import { checkDefinitions } from '../../../src/engines/mysql/catalog/definitions/check-definitions.ts';
import { splitTable, withIndexes } from '../../../src/engines/mysql/catalog/definitions/statement-text.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql/mysql-server.ts';
import { randomFrom } from '../../helpers/random.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const TABLES = 400;
const NUMBERS = [
  'tinyint',
  'smallint unsigned',
  'mediumint(7) zerofill',
  'int',
  'bigint unsigned',
  'decimal(20,5)',
  'float',
  'float(7,3)',
  'double',
  'double(9,2) unsigned',
  'bit(7)',
  'boolean',
  'real',
];
const TEXTS = [
  'char(5)',
  'varchar(30)',
  'tinytext',
  'text',
  'mediumtext',
  'longtext',
  "enum('a','it''s','a,b','')",
  "set('x','y z','\\\\')",
  'national varchar(9)',
];
const BYTES = ['binary(4)', 'varbinary(9)', 'tinyblob', 'blob', 'mediumblob', 'longblob'];
const TIMES = ['date', 'time', 'time(3)', 'datetime', 'datetime(6)', 'timestamp NULL', 'timestamp(2) NULL', 'year'];
const PLACES = [
  'point',
  'geometry',
  'linestring',
  'polygon',
  'multipoint',
  'multilinestring',
  'multipolygon',
  'geometrycollection',
];
const OWN_TYPES: Record<TestFlavour, string[]> = {
  mariadb: [
    'uuid',
    'inet4',
    'inet6',
    'json',
    'varchar(40) COMPRESSED',
    'text COMPRESSED',
    'point REF_SYSTEM_ID = 4326',
  ],
  mysql: ['json', 'vector(3)', 'point SRID 4326', 'geometry SRID 0'],
};
const CHARSETS = [
  '',
  ' CHARACTER SET latin1',
  ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  ' COLLATE utf8mb4_unicode_ci',
  ' CHARACTER SET ascii',
  ' CHARACTER SET utf16',
  ' BINARY',
];
const DEFAULTS_OF_NUMBERS = [
  '',
  ' DEFAULT NULL',
  ' DEFAULT 0',
  ' DEFAULT -1',
  ' DEFAULT 1.5',
  ' DEFAULT 1e-3',
  ' DEFAULT TRUE',
  ' DEFAULT 0x01',
  ' DEFAULT (1 + 1)',
  ' DEFAULT (-(2))',
  ' DEFAULT (PI())',
  ' DEFAULT (CASE WHEN 1 THEN 2 ELSE 3 END)',
];
const DEFAULTS_OF_TEXTS = [
  '',
  ' DEFAULT NULL',
  " DEFAULT ''",
  " DEFAULT 'a'",
  " DEFAULT ('a')",
  " DEFAULT (CONCAT('a', 'b'))",
  " DEFAULT (_latin1'a')",
  ' DEFAULT (UUID())',
  " DEFAULT (IF(1, 'a', 'b'))",
  ' DEFAULT (CAST(5 AS CHAR(3)))',
  " DEFAULT (TRIM(BOTH 'x' FROM 'axa'))",
  ' DEFAULT (CURRENT_USER())',
];
const DEFAULTS_OF_TIMES = [
  '',
  ' DEFAULT NULL',
  " DEFAULT '2026-01-02'",
  ' DEFAULT (CURDATE() + INTERVAL 1 DAY)',
  ' DEFAULT (NOW())',
  " DEFAULT (TIMESTAMP'2026-01-02 03:04:05')",
];
const MOMENTS = [
  '',
  ' DEFAULT CURRENT_TIMESTAMP',
  ' DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP',
  ' ON UPDATE CURRENT_TIMESTAMP',
];
const COMMENTS = ['', '', " COMMENT 'it''s; a `comment` */'", " COMMENT '\\\\ DEFAULT 5'"];
const OWN_ATTRIBUTES: Record<TestFlavour, string[]> = {
  mariadb: ['', '', ' INVISIBLE', ' CHECK (a_0 <> 3)', ' WITHOUT SYSTEM VERSIONING'],
  mysql: [
    '',
    '',
    ' INVISIBLE',
    ' COLUMN_FORMAT FIXED',
    ' STORAGE MEMORY',
    " ENGINE_ATTRIBUTE = '{}'",
    ' CHECK (a_0 <> 3) NOT ENFORCED',
    ' CONSTRAINT named CHECK (a_0 > 1)',
  ],
};
const GENERATED = [' AS (a_0 + 1) VIRTUAL', ' GENERATED ALWAYS AS (a_0 * 2) STORED', ' AS (COALESCE(a_0, 7)) STORED'];
const KEYS: Record<TestFlavour, string[]> = {
  mariadb: [
    'KEY k (a_0) IGNORED',
    'KEY k (a_0) USING HASH',
    "UNIQUE KEY `it's` (a_0) COMMENT 'x'",
    'KEY k (a_0 DESC)',
    'CONSTRAINT c CHECK (a_0 > 0 OR a_0 IS NULL)',
  ],
  mysql: [
    'KEY k (a_0) INVISIBLE',
    'KEY k ((a_0 + 1), a_0 DESC)',
    'UNIQUE KEY u (a_0) KEY_BLOCK_SIZE = 4',
    "KEY k (a_0) USING BTREE COMMENT 'x'",
    'CONSTRAINT c CHECK (a_0 > 0) NOT ENFORCED',
  ],
};

for (const flavour of ['mariadb', 'mysql'] as const) {
  describeWithMysql(flavour, { name: 'columns of every kind and attribute' }, () => {
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      for (const name of ['one', 'other']) await server.createDatabase(name);
    }, 240_000);

    it('pass the checks and are recreated unchanged', { timeout: 120_000 }, async () => {
      const random = randomFrom(34);
      const pick = <Item>(list: Item[]): Item => list[Math.floor(random() * list.length)] as Item;
      const column = (name: string): string => {
        const attributes = `${pick(['', ' NOT NULL'])}`;
        const end = `${pick(COMMENTS)}${pick(OWN_ATTRIBUTES[flavour])}`;
        const kinds = [
          () => `${pick(NUMBERS)}${attributes}${pick(DEFAULTS_OF_NUMBERS)}${end}`,
          () => `${pick(TEXTS)}${pick(CHARSETS)}${attributes}${pick(DEFAULTS_OF_TEXTS)}${end}`,
          () => `${pick(BYTES)}${attributes}${pick(DEFAULTS_OF_TEXTS)}${end}`,
          () => `${pick(TIMES)}${pick([...DEFAULTS_OF_TIMES, ...MOMENTS])}${end}`,
          () => `${pick(PLACES)}${attributes}${end}`,
          () => `${pick(OWN_TYPES[flavour])}${end}`,
          () => `int${pick(GENERATED)}${end}`,
        ];
        return `${name} ${pick(kinds)()}`;
      };
      let created = 0;
      for (let at = 0; at < TABLES; at += 1) {
        const columns = Array.from({ length: 3 }, (_, number) => column(`a_${number + 1}`));
        const create = `CREATE TABLE t (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, a_0 int, ${[...columns, pick(KEYS[flavour])].join(', ')})`;
        // Not every combination is one that the server takes.
        const isMade = await server.sql('one', create).then(
          () => true,
          () => false,
        );
        if (!isMade) continue;
        created += 1;
        const shown = await shownIn('one');
        const table = withIndexes(splitTable('t', shown));
        const [checked] = checkDefinitions({ ...EMPTY, tables: [table] }).tables;
        await server.sql('other', "SET sql_mode = 'ALLOW_INVALID_DATES'", checked?.create ?? '');
        expect(await shownIn('other'), create).toBe(shown);
        for (const database of ['one', 'other']) await server.sql(database, 'DROP TABLE t');
      }
      expect(created).toBeGreaterThan(TABLES / 10);
    });

    async function shownIn(database: string): Promise<string> {
      const [row = {}] = await server.sql<Record<string, string>>(database, 'SHOW CREATE TABLE t');
      return row['Create Table'] ?? '';
    }
  });
}

const EMPTY = {
  ...{ charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
  ...{ tables: [], sequences: [], routines: [], views: [], triggers: [], events: [] },
};
