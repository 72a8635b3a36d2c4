import type { TestFlavour } from './mysql-server.ts';

/**
 * A script for the flavour's own client that makes an object of every kind, and every option of it that its dump
 * writes: `objects` is made of lists that are combined, so that a kind that is added here is tried with all the others.
 * Its bytes are not all UTF-8: programs are written in several character sets.
 */
export function mysqlObjects(flavour: TestFlavour): Buffer {
  const own = flavour === 'mariadb' ? MARIADB : MYSQL;
  return Buffer.concat([
    script([
      "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
      ...tables([...TYPES, ...own.types]),
      ...COMMON,
      ...own.objects,
      ...views(),
      ...triggers(),
      ...events(),
    ]),
    ...programs(flavour),
    script(own.programs),
    script(INVALID),
  ]);
}

/** A statement ends with a character that none of them holds. */
const END = '\u0001';

function script(statements: string[]): Buffer {
  return Buffer.from(`DELIMITER ${END}\n${statements.map((statement) => `${statement}${END}\n`).join('')}`);
}

/** Types of columns with a value of each. */
const TYPES: [type: string, value: string][] = [
  ['tinyint(1)', '1'],
  ['tinyint unsigned', '255'],
  ['smallint', '-1'],
  ['mediumint unsigned zerofill', '7'],
  ['int', '0'],
  ['bigint unsigned', '18446744073709551615'],
  ['decimal(65,30)', '1.5'],
  ['float', '1.1'],
  ['double', '1e-300'],
  ['bit(13)', "b'1010'"],
  ['bool', 'true'],
  ['date', "'2026-01-02'"],
  ['time(6)', "'-838:59:58.999999'"],
  ['datetime(3)', "'2026-01-02 03:04:05.678'"],
  ['timestamp(6) NULL', "'2026-01-02 03:04:05'"],
  ['year', '2026'],
  ['char(10)', "'c'"],
  ['varchar(50) CHARACTER SET latin1', "'ü'"],
  ['varchar(50) CHARACTER SET utf16', "'ü🐘'"],
  ['varchar(50) CHARACTER SET sjis', "'表ソ'"],
  ['varchar(50) CHARACTER SET gbk COLLATE gbk_bin', "'誠'"],
  ['varchar(50) COLLATE utf8mb4_bin', "'🐘'"],
  ['binary(5)', "x'0001'"],
  ['varbinary(300)', "x'5C2E0AFF'"],
  ['tinytext', "'t'"],
  ['text', "''"],
  ['mediumtext', "'\\n\\t\\\\'"],
  ['longtext COLLATE utf8mb4_bin', "'l'"],
  ['tinyblob', "x'FF'"],
  ['blob', "x''"],
  ['mediumblob', "x'00'"],
  ['longblob', "x'0A'"],
  ["enum('a','it''s','ü','a,b','\\\\')", "'it''s'"],
  ["set('x','y''','z')", "'x,z'"],
  ['json', `'{"a": [1, null, "ü"]}'`],
  ['geometry', "ST_GeomFromText('POINT(1 2)')"],
  ['point', "ST_GeomFromText('POINT(1 2)')"],
  ['linestring', "ST_GeomFromText('LINESTRING(0 0, 1 1)')"],
  ['multipolygon', "ST_GeomFromText('MULTIPOLYGON(((0 0, 9 0, 9 9, 0 0)))')"],
];

function tables(types: [string, string][]): string[] {
  return types.flatMap(([type, value], at) => [
    `CREATE TABLE type_${at} (id int PRIMARY KEY, plain ${type}, needed ${type.replace(/ NULL$/, '')} NOT NULL COMMENT 'of type ${at}; it''s "this", \`that\`\n(and) \\\\ more')`,
    `INSERT INTO type_${at} VALUES (1, ${value}, ${value}), (2, NULL, ${value})`,
  ]);
}

