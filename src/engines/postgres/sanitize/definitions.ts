import type { ObjectDefinitionsRequest, StoredDefinition } from '../../facets/sanitize.ts';
import { readStoredContents } from '../dump/archive.ts';
import { CONTENTS, isDefinition, readContents } from '../dump/archive-contents.ts';

/** The statements in the archive's table of contents. */
export async function readDefinitions(request: ObjectDefinitionsRequest): Promise<StoredDefinition[]> {
  const contents = await readStoredContents(request);
  if (!contents) return [];
  const entries = readContents(contents);
  // Of a format that is not known the text of the whole file.
  if (!entries) return [{ name: `-.${CONTENTS}.(file)`, text: contents.toString('latin1') }];
  return [...entries.values()].map((entry) => ({
    name: `${entry.schema || '-'}.${entry.tag}.(${entry.kind.toLowerCase()})`,
    text: entry.definition,
    ...(!isDefinition(entry) && { creates: entry.kind === 'SEQUENCE SET' ? 'value' : 'none' }),
  }));
}
