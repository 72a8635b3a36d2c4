import type { TokenCursor } from './token-cursor.ts';

const NUMBER = /^\d+$/;
const WORD = /^[A-Z][A-Z0-9_]*$/;
const INTEGERS = /^(?:TINYINT|SMALLINT|MEDIUMINT|INT|BIGINT|DECIMAL|FLOAT|DOUBLE)$/;
const MEASURED =
  /^(?:BIT|YEAR|TIME|DATETIME|TIMESTAMP|CHAR|VARCHAR|BINARY|VARBINARY|TINYTEXT|TEXT|MEDIUMTEXT|LONGTEXT|TINYBLOB|BLOB|MEDIUMBLOB|LONGBLOB|VECTOR)$/;
const PLAIN =
  /^(?:DATE|JSON|UUID|INET4|INET6|XMLTYPE|GEOMETRY|POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION|GEOMCOLLECTION)$/;

/** Checks a column as SHOW CREATE TABLE of MySQL and MariaDB writes it: name, type, and each attribute once. */
export function checkColumnAt(cursor: TokenCursor, { isRemote }: { isRemote: boolean }): void {
  cursor.need(cursor.name());
  checkType(cursor);
  const found = new Set<string>();
  while (!cursor.ended) {
    const attribute = ATTRIBUTES.find(({ take }) => take(cursor));
    // A CONNECT table has options of its engine.
    if (!attribute && isRemote && cursor.name()) takeValue(cursor);
    else if (!attribute || found.has(attribute.name)) throw cursor.refusal();
    else found.add(attribute.name);
  }
}

function checkType(cursor: TokenCursor): void {
  if (cursor.word(INTEGERS) !== null) {
    takeNumbers(cursor, 2);
    cursor.words('UNSIGNED');
    cursor.words('ZEROFILL');
  } else if (cursor.word(MEASURED) !== null) takeNumbers(cursor, 1);
  else if (cursor.word(/^(?:ENUM|SET)$/) !== null) takeMembers(cursor);
  else cursor.need(cursor.word(PLAIN));
}

/** `(10,2)`, or nothing. */
function takeNumbers(cursor: TokenCursor, most: number): void {
  const inner = cursor.group();
  if (!inner) return;
  inner.need(inner.word(NUMBER));
  for (let count = 1; count < most && inner.symbol(','); count += 1) inner.need(inner.word(NUMBER));
  inner.end();
}

function takeMembers(cursor: TokenCursor): void {
  const inner = cursor.need(cursor.group());
  do inner.need(inner.text());
  while (inner.symbol(','));
  inner.end();
}

interface Attribute {
  name: string;
  /** Takes all of it, where it begins here. */
  take: (cursor: TokenCursor) => boolean;
}

/** Words that begin an attribute, and what follows them. */
function attribute(name: string, words: string[], rest: (cursor: TokenCursor) => void = () => {}): Attribute {
  return {
    name,
    take(cursor) {
      if (!cursor.words(...words)) return false;
      rest(cursor);
      return true;
    },
  };
}