const PARTITIONS = [
  'HASH (id) PARTITIONS 3',
  'LINEAR HASH (id) PARTITIONS 3',
  'KEY (id) PARTITIONS 2',
  'LINEAR KEY ALGORITHM = 2 (id) PARTITIONS 2',
  "RANGE (id) (PARTITION `low``er` VALUES LESS THAN (10) COMMENT = 'it''s low', PARTITION high VALUES LESS THAN MAXVALUE)",
  "RANGE COLUMNS (at, id) (PARTITION a VALUES LESS THAN ('2026-01-01', 5), PARTITION b VALUES LESS THAN (MAXVALUE, MAXVALUE))",
  'LIST (id) (PARTITION odd VALUES IN (1, 3, NULL), PARTITION even VALUES IN (2, 4))',
  'RANGE (id) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN MAXVALUE)',
  'RANGE (TO_DAYS(at)) SUBPARTITION BY KEY (id) (PARTITION a VALUES LESS THAN (1000) (SUBPARTITION x, SUBPARTITION y), PARTITION b VALUES LESS THAN MAXVALUE (SUBPARTITION z, SUBPARTITION w))',
];

const OPTIONS = [
  'ENGINE = MyISAM MAX_ROWS = 1000 MIN_ROWS = 10 AVG_ROW_LENGTH = 50 PACK_KEYS = 1 CHECKSUM = 1 DELAY_KEY_WRITE = 1',
  'ENGINE = MEMORY',
  'ENGINE = InnoDB ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 4',
  'ENGINE = InnoDB ROW_FORMAT = REDUNDANT',
  'ENGINE = InnoDB ROW_FORMAT = DYNAMIC STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0 STATS_SAMPLE_PAGES = 7',
  "ENGINE = InnoDB AUTO_INCREMENT = 1000 COMMENT = 'a table; it''s ENGINE=CSV'",
  'ENGINE = InnoDB CHARACTER SET latin1 COLLATE latin1_german1_ci',
  'ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
];

const ACTIONS = ['CASCADE', 'SET NULL', 'RESTRICT', 'NO ACTION'];

