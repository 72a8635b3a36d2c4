import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { OpenedDatabase } from './database/database.ts';
import { LATENESS_KINDS, type LatenessKind, lateTargets } from './database/targets/late.ts';
import { countTargets } from './database/targets/overview.ts';

export interface Metrics {
  observe(request: { route: string; status: number; seconds: number }): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  contentType: string;
}

/** Late targets with a label of their own, at most. */
const MOST_NAMED = 200;

const LATE: Record<LatenessKind, { all: string; one: string; late: string }> = {
  snapshot: {
    ...{ all: 'tool_hub_targets_late', one: 'tool_hub_target_late' },
    late: 'newest snapshot is older than expected',
  },
  restore: {
    ...{ all: 'tool_hub_targets_restore_late', one: 'tool_hub_target_restore_late' },
    late: 'last proved restore is older than expected',
  },
};

export function createMetrics(database: OpenedDatabase, clock: () => Date): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'tool_hub_requests_total',
    help: 'Requests, by route and status',
    labelNames: ['route', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'tool_hub_request_duration_seconds',
    help: 'Time to answer a request',
    labelNames: ['route'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  for (const state of ['total', 'idle', 'waiting'] as const) {
    new Gauge({
      name: `tool_hub_database_connections_${state}`,
      help: `Connections to the database: ${state}`,
      registers,
      collect() {
        this.set(database.pool()[state]);
      },
    });
  }
  const readTargets = createTargetGauges(database, { registers, clock });
  return {
    observe({ route, status, seconds }) {
      requests.inc({ route, status: String(status) });
      duration.observe({ route }, seconds);
    },
    async text() {
      await readTargets();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/** Gauges of targets, which the function reads anew. Without the database the other metrics are still served. */
function createTargetGauges(
  { db }: OpenedDatabase,
  { registers, clock }: { registers: Registry[]; clock: () => Date },
): () => Promise<void> {
  const targets = new Gauge({ name: 'tool_hub_targets', help: 'Targets', registers });
  const late = LATENESS_KINDS.map((kind) => {
    const { all, one, late: is } = LATE[kind];
    const total = new Gauge({ name: all, help: `Targets whose ${is}`, registers });
    const help = `1 for each target whose ${is}, at most ${MOST_NAMED}`;
    const named = new Gauge({ name: one, help, labelNames: ['target'], registers });
    return { kind, total, named };
  });
  return async () => {
    for (const { named } of late) named.reset();
    try {
      const now = clock();
      const counted = await countTargets(db, now);
      targets.set(counted.targets);
      for (const { kind, total, named } of late) {
        total.set(counted[kind]);
        for (const target of await lateTargets(db, kind, { now, limit: MOST_NAMED })) named.set({ target }, 1);
      }
    } catch {
      targets.set(Number.NaN);
      for (const { total } of late) total.set(Number.NaN);
    }
  };
}
