import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestorePlan, RestoreRun } from '../../facets/restore.ts';
import { endLeftSessions } from '../../shared/left-sessions.ts';
import { withRightsHint } from '../../shared/restore-failed.ts';
import { tablesText } from '../../shared/rows/divide-tables.ts';
import type { BaseRecord } from '../branches/base/base-record.ts';
import type { Code, CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { withEventsDisabled } from '../catalog/definitions/events.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import type { Unreadable } from '../catalog/definitions/read-definitions.ts';
import { assertNoNameCollision, readNameCase } from '../catalog/name-case.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import type { Details } from '../details.ts';
import type { Histogram } from '../details-schema.ts';
import { endSession, findSessions } from '../server/server.ts';
import type { Dependents } from '../swap/exchange.ts';
import { assertCreatable, tryEvents } from './assert-creatable.ts';
import { checkRestored } from './check.ts';
import { openBase, rowsFromBase } from './difference/fill-difference.ts';
import type { ArrivingDefinitions } from './left-out.ts';
import { fillDatabase } from './rows/fill.ts';
import { analyzeTables } from './statistics.ts';
import { createTemporaryUser, type TemporaryUser } from './temporary-user.ts';

interface FillShadowOptions extends ArrivingDefinitions {
  run: RestoreRun;
  /** Tables with rows of their own only. */
  plan: RestorePlan;
  details: Details;
  server: MysqlSession;
  /** An empty database. */
  shadow: string;
  /** Called with the tables of the base copy that are taken as they are. */
  onReused: (tables: BaseRecord['tables']) => void;
}

/** Restores a snapshot into its shadow database, verifies it, and runs the steps before the swap. */
export async function fillShadow(context: EngineContext, options: FillShadowOptions) {
  const { run, plan, details, definitions, server, shadow } = options;
  const { cpus, read, earlier } = run;
  const triggers = definitions.triggers.map(({ name }) => name);
  assertNoNameCollision(await readNameCase(server, triggers), triggers, 'triggers');
  await assertCreatable(context, { url: withDatabase(run.url, shadow), definitions });
  await using user =
    plan.restoredBy.user === 'temporary' ? await createTemporaryUser(context, server, { ...run, shadow }) : null;
  const url = user?.url ?? withDatabase(run.url, shadow);
  const planned = plan.difference?.tables ? plan.difference : null;
  const opening = { url: run.url, earlier, definitions: definitions.tables };
  const from = planned && (await openBase(server, { ...opening, planned }));
  const fill = {
    ...{ url, plan, cpus, read, details, definitions },
    leftOut: options.leftOut.map(({ table }) => table),
    helper: user?.helper ?? null,
    fromBase: from && rowsFromBase(context, from, options.onReused),
  };
  const { code, ways } = await fillDatabase(context, fill).catch((error) =>
    Promise.reject(withRightsHint(error, plan.restoredBy)),
  );
  let { histograms } = details;
  if (!run.beforeSwap && !run.throwAway) histograms = await analyzeTables(context, { url, sessions: cpus, histograms });
  const filled = { ...options, url, user, code, histograms };
  await verifyShadow(context, filled);
  return { dependents: await runSteps(context, filled), ways };
}

interface FilledShadow extends FillShadowOptions {
  /** The shadow database, for the user that restores the content. */
  url: DatabaseUrl;
  user: TemporaryUser | null;
  code: CodeDefinitions;
  histograms: Histogram[] | undefined;
}

async function verifyShadow(
  context: EngineContext,
  { run, plan, details, definitions, leftOut, url, user, code }: FilledShadow,
): Promise<void> {
  const checked = startStep(context.report, 'check', 'Verify against the manifest');
  const created = new Set(code.views);
  const views = definitions.views.filter((view) => !created.has(view));
  await checkRestored(context, {
    ...{ url, details, plan, cpus: run.cpus, code, tables: definitions.tables },
    leftOut: [...leftOut.map(({ table }) => table), ...views.map(({ name }) => name)],
  });
  checked(`Verified ${tablesText(plan)}: row counts match`);
  await user?.permitEvents();
  await tryEvents(context, { url, code: definitions, needed: user !== null || run.beforeSwap !== undefined });
}

/** Runs the steps that may change the verified database; returns what the swap creates with its tables. */
async function runSteps(
  context: EngineContext,
  { run, server, shadow, url, code, ...filled }: FilledShadow,
): Promise<Dependents> {
  const { beforeSwap, afterLoad } = run;
  let { histograms } = filled;
  const gather = async (from: DatabaseUrl): Promise<void> => {
    histograms = await analyzeTables(context, { url: from, sessions: run.cpus, histograms });
  };
  if (beforeSwap) {
    await beforeSwap(url);
    if (!run.throwAway) await gather(url);
    // It may have changed whatever is there.
    return { code: await readDependents(server, shadow, () => {}), definers: 'mine', histograms };
  }
  const own = withDatabase(run.url, shadow);
  const changed = afterLoad
    ? await codeAfterSteps(server, {
        shadow,
        code,
        async run() {
          await afterLoad(own);
          await endLeftSessions(context.report, {
            find: () => findSessions(server, shadow),
            end: (id) => endSession(server, id),
          });
          await gather(own);
        },
      })
    : code;
  return {
    code: run.events ? changed : withEventsDisabled(changed),
    definers: run.url.parameters.definer === 'keep' ? 'theirs' : 'mine',
    histograms,
  };
}

/** A shadow database with its code, whose definers and events were written otherwise in the snapshot. */
interface StepsInDatabase {
  shadow: string;
  code: CodeDefinitions;
  run: () => Promise<void>;
}

/** Runs steps that may change any code, and returns the code to create after the swap. */
async function codeAfterSteps(server: MysqlSession, { shadow, code, run }: StepsInDatabase) {
  const before = await readDependents(server, shadow, () => {});
  await run();
  const after = await readDependents(server, shadow, refuse);
  const names = [code, after].flatMap(({ views, triggers }) => [...views, ...triggers]).map(({ name }) => name);
  const { fold } = await readNameCase(server, names);
  const keyOf = ({ kind, name }: Code): string =>
    `${kind} ${kind === 'VIEW' || kind === 'TRIGGER' ? fold(name) : name.toLowerCase()}`;
  const merged: CodeDefinitions = { ...after };
  for (const kind of ['routines', 'views', 'triggers', 'events'] as const) {
    merged[kind] = merge({ snapshot: code[kind], before: before[kind], after: after[kind] }, keyOf);
  }
  // Not in a qualified name, which is read without its database: in a text, such as that of a prepared statement.
  const naming = [merged.routines, merged.triggers, merged.events]
    .flat()
    .filter(({ create }) => create.includes(shadow));
  if (naming.length > 0) {
    const names = naming.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`);
    throw failed(names.map((what) => `${what} has the name of the shadow database, which gets another one`));
  }
  return merged;
}

/** In the present order; an object that no step has changed is that of the snapshot, also where it was not created. */
function merge(
  { snapshot, before, after }: Record<'snapshot' | 'before' | 'after', Code[]>,
  keyOf: (code: Code) => string,
): Code[] {
  const byName = (codes: Code[]): Map<string, Code> => new Map(codes.map((code) => [keyOf(code), code]));
  const [own, earlier] = [byName(snapshot), byName(before)];
  const present = after.map((code) => {
    const key = keyOf(code);
    return isDeepStrictEqual(earlier.get(key), code) ? (own.get(key) ?? code) : code;
  });
  const there = byName(after);
  return [...present, ...snapshot.filter((code) => !earlier.has(keyOf(code)) && !there.has(keyOf(code)))];
}

const refuse: Unreadable = (what, why) => {
  throw failed([`${what} cannot be read: ${why}`]);
};

function failed(details: string[]): UserError {
  return new UserError('after_load_failed', 'The steps of after_load left code that cannot move to the destination', {
    details,
    hint: 'The destination is unchanged. Create it without the name of the database, as a user who may read it.',
  });
}
