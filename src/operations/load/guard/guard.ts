import { isAllowedDestination } from '../../../config/allowed-destinations.ts';
import { connectionKey } from '../../../engines/connection-limits.ts';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { EngineContext } from '../../../engines/engine-context.ts';
import type { AffectedDatabase } from '../../../engines/facets/connect.ts';
import { type DatabaseIdentity, isSameDatabase } from '../../../engines/identity.ts';
import { openDatabase, openTunnel } from '../../../engines/open-database.ts';
import { engineOf } from '../../../engines/registry.ts';
import { unlessAborted } from '../../../process/unless-aborted.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { readIdentities } from '../../identities.ts';
import { CHECK_TIMEOUT_MS } from '../../targets/check-databases.ts';
import { readDeclared } from './declared-sources.ts';
import { beginInquiry } from './source-inquiry.ts';
import { databaseOf, formerSources, hasAddress, rememberedOf, type Source, sourcesOf } from './sources.ts';

/** Milliseconds for which an identity counts without a new check: a server may be moved behind the same URL. */
const MAX_AGE_MS = 24 * 3_600_000;

/** Timeout for the resolution of host names; a source whose host is not resolved is compared by its identity. */
const LOCATE_TIMEOUT_MS = 2000;

export interface GuardOptions {
  /** The target that is loaded: the owner of a source may allow it. Nothing is allowed without it. */
  target?: string;
  /** Targets of which the sources could not be compared before, which the user has accepted: not waited for again. */
  accepted?: string[];
  /** Receives the owners of sources that allow the loaded target. */
  allowedBy?: string[];
}

/**
 * Refuses a destination that is the source of any target, or of which that cannot be ruled out. Compares, in this
 * order: addresses; the identities of the databases that a load would replace, rename or drop with those remembered of
 * the sources; the identities of sources that are not remembered, or were seen more than a day ago. A source whose owner
 * allows the loaded target is a warning instead. Databases that were sources before count as sources until the user has
 * answered otherwise (`tool trust --former-source`): a change of the configuration does not end their protection.
 * Resolves with the targets whose sources could not be compared, where the user has declared them other databases
 * (`tool trust --unverified-sources`).
 */
export async function assertNotASource(
  context: Context,
  destination: DatabaseUrl,
  { target: loaded, accepted = [], allowedBy = [] }: GuardOptions = {},
): Promise<string[]> {
  const known = await readIdentities(context);
  const sources = sourcesOf(context).filter(({ url }) => url === null || url.engine === destination.engine);
  const former = formerSources(known, { present: sources, destination });
  if (sources.length + former.length === 0) return [];
  const compareAddresses = createAddressComparison(context, destination);
  const permission = createPermission(context, { loaded, destination, allowedBy });
  const assertAllowed = (source: Source, affected: AffectedDatabase | null): void => {
    if (!permission.allows(source)) throw isSource(source, { loaded, destination, affected });
    permission.warn(source, 'is');
  };
  for (const source of sources) {
    if (source.url && hasAddress(source) && (await compareAddresses(source.url))) assertAllowed(source, null);
  }
  const unsettled = sources.filter((source) => {
    if (source.cloud || accepted.includes(source.target)) return false;
    const seen = rememberedOf(known, source).map(({ seen_at }) => context.clock().getTime() - Date.parse(seen_at));
    return Math.min(...seen) > MAX_AGE_MS || seen.length === 0;
  });
  const own = engineOf(destination.engine).databaseOf(context, destination);
  const isAlike = (source: Source, names: (string | null)[]): boolean => mayBeOneOf(names, databaseOf(context, source));
  // The sources are looked at while the destination is.
  await using inquiry = beginInquiry(context, {
    alike: unsettled.filter((source) => isAlike(source, [own])),
    others: unsettled.filter((source) => !isAlike(source, [own])),
  });
  const affected = await identifyAffected(context, destination);
  // What does not exist yet cannot be lost.
  if (affected.length === 0) return [];
  const compare = (source: Source, identity: DatabaseIdentity): void => {
    const hit = affected.find((each) => isSameDatabase(each.identity, identity));
    if (hit) assertAllowed(source, hit);
  };
  for (const source of sources) for (const { identity } of rememberedOf(known, source)) compare(source, identity);
  const names = [...affected.map(({ name }) => name), own];
  const alike = unsettled.filter((source) => isAlike(source, names));
  const answers = await inquiry.answers(alike);
  for (const { source, identity } of answers) if (identity) compare(source, identity);
  for (const source of former) {
    if (source.url && (await compareAddresses(source.url))) assertAllowed(source, null);
    for (const { identity } of rememberedOf(known, source)) compare(source, identity);
  }
  const settled = new Set(answers.map(({ source }) => source));
  const unsure = alike.filter((source) => !settled.has(source) && rememberedOf(known, source).length === 0);
  for (const source of unsure.filter(permission.allows)) permission.warn(source, 'may be');
  const unverified = unsure.filter((source) => !permission.allows(source));
  if (unverified.length === 0) return [];
  const isDeclared = await readDeclared(context, destination);
  const refused = unverified.filter((source) => !isDeclared(source));
  if (refused.length > 0) throw notVerified(refused, destination);
  context.report({
    event: 'warning',
    code: 'sources_unverified',
    message: `Not compared with ${destination.display}, since they could not be identified: the sources of ${targetsOf(unverified)}`,
  });
  return [...new Set(unverified.map(({ target }) => target))];
}