/** Names that end quotes, lines, patterns and comments. */
const NAMES = [
  'line\nfeed',
  '\nfirst',
  'return\r\nand tab\t',
  'back\\slash',
  "it's",
  'quo"te',
  'back``tick`',
  '%per_cent%',
  'a.b',
  'comma, (paren',
  '-- comment',
  '/* comment */',
  '/*!99999 x */',
  '#hash',
  'semi;colon',
  '$dollar',
  '123',
  '1e5',
  'select',
  'ünïcödé',
  '表ソ',
  'KEY `x` (`y`)',
  '@at',
  'nothing\u0007\u001b[31m',
];

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const COMMON = [
  ...PARTITIONS.map((partition, at) =>
    [
      `CREATE TABLE parted_${at} (id int${partition.includes('NULL') ? '' : ' NOT NULL'}, at date NOT NULL, note text`,
      `${partition.includes('NULL') ? '' : ', PRIMARY KEY (id, at)'}, KEY (at)) PARTITION BY ${partition}`,
    ].join(''),
  ),
  ...PARTITIONS.map((_, at) => `INSERT INTO parted_${at} VALUES (1, '2025-01-01', 'one'), (2, '2026-06-06', 'two')`),
  ...OPTIONS.map(
    (options, at) =>
      `CREATE TABLE option_${at} (id int NOT NULL AUTO_INCREMENT, w varchar(20), PRIMARY KEY (id)) ${options}`,
  ),
  ...OPTIONS.map((_, at) => `INSERT INTO option_${at} (w) VALUES ('a'), ('b')`),
  'CREATE TABLE archived (id int, w varchar(20)) ENGINE = ARCHIVE',
  "INSERT INTO archived VALUES (1, 'kept')",
  'CREATE TABLE listed (id int NOT NULL, w varchar(20) NOT NULL) ENGINE = CSV',
  `CREATE TABLE indexes (id int NOT NULL, a varchar(100), b text, c int, g point NOT NULL, d int NOT NULL,
    PRIMARY KEY (id, d), UNIQUE KEY one (a), UNIQUE KEY two (c, a(10)), KEY down (c DESC, id), KEY prefix (b(20)) COMMENT 'it''s an index',
    KEY tree (c) USING BTREE, FULLTEXT KEY words (a), FULLTEXT KEY more (b), SPATIAL KEY place (g))`,
  "INSERT INTO indexes VALUES (1, 'a', 'b', 3, ST_GeomFromText('POINT(1 2)'), 4)",
  'CREATE TABLE hashed (id int PRIMARY KEY, v int, KEY h USING HASH (v)) ENGINE = MEMORY',
  `CREATE TABLE defaults (id int NOT NULL AUTO_INCREMENT, n int DEFAULT -7, w varchar(20) DEFAULT 'it''s', e varchar(20) DEFAULT '',
    t text DEFAULT ('x'), at timestamp DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, d datetime(3) DEFAULT CURRENT_TIMESTAMP(3),
    b bit(3) DEFAULT b'101', z date DEFAULT '2020-02-02', x int DEFAULT (1 + 1), PRIMARY KEY (id), KEY (w)) AUTO_INCREMENT = 77`,
  'INSERT INTO defaults (id) VALUES (1), (5)',
  `CREATE TABLE made (id int PRIMARY KEY, a int, w varchar(20), twice int GENERATED ALWAYS AS (a * 2) STORED COMMENT 'stored',
    low varchar(20) AS (LOWER(w)) VIRTUAL, number_ double AS (w + 0) STORED, KEY (twice), KEY (low))`,
  "INSERT INTO made (id, a, w) VALUES (1, 5, '5'), (2, NULL, NULL)",
  // Without a warning about what is no number, which the server would not store here.
  "SET sql_mode = ''",
  "INSERT INTO made (id, a, w) VALUES (3, 0, '12 apples')",
  `CREATE TABLE checks (id int PRIMARY KEY, b varchar(50), n varchar(20), CONSTRAINT a_check CHECK (JSON_VALID(b) OR b IS NULL OR b <> ''),
    CONSTRAINT \`it's
a check\` CHECK (n + 0 >= 0), CHECK (id <> 5))`,
  "INSERT INTO checks VALUES (1, '{}', '1'), (2, 'no json', '2 apples'), (3, NULL, NULL), (4, 'still none', '')",
  "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
  'CREATE TABLE parent (id int NOT NULL, b int NOT NULL, w varchar(20), PRIMARY KEY (id, b), UNIQUE KEY (w), KEY (b))',
  "INSERT INTO parent VALUES (1, 1, 'one'), (2, 2, 'two')",
  ...ACTIONS.flatMap((onDelete, row) =>
    ACTIONS.map(
      (onUpdate, at) => `CREATE TABLE child_${row}_${at} (id int PRIMARY KEY, p int, b int, w varchar(20),
        CONSTRAINT \`of ${row} ${at}\` FOREIGN KEY (p, b) REFERENCES parent (id, b) ON DELETE ${onDelete} ON UPDATE ${onUpdate},
        FOREIGN KEY (w) REFERENCES parent (w))`,
    ),
  ),
  "INSERT INTO child_0_0 VALUES (1, 1, 1, 'two'), (2, NULL, 5, NULL)",
  'SET foreign_key_checks = 0',
  'CREATE TABLE ring_a (id int PRIMARY KEY, b int, up int, FOREIGN KEY (b) REFERENCES ring_b (id), FOREIGN KEY (up) REFERENCES ring_a (id))',
  'CREATE TABLE ring_b (id int PRIMARY KEY, a int, FOREIGN KEY (a) REFERENCES ring_a (id))',
  'CREATE TABLE orphan (id int PRIMARY KEY, m int, m2 int, CONSTRAINT to_nothing FOREIGN KEY (m) REFERENCES missing (id) ON DELETE CASCADE, CONSTRAINT `to\nnothing` FOREIGN KEY (m2) REFERENCES `Miss``ing\ntoo` (id))',
  'INSERT INTO orphan VALUES (1, 2, 3)',
  'SET foreign_key_checks = 1',
  'CREATE TABLE `Case1` (id int PRIMARY KEY, a int, KEY first_ (a))',
  'CREATE TABLE `case1` (id int PRIMARY KEY, b int, c int, KEY first_ (b), KEY second_ (c))',
  'CREATE TABLE `CASE1` (id int, PRIMARY KEY (id))',
  'INSERT INTO `Case1` VALUES (1, 2)',
  'INSERT INTO `case1` VALUES (1, 2, 3), (2, 3, 4)',
  ...NAMES.flatMap((name) => [
    `CREATE TABLE ${quoted(`t${name}.`)} (id int, ${quoted(`c${name}.`)} int DEFAULT 5 COMMENT ${"'it''s'"}, CONSTRAINT ${quoted(`k${name}.`)} CHECK (${quoted(`c${name}.`)} > 0),
       PRIMARY KEY (id), KEY ${quoted(`i${name}.`)} (${quoted(`c${name}.`)}))`,
    `INSERT INTO ${quoted(`t${name}.`)} VALUES (1, 2)`,
    `CREATE VIEW ${quoted(`v${name}.`)} AS SELECT ${quoted(`c${name}.`)}, id AS ${quoted(`a${name}.`)} FROM ${quoted(`t${name}.`)}`,
    `CREATE PROCEDURE ${quoted(`p${name}.`)} (${quoted(`x${name}.`)} int) SELECT ${quoted(`c${name}.`)} FROM ${quoted(`t${name}.`)}`,
    `CREATE TRIGGER ${quoted(`g${name}.`)} BEFORE INSERT ON ${quoted(`t${name}.`)} FOR EACH ROW SET NEW.${quoted(`c${name}.`)} = 1`,
    `CREATE EVENT ${quoted(`e${name}.`)} ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DISABLE DO DELETE FROM ${quoted(`t${name}.`)}`,
  ]),
  'CREATE TABLE no_key (a int, b varchar(20))',
  "INSERT INTO no_key VALUES (1, 'x'), (1, 'x')",
  'CREATE TABLE empty_ (id int PRIMARY KEY)',
  'CREATE TABLE log (id int AUTO_INCREMENT PRIMARY KEY, what text)',
];