const ATTRIBUTES: Attribute[] = [
  attribute('character set', ['CHARACTER', 'SET'], takeWord),
  attribute('character set', ['CHARSET'], takeWord),
  attribute('collation', ['COLLATE'], takeWord),
  attribute('secondary', ['NOT', 'SECONDARY']),
  attribute('null', ['NOT', 'NULL']),
  attribute('null', ['NULL']),
  attribute('default', ['DEFAULT'], takeDefault),
  attribute('on update', ['ON', 'UPDATE'], takeMoment),
  attribute('auto increment', ['AUTO_INCREMENT']),
  attribute('comment', ['COMMENT'], (cursor) => cursor.need(cursor.text())),
  attribute('generated', ['GENERATED', 'ALWAYS', 'AS'], takeGeneration),
  attribute('visible', ['INVISIBLE']),
  attribute('visible', ['VISIBLE']),
  attribute('compressed', ['COMPRESSED'], (cursor) => void cursor.word(/^ZLIB$/)),
  attribute('spatial', ['SRID'], (cursor) => cursor.need(cursor.word(NUMBER))),
  attribute('spatial', ['REF_SYSTEM_ID'], (cursor) => {
    cursor.symbol('=');
    cursor.need(cursor.word(NUMBER));
  }),
  attribute('storage', ['STORAGE'], (cursor) => cursor.need(cursor.word(/^(?:DISK|MEMORY|DEFAULT)$/))),
  attribute('format', ['COLUMN_FORMAT'], (cursor) => cursor.need(cursor.word(/^(?:FIXED|DYNAMIC|DEFAULT)$/))),
  attribute('engine attribute', ['ENGINE_ATTRIBUTE'], takeTextValue),
  attribute('secondary engine attribute', ['SECONDARY_ENGINE_ATTRIBUTE'], takeTextValue),
  attribute('versioning', ['WITH', 'SYSTEM', 'VERSIONING']),
  attribute('versioning', ['WITHOUT', 'SYSTEM', 'VERSIONING']),
  attribute('check', ['CHECK'], takeExpression),
];

function takeWord(cursor: TokenCursor): void {
  cursor.need(cursor.word(WORD));
}

function takeTextValue(cursor: TokenCursor): void {
  cursor.symbol('=');
  cursor.need(cursor.text());
}

/** `= YES` of an option. */
function takeValue(cursor: TokenCursor): void {
  cursor.need(cursor.symbol('='));
  if (!cursor.text()) cursor.need(cursor.word(/^[A-Z0-9_]+$/));
}

/** Every token was read before: no query, no other database. Balanced, it cannot reach beyond its parentheses. */
export function takeExpression(cursor: TokenCursor): void {
  const inner = cursor.need(cursor.group());
  if (inner.ended) throw cursor.refusal();
}

function takeGeneration(cursor: TokenCursor): void {
  if (cursor.words('ROW')) return void cursor.need(cursor.word(/^(?:START|END)$/));
  takeExpression(cursor);
  cursor.word(/^(?:VIRTUAL|STORED|PERSISTENT)$/);
}

/** `CURRENT_TIMESTAMP`, `current_timestamp(6)`. */
function takeMoment(cursor: TokenCursor): void {
  cursor.need(cursor.words('CURRENT_TIMESTAMP'));
  const inner = cursor.group();
  if (!inner) return;
  inner.word(NUMBER);
  inner.end();
}

const CONSTANT = /^(?:NULL|TRUE|FALSE|CURRENT_TIMESTAMP)$/;
/** Before a text: a character set, or what the text is. */
const BEFORE_TEXT = /^(?:_[A-Z0-9]+|[BNX]|DATE|TIME|TIMESTAMP)$/;

/** A literal, a call of a function, or an expression in parentheses. */
function takeDefault(cursor: TokenCursor): void {
  if (cursor.text()) return;
  const sign = cursor.symbol('-', '+');
  if (takeNumber(cursor)) return;
  if (sign) throw cursor.refusal();
  const constant = cursor.word(CONSTANT);
  if (constant === 'CURRENT_TIMESTAMP') return void cursor.group();
  if (constant !== null) return;
  if (cursor.word(BEFORE_TEXT) !== null) {
    // The same words are names of functions.
    if (!cursor.text()) cursor.need(cursor.group());
    return;
  }
  if (cursor.word(WORD) !== null) return void cursor.need(cursor.group());
  takeExpression(cursor);
}

function takeNumber(cursor: TokenCursor): boolean {
  if (cursor.symbol('.')) return cursor.need(cursor.word(/^\d+(?:E\d*)?$/)) !== '';
  const digits = cursor.word(/^\d[0-9A-FX]*(?:E\d*)?$/);
  if (digits === null) return false;
  if (cursor.symbol('.')) cursor.word(/^\d+(?:E\d*)?$/);
  // The lexer ends a word at the sign of an exponent.
  if (cursor.symbol('-', '+')) cursor.need(cursor.word(NUMBER));
  return true;
}
