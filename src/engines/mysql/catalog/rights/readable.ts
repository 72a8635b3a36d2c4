import { isDeepStrictEqual } from 'node:util';
import type { HiddenObjects } from '../../../../results/manifest/hidden-objects.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { whatIsHidden } from '../../../../text/format-objects.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { DENIED } from '../../connection/error-numbers.ts';
import { quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { Definitions, TableDefinition } from '../definitions/definitions.ts';
import { type CodeRow, readDefinitions } from '../definitions/read-definitions.ts';
import { entriesOf } from '../definitions/table-entries.ts';
import { isWord, lexicalModeOf, significant, type Token, tokensOf } from '../definitions/tokens.ts';
import { viewNeeds } from '../definitions/view-needs.ts';
import { type Inventory, readInventory, type Server } from '../introspect.ts';
import type { CatalogTable } from '../tables.ts';
import { assertNotDenied, explainDenied } from './denied.ts';
import { grantOnDatabase, grantText, readRights, type Scope, TABLE_RIGHTS } from './rights.ts';
import { readStoredInventory } from './stored-inventory.ts';

export interface Readable {
  definitions: Definitions;
  inventory: Inventory;
  hidden: HiddenObjects[];
}

interface UnreadableCode extends CodeRow {
  why: string;
  denied: boolean;
}

interface HiddenEntry extends HiddenObjects {
  message: string | null;
}

export async function readReadable(
  { report }: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { url, server, tables }: { url: DatabaseUrl; server: Server; tables: CatalogTable[] },
): Promise<Readable> {
  const database = url.database ?? '';
  const rights = await readRights(session);
  const before = await readInventory(session, database);
  const unreadable: UnreadableCode[] = [];
  const read = await readDefinitions(session, database, (_what, why, { kind, name, error }) => {
    unreadable.push({ kind, name, why, denied: isDenied(error) });
  }).catch((error) => explainDenied(session, url, error));
  const present = await readInventory(session, database);
  if (!isDeepStrictEqual(present, before)) {
    throw new UserError(
      'source_changing',
      `Objects of ${url.display} were created, changed or dropped during the build`,
      {
        hint: 'Nothing was stored. Run this again when no other session does so.',
      },
    );
  }
  const scope: Scope = { database, server, rights };
  if (read.tables.length === 0 && read.views.length === 0 && mayMissTables(scope)) {
    await assertNotDenied(session, url, 'The user may not see any table');
  }
  if (hidesColumns(tables, read)) await assertNotDenied(session, url, 'The server hides columns from the user');
  const { definitions, dependents } = withoutDependents(read, { ...scope, unreadable });
  const hidden = [...unlisted(scope, definitions), ...named(scope, unreadable), ...dependents];
  for (const { message } of hidden) {
    if (message !== null) report({ event: 'warning', code: 'objects_hidden', message });
  }
  for (const { kind, name, why } of unreadable.filter(({ denied }) => !denied)) {
    const message = `The ${kind.toLowerCase()} ${name} cannot be read and is left out: ${why}`;
    report({ event: 'warning', code: 'definition_unreadable', message });
  }
  return {
    definitions,
    inventory: await readStoredInventory(session, scope, { present, definitions, read }),
    hidden: hidden.map(({ message: _, ...objects }) => objects),
  };
}

/** Without a number: the server lists the object but hides its definition. */
function isDenied(error: unknown): boolean {
  return !(error instanceof SqlError) || DENIED.has(error.errno);
}

const ROUTINE_RIGHTS = ['EXECUTE', 'ALTER ROUTINE', 'CREATE ROUTINE'];

function mayMissTables({ database, rights }: Scope): boolean {
  return !TABLE_RIGHTS.some((right) => rights.onDatabase(database, right));
}

function unlisted(scope: Scope, { tables }: Definitions): HiddenEntry[] {
  const { database, rights } = scope;
  const found: Pick<HiddenObjects, 'kind' | 'tables' | 'right'>[] = [];
  if (mayMissTables(scope)) {
    const kinds = scope.server.flavour === 'mariadb' ? ['table', 'sequence'] : ['table'];
    found.push(...kinds.map((kind) => ({ kind, right: 'SELECT' })), { kind: 'view', right: 'SELECT, SHOW VIEW' });
  }
  const withoutTriggers = tables.filter(({ name }) => !rights.onTable(database, name, 'TRIGGER'));
  const others = mayMissTables(scope);
  if (withoutTriggers.length > 0 || others) {
    const isSome = withoutTriggers.length < tables.length && !others;
    const some = isSome && { tables: withoutTriggers.map(({ name }) => name) };
    found.push({ kind: 'trigger', right: 'TRIGGER', ...some });
  }
  if (!seesRoutines(scope) && !ROUTINE_RIGHTS.some((right) => rights.onDatabase(database, right))) {
    found.push({ kind: 'routine', right: routineRight(scope).right });
  }
  if (!rights.onDatabase(database, 'EVENT')) found.push({ kind: 'event', right: 'EVENT' });
  return found.map((each) => {
    const objects = { ...each, names: [] };
    const what = whatIsHidden(objects).replace(/^any /, '');
    const message = `The user may not see ${what}: those that exist are not in the snapshot. To include them: ${grantOf(scope, each)}`;
    return { ...objects, message };
  });
}

function named(scope: Scope, unreadable: UnreadableCode[]): HiddenEntry[] {
  return [...Map.groupBy(unreadable, ({ kind, denied }) => `${denied} ${kind}`).values()].map(
    (objects): HiddenEntry => {
      const [{ kind, denied } = { kind: '', denied: false }] = objects;
      const names = objects.map(({ name }) => name);
      if (!denied) return { kind: kind.toLowerCase(), names, message: null };
      const right = KIND_RIGHTS[kind] ?? routineRight(scope).right;
      const each = { kind: kind.toLowerCase(), names, right };
      const message = `The user may not read the ${whatIsHidden(each)}: not in the snapshot. To include ${names.length === 1 ? 'it' : 'them'}: ${grantOf(scope, each)}`;
      return { ...each, message };
    },
  );
}

const KIND_RIGHTS: Record<string, string> = { VIEW: 'SELECT, SHOW VIEW', TRIGGER: 'TRIGGER', EVENT: 'EVENT' };

function seesRoutines({ database, server, rights }: Scope): boolean {
  if (server.flavour === 'mysql') return rights.onServer('SHOW_ROUTINE') || rights.onServer('SELECT');
  return rights.onTable('mysql', 'proc', 'SELECT') || rights.onDatabase(database, 'SHOW CREATE ROUTINE');
}

function routineRight({ server: { flavour, version } }: Scope): { right: string; on: string | null } {
  const isSince = (first: string): boolean => version.localeCompare(first, 'en', { numeric: true }) >= 0;
  if (flavour === 'mysql') return { right: isSince('8.0.20') ? 'SHOW_ROUTINE' : 'SELECT on *.*', on: '*.*' };
  return isSince('11.3')
    ? { right: 'SHOW CREATE ROUTINE', on: null }
    : { right: 'SELECT on mysql.proc', on: '`mysql`.`proc`' };
}

function grantOf(scope: Scope, { right = '' }: Pick<HiddenObjects, 'right'>): string {
  const { database, rights } = scope;
  const routine = routineRight(scope);
  const on = right === routine.right ? routine.on : null;
  const wanted = right.replace(/ on .*$/, '');
  return on === null ? grantOnDatabase(database, wanted, rights) : grantText([wanted], on, rights);
}

interface UnreadableObjects extends Scope {
  unreadable: UnreadableCode[];
}

/** Leaves out views and foreign keys that depend on hidden objects: a load could not create them. */
function withoutDependents(read: Definitions, scope: UnreadableObjects) {
  const { database, rights, unreadable } = scope;
  const invisible = mayMissTables(scope);
  const hiddenViews = new Set(unreadable.filter(({ kind }) => kind === 'VIEW').map(({ name }) => rights.fold(name)));
  const hiddenRoutines = new Set(
    unreadable.filter(({ kind }) => /^(FUNCTION|PACKAGE)/.test(kind)).map(({ name }) => name.toLowerCase()),
  );
  const anyRoutine = !seesRoutines(scope) && !ROUTINE_RIGHTS.some((right) => rights.onDatabase(database, right));
  const stored = new Set([...read.tables, ...read.sequences, ...read.views].map(({ name }) => rights.fold(name)));
  const routines = new Set(read.routines.map(({ name }) => name.toLowerCase()));
  const lacksTable = (name: string): boolean =>
    !stored.has(rights.fold(name)) && (invisible || hiddenViews.has(rights.fold(name)));
  const lacksRoutine = (name: string): boolean => !routines.has(name) && (anyRoutine || hiddenRoutines.has(name));
  assertReadableSequences(read.tables, { ...scope, lacks: lacksTable });

  const dependents: HiddenEntry[] = [];
  const leave = (kind: string, name: string, needs: { what: string; right: string }): void => {
    const message = `The ${kind} ${name} needs ${needs.what}, which the user may not see: not in the snapshot`;
    dependents.push({ kind, names: [name], right: needs.right, message });
  };
  let { views } = read;
  for (let before = -1; before !== views.length; ) {
    before = views.length;
    views = views.filter(({ name, create, sql_mode }) => {
      const needs = viewNeeds(create, lexicalModeOf(sql_mode));
      const table = [...needs.tables].find(lacksTable);
      const routine = [...needs.routines].find(lacksRoutine);
      if (table === undefined && routine === undefined) return true;
      stored.delete(rights.fold(name));
      hiddenViews.add(rights.fold(name));
      if (table !== undefined) leave('view', name, { what: table, right: 'SELECT, SHOW VIEW' });
      else leave('view', name, { what: `function ${routine}`, right: routineRight(scope).right });
      return false;
    });
  }
  const tables = read.tables.map((table) => {
    const foreignKeys = table.foreignKeys.filter((clause) => {
      const tokens = significant(clause);
      const target = referencedTable(tokens);
      if (target === null || !lacksTable(target)) return true;
      leave('foreign key', `${table.name}.${tokens[1]?.value}`, { what: `table ${target}`, right: 'SELECT' });
      return false;
    });
    return foreignKeys.length === table.foreignKeys.length ? table : { ...table, foreignKeys };
  });
  return { definitions: { ...read, tables, views }, dependents };
}

function referencedTable(tokens: Token[]): string | null {
  const at = tokens.findIndex((token) => isWord(token, 'REFERENCES'));
  return tokens[at + 2]?.text === '.' ? null : (tokens[at + 1]?.value ?? null);
}

/** A table cannot be created without the sequence of its default. */
function assertReadableSequences(
  tables: TableDefinition[],
  { database, rights, lacks }: UnreadableObjects & { lacks: (name: string) => boolean },
): void {
  for (const { name, create } of tables) {
    const tokens = significant(create);
    const sequence = tokens.findIndex((token) => isWord(token, 'NEXTVAL')) + 2;
    if (sequence === 1) continue;
    const [first, dot, second] = tokens.slice(sequence);
    const needed = (dot?.text === '.' ? second?.value : first?.value) ?? '';
    if (!lacks(needed)) continue;
    throw new UserError('dump_failed', `The table ${name} needs the sequence ${needed}, which the user may not see`, {
      hint: `Nothing was stored. Let an administrator run on the source: ${grantText(['SELECT'], quotePath(database, needed), rights)}`,
    });
  }
}

/** SHOW CREATE TABLE may show columns that the catalog hides. */
function hidesColumns(tables: CatalogTable[], definitions: Definitions): boolean {
  const listed = new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]));
  return definitions.tables.some(({ name, create }) =>
    entriesOf(create)
      .entries.map(firstOf)
      .some((token) => token?.kind === 'name' && listed.get(name)?.has(token.value) === false),
  );
}

function firstOf(entry: string): Token | undefined {
  for (const token of tokensOf(entry)) if (token.kind !== 'space' && token.kind !== 'comment') return token;
  return undefined;
}
