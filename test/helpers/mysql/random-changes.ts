import type { Round } from '../trials.ts';

/** A table with random columns and key, and statements that change it; one that a key forbids has no effect. */
export interface ChangedTable {
  name: string;
  create: string[];
  change: string[];
}

/** Each with the expression of a value from the number `i`. */
const COLUMNS: [type: string, value: string][] = [
  ['INT', 'i * 3'],
  ['BIGINT UNSIGNED', '18446744073709551615 - i'],
  ['DECIMAL(20, 4)', 'i / 7'],
  ['FLOAT', 'i / 3'],
  ['DOUBLE', "ELT(1 + i % 3, '-0', '1e300', '0.1')"],
  ['VARCHAR(200)', "CONCAT(CHAR(9), i, CHAR(10), CHAR(92), 'N', REPEAT('ä€', i % 5))"],
  ['TEXT', "ELT(1 + i % 5, '', CHAR(92, 78), CHAR(92, 46), ' ', NULL)"],
  ['CHAR(12) CHARACTER SET latin1', "CONCAT('cä', i % 50)"],
  ['VARBINARY(64)', 'UNHEX(SHA2(i, 256))'],
  ['BLOB', 'CHAR(0, 9, 10, 13, 92, i % 256)'],
  ['BIT(9)', 'i % 512'],
  ['DATE', "IF(i % 7 = 0, '0000-00-00', '2000-01-01' + INTERVAL i DAY)"],
  ['DATETIME(6)', "'2001-02-03 04:05:06.000001' + INTERVAL i SECOND"],
  ['TIMESTAMP NULL', "IF(i % 5 = 0, NULL, '2021-06-01 00:00:00' + INTERVAL i MINUTE)"],
  ['TIME', 'SEC_TO_TIME(i * 61 - 3000)'],
  ['YEAR', '1990 + i % 50'],
  ["ENUM('a', 'b', '')", "ELT(1 + i % 4, 'a', 'b', '', NULL)"],
  ["SET('x', 'y', 'z')", 'i % 8'],
  ['JSON', `CONCAT('{"a": [', i, ', null, "\u00e4"]}')`],
  ['POINT', 'POINT(i, 0.1)'],
];

/** Keys whose values are different for all `i`. */
const KEYS: { columns: string; values: string; names: string; constraint: string }[] = [
  { columns: 'id INT NOT NULL', values: 'i', names: 'id', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id INT NOT NULL AUTO_INCREMENT', values: 'i + 1', names: 'id', constraint: 'PRIMARY KEY (id)' },
  {
    columns: 'id VARCHAR(30) COLLATE utf8mb4_general_ci NOT NULL, part INT NOT NULL',
    values: "CONCAT(IF(i % 2, 'Kéy ', 'key '), i), i % 3",
    names: 'id, part',
    constraint: 'PRIMARY KEY (part, id)',
  },
  {
    columns: 'id BINARY(4) NOT NULL',
    values: "UNHEX(LPAD(HEX(i), 8, '5C'))",
    names: 'id',
    constraint: 'PRIMARY KEY (id)',
  },
  { columns: 'id DOUBLE NOT NULL', values: 'i / 7e0', names: 'id', constraint: 'UNIQUE KEY own (id)' },
  {
    columns: 'id DATETIME(3) NOT NULL',
    values: "'2020-01-01' + INTERVAL i SECOND",
    names: 'id',
    constraint: 'PRIMARY KEY (id)',
  },
  { columns: 'id INT', values: 'NULLIF(i % 900, 7)', names: 'id', constraint: 'KEY plain (id)' },
];

export const DIGITS = [
  'CREATE TABLE digit (n INT PRIMARY KEY)',
  'INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
];
const NUMBERS = '(SELECT a.n + 10 * b.n + 100 * c.n AS i FROM digit a, digit b, digit c) AS numbers';

/** `plain`: with a primary key and without triggers, so that a reset can be in place. */
export function randomTable(
  name: string,
  { random, oneOf, plain }: Pick<Round, 'random' | 'oneOf'> & { plain: boolean },
): ChangedTable {
  const key = oneOf(plain ? KEYS.filter(({ constraint }) => constraint.startsWith('PRIMARY')) : KEYS);
  const columns = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, at) => {
    const [type, value] = oneOf(COLUMNS);
    return { name: `c${at}`, type, value };
  });
  const [first] = columns;
  const definitions = [
    ...[key.columns, ...columns.map((column) => `${column.name} ${column.type}`)],
    ...[
      'pad VARCHAR(400) NOT NULL',
      'size INT AS (CHAR_LENGTH(pad)) STORED',
      'twice INT AS (CHAR_LENGTH(pad) * 2) VIRTUAL',
    ],
    ...[key.constraint, 'KEY by_pad (pad(20))'],
  ];
  const names = [key.names, ...columns.map((column) => column.name), 'pad'].join(', ');
  const values = (shift: string): string =>
    [key.values, ...columns.map(({ value }) => value)].join(', ').replaceAll(/\bi\b/g, shift);
  const insert = (shift: string, where: string): string =>
    `INSERT IGNORE INTO ${name} (${names}) SELECT ${values(shift)}, REPEAT(SHA2(${shift}, 256), 5) FROM ${NUMBERS} WHERE ${where}`;
  const some = (): string => `CRC32(CONCAT(pad, '${Math.floor(random() * 1e6)}')) % 40 = 0`;
  const again = `INSERT IGNORE INTO ${name} (${names}) SELECT ${names} FROM ${name} WHERE ${some()}`;
  const changes = [
    `DELETE FROM ${name} WHERE ${some()}`,
    insert('(i + 1000)', 'i % 30 = 0'),
    insert('(i + 3000)', 'i < 5'),
    `UPDATE ${name} SET pad = SHA2(pad, 256) WHERE ${some()}`,
    `UPDATE ${name} SET ${first?.name} = NULL WHERE ${some()}`,
    // Equal by its collation, in other bytes.
    `UPDATE ${name} SET pad = UPPER(pad) WHERE ${some()}`,
    ...(key.names.startsWith('id, part') ? [`UPDATE ${name} SET id = UPPER(id) WHERE ${some()}`] : []),
    again,
    ...(random() < 0.1 ? [`ALTER TABLE ${name} DROP KEY by_pad, ADD KEY other (pad(5))`] : []),
    ...(random() < 0.1 ? [`ALTER TABLE ${name} ADD COLUMN late INT DEFAULT 5`] : []),
    ...(random() < 0.05 ? [`DELETE FROM ${name}`] : []),
  ];
  return {
    name,
    create: [
      `CREATE TABLE ${name} (${definitions.join(', ')})`,
      insert('i', 'TRUE'),
      ...(!plain && random() < 0.2
        ? [
            `CREATE TRIGGER spoil_${name} BEFORE INSERT ON ${name} FOR EACH ROW SET NEW.pad = IF(DATABASE() LIKE 'source%', NEW.pad, 'spoilt')`,
          ]
        : []),
    ],
    change: changes.filter(() => random() < 0.5),
  };
}
