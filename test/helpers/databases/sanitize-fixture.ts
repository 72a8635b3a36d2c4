import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { SanitizeResult } from '../../../src/results/review/sanitize-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { startPostgres, type TestPostgres, temporaryFolder, testContext } from '../postgres/postgres-server.ts';

const FILL = `
  CREATE TABLE person (id integer PRIMARY KEY, first_name text, email text NOT NULL UNIQUE, note text);
  INSERT INTO person SELECT i, 'Ada', 'secret-' || i || '@real.example.org', 'likes tea' FROM generate_series(1, 500) i;
  CREATE TABLE city (id integer PRIMARY KEY, title text);
  INSERT INTO city SELECT i, 'City ' || i FROM generate_series(1, 50) i;
  CREATE TABLE login_log (at timestamptz NOT NULL, client_ip inet);
  INSERT INTO login_log SELECT now(), ('192.0.2.' || i)::inet FROM generate_series(1, 100) i;
  CREATE MATERIALIZED VIEW mailing AS SELECT email FROM person;
  CREATE TABLE audit (id serial, old_email text);
  CREATE FUNCTION make_batches() RETURNS void LANGUAGE sql AS 'SELECT 1';
  CREATE PROCEDURE in_batches() LANGUAGE plpgsql AS $$
    BEGIN UPDATE city SET title = 'Town ' || id WHERE id <= 25; COMMIT; UPDATE city SET title = 'Town ' || id WHERE id > 25; COMMIT; END $$`;

/** Changes all that is personal in it. */
export const MASK = `UPDATE person SET email = 'p' || id || '@example.com', first_name = 'Person ' || id; TRUNCATE login_log;`;

export interface Change {
  query?: string;
  /** Of the target's `sanitize`. */
  sanitize?: object;
  signal?: AbortSignal;
  events?: RunEvent[];
  /** `user:password` of who works in the destination. */
  user?: string;
}

export interface SanitizeFixture {
  server: TestPostgres;
  /** The working directory. */
  directory(): string;
  contextOf(change?: Change): Context;
  run(context: Context, request?: Partial<SanitizeRequest>): Promise<SanitizeResult>;
  /** The one original as it was built, and no database but the source. */
  reset(): Promise<void>;
  /** The original is the only snapshot, and the server has these databases. */
  expectNothingPublished(databases?: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** A source with personal data, one snapshot of it, and a target "app" that sanitizes into the database "clean". */
export async function startSanitizeFixture(): Promise<SanitizeFixture> {
  const server = await startPostgres();
  const pristine = await temporaryFolder();
  let folder = await temporaryFolder();
  await server.createDatabase('source');
  await server.psql('source', { sql: FILL });

  const contextIn = (
    directory: string,
    { query = MASK, sanitize: change = {}, signal, events = [], user }: Change = {},
  ): Context => {
    const clean = user ? server.url('clean').replace(/\/\/.*@/, `//${user}@`) : server.url('clean');
    const target = {
      snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
      sanitize: { dst_url: clean, override_query: query, ...change },
    };
    const settings = { working_directory: directory, targets: { app: target } };
    return testContext({ settings, events, ...(signal && { signal }) });
  };
  await build(contextIn(pristine.path), { target: 'app' });

  const contextOf = (change?: Change): Context => contextIn(folder.path, change);
  return {
    server,
    directory: () => folder.path,
    contextOf,
    run: async (context, request = {}) =>
      applySanitize(context, await planSanitize(context, { target: 'app', ...request })),
    async reset() {
      await folder[Symbol.asyncDispose]();
      folder = await temporaryFolder();
      await cp(pristine.path, folder.path, { recursive: true });
      for (const name of await server.databases()) {
        if (!['postgres', 'source'].includes(name)) {
          await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
        }
      }
    },
    async expectNothingPublished(databases = ['postgres', 'source']) {
      const { snapshots } = await listSnapshots(contextOf(), 'app');
      expect(snapshots).toEqual([expect.objectContaining({ index: 0, sanitized: false })]);
      expect(await server.databases()).toEqual(databases);
      expect(await readdir(join(folder.path, 'staging'))).toEqual([]);
    },
    async stop() {
      await server.stop();
      await folder[Symbol.asyncDispose]();
      await pristine[Symbol.asyncDispose]();
    },
  };
}
