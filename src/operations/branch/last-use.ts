import * as v from 'valibot';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { Branch } from '../../engines/facets/copies.ts';
import type { Context } from '../../runtime/context.ts';
import { readState, writeState } from '../working-state.ts';

const seenSchema = v.strictObject({
  /** Client sessions since the branch was created or reset. */
  sessions: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Time at which this number was first seen. */
  since: v.pipe(v.string(), v.isoTimestamp()),
});
const fileSchema = v.strictObject({ format: v.literal(1), branches: v.record(v.string(), seenSchema) });

/** Remembered branches, at most. */
const MOST = 2000;

/**
 * Until when branches may have been used, by name: now with open sessions; the time of their creation where the server
 * has counted no session since; else the time at which the present count was first seen. Missing where unknown.
 */
export async function lastUses(
  context: Context,
  { url, branches }: { url: DatabaseUrl; branches: Branch[] },
): Promise<Map<string, string>> {
  const now = context.clock().toISOString();
  const file = { name: 'branches.json', schema: fileSchema };
  // Without the file every branch counts as used now.
  const known = (await readState(context, file).catch(() => undefined))?.branches ?? {};
  const news: typeof known = {};
  const uses = branches.flatMap((branch): [string, string][] => {
    if (branch.clients > 0) return [[branch.name, now]];
    if (branch.sessions === null) return [];
    const madeAt = branch.resetAt ?? branch.createdAt;
    if (branch.sessions === 0) return [[branch.name, madeAt]];
    const key = `${url.display} ${branch.name} ${madeAt}`;
    const seen = known[key];
    if (seen?.sessions === branch.sessions) return [[branch.name, seen.since]];
    news[key] = { sessions: branch.sessions, since: now };
    return [[branch.name, now]];
  });
  if (Object.keys(news).length > 0) {
    const all = Object.entries({ ...known, ...news }).slice(-MOST);
    await writeState(context, file, { format: 1, branches: Object.fromEntries(all) }).catch(() => {});
  }
  return new Map(uses);
}
