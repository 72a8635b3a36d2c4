import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDER = new URL('../../../src/engines/mysql/', import.meta.url).pathname;

/** What makes of any value a piece of SQL that can be nothing else. */
const QUOTING =
  /^(quoteName|quoteText|plainWords?|inDatabase|tablesIn|pathOf|path|keyOf|keyTable|isKey|Number|BigInt|part\.out)\(|^\w+\.map\((quoteName|quoteText|\(\{ from, to \}\) => `\$\{path\()|^[\w.]+ \? '\w*' : '\w*'$/;
const CONSTANT = /^[A-Z][A-Z_]*$/;
/**
 * Pieces of SQL that the same function has put together of those, and numbers. Whoever adds one here has looked where
 * it comes from: never a manifest, a catalogue or a configuration. `target.where` is SQL by its nature.
 */
const FRAGMENTS = new Set([
  ...'additions at definition distinct exact from grantee key literal option order own part path'.split(' '),
  ...'prefix present same select set source target.where value values where within written what'.split(' '),
  "same.join(' AND ')",
  ...['conversions', 'expressions', 'fields', 'given', 'paths', 'values'].map((list) => `${list}.join(', ')`),
]);
const SQL =
  /^\s*(SELECT|CREATE (DATABASE|TABLE|FUNCTION)|DROP|ALTER|INSERT|GRANT|RENAME|KILL|LOAD DATA|DO |SHOW|ANALYZE|DELETE|SET )/;
/** No SQL of ours, but patterns and the text of a query for a person, which the quoting functions make as well. */
const NOT_STATEMENTS = new Set(['sanitize/replacements.ts', 'sanitize/statements.ts', 'check-table.ts']);

it('builds every statement by the quoting functions alone', () => {
  const found: string[] = [];
  for (const file of globSync('**/*.ts', { cwd: FOLDER })) {
    if (NOT_STATEMENTS.has(file)) continue;
    for (const literal of literalsOf(readFileSync(`${FOLDER}${file}`, 'utf8'))) {
      if (!SQL.test(literal.text)) continue;
      found.push(...literal.holes.filter((hole) => !isSafe(hole)).map((hole) => `${file}: \${${hole}}`));
    }
  }
  expect(found).toEqual([]);
});

it('finds what is not quoted', () => {
  const [literal] = literalsOf(`execute(\`DROP DATABASE \${name} /* \${quoteName(\`a\${b}\`)} */\`)`);
  expect(literal?.holes.filter((hole) => !isSafe(hole))).toEqual(['name']);
});

function isSafe(hole: string): boolean {
  return QUOTING.test(hole) || CONSTANT.test(hole) || FRAGMENTS.has(hole);
}

interface Literal {
  text: string;
  holes: string[];
}

/** Template literals with their holes, also those within holes. */
function literalsOf(source: string): Literal[] {
  const literals: Literal[] = [];
  const read = (start: number): number => {
    const literal: Literal = { text: '', holes: [] };
    literals.push(literal);
    let at = start;
    while (at < source.length && source[at] !== '`') {
      if (source[at] === '\\') at += 2;
      else if (source.startsWith('${', at)) {
        const begin = at + 2;
        at = skip(begin);
        literal.holes.push(source.slice(begin, at).trim());
        at += 1;
      } else literal.text += source[at++];
    }
    return at + 1;
  };
  /** To the brace that ends the hole. */
  const skip = (start: number): number => {
    let depth = 0;
    let at = start;
    while (at < source.length) {
      if (source[at] === '`') at = read(at + 1);
      else if (source[at] === '{') depth += at++ >= 0 ? 1 : 0;
      else if (source[at] === '}' && depth === 0) return at;
      else if (source[at] === '}') depth -= at++ >= 0 ? 1 : 0;
      else at += 1;
    }
    return at;
  };
  // Comments hold backquotes as well, and texts with them are few.
  for (let at = 0; at < source.length; ) {
    if (source.startsWith('/*', at)) at = source.indexOf('*/', at) + 2;
    else if (source.startsWith('//', at)) at = source.indexOf('\n', at);
    else if (source[at] === "'") at = endOfText(source, at);
    else if (source[at] === '`') at = read(at + 1);
    else at += 1;
  }
  return literals;
}

function endOfText(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== "'" && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}
