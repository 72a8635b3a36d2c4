import * as v from 'valibot';
import type { DatabaseUrl } from '../engines/database-url.ts';
import { type DatabaseIdentity, identitySchema, isLasting } from '../engines/identity.ts';
import { parseUrl } from '../engines/registry.ts';
import type { ForgottenSource } from '../results/configuration/configuration-results.ts';
import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { readState, writeState } from './working-state.ts';

/** A database that a source's URL led to, and when that was last seen. */
const entrySchema = v.strictObject({
  /** Without password and parameters. */
  url: v.string(),
  identity: identitySchema,
  seen_at: v.pipe(v.string(), v.isoTimestamp()),
});

const fileSchema = v.strictObject({
  format: v.literal(1),
  /** By dotted key: `targets.app.snapshot.src_url`. */
  sources: v.record(v.string(), v.array(entrySchema)),
});

export type KnownIdentity = v.InferOutput<typeof entrySchema>;
export type KnownIdentities = Map<string, KnownIdentity[]>;

/** Number of URLs that are remembered for one source: the present one, and former ones, which stay protected. */
const URLS_KEPT = 100;

/** An identity that is seen again is written again only after so many milliseconds. */
const RENEWED_AFTER_MS = 3_600_000;

const FILE = { name: 'identities.json', schema: fileSchema };

/** Returns the identities of sources from earlier builds and checks; none where the file is missing or damaged. */
export async function readIdentities(context: Context): Promise<KnownIdentities> {
  try {
    return new Map(Object.entries((await readState(context, FILE))?.sources ?? {}));
  } catch (error) {
    warn(context, `${(error as Error).message}, and was ignored: sources count as never identified`);
    return new Map();
  }
}

export interface SeenSource {
  /** Dotted: `targets.app.snapshot.src_url`. */
  key: string;
  url: DatabaseUrl;
  identity: DatabaseIdentity;
}

/** Writers of this process take turns; of two processes the later one wins, and the other looks again next time. */
let writing: Promise<void> = Promise.resolve();

/** Stores what sources have said of themselves. A working directory that cannot be written costs no check its result. */
export function rememberIdentities(context: Context, seen: SeenSource[]): Promise<void> {
  const lasting = seen.filter(({ identity }) => isLasting(identity));
  if (lasting.length === 0) return Promise.resolve();
  writing = writing
    .then(() => store(context, lasting))
    .catch((error) => warn(context, `sources could not be remembered: ${error.message}`));
  return writing;
}

async function store(context: Context, seen: SeenSource[]): Promise<void> {
  const known = await readIdentities({ ...context, report: () => {} });
  const now = context.clock();
  const news = seen.filter((source) => isNews(known, source, now));
  if (news.length === 0) return;
  for (const { key, url, identity } of news) {
    const others = (known.get(key) ?? []).filter((entry) => entry.url !== url.display);
    const entry: KnownIdentity = { url: url.display, identity, seen_at: now.toISOString() };
    known.set(key, [entry, ...others].slice(0, URLS_KEPT));
  }
  await writeState(context, FILE, { format: 1, sources: Object.fromEntries(known) });
}

/** Ends the protection of a database that was a source before. Present sources stay protected. */
export async function forgetSource(context: Context, text: string): Promise<ForgottenSource> {
  const url = parseUrl(text).display;
  const known = await readIdentities(context);
  const isKnown = [...known.values()].flat().some((entry) => entry.url === url);
  if (!isKnown) throw notRemembered(url, [...known.values()].flat());
  const kept = [...known].map(([key, entries]) => [key, entries.filter((entry) => entry.url !== url)]);
  await writeState(context, FILE, { format: 1, sources: Object.fromEntries(kept) });
  return { former_source: url };
}

function notRemembered(url: string, known: KnownIdentity[]): UserError {
  return new UserError('source_unknown', `${url} is not remembered as a source`, {
    details: [...new Set(known.map((entry) => entry.url))],
    hint: 'Write the URL as the error shows it.',
  });
}

function isNews(known: KnownIdentities, { key, url, identity }: SeenSource, now: Date): boolean {
  const entry = known.get(key)?.find((one) => one.url === url.display);
  if (!entry || JSON.stringify(entry.identity) !== JSON.stringify(identity)) return true;
  return now.getTime() - Date.parse(entry.seen_at) > RENEWED_AFTER_MS;
}

function warn({ report }: Context, message: string): void {
  report({ event: 'warning', code: 'identities_not_kept', message });
}
