import { takeExpression } from './check-column.ts';
import type { TokenCursor } from './token-cursor.ts';

/** Checks a key as SHOW CREATE TABLE writes it: ``UNIQUE KEY `k` (`a`(10) DESC) USING BTREE COMMENT '…'``. */
export function checkKeyAt(cursor: TokenCursor): void {
  if (cursor.words('PRIMARY', 'KEY')) takeUsing(cursor);
  else {
    cursor.word(/^(?:UNIQUE|FULLTEXT|SPATIAL|VECTOR)$/);
    cursor.need(cursor.words('KEY'));
    cursor.need(cursor.name());
    takeUsing(cursor);
  }
  const parts = cursor.need(cursor.group());
  do takeKeyPart(parts);
  while (parts.symbol(','));
  parts.end();
  while (!cursor.ended) takeKeyOption(cursor);
}

function takeUsing(cursor: TokenCursor): boolean {
  if (!cursor.words('USING')) return false;
  cursor.need(cursor.word(/^(?:BTREE|HASH|RTREE)$/));
  return true;
}

/** A column, with the length of its prefix, or an expression. */
function takeKeyPart(cursor: TokenCursor): void {
  if (!cursor.name()) takeExpression(cursor);
  else {
    const length = cursor.group();
    length?.need(length.word(/^\d+$/));
    length?.end();
  }
  cursor.word(/^(?:ASC|DESC)$/);
  cursor.words('WITHOUT', 'OVERLAPS');
}

const PLAIN_OPTION = /^(?:VISIBLE|INVISIBLE|IGNORED|CLUSTERING)$/;

function takeKeyOption(cursor: TokenCursor): void {
  if (takeUsing(cursor) || cursor.words('NOT', 'IGNORED')) return;
  if (cursor.words('COMMENT')) return void cursor.need(cursor.text());
  if (cursor.words('WITH', 'PARSER')) {
    if (!cursor.name()) cursor.need(cursor.word(/^[A-Z0-9_]+$/));
    return;
  }
  if (cursor.word(/^(?:SECONDARY_)?ENGINE_ATTRIBUTE$/) !== null) {
    cursor.symbol('=');
    return void cursor.need(cursor.text());
  }
  // MariaDB quotes the options of an engine; those of a VECTOR key have short names.
  if (cursor.word(/^(?:KEY_BLOCK_SIZE|M|DISTANCE)$/) !== null || cursor.name()) {
    cursor.symbol('=');
    if (!cursor.text() && !cursor.name()) cursor.need(cursor.word(/^[A-Z0-9_]+$/));
    return;
  }
  const plain = cursor.need(cursor.word(PLAIN_OPTION));
  if (plain !== 'CLUSTERING') return;
  cursor.symbol('=');
  cursor.need(cursor.word(/^(?:YES|NO)$/));
}

/** A check, or the period of two columns. A foreign key is checked apart. */
export function checkConstraintAt(cursor: TokenCursor): void {
  if (cursor.words('PERIOD', 'FOR')) {
    if (!cursor.words('SYSTEM_TIME')) cursor.need(cursor.name());
    const columns = cursor.need(cursor.group());
    columns.need(columns.name() && columns.symbol(',') && columns.name());
    columns.end();
  } else {
    cursor.need(cursor.words('CONSTRAINT'));
    cursor.need(cursor.name());
    cursor.need(cursor.words('CHECK'));
    takeExpression(cursor);
    cursor.words('NOT', 'ENFORCED');
  }
  cursor.end();
}
