import { UserError } from '../runtime/errors.ts';
import type { Graph, Relationship, SubsetSettings } from './graph.ts';
import type { SourceForeignKey, SourceTable } from './source-schema.ts';

interface Given {
  settings: SubsetSettings;
  paths: Map<string, string[]>;
  filled: (table: string) => boolean;
}

/** The columns that become null for references that are not followed; refuses references that cannot be null. */
export function assertReferencesPossible(graph: Graph, { settings, paths, filled }: Given): Map<string, Set<string>> {
  const nulled = new Map<string, Set<string>>();
  const impossible: Relationship[] = [];
  for (const relationship of graph.cut.filter(({ from }) => filled(from))) {
    const columns = columnsToNull(graph, relationship);
    if (columns.length === 0) impossible.push(relationship);
    const known = nulled.get(relationship.from) ?? new Set();
    nulled.set(relationship.from, known);
    for (const column of columns) known.add(column);
  }
  if (impossible.length > 0) throw refusal(impossible, { settings, paths, filled });
  return nulled;
}

/** One null disables a reference, except with MATCH FULL. Columns of no other reference come first. */
function columnsToNull({ tables, relationships }: Graph, cut: Relationship): string[] {
  const able = nullableColumns(tables.get(cut.from), cut);
  if (cut.matchFull) return able;
  const shared = new Set(relationships.filter(({ from }) => from === cut.from).flatMap(({ columns }) => columns));
  const own = able.filter((name) => !shared.has(name));
  return own.length > 0 ? own : able;
}

/** The columns of which one, with MATCH FULL all, can be null instead of the reference; empty where none can. */
export function nullableColumns(table: SourceTable | undefined, { columns, matchFull }: SourceForeignKey): string[] {
  const facts = new Map(table?.columns.map((column) => [column.name, column]));
  const able = columns.filter((name) => facts.get(name)?.nullable === true && !facts.get(name)?.generated);
  return matchFull && able.length < columns.length ? [] : able;
}

function refusal(impossible: Relationship[], { settings, paths }: Given): UserError {
  const excluded = settings.excluded_tables ?? [];
  const details = impossible.flatMap(({ from, columns, to }) => [
    `${from} (${columns.join(', ')}) must refer to a row of ${to}, which ${excluded.includes(to) ? 'is excluded' : 'is not followed'}`,
    `  ${from} is included by: ${(paths.get(from) ?? [from]).join(' ')}`,
  ]);
  return new UserError(
    'subset_impossible',
    'Cannot create the subset: references that cannot be null point to excluded tables',
    {
      details: [...details, '', 'This works in the section subset of the target:', '', ...remedy(impossible, settings)],
      hint: 'Include the rows with the block above, or exclude the referencing tables too. Cycles need no exclusion.',
    },
  );
}

function remedy(impossible: Relationship[], settings: SubsetSettings): string[] {
  const tables = (settings.excluded_tables ?? []).filter((table) => !impossible.some(({ to }) => to === table));
  const relationships = (settings.excluded_relationships ?? []).filter(
    ({ fk_table, ref_table }) => !impossible.some(({ from, to }) => from === fk_table && to === ref_table),
  );
  const list = (key: string, items: string[][]): string[] =>
    items.length === 0 ? [`${key}: []`] : [`${key}:`, ...items.flat()];
  return [
    ...(settings.excluded_tables
      ? list(
          'excluded_tables',
          tables.map((table) => [`  - ${JSON.stringify(table)}`]),
        )
      : []),
    ...(settings.excluded_relationships
      ? list(
          'excluded_relationships',
          relationships.map(({ fk_table, ref_table }) => [
            `  - fk_table: ${JSON.stringify(fk_table)}`,
            `    ref_table: ${JSON.stringify(ref_table)}`,
          ]),
        )
      : []),
  ];
}
