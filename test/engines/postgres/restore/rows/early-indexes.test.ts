import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import { localRunner } from '../../../../../src/process/local.ts';
import type { RunEvent } from '../../../../../src/results/events.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

/**
 * The rows of `large` take long to check: the other tables are complete while it is being loaded. The function that an
 * index of `checked` calls reads another table: that index has to wait for all rows.
 */
const FILL = `
  CREATE FUNCTION known(id integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SET search_path = public AS
    $$ BEGIN IF NOT EXISTS (SELECT FROM large) THEN RAISE 'large is empty'; END IF; RETURN true; END $$;
  CREATE TABLE large (id integer PRIMARY KEY, note text CHECK (length(md5(repeat(note, 30))) = 32));
  INSERT INTO large SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 80000) i;
  CREATE TABLE plain (id integer PRIMARY KEY, other integer UNIQUE, note text);
  INSERT INTO plain SELECT i, -i, repeat(md5(i::text), 10) FROM generate_series(1, 16000) i;
  CREATE INDEX plain_note ON plain (left(note, 4));
  CREATE INDEX plain_some ON plain (note) WHERE id > 10;
  CREATE INDEX "plain (both)" ON plain USING btree (id DESC, other) INCLUDE (note) WITH (fillfactor = 70);
  COMMENT ON INDEX plain_note IS 'of its beginning';
  CREATE TABLE checked (id integer PRIMARY KEY REFERENCES plain, note text);
  INSERT INTO checked SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 16000) i;
  CREATE INDEX checked_known ON checked (known(id))`;

describeWithPostgres('indexes and statistics of complete tables, beside the rows of others', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    for (const name of ['source', 'copy']) await server.createDatabase(name);
    await server.psql('source', { sql: FILL });
  }, 60_000);

  it('are built by the session that has no rows left, but those with expressions and conditions; one more session analyzes', async () => {
    const events: RunEvent[] = [];
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const working_directory = join(folder.path, 'work');
    const settings = { working_directory, targets: { app: { snapshot } }, defaults: { cpus: 2 } };
    const runner = localRunner({ environment: process.env, report: (event) => void events.push(event) });
    const context = { ...testContext({ settings, events }), runner };
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app', undo: false }));
    const restored = events.findIndex((one) => one.event === 'step' && one.step === 'restore' && one.state === 'done');
    const isEarly = (one: RunEvent): boolean => one.event === 'command' && one.command.includes('--section=post-data');
    expect(events.slice(0, restored).filter(isEarly)).toHaveLength(4);
    const statistics = events.flatMap((one, at) =>
      one.event === 'statement' && one.statement.startsWith('ANALYZE')
        ? [{ what: one.statement, isEarly: at < restored }]
        : [],
    );
    expect(statistics[0]).toEqual({ what: 'ANALYZE "public"."plain", "public"."checked"', isEarly: true });
    // Those of indexes with expressions can only be gathered now.
    expect(statistics.filter((one) => !one.isEarly).map(({ what }) => what)).toEqual(
      expect.arrayContaining(['ANALYZE "public"."checked"', 'ANALYZE "public"."plain"']),
    );
    expect(statistics.filter(({ what }) => what.includes('"large"'))).toHaveLength(1);
    expect(await server.dump('copy')).toBe(await server.dump('source'));
  }, 120_000);
});
