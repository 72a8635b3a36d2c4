import { tokensOf } from './tokens.ts';

export interface Entries {
  head: string;
  entries: string[];
  tail: string;
}

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

/** For patterns of words: without texts, and names without line feeds. */
export function withoutTexts(sql: string): string {
  return sql.replace(QUOTED, (text) => {
    if (text.startsWith('`')) return text.replaceAll(/\s/g, ' ');
    return text.startsWith("'") || text.startsWith('"') ? "''" : text;
  });
}

/** Texts, names and comments: a quote in a comment is not one. */
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

/** Names in backticks, of a text without quoted texts. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'));
}

/** ``CONSTRAINT `c` FOREIGN KEY (`a`, `b`) REFERENCES `t` (`a`, `b`) ON DELETE …`` */
const NAME = '`((?:[^`]|``)*)`';
const FOREIGN_KEY = new RegExp(`^CONSTRAINT ${NAME} FOREIGN KEY \\((?:${NAME}(?:, ?)?)+\\) REFERENCES ${NAME} \\(`);

export function foreignKeyName(clause: string): string | null {
  return FOREIGN_KEY.exec(clause)?.[1]?.replaceAll('``', '`') ?? null;
}

/** `null` for a table of another database, which is qualified. */
export function referredTable(clause: string): string | null {
  return FOREIGN_KEY.exec(clause)?.[3]?.replaceAll('``', '`') ?? null;
}
