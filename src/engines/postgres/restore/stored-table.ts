import { splitName } from '../../../text/table-names.ts';
import type { StoredTable, TableRequest } from '../../facets/restore.ts';
import { readStoredContents } from '../dump/archive.ts';
import { type ContentsEntry, readContents } from '../dump/archive-contents.ts';

/** Kinds of entries that belong to a table, in the order in which they are shown. */
const KINDS = [
  'TABLE',
  'DEFAULT',
  'CONSTRAINT',
  'CHECK CONSTRAINT',
  'FK CONSTRAINT',
  'INDEX',
  'TRIGGER',
  'POLICY',
  'RULE',
];

/** The statements of a table in the archive's table of contents. */
export async function readTable(request: TableRequest): Promise<StoredTable | null> {
  const contents = await readStoredContents(request);
  return contents && tableIn(contents, request.table);
}

export function tableIn(contents: Buffer, table: string): StoredTable | null {
  const entries = readContents(contents);
  if (!entries) return null;
  const { schema, rest } = splitName(table);
  const all = [...entries.values()];
  const own = all.find((entry) => entry.kind === 'TABLE' && entry.schema === schema && entry.tag === rest);
  if (!own) return null;
  // A foreign key of another table depends on this one, too: its name begins with that of its own table.
  const isPart = ({ kind, tag, needs }: ContentsEntry): boolean =>
    KINDS.includes(kind) && needs.includes(own.dumpId) && (kind === 'INDEX' || tag.startsWith(`${rest} `));
  const order = ({ kind, tag }: ContentsEntry): string => `${KINDS.indexOf(kind)} ${tag}`;
  const shown = [own, ...all.filter(isPart).sort((a, b) => (order(a) < order(b) ? -1 : 1))];
  const text = shown.map(({ definition }) => `${definition.trim()}\n`).join('\n');
  return { text, structure: text, key: keyIn(shown) };
}

const PRIMARY_KEY = ' PRIMARY KEY (';

function keyIn(entries: ContentsEntry[]): string[] {
  const constraints = entries.filter(({ kind }) => kind === 'CONSTRAINT').map(({ definition }) => definition);
  return constraints.map((definition) => columnsAfter(definition, PRIMARY_KEY)).find((key) => key.length > 0) ?? [];
}

/** The names in the parentheses that the words open outside of quoted names; none where the words are absent. */
export function columnsAfter(definition: string, words: string): string[] {
  // A quoted name may contain the words.
  const at = definition.replaceAll(/"[^"]*"/g, (name) => ' '.repeat(name.length)).indexOf(words);
  if (at === -1) return [];
  const [, columns = ''] = /^((?:"[^"]*"|[^)"])*)\)/.exec(definition.slice(at + words.length)) ?? [];
  return [...columns.matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g)].map(([plain, quoted]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );
}