function views(): string[] {
  const variants = ['UNDEFINED', 'MERGE', 'TEMPTABLE'].flatMap((algorithm) =>
    ['DEFINER', 'INVOKER'].flatMap((security) =>
      ['', 'WITH LOCAL CHECK OPTION', 'WITH CASCADED CHECK OPTION'].flatMap((check) =>
        algorithm === 'TEMPTABLE' && check !== '' ? [] : [{ algorithm, security, check }],
      ),
    ),
  );
  return [
    ...variants.map(
      ({ algorithm, security, check }, at) =>
        `CREATE ALGORITHM = ${algorithm} SQL SECURITY ${security} VIEW view_${at} AS SELECT id, b, w FROM parent WHERE id > ${at} ${check}`,
    ),
    // Each needs one that comes after it by name.
    'CREATE VIEW zzz AS SELECT id, \'it\'\'s `a`.b\' AS text_, "quo""ted" AS other FROM parent',
    'CREATE VIEW yyy (one, `two\nlines`) AS SELECT z.id, p.w FROM zzz z LEFT JOIN parent p USING (id)',
    "CREATE VIEW xxx AS SELECT one, COUNT(*) AS n, GROUP_CONCAT(`two\nlines` ORDER BY 1 SEPARATOR '; ') AS g FROM yyy GROUP BY one WITH ROLLUP",
    'CREATE VIEW www AS WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r',
    'CREATE VIEW vvv AS SELECT id, ROW_NUMBER() OVER (PARTITION BY b ORDER BY id) AS r FROM parent UNION SELECT 1, 2',
    "CREATE VIEW uuu AS SELECT CAST(w AS CHAR CHARACTER SET latin1) COLLATE latin1_german1_ci AS l, _latin1'x' AS m, _utf8mb4'ü🐘' AS u, N'n' AS n, x'FF' AS h FROM parent",
  ];
}

