import { isAllowedDestination } from '../../config/allowed-destinations.ts';
import { settingsWithMisnamed } from '../../config/misnamed-targets.ts';
import { connectionUrl } from '../../config/urls/connection-url.ts';
import { connectionKey } from '../../engines/connection-limits.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { EngineContext } from '../../engines/engine-context.ts';
import type { AffectedDatabase } from '../../engines/facets/connect.ts';
import { type DatabaseIdentity, isSameDatabase } from '../../engines/identity.ts';
import { openDatabase } from '../../engines/open-database.ts';
import { engineOf, parseUrl } from '../../engines/registry.ts';
import { unlessAborted } from '../../process/unless-aborted.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { CHECK_TIMEOUT_MS, checkDatabases } from '../check-databases.ts';
import {
  type KnownIdentities,
  type KnownIdentity,
  readIdentities,
  rememberIdentities,
  type SeenSource,
} from '../identities.ts';

/** The sources of which no snapshot may ever take the place. */
const SOURCES = ['snapshot.src_url', 'subset.src_url'];

/** Milliseconds for which an identity counts without a new check: a server may be moved behind the same URL. */
const FRESH_MS = 24 * 3_600_000;

/** Timeout for a source of another name. */
const TIMEOUT_MS = 120;

/** Timeout for the resolution of host names; a source whose host is not resolved is compared by its identity. */
const LOCATE_TIMEOUT_MS = 2000;

