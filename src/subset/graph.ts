import type { TargetSettings } from '../config/schema/settings.ts';
import { UserError } from '../runtime/errors.ts';
import { nearest } from '../text/nearest.ts';
import { findNames } from '../text/table-names.ts';
import type { SourceColumn, SourceForeignKey, SourceSchema, SourceTable } from './source-schema.ts';

export type SubsetSettings = NonNullable<TargetSettings['subset']>;

export interface Relationship extends SourceForeignKey {
  added: boolean;
}

export interface Graph {
  tables: Map<string, SourceTable>;
  relationships: Relationship[];
  /** Excluded references, and references to excluded tables: they become null. */
  cut: Relationship[];
}

/** Foreign keys and added relationships, without the excluded ones. Reports all mistakes at once. */
export function buildGraph(facts: SourceSchema, settings: SubsetSettings): Graph {
  const tables = new Map(facts.tables.map((table) => [table.name, table]));
  const problems = unknownTables(tables, settings);
  if (problems.length > 0) throw invalid(problems);
  const added = (settings.added_relationships ?? []).map((relationship, index) => {
    const checked = checkAdded(tables, relationship, index);
    problems.push(...checked.problems);
    return checked.relationship;
  });
  const all = [...facts.foreignKeys.map((key) => ({ ...key, added: false })), ...added];
  for (const { fk_table, ref_table } of settings.excluded_relationships ?? []) {
    if (all.some(({ from, to }) => from === fk_table && to === ref_table)) continue;
    problems.push(`excluded_relationships: ${fk_table} has no reference to ${ref_table}`);
  }
  problems.push(...conflicts(settings));
  if (problems.length > 0) throw invalid(problems);
  const isCut = ({ from, to }: Relationship): boolean =>
    (settings.excluded_tables ?? []).includes(to) ||
    (settings.excluded_relationships ?? []).some(({ fk_table, ref_table }) => fk_table === from && ref_table === to);
  return {
    tables,
    relationships: all.filter((relationship) => !isCut(relationship)),
    cut: all.filter(isCut),
  };
}

/** The settings with the source's table names; unknown and ambiguous names stay. */
export function withKnownNames(settings: SubsetSettings, facts: SourceSchema): SubsetSettings {
  const names = facts.tables.map(({ name }) => name);
  const known = (text: string): string => {
    const [name, ...others] = findNames(text, names);
    return name !== undefined && others.length === 0 ? name : text;
  };
  const between = <Pair extends { fk_table: string; ref_table: string }>(pair: Pair): Pair => ({
    ...pair,
    fk_table: known(pair.fk_table),
    ref_table: known(pair.ref_table),
  });
  const { subset_tables, copy_tables, excluded_tables, added_relationships, excluded_relationships } = settings;
  return {
    ...settings,
    ...(subset_tables && { subset_tables: subset_tables.map((each) => ({ ...each, table: known(each.table) })) }),
    ...(copy_tables && { copy_tables: copy_tables.map(known) }),
    ...(excluded_tables && { excluded_tables: excluded_tables.map(known) }),
    ...(added_relationships && { added_relationships: added_relationships.map(between) }),
    ...(excluded_relationships && { excluded_relationships: excluded_relationships.map(between) }),
  };
}

/** `a, b` or `[a, b]`. */
export function columnList(columns: string | string[]): string[] {
  return typeof columns === 'string' ? columns.split(',').map((column) => column.trim()) : columns;
}

function unknownTables(tables: Graph['tables'], settings: SubsetSettings): string[] {
  const named = [
    ...(settings.subset_tables ?? []).map(({ table }) => ({ key: 'subset_tables', table })),
    ...(settings.copy_tables ?? []).map((table) => ({ key: 'copy_tables', table })),
    ...(settings.excluded_tables ?? []).map((table) => ({ key: 'excluded_tables', table })),
    ...(['added_relationships', 'excluded_relationships'] as const).flatMap((key) =>
      (settings[key] ?? []).flatMap(({ fk_table, ref_table }) =>
        [fk_table, ref_table].map((table) => ({ key, table })),
      ),
    ),
  ];
  const names = [...tables.keys()];
  const ambiguous = named.flatMap(({ key, table }) => {
    const meant = findNames(table, tables.keys());
    return meant.length > 1 ? [`${key}: ${table} may be ${meant.join(' or ')}; write one of them with its quotes`] : [];
  });
  const unknown = named.filter(({ table }) => findNames(table, tables.keys()).length === 0);
  return [
    ...ambiguous,
    ...unknown.map(({ key, table }) => {
      const near = nearest(table, names);
      return `${key}: there is no table ${table}${near === null ? '' : `; did you mean ${near}?`}`;
    }),
  ];
}

type AddedSettings = NonNullable<SubsetSettings['added_relationships']>[number];

function checkAdded(tables: Graph['tables'], settings: AddedSettings, index: number) {
  const columns = columnList(settings.fk_columns);
  const refColumns = columnList(settings.ref_columns);
  const from = tables.get(settings.fk_table);
  const to = tables.get(settings.ref_table);
  const name = `${settings.fk_table} (${columns.join(', ')}) → ${settings.ref_table} (${refColumns.join(', ')})`;
  const problems: string[] = [];
  const column = (table: SourceTable | undefined, wanted: string): SourceColumn | undefined => {
    const found = table?.columns.find((candidate) => candidate.name === wanted);
    if (!found) problems.push(`${table?.name} has no column ${wanted}`);
    return found;
  };
  const own = columns.map((wanted) => column(from, wanted));
  const referred = refColumns.map((wanted) => column(to, wanted));
  if (own.length !== referred.length) problems.push(`${own.length} columns refer to ${referred.length}`);
  for (const [position, one] of own.entries()) {
    const other = referred[position];
    if (!one || !other || one.family === other.family) continue;
    problems.push(`${one.name} is ${one.type} and ${other.name} is ${other.type}: they cannot be compared`);
  }
  const isKey = to?.keys.some((key) => sameColumns(key, refColumns)) ?? false;
  if (problems.length === 0 && !isKey) {
    problems.push(`${settings.ref_table} has no primary key or unique index of exactly ${refColumns.join(', ')}`);
  }
  return {
    problems: problems.map((problem) => `added_relationships: ${name}: ${problem}`),
    relationship: {
      id: `added ${index}`,
      name: 'added_relationships',
      from: settings.fk_table,
      columns,
      to: settings.ref_table,
      refColumns,
      matchFull: false,
      // A key serves as an index.
      indexed: from?.keys.some((key) => columns.includes(key[0] ?? '')) ?? false,
      added: true,
    },
  };
}

function sameColumns(key: string[], columns: string[]): boolean {
  return key.length === columns.length && key.every((column) => columns.includes(column));
}

const ROLES = ['subset_tables', 'copy_tables', 'excluded_tables'] as const;

function conflicts(settings: SubsetSettings): string[] {
  const named = ROLES.map((role) => ({
    role,
    tables: new Set((settings[role] ?? []).map((item) => (typeof item === 'string' ? item : item.table))),
  }));
  return named.flatMap(({ role, tables }, index) =>
    named
      .slice(index + 1)
      .flatMap((other) =>
        [...tables]
          .filter((table) => other.tables.has(table))
          .map((table) => `${table} is in ${role} and in ${other.role}`),
      ),
  );
}

function invalid(problems: string[]): UserError {
  return new UserError('subset_invalid', 'The configured subset does not match the source database', {
    details: problems,
    hint: 'Correct these settings in the section subset of the target.',
  });
}
