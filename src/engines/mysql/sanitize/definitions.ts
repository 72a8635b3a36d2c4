import type { ObjectDefinitionsRequest, StoredDefinition } from '../../facets/sanitize.ts';
import { detailsOf } from '../details.ts';
import { readDefinitionsFile } from '../restore/rows/fill.ts';

/** The statements in the file of definitions, named with the database of the snapshot's source. */
export async function readDefinitions({ manifest, read }: ObjectDefinitionsRequest): Promise<StoredDefinition[]> {
  const { database } = detailsOf(manifest);
  const { definitions } = await readDefinitionsFile(manifest, read, { remoteTables: true });
  const { tables, routines, views, triggers, events } = definitions;
  return [
    ...tables.map(({ name, create, indexes, foreignKeys }) => ({
      name: `${database}.${name}.(table)`,
      text: [create, ...indexes.flat(), ...foreignKeys].join('\n'),
    })),
    ...[...routines, ...views, ...triggers, ...events].map(({ kind, name, create }) => ({
      name: `${database}.${name}.(${kind.toLowerCase()})`,
      text: create,
    })),
  ];
}