function triggers(): string[] {
  return ['BEFORE', 'AFTER'].flatMap((time) =>
    ['INSERT', 'UPDATE', 'DELETE'].flatMap((what) => [
      `CREATE TRIGGER ${time}_${what}_second ${time} ${what} ON parent FOR EACH ROW INSERT INTO log (what) VALUES ('${time} ${what}; it''s \`second\`')`,
      `CREATE TRIGGER ${time}_${what}_first ${time} ${what} ON parent FOR EACH ROW PRECEDES ${time}_${what}_second BEGIN DECLARE x int; SET x = 1; /* a comment */ SET @x = x; END`,
      `CREATE TRIGGER ${time}_${what}_third ${time} ${what} ON parent FOR EACH ROW FOLLOWS ${time}_${what}_second SET @y = 1`,
    ]),
  );
}

function events(): string[] {
  const schedules = [
    "AT '2037-01-01 01:02:03'",
    "AT '2037-01-01 01:02:03' ON COMPLETION PRESERVE",
    "EVERY 1 DAY STARTS '2037-01-01 00:00:00'",
    "EVERY '1:30' HOUR_MINUTE STARTS '2037-01-01' ENDS '2037-12-31' ON COMPLETION PRESERVE",
  ];
  return schedules.flatMap((schedule, at) => [
    `SET time_zone = '+0${at}:00'`,
    `CREATE EVENT event_${at} ON SCHEDULE ${schedule} DISABLE COMMENT 'it''s number ${at}' DO BEGIN DELETE FROM log; INSERT INTO log (what) VALUES ('; '); END`,
  ]);
}

/** What a client may have sent its statements in, with a text that is not ASCII in it. */
const ENCODINGS: Record<string, string> = {
  utf8mb4: 'c3bc',
  utf8mb3: 'c3bc',
  latin1: 'fc 80',
  latin2: 'b1',
  cp1251: 'cfd0',
  koi8r: 'f0f2',
  greek: 'e1e2',
  sjis: '955c 835c',
  cp932: '955c 835c',
  gbk: 'd55c',
  big5: 'a55c',
  euckr: 'b0a1',
  ujis: 'c9bd',
};
/** MySQL itself shows no view in which the second byte of a letter is a backslash. */
const MYSQL_ENCODINGS = { ...ENCODINGS, sjis: '8abf', cp932: '8abf', gbk: 'baba', big5: 'ba7e' };

const MODES = [
  '',
  'ANSI_QUOTES',
  'PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES',
  'STRICT_ALL_TABLES,NO_ZERO_DATE,TRADITIONAL',
  'ANSI',
];

