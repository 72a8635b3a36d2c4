import type { Definitions } from './definitions/definitions.ts';
import { withoutTexts } from './definitions/table-entries.ts';
import type { Flavour } from './introspect.ts';
import { type TableTraits, traitsOf } from './table-traits.ts';

/** Parts of a definition that the other flavour lacks or understands differently. */
const FEATURES: Record<Flavour, { what: string; pattern: RegExp | ((traits: TableTraits) => boolean) }[]> = {
  mysql: [
    { what: 'generated columns', pattern: /\bGENERATED ALWAYS AS \(/ },
    { what: 'indexes on expressions', pattern: /^ {2}(?:UNIQUE )?KEY `(?:[^`]|``)*` \(.*\(\(/m },
    { what: 'columns of type JSON', pattern: /^ {2}`(?:[^`]|``)*` json\b/m },
    { what: 'a spatial reference system', pattern: /\/\*!80003 SRID / },
    { what: 'defaults that are expressions', pattern: /\bDEFAULT \(/ },
    { what: 'columns of type VECTOR', pattern: /^ {2}`(?:[^`]|``)*` vector\(/m },
  ],
  mariadb: [
    { what: 'generated columns', pattern: /\bGENERATED ALWAYS AS \(/ },
    { what: 'column types of MariaDB', pattern: /^ {2}`(?:[^`]|``)*` (?:uuid|inet4|inet6|vector\()/m },
    { what: 'compressed columns', pattern: /\/\*M!100301 COMPRESSED/ },
    { what: 'tables with history', pattern: ({ isVersioned }) => isVersioned },
    { what: 'a storage engine of MariaDB', pattern: ({ engines }) => engines.some((name) => OF_MARIADB.has(name)) },
    { what: 'options of MariaDB', pattern: /\bPAGE_CHECKSUM=|`(?:PAGE_COMPRESSED|ENCRYPTED)`=/ },
    { what: 'defaults that are expressions', pattern: /\bDEFAULT (?!current_timestamp|NULL)[a-z_]+\(/ },
  ],
};

const OF_MARIADB = new Set(['ARIA', 'COLUMNSTORE', 'S3', 'SPIDER', 'CONNECT']);

/** Why a database does not fit the other flavour, each with its first table. */
export function featuresOf(flavour: Flavour, { tables, sequences }: Definitions): string[] {
  const traits = traitsOf(tables);
  const read = tables.map(({ name, create, indexes }) => ({
    name,
    text: withoutTexts([create, ...indexes.flat().map((line) => `  ${line}`)].join('\n')),
  }));
  const found = FEATURES[flavour].flatMap(({ what, pattern }) => {
    const table = read.find(({ name, text }) => {
      const own = traits.get(name);
      return typeof pattern === 'function' ? own !== undefined && pattern(own) : pattern.test(text);
    });
    return table ? [`${what} (${table.name})`] : [];
  });
  return sequences[0] ? [...found, `sequences (${sequences[0].name})`] : found;
}

export function collationsIn({ tables, collation, routines, views, triggers, events }: Definitions): string[] {
  const found = new Set([collation]);
  for (const code of [...routines, ...views, ...triggers, ...events]) {
    for (const name of [code.collation, code.database_collation]) if (name) found.add(name);
  }
  for (const { create } of tables) {
    for (const match of withoutTexts(create).matchAll(/\bCOLLATE[ =]([a-z0-9_]+)/g)) found.add(String(match[1]));
  }
  return [...found].sort();
}
