import { tokensOf } from './tokens.ts';

export interface Entries {
  /** Up to the parenthesis that opens. */
  head: string;
  /** Columns, keys and constraints. */
  entries: string[];
  /** From the parenthesis that closes. */
  tail: string;
}

/** By tokens: a name may hold line feeds, commas and parentheses. */
export function entriesOf(create: string): Entries {
  const borders: number[] = [];
  let depth = 0;
  for (const { text, at } of tokensOf(create)) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    const isBorder = text === '(' ? depth === 1 : text === ')' ? depth === 0 : text === ',' && depth === 1;
    if (isBorder) borders.push(at);
    if (text === ')' && depth === 0) break;
  }
  const [start = create.length] = borders;
  const end = borders.at(-1) ?? create.length;
  return {
    head: create.slice(0, start + 1),
    entries: borders.slice(0, -1).map((border, at) => create.slice(border + 1, borders[at + 1]).trim()),
    tail: create.slice(end),
  };
}

export function joinEntries({ head, entries, tail }: Entries): string {
  return `${head}\n${entries.map((entry) => `  ${entry}`).join(',\n')}\n${tail}`;
}

/** The statement without what is quoted as text, in names without line feeds: for patterns that look for words. */
export function withoutTexts(sql: string): string {
  return sql.replace(QUOTED, (text) => {
    if (text.startsWith('`')) return text.replaceAll(/\s/g, ' ');
    return text.startsWith("'") || text.startsWith('"') ? "''" : text;
  });
}

/** Texts, names, and comments, in which quotes are none. */
const QUOTED = new RegExp(
  [
    "'(?:[^'\\\\]|\\\\.|'')*'",
    '"(?:[^"\\\\]|\\\\.|"")*"',
    '`(?:[^`]|``)*`',
    '--(?=[\\u0000-\\u0020]|$)[^\\n]*|#[^\\n]*',
    '/\\*(?!!|M!)[\\s\\S]*?\\*/',
    '/\\*M?!|\\*/',
  ].join('|'),
  'gsu',
);

/** ``CONSTRAINT `c` FOREIGN KEY (`a`, `b`) REFERENCES `t` (`a`, `b`) ON DELETE …``; a table elsewhere has its database before it. */
export function referredTable(clause: string): string | null {
  const name = '`((?:[^`]|``)*)`';
  const match = new RegExp(`^CONSTRAINT ${name} FOREIGN KEY \\((?:${name}(?:, ?)?)+\\) REFERENCES ${name} \\(`).exec(
    clause,
  );
  return match?.[3]?.replaceAll('``', '`') ?? null;
}