/** Routines, views, triggers and events in each character set, whose texts are bytes that it has, and in each mode. */
function programs(flavour: TestFlavour): Buffer[] {
  const encoded = Object.entries(flavour === 'mysql' ? MYSQL_ENCODINGS : ENCODINGS).flatMap(([charset, hex]) => {
    const text = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const named = `in_${charset}`;
    // MariaDB takes what a function returns for other letters than it was told, MySQL a trigger's name.
    const returned = flavour === 'mysql' ? '…' : 'y';
    const triggered = flavour === 'mysql' && /^(?:gbk|big5|sjis|cp932)$/.test(charset) ? named : `${named}…`;
    // What is written as … here is the text.
    const statement = (sql: string): Buffer =>
      Buffer.concat(
        `${sql}${END}\n`.split('…').flatMap((part, at) => (at === 0 ? [Buffer.from(part)] : [text, Buffer.from(part)])),
      );
    return [
      // The client cuts statements as well: to it a byte may be a backslash that is the second half of a letter.
      Buffer.from(`\\C ${charset}\n`),
      script([`SET collation_connection = ${charset}_bin`]),
      statement(
        `CREATE PROCEDURE \`${named}…\` (\`a…\` int, b enum('…')) COMMENT 'it''s …' SELECT \`a…\`, '…' AS \`b…\``,
      ),
      statement(
        `CREATE FUNCTION \`${named}…\` (a varchar(20)) RETURNS enum('x', '${returned}') DETERMINISTIC COMMENT '…\n…' RETURN CONCAT(a, '…') /* after */`,
      ),
      statement(`CREATE TRIGGER \`${triggered}\` BEFORE UPDATE ON defaults FOR EACH ROW SET NEW.w = '…'`),
      statement(
        `CREATE EVENT \`${named}…\` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DISABLE COMMENT '… "…"' DO SET @a = '…'`,
      ),
      statement(`CREATE VIEW \`${named}…\` AS SELECT '…' AS \`a…\`, 'x' AS b, id FROM parent WHERE w <> '…'`),
    ];
  });
  const introduced = ["_utf8mb4'\u00fc'", "_latin1'\u00fc'", "'\u00fc'"].flatMap((text, at) =>
    ['utf8mb4', 'latin1', 'cp1251'].flatMap((charset) => [
      `SET NAMES ${charset}`,
      `CREATE FUNCTION introduced_${at}_${charset} () RETURNS varchar(20) CHARACTER SET utf8mb4 DETERMINISTIC RETURN ${text}`,
      `CREATE VIEW introduced_view_${at}_${charset} AS SELECT ${text} AS text_`,
    ]),
  );
  const modes = MODES.flatMap((mode, at) => {
    const quote = mode.startsWith('ANSI') ? '"' : '`';
    const text = mode.includes('NO_BACKSLASH') ? String.raw`'\'` : String.raw`'\\'`;
    return [
      `SET sql_mode = '${mode}'`,
      `CREATE PROCEDURE mode_${at} (IN a int, OUT ${quote}b c${quote} int, INOUT d int) NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER COMMENT 'it''s' BEGIN SET @a = ${text}; SET a = 1; END`,
      `CREATE TRIGGER mode_${at} AFTER UPDATE ON defaults FOR EACH ROW SET @a = ${text}`,
      `CREATE EVENT mode_${at} ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DISABLE DO SET @a = ${text}`,
      `CREATE VIEW mode_${at} AS SELECT ${text} AS t, 'a' || 'b' AS o FROM ${quote}parent${quote}`,
    ];
  });
  const databases = ['latin1_german1_ci', 'utf8mb4_bin'].flatMap((collation, at) => [
    `ALTER DATABASE COLLATE ${collation}`,
    `CREATE PROCEDURE collated_${at} (a varchar(20)) BEGIN DECLARE b varchar(20); SET b = a; END`,
    `CREATE TRIGGER collated_${at} AFTER INSERT ON defaults FOR EACH ROW SET @a = 'x'`,
  ]);
  return [
    ...encoded,
    Buffer.from('\\C utf8mb4\n'),
    script([
      ...introduced,
      'SET NAMES utf8mb4',
      ...modes,
      "SET sql_mode = ''",
      ...databases,
      `ALTER DATABASE COLLATE ${flavour === 'mariadb' ? 'utf8mb4_general_ci' : 'utf8mb4_0900_ai_ci'}`,
    ]),
  ];
}

interface Own {
  types: [string, string][];
  objects: string[];
  programs: string[];
}

