import type { DatabaseIdentity } from '../../../engines/identity.ts';
import type { Context } from '../../../runtime/context.ts';
import { rememberIdentities, type SeenSource } from '../../identities.ts';
import { checkDatabases } from '../../targets/check-databases.ts';
import type { Source } from './sources.ts';

/** Timeout for a source of another name. */
const TIMEOUT_MS = 120;

export interface Inquiry extends AsyncDisposable {
  /** Returns identities of all sources that could answer in time; waits for `alike` as long as any check may take. */
  answers: (alike: Source[]) => Promise<SourceIdentity[]>;
}

/** Asks the sources that can be reached now: those named like the destination, and the others with a short timeout. */
export function beginInquiry(context: Context, { alike, others }: { alike: Source[]; others: Source[] }): Inquiry {
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
