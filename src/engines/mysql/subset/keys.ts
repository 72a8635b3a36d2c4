import { plainWord, quoteName } from '../connection/quote.ts';

/** The identity of a row: ASCII from the server, in a JSON array to the server. */
export interface KeyPart {
  out(alias: string): string;
  type: string;
  is(alias: string, value: string): string;
}

export interface SubsetColumn {
  name: string;
  type: string;
  fullType: string;
  charset: string | null;
  collation: string | null;
  octets: number;
}

const FAMILIES: Record<string, string[]> = {
  integer: ['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year', 'bit'],
  decimal: ['decimal'],
  float: ['float', 'double'],
  text: ['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'],
  bytes: ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'],
  date: ['date'],
  moment: ['datetime', 'timestamp'],
  time: ['time'],
  literal: ['uuid', 'inet4', 'inet6'],
};

type Family = keyof typeof FAMILIES;

export function familyOf({ type }: Pick<SubsetColumn, 'type'>): Family {
  return Object.keys(FAMILIES).find((family) => FAMILIES[family]?.includes(type)) ?? type;
}

/** Numbers compare by value, whatever their type. */
export function comparableFamily(column: SubsetColumn): string {
  const family = familyOf(column);
  return ['integer', 'decimal', 'float'].includes(family) ? 'number' : family === 'literal' ? column.type : family;
}

type KeyConversion = (column: SubsetColumn) => {
  out: (value: string) => string;
  type: string;
  in: (key: string) => string;
};

const asItIs = (type: string): KeyConversion => {
  return () => ({ out: (value) => value, type, in: (key) => key });
};
const hexadecimal = ({ octets }: SubsetColumn): string => `VARCHAR(${2 * octets}) CHARACTER SET ascii`;

const TRAVELING: Record<string, KeyConversion> = {
  integer: ({ type, fullType }) => ({
    out: (value) => (type === 'bit' ? `${value} + 0` : value),
    type: type === 'bit' || fullType.includes('unsigned') ? 'BIGINT UNSIGNED' : 'BIGINT',
    in: (key) => key,
  }),
  decimal: ({ fullType }) => ({
    out: (value) => value,
    type: /^decimal\(\d+,\d+\)/.exec(fullType)?.[0] ?? 'DECIMAL(65,30)',
    in: (key) => key,
  }),
  float: () => ({ out: (value) => `${value} + 0e0`, type: 'DOUBLE', in: (key) => key }),
  text: (column) => ({
    out: (value) => `HEX(${value})`,
    type: hexadecimal(column),
    in: (key) =>
      `CONVERT(UNHEX(${key}) USING ${plainWord(column.charset ?? '')}) COLLATE ${plainWord(column.collation ?? '')}`,
  }),
  bytes: (column) => ({ out: (value) => `HEX(${value})`, type: hexadecimal(column), in: (key) => `UNHEX(${key})` }),
  date: asItIs('DATE'),
  moment: asItIs('DATETIME(6)'),
  time: asItIs('TIME(6)'),
  literal: ({ type }) => ({
    out: (value) => `CAST(${value} AS CHAR)`,
    type: 'VARCHAR(64) CHARACTER SET ascii',
    in: (key) => `CAST(${key} AS ${plainWord(type)})`,
  }),
};

export function keyPartOf(column: SubsetColumn): KeyPart {
  const traveling = TRAVELING[familyOf(column)];
  if (!traveling) throw new Error(`${column.name} of type ${column.type} is in no key`);
  const { out, type, in: back } = traveling(column);
  const value = (alias: string): string => `${alias}.${quoteName(column.name)}`;
  return { out: (alias) => out(value(alias)), type, is: (alias, key) => `${value(alias)} = ${back(key)}` };
}

/** Without a key, equal rows are in the subset together or not at all. */
export function wholeRowPart(columns: SubsetColumn[]): KeyPart {
  const digest = (alias: string): string => {
    const values = columns.map((column) => {
      const value = `${alias}.${quoteName(column.name)}`;
      const exact = familyOf(column) === 'float' ? `${value} + 0e0` : value;
      const text = ['text', 'bytes', 'geometry'].includes(familyOf(column)) ? value : `CAST(${exact} AS CHAR)`;
      return `IFNULL(HEX(${text}), '-')`;
    });
    return `CONVERT(SHA2(CONCAT_WS(',', ${values.join(', ')}), 256) USING ascii)`;
  };
  return { out: digest, type: 'CHAR(64) CHARACTER SET ascii', is: (alias, key) => `${digest(alias)} = ${key}` };
}

export function writtenValue(column: SubsetColumn, alias: string): string {
  const value = `${alias}.${quoteName(column.name)}`;
  const family = familyOf(column);
  if (family === 'bytes') return `HEX(${value})`;
  return family === 'text'
    ? `CONVERT(${value} USING utf8mb4)`
    : `CONVERT(${value}${family === 'float' ? ' + 0e0' : ''} USING utf8mb4)`;
}