const MARIADB: Own = {
  types: [
    ['uuid', "'123e4567-e89b-12d3-a456-426655440000'"],
    ['inet4', "'10.0.0.1'"],
    ['inet6', "'::1'"],
    ['varchar(50) COMPRESSED', "'compressed'"],
    ['time /*mariadb-5.3*/', "'01:02:03'"],
  ],
  objects: [
    'CREATE SEQUENCE s1',
    "CREATE SEQUENCE s2 START WITH -5 INCREMENT BY -2 MINVALUE -100 MAXVALUE 100 CACHE 10 CYCLE COMMENT 'it''s'",
    'CREATE SEQUENCE s3 NOCACHE INCREMENT BY 0 ENGINE = MyISAM',
    'DO NEXTVAL(s1), NEXTVAL(s2)',
    'CREATE TABLE drawn (id bigint NOT NULL DEFAULT NEXTVAL(s1), w varchar(20) INVISIBLE DEFAULT (UUID()), n int DEFAULT (LASTVAL(s2)), PRIMARY KEY (id))',
    "INSERT INTO drawn (w) VALUES ('a'), ('b')",
    "CREATE TABLE versioned (id int PRIMARY KEY, v int) WITH SYSTEM VERSIONING COMMENT = 'with history'",
    'INSERT INTO versioned VALUES (1, 1), (2, 2)',
    'UPDATE versioned SET v = v + 1',
    'DELETE FROM versioned WHERE id = 2',
    `CREATE TABLE versioned_named (id int, v int, begin_ timestamp(6) GENERATED ALWAYS AS ROW START, end_ timestamp(6) GENERATED ALWAYS AS ROW END,
      PRIMARY KEY (id, end_), KEY (v), PERIOD FOR SYSTEM_TIME (begin_, end_)) WITH SYSTEM VERSIONING`,
    'INSERT INTO versioned_named (id, v) VALUES (1, 1), (3, 3)',
    'UPDATE versioned_named SET v = 2',
    `CREATE TABLE versioned_hidden (id int PRIMARY KEY, v int WITHOUT SYSTEM VERSIONING, s timestamp(6) GENERATED ALWAYS AS ROW START INVISIBLE,
      e timestamp(6) GENERATED ALWAYS AS ROW END INVISIBLE, FULLTEXT KEY (w), w text, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING`,
    "INSERT INTO versioned_hidden (id, v, w) VALUES (1, 1, 'words')",
    `CREATE TABLE versioned_by_transaction (id int PRIMARY KEY, s bigint unsigned GENERATED ALWAYS AS ROW START, e bigint unsigned GENERATED ALWAYS AS ROW END,
      PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING`,
    'INSERT INTO versioned_by_transaction (id) VALUES (1)',
    'CREATE TABLE versioned_some (id int PRIMARY KEY, kept int WITH SYSTEM VERSIONING, other int)',
    'INSERT INTO versioned_some VALUES (1, 1, 1)',
    'UPDATE versioned_some SET kept = 2',
    'CREATE TABLE versioned_parted (id int) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 1000 (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION pc CURRENT)',
    'INSERT INTO versioned_parted VALUES (1), (2)',
    'DELETE FROM versioned_parted WHERE id = 2',
    'CREATE TABLE period (id int, a date, b date, PERIOD FOR valid (a, b), PRIMARY KEY (id, valid WITHOUT OVERLAPS))',
    "INSERT INTO period VALUES (1, '2026-01-01', '2026-02-01'), (1, '2026-02-01', '2026-03-01')",
    'CREATE TABLE aria_ (id int PRIMARY KEY, w text) ENGINE = Aria TRANSACTIONAL = 0 PAGE_CHECKSUM = 1',
    "INSERT INTO aria_ VALUES (1, 'x')",
    'CREATE TABLE compressed_ (id int PRIMARY KEY) ENGINE = InnoDB PAGE_COMPRESSED = 1 PAGE_COMPRESSION_LEVEL = 3',
    'CREATE TABLE ignored (id int PRIMARY KEY, a int, KEY i (a) IGNORED)',
    'CREATE TABLE long_unique (id int PRIMARY KEY, t longtext, UNIQUE KEY (t))',
    "INSERT INTO long_unique VALUES (1, 'x')",
    'CREATE TABLE persistent (id int PRIMARY KEY, a int AS (id + 1) PERSISTENT INVISIBLE, CONSTRAINT c CHECK (a > id))',
    'INSERT INTO persistent (id) VALUES (1)',
    'CREATE TABLE spatial_ (id int PRIMARY KEY, g point REF_SYSTEM_ID = 101 NOT NULL, SPATIAL KEY (g))',
    'CREATE TABLE broken_check (id int PRIMARY KEY, n int, CONSTRAINT positive CHECK (n > 0))',
    'SET check_constraint_checks = 0',
    'INSERT INTO broken_check VALUES (1, -1)',
    'SET check_constraint_checks = 1',
    'CREATE OR REPLACE AGGREGATE FUNCTION summed (x int) RETURNS int BEGIN DECLARE s int DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN s; LOOP FETCH GROUP NEXT ROW; SET s = s + x; END LOOP; END',
  ],
  programs: [
    "SET sql_mode = 'ORACLE'",
    "CREATE PACKAGE pack COMMENT 'it''s' AS PROCEDURE p(a INT); FUNCTION f RETURN INT; END",
    'CREATE PACKAGE BODY pack AS x INT := 5; PROCEDURE p(a INT) AS BEGIN SELECT a; END; FUNCTION f RETURN INT AS BEGIN RETURN x; END; END',
    "CREATE PROCEDURE oracle_p (a IN INT, b OUT VARCHAR2) AS c VARCHAR2(10); BEGIN c := 'x'; b := c || a; END",
    'CREATE FUNCTION oracle_f (a INT) RETURN INT AS BEGIN RETURN pack.f() + a; END',
    'CREATE TRIGGER oracle_t BEFORE INSERT ON empty_ FOR EACH ROW BEGIN :NEW.id := :NEW.id + 1; END',
    "SET sql_mode = ''",
    'CREATE VIEW over_package AS SELECT oracle_f(id) AS f FROM parent',
  ],
};

