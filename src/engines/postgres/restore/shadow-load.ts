import { availableParallelism, totalmem } from 'node:os';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BaseCopy } from '../../facets/copies.ts';
import type { DifferencePlan, ReplaceResult, RestoringUser } from '../../facets/restore.ts';
import { findBaseCopies, newFromBase } from '../branches/base-copies.ts';
import { PLAIN_MEANING, type PostgresSession } from '../connection/session.ts';
import { majorOf } from '../connection/tools.ts';
import { type SessionSettings, withDatabase } from '../connection/url.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import { createDatabase, markNew, type NewDatabase } from '../server/new-database.ts';
import type { Settle } from '../swap/inherit.ts';
import { type Creation, type ReplaceRequest, replaceDestination } from '../swap/replace.ts';
import { readTablespace } from '../swap/rights.ts';
import { createTemporaryRole, type TemporaryRole } from './temporary-role.ts';

export interface ShadowLoadRequest extends Omit<ReplaceRequest, 'copied' | 'settle'> {
  locale: NewDatabase['locale'];
  /** Default: the loading role. */
  restoredBy?: RestoringUser;
  /** Extensions of the content, which a superuser creates for the temporary role. */
  extensions?: ArchiveDetails['extensions'];
  remoteTables?: boolean | undefined;
  /** The new database is made from this base copy instead of an empty one. */
  fromCopy?: DifferencePlan | undefined;
}

export interface Shadow {
  shadow: string;
  /** The shadow database as the loading role; `url` has the role that restores the content. */
  owner: DatabaseUrl;
  url: DatabaseUrl;
  /** Only of a temporary role. */
  settle: Settle | null;
}

/**
 * Makes a database beside the destination, has it filled, and swaps the two; leaves nothing when that fails, but a
 * database that is to be inspected since it is not complete.
 */
export async function loadThroughShadow(
  context: EngineContext,
  { locale, fromCopy, restoredBy, extensions = [], remoteTables = false, ...replacement }: ShadowLoadRequest,
  fill: (shadow: Shadow) => Promise<void>,
): Promise<ReplaceResult> {
  const { url } = replacement;
  const destination = url.database ?? '';
  const copied = fromCopy !== undefined;
  const temporary = restoredBy?.user === 'temporary' ? restoredBy : null;
  let role: TemporaryRole | null = null;
  const settle = async (session: PostgresSession): Promise<void> => role?.settle(session);
  // When the database is gone, since the role has rights on it.
  await using _dropped = { [Symbol.asyncDispose]: async () => void (await role?.[Symbol.asyncDispose]()) };
  const create = async ({ server, shadow, exists }: Creation): Promise<void> => {
    if (fromCopy) return copyBase(context, server, { url, to: shadow, planned: fromCopy });
    const [version] = await server.query<{ major: string }>(`SELECT current_setting('server_version') AS major`);
    const tablespace = exists ? await inheritedTablespace(context, server, destination) : null;
    const major = majorOf(version?.major ?? '');
    const sameLocale = await createDatabase(server, { name: shadow, locale, major, tablespace });
    const { branchOf } = replacement.creates ?? {};
    await markNew(server, shadow, { of: destination, branchOf, admits: 'owner' });
    if (sameLocale || !locale) return;
    const message = `The server does not know the source's locale "${locale.icu_locale ?? locale.collate}": its own is used, and text may sort differently`;
    context.report({ event: 'warning', code: 'locale_unknown', message });
  };
  return await replaceDestination(
    context,
    { ...replacement, copied, ...(temporary && { settle }) },
    {
      create,
      async fill({ shadow, server }) {
        const owner = withDatabase(url, shadow);
        if (temporary) {
          const { superuser } = temporary;
          role = await createTemporaryRole(context, server, {
            url,
            shadow,
            superuser,
            extensions,
            remoteTables,
            copied,
          });
        }
        await fill({ shadow, owner, url: role?.url ?? owner, settle: role && settle });
      },
    },
  );
}

/** The files of the tables that do not differ may not have been fetched, so a full load cannot take its place. */
async function copyBase(
  context: EngineContext,
  server: PostgresSession,
  { url, to, planned }: { url: DatabaseUrl; to: string; planned: DifferencePlan },
): Promise<void> {
  const { base, spare } = await findBaseCopies(server, url.database ?? '');
  const isPlanned = (copy: BaseCopy | null): copy is BaseCopy =>
    copy?.outdated === null && copy.snapshot === planned.snapshot && copy.loadedAt === planned.loadedAt;
  if (!isPlanned(base)) throw baseChanged(url);
  await newFromBase(context, server, { url, base, spare: isPlanned(spare) ? spare : null, to });
}

function baseChanged(url: DatabaseUrl): UserError {
  return new UserError(
    'plan_outdated',
    `The base copy of ${url.display} changed since the plan was made: nothing was changed`,
    { hint: 'Run it again for a new plan.' },
  );
}

/** `null` for the default of the server, and where the role may not create anything in the destination's. */
async function inheritedTablespace({ report }: EngineContext, server: PostgresSession, destination: string) {
  const tablespace = await readTablespace(server, destination);
  if (!tablespace || tablespace.allowed) return tablespace?.name ?? null;
  const message = `The role may not create a database in the tablespace ${tablespace.name} of ${destination}: the default one is used`;
  report({ event: 'warning', code: 'not_carried_over', message });
  return null;
}

const MEGABYTE = 1024 * 1024;

/**
 * Settings for the sessions that fill an unused database: memory for building indexes, and commits that
 * do not wait for the disk (the swap's own commit does, and with it all before it).
 */
export function restoreSettings(local: boolean, cpus: number): SessionSettings {
  const share = local ? totalmem() / MEGABYTE / 4 / cpus : 256;
  return {
    maintenance_work_mem: `${Math.round(Math.min(1024, Math.max(64, share)))}MB`,
    // Foreign keys are checked by a join, which should not spill.
    work_mem: `${Math.round(Math.min(256, Math.max(16, share / 2)))}MB`,
    synchronous_commit: 'off',
    // Workers beyond the cores only get in each other's way; how many a server elsewhere has is its own affair.
    ...(local
      ? { max_parallel_maintenance_workers: `${Math.max(0, Math.floor(availableParallelism() / cpus) - 1)}` }
      : {}),
    jit: 'off',
    // Of defaults, too.
    ...PLAIN_MEANING,
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  };
}
