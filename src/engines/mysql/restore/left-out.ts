import type { ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../../results/events.ts';
import type { DefinitionOnly } from '../../../results/manifest/definitions-only.ts';
import { UserError } from '../../../runtime/errors.ts';
import { definitionsOnlyText } from '../../../text/format-objects.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestorePlan } from '../../facets/restore.ts';
import type { Code, Definitions, TableDefinition } from '../catalog/definitions/definitions.ts';
import { isWord, lexicalModeOf, significant } from '../catalog/definitions/tokens.ts';
import { traitsOf } from '../catalog/table-traits.ts';
import type { Details } from '../details.ts';

/** Definitions of a snapshot that are created in a destination. */
export interface ArrivingDefinitions {
  definitions: Definitions;
  /** Tables whose rows are outside the database, which are not created. */
  leftOut: DefinitionOnly[];
}

/**
 * Definitions without the tables that point at rows outside the database, and without the triggers on them. What is
 * left out is never sent to a server, whatever it holds.
 */
export function leaveOutRemote(definitions: Definitions, { remoteTables = false } = {}): ArrivingDefinitions {
  const leftOut = definitionsOnlyIn(definitions).filter(
    (table) => table.remote && (!remoteTables || isImmovable(table)),
  );
  if (leftOut.length === 0) return { definitions, leftOut };
  const names = new Set(leftOut.map(({ table }) => table));
  const isRemote = ({ name }: TableDefinition): boolean => names.has(name);
  const isOnRemote = (trigger: Code): boolean => {
    const named = tableOfTrigger(trigger);
    const folded = named?.toLowerCase();
    const table =
      definitions.tables.find(({ name }) => name === named) ??
      definitions.tables.find(({ name }) => name.toLowerCase() === folded);
    return table !== undefined && isRemote(table);
  };
  return {
    definitions: {
      ...definitions,
      tables: definitions.tables.filter((table) => !isRemote(table)),
      triggers: definitions.triggers.filter((trigger) => !isOnRemote(trigger)),
    },
    leftOut,
  };
}

/** Returns a manifest's records of tables without rows of their own. */
export function definitionsOnlyIn({ tables }: Pick<Definitions, 'tables'>): DefinitionOnly[] {
  return [...traitsOf(tables)].flatMap(([table, { engines, storage }]) =>
    storage === 'own' ? [] : [{ table, engine: [...new Set(engines)].join(', '), remote: storage === 'remote' }],
  );
}

/** ``TRIGGER `x` BEFORE INSERT ON `t` ``, also with a database before the table. */
function tableOfTrigger({ create, sql_mode }: Code): string | null {
  const tokens = significant(create, lexicalModeOf(sql_mode));
  const head = tokens.findIndex((token) => isWord(token, 'TRIGGER'));
  const on = tokens.findIndex((token, at) => at > head && isWord(token, 'ON'));
  if (on === -1) return null;
  const table = tokens[on + 2]?.text === '.' ? tokens[on + 3] : tokens[on + 1];
  return (table?.kind === 'name' ? table.value : table?.text) ?? null;
}

/** Views that name one of the objects, or a view that does: they may be impossible to create without them. */
export function readersOf(views: Code[], objects: string[]): Code[] {
  const without = new Set(objects.map((name) => name.toLowerCase()));
  const named = views.map((view) => ({
    view,
    names: significant(view.create, lexicalModeOf(view.sql_mode)).map(({ kind, value, text }) =>
      (kind === 'name' ? value : text).toLowerCase(),
    ),
  }));
  const readers = new Set<Code>();
  for (let before = -1; before < readers.size; ) {
    before = readers.size;
    for (const { view, names } of named) {
      if (readers.has(view) || !names.some((name) => without.has(name) && name !== view.name.toLowerCase())) continue;
      readers.add(view);
      without.add(view.name.toLowerCase());
    }
  }
  return views.filter((view) => readers.has(view));
}

/** A plan's tables without those that an older version read rows of, although they have none of their own. */
export function onlyOwnRows<Plan extends Pick<RestorePlan, 'tables' | 'empty'>>(
  plan: Plan,
  { definitions, details, leftOut }: ArrivingDefinitions & { details: Details },
): Plan {
  const traits = traitsOf(definitions.tables);
  const isOwn = ({ file }: ManifestTable): boolean => {
    const name = details.data[file.name]?.table ?? '';
    const { storage } = traits.get(name) ?? {};
    return storage !== 'remote' && storage !== 'merged' && !leftOut.some(({ table }) => table === name);
  };
  return { ...plan, tables: plan.tables.filter(isOwn), empty: plan.empty.filter(isOwn) };
}

const LEFT_OUT = 'remote_tables_left_out';

/** Tables that MariaDB cannot rename, and so not move into the destination. */
function isImmovable({ engine }: DefinitionOnly): boolean {
  return engine.toUpperCase().includes('CONNECT');
}

/** Returns a plan's warnings of tables whose rows are outside the database; empty when there are none. */
export function remoteWarnings(tables: DefinitionOnly[], { created }: { created: boolean }): WarningEvent[] {
  const remote = tables.filter((table) => table.remote);
  const asked = remote.filter((table) => created && !isImmovable(table));
  const movable = remote.filter((table) => !created && !isImmovable(table));
  const immovable = remote.filter(isImmovable);
  const warning = (code: string, list: DefinitionOnly[], text: (names: string) => string): WarningEvent[] =>
    list.length === 0 ? [] : [{ event: 'warning', code, message: text(definitionsOnlyText(list)) }];
  return [
    ...warning(
      'remote_tables_created',
      asked,
      (names) => `Created by --remote-tables, and read and write rows outside the destination: ${names}`,
    ),
    ...warning(
      LEFT_OUT,
      movable,
      (names) =>
        `Not created, because the rows are outside the database: ${names}. To create them: tool load --remote-tables`,
    ),
    ...warning(
      LEFT_OUT,
      immovable,
      (names) => `Not created, because the rows are outside the database and the server cannot rename them: ${names}`,
    ),
  ];
}

/** The views that were not created, because what they read is left out. */
export function reportLeftOutViews({ report }: Pick<EngineContext, 'report'>, views: Code[]): void {
  if (views.length === 0) return;
  const list = views.map(({ name }) => name).join(', ');
  const message = `Views on tables that are left out were not created: ${list}`;
  report({ event: 'warning', code: LEFT_OUT, message });
}

/** A table is created on request only where the plan has named it. */
export function assertPlanned(definitions: Definitions, planned: DefinitionOnly[]): void {
  const named = new Set(planned.filter(({ remote }) => remote).map(({ table }) => table));
  const unplanned = leaveOutRemote(definitions)
    .leftOut.filter((table) => !isImmovable(table))
    .filter(({ table }) => !named.has(table));
  if (unplanned.length === 0) return;
  throw new UserError(
    'content_refused',
    `The manifest does not name tables with rows outside the database: ${definitionsOnlyText(unplanned)}`,
    { hint: 'Nothing was changed. Load without --remote-tables, or build the snapshot again.' },
  );
}
