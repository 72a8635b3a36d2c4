import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { OpenedDatabase } from './database/database.ts';

export interface Metrics {
  observe(request: { route: string; status: number; seconds: number }): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  contentType: string;
}

export function createMetrics(database: OpenedDatabase): Metrics {
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
  return {
    observe({ route, status, seconds }) {
      requests.inc({ route, status: String(status) });
      duration.observe({ route }, seconds);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
