import type { WarningEvent } from '../../../results/events.ts';
import type { DefinitionOnly } from '../../../results/manifest/definitions-only.ts';
import { UserError } from '../../../runtime/errors.ts';
import { splitName, tableName } from '../../../text/table-names.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { compareNames } from '../../shared/verify.ts';
import { type RemoteObjects, remoteText } from '../catalog/foreign-tables.ts';
import type { Inventory } from '../catalog/introspect.ts';
import { isTableData } from '../dump/archive.ts';
import type { ArchiveEntry } from '../dump/archive-contents.ts';

/** An object that is not created, because it leads to another server or needs one that does. */
export interface RemoteEntry extends EntryName {
  /** The foreign table or server that it needs; itself where it is one. */
  needs: EntryName;
}

type EntryName = Pick<ArchiveEntry, 'kind' | 'schema' | 'tag'>;

/**
 * Entries of objects that lead to another server. A user mapping has no oid, and no recorded dependency on its server.
 */
const REMOTE = /^(FOREIGN TABLE|SERVER|USER MAPPING) /;

interface Choice {
  remoteTables?: boolean | undefined;
  /** Schemas that are restored; all where it is absent. */
  schemas?: string[];
  /** Tables that may be created by request. */
  planned?: DefinitionOnly[] | undefined;
}

/**
 * An archive's entries without foreign tables, foreign servers, user mappings and all that depends on them, at any
 * distance. Rejects where that would be a table of the database itself.
 */
export function leaveOutRemote(entries: ArchiveEntry[], { remoteTables = false, schemas, planned = [] }: Choice = {}) {
  const roots = entries.filter(({ text }) => REMOTE.test(text));
  if (roots.length === 0) return { entries, leftOut: [] };
  if (roots.some(({ kind }) => kind === ''))
    throw restoreFailed('The format of the archive is not known', [], 'Update this program.');
  if (remoteTables) {
    assertPlanned(roots, planned);
    return { entries, leftOut: [] };
  }
  const needs = new Map(roots.map((root) => [root.dumpId, root]));
  for (let known = 0; known < needs.size; ) {
    known = needs.size;
    for (const entry of entries) {
      const first = entry.needs.find((id) => needs.has(id));
      if (first === undefined || needs.has(entry.dumpId)) continue;
      needs.set(entry.dumpId, needs.get(first) ?? entry);
    }
  }
  const leftOut = entries.flatMap((entry) => {
    const root = needs.get(entry.dumpId);
    const isWanted = entry.schema === '' || (schemas?.includes(entry.schema) ?? true);
    // Rows go with their table.
    return root && isWanted && !isTableData(entry) ? [{ ...nameIn(entry), needs: nameIn(root) }] : [];
  });
  assertNoTablesLeftOut(leftOut.filter(({ kind }) => kind === 'TABLE'));
  return { entries: entries.filter(({ dumpId }) => !needs.has(dumpId)), leftOut };
}

function nameIn({ kind, schema, tag }: EntryName): EntryName {
  return { kind, schema, tag };
}

/** A table is created on request only where the plan has named it. */
function assertPlanned(roots: EntryName[], planned: DefinitionOnly[]): void {
  const names = roots.filter(({ kind }) => kind === 'FOREIGN TABLE').map(nameOf);
  const unplanned = names.filter((name) => !planned.some(({ table }) => table === name));
  if (unplanned.length === 0) return;
  throw new UserError(
    'content_refused',
    `The manifest does not name foreign tables of the snapshot: ${unplanned.join(', ')}`,
    { hint: 'Nothing was changed. Load without --remote-tables, or build the snapshot again.' },
  );
}

/** Their rows would be missing. */
function assertNoTablesLeftOut(tables: RemoteEntry[]): void {
  if (tables.length === 0) return;
  throw new UserError('remote_tables_needed', 'Tables of the snapshot cannot be created without foreign tables', {
    details: tables.map((table) => `${nameOf(table)} needs ${textOf(table.needs)}`),
    hint: 'Nothing was changed. To create them, load the original with: tool load --remote-tables. A sanitized snapshot or a subset cannot have them: remove the dependency in the source, or leave the schema out (schema_config).',
  });
}

/** Their names have arguments, which may hold dots. */
const ROUTINES = new Set(['FUNCTION', 'PROCEDURE', 'AGGREGATE']);

function nameOf({ kind, schema, tag }: EntryName): string {
  if (schema === '') return tag;
  return ROUTINES.has(kind) ? `${schema}.${tag}` : tableName(schema, tag);
}

function textOf(entry: EntryName): string {
  // The name of a mapping begins with its kind.
  return entry.kind === 'USER MAPPING' ? nameOf(entry) : `${entry.kind.toLowerCase()} ${nameOf(entry)}`;
}

/** Entries that are no objects of their own. */
const PARTS = new Set([
  ...['COMMENT', 'DEFAULT', 'SEQUENCE OWNED BY', 'SEQUENCE SET', 'INDEX ATTACH', 'SECURITY LABEL'],
  'MATERIALIZED VIEW DATA',
]);
const LEFT_OUT = 'remote_tables_left_out';

