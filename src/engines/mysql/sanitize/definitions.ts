import type { ObjectDefinitionsRequest, StoredDefinition } from '../../facets/sanitize.ts';
import { withoutDefiner } from '../catalog/definitions/statement-text.ts';
import { lexicalModeOf } from '../catalog/definitions/tokens.ts';
import { detailsOf } from '../details.ts';
import { readDefinitionsFile } from '../restore/rows/fill.ts';
import { counterOf, withoutCounter } from '../restore/stored-table.ts';

/** The statements in the file of definitions, named with the database of the snapshot's source. */
export async function readDefinitions({ manifest, read }: ObjectDefinitionsRequest): Promise<StoredDefinition[]> {
  const { database } = detailsOf(manifest);
  const { definitions } = await readDefinitionsFile(manifest, read, { remoteTables: true });
  const { tables, sequences, routines, views, triggers, events } = definitions;
  return [
    ...tables.flatMap(({ name, create, indexes, foreignKeys }): StoredDefinition[] => [
      {
        name: `${database}.${name}.(table)`,
        text: [withoutCounter(create), ...indexes.flat(), ...foreignKeys].join('\n'),
      },
      { name: `${database}.${name}.(auto_increment)`, text: counterOf(create), creates: 'value' },
    ]),
    ...sequences.flatMap(({ name, create, next }): StoredDefinition[] => [
      { name: `${database}.${name}.(sequence)`, text: create },
      { name: `${database}.${name}.(sequence set)`, text: next, creates: 'value' },
    ]),
    ...[...routines, ...views, ...triggers, ...events].map(({ kind, name, create, sql_mode }) => ({
      name: `${database}.${name}.(${kind.toLowerCase()})`,
      // A load makes the loading user the definer.
      text: withoutDefiner(create, lexicalModeOf(sql_mode)),
    })),
  ];
}