const MYSQL: Own = {
  types: [
    ['point SRID 4326', "ST_GeomFromText('POINT(1 2)', 4326)"],
    ['vector(3)', "STRING_TO_VECTOR('[1,2,3]')"],
  ],
  objects: [
    `CREATE TABLE functional (id int PRIMARY KEY, a int, w varchar(20), j json, KEY ((a + 1)), UNIQUE KEY u ((UPPER(w)), a), KEY hidden (a) INVISIBLE,
      KEY many ((CAST(j->'$.n' AS UNSIGNED ARRAY))), v int INVISIBLE DEFAULT 5)`,
    `INSERT INTO functional (id, a, w, j) VALUES (1, 2, 'x', '{"n": [1, 2]}')`,
    'CREATE TABLE unchecked (id int PRIMARY KEY, n int, CONSTRAINT positive CHECK (n > 0) NOT ENFORCED)',
    'INSERT INTO unchecked VALUES (1, -1)',
    "CREATE TABLE compressed_ (id int PRIMARY KEY) COMPRESSION = 'zlib'",
    'CREATE TABLE expressions (id int PRIMARY KEY, u binary(16) DEFAULT (UUID_TO_BIN(UUID())), j json DEFAULT (JSON_ARRAY()), p point DEFAULT (POINT(0, 0)))',
    'SET sql_generate_invisible_primary_key = 1',
    'CREATE TABLE own_key (a int)',
    'INSERT INTO own_key VALUES (1), (2)',
    'SET sql_generate_invisible_primary_key = 0',
  ],
  programs: ['CREATE FUNCTION javascript_free (a int) RETURNS int NO SQL RETURN a'],
};

/** Views of what is no longer there, and views of these. */
const INVALID = [
  "SET NAMES utf8mb4, sql_mode = ''",
  'CREATE TABLE short_lived (id int, b int)',
  'CREATE TABLE changed (id int, b int)',
  'CREATE FUNCTION short_lived_f () RETURNS int DETERMINISTIC RETURN 1',
  'CREATE VIEW invalid_table AS SELECT s.id, s.b + 1 AS c FROM short_lived s WHERE b > 0',
  'CREATE VIEW invalid_over AS SELECT * FROM invalid_table',
  'CREATE VIEW invalid_column AS SELECT id, b FROM changed',
  'CREATE VIEW invalid_function AS SELECT short_lived_f() AS f',
  'DROP TABLE short_lived',
  'DROP FUNCTION short_lived_f',
  'ALTER TABLE changed DROP COLUMN b',
];