/** Returns warnings of objects that a restore did not create, without those that the plan has named. */
export function leftOutWarnings(
  leftOut: RemoteEntry[],
  { definitions_only: tables = [], foreign_servers: servers = [] }: RemoteObjects = {},
): WarningEvent[] {
  const warning = (message: string): WarningEvent => ({ event: 'warning', code: LEFT_OUT, message });
  const planned = new Set([
    ...tables.map(({ table }) => `FOREIGN TABLE ${table}`),
    ...servers.map((name) => `SERVER ${name}`),
  ]);
  const served = new Set(leftOut.filter(({ kind }) => kind === 'SERVER').map(({ tag }) => tag));
  const unplanned = leftOut.filter(
    (entry) =>
      entry.needs.kind === entry.kind &&
      REMOTE.test(`${entry.kind} `) &&
      !planned.has(`${entry.kind} ${nameOf(entry)}`) &&
      // The mapping of a server that is named already.
      ![...served].some((server) => entry.tag.endsWith(` SERVER ${server}`)),
  );
  const dependents = leftOut.filter(({ kind, needs }) => needs.kind !== kind && !REMOTE.test(`${kind} `));
  return [
    ...(unplanned.length === 0
      ? []
      : [warning(`Not created, because they lead to other servers: ${unplanned.map(textOf).join(', ')}`)]),
    ...dependents.filter(({ kind }) => !PARTS.has(kind)).map((entry) => warning(dependentText(entry))),
  ];
}

function dependentText(entry: RemoteEntry): string {
  return entry.kind === 'TABLE ATTACH'
    ? `The partition ${nameOf(entry)} is a foreign table: it is not created, and its rows are not in the snapshot`
    : `The ${textOf(entry)} needs the ${textOf(entry.needs)}: it is not created`;
}

/** Returns a plan's warnings of foreign tables in these schemas, and of foreign servers. */
export function remoteWarnings(
  { definitions_only = [], foreign_servers: servers = [] }: RemoteObjects,
  { schemas, created }: { schemas: string[]; created: boolean },
): WarningEvent[] {
  const tables = definitions_only.filter(({ table }) => schemas.includes(splitName(table).schema));
  const list = remoteText({ definitions_only: tables, foreign_servers: servers });
  if (list === '') return [];
  const [code, message] = created
    ? ['remote_tables_created', `Created by --remote-tables, and read and write rows outside the destination: ${list}`]
    : [
        LEFT_OUT,
        `Not created, with the objects that depend on them, because the rows are outside the database: ${list}. To create them: tool load --remote-tables`,
      ];
  return [{ event: 'warning', code, message }];
}

/** Kinds of the inventory by kinds of entries, where a name is the same in both. */
const KINDS: Record<string, string[]> = {
  VIEW: ['view'],
  'MATERIALIZED VIEW': ['view', 'populated materialized view'],
  INDEX: ['index'],
  STATISTICS: ['extended statistics'],
  TYPE: ['type'],
  DOMAIN: ['type'],
};

/** Kinds whose name in an archive has a space instead of a dot: `orders checked`. */
const OF_TABLES: Record<string, string> = {
  CONSTRAINT: 'constraint',
  'CHECK CONSTRAINT': 'constraint',
  'FK CONSTRAINT': 'constraint',
  TRIGGER: 'trigger',
  RULE: 'rule',
  POLICY: 'policy',
};

/**
 * Splits an inventory into what a restore without these objects must have, and what it may lack. Foreign tables are in
 * neither; the names of other objects come from the archive, which spells some of them differently.
 */
export function divideInventory(inventory: Inventory, leftOut: RemoteEntry[]) {
  const expected = { ...inventory, objects: { ...inventory.objects } };
  const optional: Record<string, ReadonlySet<string>> = {};
  if (leftOut.length === 0) return { expected, optional };
  const withoutKind = (names: string[], entry: string): string[] =>
    names.filter((name) => !leftOut.some((each) => each.kind === entry && isCalled(each, name)));
  for (const [kind, names] of Object.entries(inventory.objects)) {
    if (kind === 'table') {
      expected.objects[kind] = withoutKind(names, 'FOREIGN TABLE');
      continue;
    }
    const without = new Set(names.filter((name) => leftOut.some((entry) => isOf(entry, { kind, name }))));
    expected.objects[kind] = names.filter((name) => !without.has(name));
    optional[kind] = without;
  }
  const sequences = withoutKind(
    inventory.sequences.map(({ name }) => name),
    'SEQUENCE',
  );
  expected.sequences = inventory.sequences.filter(({ name }) => sequences.includes(name));
  return { expected, optional };
}

function isCalled({ schema, tag }: EntryName, name: string): boolean {
  const own = splitName(name);
  return own.schema === schema && own.rest === tag;
}

/** Reports whether an object of an inventory may be the entry, or a part of it such as a check of a foreign table. */
function isOf({ kind: entry, schema, tag }: RemoteEntry, { kind, name }: { kind: string; name: string }): boolean {
  const own = splitName(name);
  // An event trigger is in no schema.
  if (kind === 'event trigger') return entry === 'EVENT TRIGGER' && name === tag;
  if (own.schema !== schema) return false;
  if (KINDS[entry]?.includes(kind)) return tag === own.rest;
  if (OF_TABLES[entry] === kind) return spaced(tag) === spaced(own.rest);
  if (ROUTINES.has(entry) && kind === 'function') return own.rest.startsWith(`${tag.slice(0, tag.indexOf('('))}(`);
  const hasParts = entry === 'FOREIGN TABLE' || entry === 'DOMAIN';
  return hasParts && kind === 'constraint' && own.rest.startsWith(`${tag}.`);
}

function spaced(name: string): string {
  return name.replaceAll('.', ' ');
}

/** The differences in the names of objects of each kind. */
export function compareObjectNames({ expected, optional }: ReturnType<typeof divideInventory>, found: Inventory) {
  return Object.entries(expected.objects).flatMap(([kind, names]) => {
    const known = (found.objects[kind] ?? []).filter((name) => !optional[kind]?.has(name));
    return compareNames(kind, names, new Set(known));
  });
}
