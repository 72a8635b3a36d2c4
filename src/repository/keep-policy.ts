import * as v from 'valibot';

/**
 * Rules for the snapshots to keep; one that any rule keeps is kept. `last`: so many of the newest; `daily`, `weekly` and
 * `monthly`: the newest of each of the last so many days, weeks and months that have any, in UTC; `within`: those below
 * an age. `count` and `age` are the schemas of their values.
 */
export function keepRules<Count extends v.GenericSchema, Age extends v.GenericSchema>(count: Count, age: Age) {
  return {
    last: v.exactOptional(count),
    within: v.exactOptional(age),
    daily: v.exactOptional(count),
    weekly: v.exactOptional(count),
    monthly: v.exactOptional(count),
  };
}

/** Rules that keep the newest snapshot of each period, and the period in words. */
export const PERIODS = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

const keepPolicy = v.object(keepRules(v.number(), v.number()));

/** The rules, with an age in milliseconds. */
export type KeepPolicy = v.InferOutput<typeof keepPolicy>;

/** The parts of a snapshot that a policy needs. */
export interface PolicyCandidate {
  id: string;
  created_at: string;
  /** The id of the original. */
  sanitized_of?: string;
  /** Kept by every policy, with its original and what was made of it. */
  pinned?: boolean;
}

/** The id that an original shares with what was made of it. */
export function familyOf({ sanitized_of, id }: PolicyCandidate): string {
  return sanitized_of ?? id;
}

/** The snapshots that the policy keeps: an original and what was made of it count as one. Rows are newest first. */
export function keptBy<Row extends PolicyCandidate>(policy: KeepPolicy, rows: Row[], now: Date): Set<Row> {
  const families = Map.groupBy(rows, familyOf);
  const heads = [...families.values()].flatMap(([head]) => head ?? []);
  const kept = new Set(keptOf(policy, heads, now));
  return new Set([...families.values()].filter((family) => family.some((row) => row.pinned || kept.has(row))).flat());
}

function keptOf<Row extends PolicyCandidate>(
  { last = 0, within = 0, daily = 0, weekly = 0, monthly = 0 }: KeepPolicy,
  rows: Row[],
  now: Date,
): Row[] {
  return [
    ...rows.slice(0, last),
    ...rows.filter(({ created_at }) => now.getTime() - Date.parse(created_at) < within),
    ...newestOfEach(rows, { periods: daily, periodOf: (time) => time.toISOString().slice(0, 10) }),
    ...newestOfEach(rows, { periods: weekly, periodOf: mondayOf }),
    ...newestOfEach(rows, { periods: monthly, periodOf: (time) => time.toISOString().slice(0, 7) }),
  ];
}

function newestOfEach<Row extends PolicyCandidate>(
  rows: Row[],
  { periods, periodOf }: { periods: number; periodOf: (time: Date) => string },
): Row[] {
  const byPeriod = Map.groupBy(rows, ({ created_at }) => periodOf(new Date(created_at)));
  return [...byPeriod.values()].slice(0, periods).flatMap(([newest]) => newest ?? []);
}

/** Weeks begin on Monday. */
function mondayOf(time: Date): string {
  const monday = new Date(time);
  monday.setUTCDate(time.getUTCDate() - ((time.getUTCDay() + 6) % 7));
  return monday.toISOString().slice(0, 10);
}