export interface GuardOptions {
  /** The target that is loaded: the owner of a source may allow it. Nothing is allowed without it. */
  target?: string;
  /** The caller takes responsibility for sources that could not be compared. */
  unverifiedSources?: boolean | undefined;
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
 * answered otherwise (`tool trust --former-source`): a change of the configuration does not end their protection. Resolves with the targets whose sources could not be compared, where
 * the caller has taken responsibility for them.
 */
export async function assertNotASource(
  context: Context,
  destination: DatabaseUrl,
  { target: loaded, unverifiedSources = false, accepted = [], allowedBy = [] }: GuardOptions = {},
): Promise<string[]> {
  const known = await readIdentities(context);
  const sources = sourcesOf(context, destination);
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
    return Math.min(...seen) > FRESH_MS || seen.length === 0;
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
  if (!unverifiedSources) throw notVerified(unverified, destination);
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

/** A blank is not a name: without a host a client takes this machine, and without a database that of the user. */
function hasAddress({ url, blank }: Source): boolean {
  return !blank || (url !== null && url.database !== null && url.hosts.every(({ host }) => host !== ''));
}

interface Source {
  target: string;
  key: string;
  /** `null` where nothing of the URL can be read. */
  url: DatabaseUrl | null;
  /** A variable of the URL's template is not set, so that it is not the whole URL. */
  blank: boolean;
  /** Source of a target of the hub: compared by its address, and not connected to. */
  cloud: boolean;
  /** The configuration has named it before, and does not name it any more: compared, and not connected to. */
  former: boolean;
}

function sourcesOf({ configuration }: Context, { engine }: DatabaseUrl): Source[] {
  const all = { ...configuration, settings: settingsWithMisnamed(configuration) };
  return Object.keys(all.settings.targets).flatMap((target) =>
    SOURCES.flatMap((field): Source[] => {
      const key = `targets.${target}.${field}`;
      const { text, blank } = textOf(all, key);
      if (text === undefined) return [];
      const url = parse(text);
      const cloud = configuration.cloud?.has(target) ?? false;
      return url === null || url.engine === engine ? [{ target, key, url, blank, cloud, former: false }] : [];
    }),
  );
}

/** Remembered sources at other URLs than the present ones. A present URL with unset variables may be any of its key. */
function formerSources(
  known: KnownIdentities,
  { present, destination }: { present: Source[]; destination: DatabaseUrl },
): Source[] {
  const urls = new Set(present.flatMap(({ url, blank }) => (url && !blank ? [url.display] : [])));
  const blanks = new Set(present.flatMap(({ key, blank }) => (blank ? [key] : [])));
  return [...known].flatMap(([key, entries]) => {
    if (blanks.has(key)) return [];
    const [, target = ''] = /^targets\.(.*)\.(?:snapshot|subset)\.src_url$/s.exec(key) ?? [];
    return entries.flatMap((entry): Source[] => {
      const url = urls.has(entry.url) ? null : parse(entry.url);
      const isSameEngine = url?.engine === destination.engine;
      return isSameEngine ? [{ target, key, url, blank: false, cloud: false, former: true }] : [];
    });
  });
}

function textOf(configuration: Context['configuration'], key: string): { text: string | undefined; blank: boolean } {
  try {
    return { text: connectionUrl(configuration, key), blank: false };
  } catch {
    return { text: configuration.blanks?.get(key) ?? '', blank: true };
  }
}

function parse(text: string): DatabaseUrl | null {
  try {
    return parseUrl(text);
  } catch {
    return null;
  }
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

/** Returns the identities that count for the URL as it is; for a URL with blanks all that it has ever led to. */
function rememberedOf(known: KnownIdentities, { key, url, blank }: Source): KnownIdentity[] {
  const entries = known.get(key) ?? [];
  return blank ? entries : entries.filter((entry) => entry.url === url?.display);
}

interface Inquiry extends AsyncDisposable {
  /** Returns identities of all sources that could answer in time; waits for `alike` as long as any check may take. */
  answers: (alike: Source[]) => Promise<SourceIdentity[]>;
}

/** Asks the sources that can be reached now: those named like the destination, and the others with a short timeout. */
function beginInquiry(context: Context, { alike, others }: { alike: Source[]; others: Source[] }): Inquiry {
  const decided = new AbortController();
  const asking = { ...context, signal: AbortSignal.any([context.signal, decided.signal]) };
  const asked = Promise.all([
    identify(asking, { sources: alike }),
    // A proxy may have another name for the same database; who cannot say so in time is told apart by the name.
    identify(asking, { sources: others, timeoutMs: TIMEOUT_MS }),
  ]);
  asked.catch(() => {});
  return {
    async answers(all) {
      const found = (await asked).flat();
      const done = new Set([...alike, ...found.map(({ source }) => source)]);
      return [...found, ...(await identify(asking, { sources: all.filter((source) => !done.has(source)) }))];
    },
    async [Symbol.asyncDispose]() {
      decided.abort(new Error('the sources need not be looked at any more'));
      await asked.catch(() => {});
    },
  };
}

interface IdentifyOptions {
  sources: Source[];
  /** Timeout of sources that are not worth the time that any check may take. */
  timeoutMs?: number;
}

interface SourceIdentity {
  source: Source;
  /** `null` of a source that does not exist: it is no database that does. */
  identity: DatabaseIdentity | null;
}

/** Asks the sources that can be reached now; resolves with those that have answered. What they say is remembered. */
async function identify(context: Context, { sources, timeoutMs }: IdentifyOptions): Promise<SourceIdentity[]> {
  const reachable = sources.flatMap((source) => (source.url && !source.blank ? [{ source, url: source.url }] : []));
  const answered = new Map<Source, SourceIdentity>();
  const limit = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
  const signal = limit ? AbortSignal.any([context.signal, limit]) : context.signal;
  const checking = checkDatabases(
    { ...context, signal },
    {
      urls: reachable.map(({ url }) => url),
      sizes: false,
      take(index, { state, identity }) {
        const source = reachable[index]?.source;
        if (source && (identity || state.status === 'missing')) answered.set(source, { source, identity });
      },
    },
  );
  await checking.catch((thrown) => {
    if (context.signal.aborted || !limit?.aborted) throw thrown;
  });
  const seen = [...answered.values()].flatMap(({ source: { key, url }, identity }): SeenSource[] =>
    url && identity ? [{ key, url, identity }] : [],
  );
  await rememberIdentities(context, seen);
  return [...answered.values()];
}

/** `null` when unknown. */
function databaseOf(context: Context, { url, blank }: Source): string | null {
  if (!url || (blank && url.database === null)) return null;
  return engineOf(url.engine).databaseOf(context, url);
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
  const beside = affected && affected.name !== destination.database ? affected.name : null;
  const what =
    beside === null ? destination.display : `${beside}, which belongs to the loads into ${destination.display},`;
  if (former) {
    const shown = url?.display ?? '';
    return new UserError(
      'destination_was_source',
      `${what} was the source of target "${owner}": nothing is loaded into it`,
      {
        hint: `Choose another destination. If this database may be replaced: tool trust --former-source ${shellWord(shown)}`,
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
    hint: 'Make the sources reachable once (tool targets remembers them), or pass --unverified-sources if you know that they are other databases.',
  });
}
