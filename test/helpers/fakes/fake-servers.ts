import type { ServerRow } from '../../../src/results/running-servers.ts';
import type { FakePlannedWork } from './fake-planned-work.ts';
import { type FakeWorld, findSnapshot } from './fake-world.ts';

const PLANNED_AT = '2026-11-21T03:00:00.000Z';

export function fakeServer(port: number, more: Partial<ServerRow> = {}): ServerRow {
  return {
    ...{ id: `server${port}`, target: 'app', snapshot: 'snapshot-0', database: 'app', port, detached: false },
    ...{ url: `postgres://tool_owner@127.0.0.1:${port}/app`, created_at: '2026-11-21T04:40:00.000Z' },
    memory_bytes: 45_200_000,
    ...more,
  };
}

/** Servers of every target, over a world that the test can look at and change. */
export function fakeServerWork(world: FakeWorld): Pick<FakePlannedWork, 'up' | 'down'> {
  return {
    up: {
      plan: async (_session, request) => {
        const { target, detach = false } = request;
        const snapshot = findSnapshot(world, target, request.snapshot);
        const plan = {
          target,
          snapshot,
          product: 'PostgreSQL',
          server_version: '15.18',
          database: 'app',
          image: 'stored' as const,
          port: null,
        };
        return { request, plan: { ...plan, detached: detach, steps: ['Copy the image'] }, planned_at: PLANNED_AT };
      },
      apply: async (_session, { plan: { target, snapshot, detached } }) => {
        const server = fakeServer(40_000 + world.servers.length, { target, snapshot: snapshot.id, detached });
        world.servers.push(server);
        world.ownServers.add(server.url);
        world.done.push(`up ${target} ${snapshot.id}${detached ? ' --detach' : ''}`);
        return { target, server: server.id, snapshot: snapshot.id, detached, url: server.url };
      },
    },
    down: {
      plan: async (_session, request) => {
        const servers = world.servers.filter(({ port }) => port === request.port);
        return { request, plan: { target: request.target ?? null, servers, steps: [] }, planned_at: PLANNED_AT };
      },
      apply: async (_session, { plan: { servers } }) => {
        const stopped = servers.map(({ id }) => id);
        world.servers = world.servers.filter(({ id }) => !stopped.includes(id));
        world.done.push(`down ${servers.map(({ port }) => port).join(', ')}`);
        return { stopped };
      },
    },
  };
}