interface Permission {
  allows: (source: Source) => boolean;
  /** Once for each target, however many of its sources are hit and however often. */
  warn: (source: Source, verb: 'is' | 'may be') => void;
}

interface AllowanceRequest extends Required<Pick<GuardOptions, 'allowedBy'>> {
  loaded: string | undefined;
  destination: DatabaseUrl;
}

/** Creates the permission that the owners of sources give to the loaded target. */
function createPermission(
  { configuration, report }: Context,
  { loaded, destination, allowedBy }: AllowanceRequest,
): Permission {
  return {
    allows: ({ target: owner }) =>
      loaded !== undefined && isAllowedDestination(configuration.settings, { loaded, owner }),
    warn({ target: owner }, verb) {
      if (allowedBy.includes(owner)) return;
      allowedBy.push(owner);
      const message = `${destination.display} ${verb} the source of target "${owner}", whose allow_destination_of names "${loaded}"`;
      report({ event: 'warning', code: 'destination_allowed', message });
    },
  };
}

/** Creates a test whether a URL leads to this database by address and name, however its host is spelled. */
export function createAddressComparison(
  context: EngineContext,
  destination: DatabaseUrl,
): (source: DatabaseUrl) => Promise<boolean> {
  const engine = engineOf(destination.engine);
  const giveUp = AbortSignal.timeout(LOCATE_TIMEOUT_MS);
  const signal = AbortSignal.any([context.signal, giveUp]);
  const byServer = new Map<string, Promise<Set<string>>>();
  const addressesOf = (url: DatabaseUrl): Promise<Set<string>> => {
    const server = connectionKey(url);
    const found =
      byServer.get(server) ??
      unlessAborted(openDatabase({ ...context, signal }, url).connect.readAddresses(), signal).catch((thrown) => {
        if (context.signal.aborted || !giveUp.aborted) throw thrown;
        return new Set<string>();
      });
    byServer.set(server, found);
    return found;
  };
  const database = engine.databaseOf(context, destination);
  return async (source) => {
    // Another database is none that has to be looked for.
    if (source.engine !== destination.engine || engine.databaseOf(context, source) !== database) return false;
    const [own, other] = await Promise.all([addressesOf(destination), addressesOf(source)]);
    return intersects(own, other);
  };
}

function intersects(one: Set<string>, other: Set<string>): boolean {
  return [...one].some((each) => other.has(each));
}

/** The databases at stake; a server that does not answer in time is an error, as it would be for the load. */
async function identifyAffected(context: Context, destination: DatabaseUrl): Promise<AffectedDatabase[]> {
  await openTunnel(context, destination);
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    return await openDatabase({ ...context, signal }, destination).connect.identifyAffected();
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (!timeout.aborted) throw thrown;
    throw new UserError('unreachable', `No answer from ${destination.display} within ${CHECK_TIMEOUT_MS / 1000} s`, {
      hint: 'Check that the server is running, and the host, the port and the VPN.',
    });
  }
}

/** Only a source of which the name is known to be another is certainly another database. */
function mayBeOneOf(names: (string | null)[], database: string | null): boolean {
  if (database === null || names.includes(null)) return true;
  return names.some((name) => name?.toLowerCase() === database.toLowerCase());
}

function targetsOf(sources: Source[]): string {
  return [...new Set(sources.map(({ target }) => `"${target}"`))].join(', ');
}

interface RefusalFacts {
  loaded: string | undefined;
  destination: DatabaseUrl;
  affected: AffectedDatabase | null;
}

function isSource({ target: owner, url, former }: Source, { loaded, destination, affected }: RefusalFacts): UserError {
  const affectedDatabase = affected && affected.name !== destination.database ? affected.name : null;
  const what =
    affectedDatabase === null
      ? destination.display
      : `${affectedDatabase}, which belongs to the loads into ${destination.display},`;
  if (former) {
    const shown = url?.display ?? '';
    return new UserError(
      'destination_was_source',
      `${what} was the source of target "${owner}": nothing is loaded into it`,
      {
        hint: `Choose another destination. If this database may be replaced: ${shell`tool trust --former-source ${shown}`}`,
      },
    );
  }
  const choose = 'Choose another destination: dst_url in the configuration, or --destdb.';
  const allow = `To allow loads of "${loaded}" into it, set targets.${owner}.allow_destination_of: [${loaded}].`;
  return new UserError(
    'destination_is_source',
    `${what} is the source of target "${owner}": nothing is loaded into a source`,
    { hint: loaded === undefined || owner === loaded ? choose : `${choose} ${allow}` },
  );
}

function notVerified(sources: Source[], destination: DatabaseUrl): UserError {
  const what = `${destination.display} exists, and may be the source of ${targetsOf(sources)}`;
  return new UserError('sources_unverified', `${what}, which could not be identified`, {
    details: sources.map(({ key, url }) => (url ? `${key}: ${url.display}` : key)),
    hint: `Make the sources reachable once (tool targets remembers them). If you know that they are other databases, run: ${[...new Set(sources.map(({ target }) => shell`tool trust --unverified-sources ${target}`))].join('; ')}`,
  });
}
