import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Code, CodeDefinitions } from '../../../../src/engines/mysql/catalog/definitions/definitions.ts';
import { isEnabled, namersOf, withEventsDisabled } from '../../../../src/engines/mysql/catalog/definitions/events.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../src/operations/load/planned-load.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { changeDefinitions } from '../../../helpers/databases/change-definitions.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

function ofEvent(create: string): Code {
  return { kind: 'EVENT', name: 'e', create, sql_mode: '', charset: null, collation: null, time_zone: null };
}

function ofEvents(...creates: string[]): CodeDefinitions {
  const events = creates.map(ofEvent);
  return { charset: 'utf8mb4', collation: 'utf8mb4_bin', routines: [], views: [], triggers: [], events };
}

describe('an event', () => {
  it.each([
    [
      "CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY ON COMPLETION PRESERVE ENABLE COMMENT 'ENABLE' DO SET @enable = 1",
      "CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY ON COMPLETION PRESERVE DISABLE COMMENT 'ENABLE' DO SET @enable = 1",
    ],
    [
      'CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY DO SELECT 1',
      'CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1',
    ],
    [
      "CREATE EVENT `disable` ON SCHEDULE EVERY (1) DAY COMMENT 'DISABLE' DO ALTER EVENT x DISABLE",
      "CREATE EVENT `disable` ON SCHEDULE EVERY (1) DAY DISABLE COMMENT 'DISABLE' DO ALTER EVENT x DISABLE",
    ],
    [
      'CREATE EVENT `e` ON SCHEDULE AT now() /*!50000 ENABLE */ DO SELECT 1',
      'CREATE EVENT `e` ON SCHEDULE AT now() /*!50000 DISABLE */ DO SELECT 1',
    ],
  ])('is disabled whatever it says: %s', (create, disabled) => {
    expect(isEnabled(ofEvent(create))).toBe(true);
    const [event] = withEventsDisabled(ofEvents(create)).events;
    expect(event?.create).toBe(disabled);
    expect(isEnabled(event ?? ofEvent(''))).toBe(false);
  });

  it.each(['DISABLE', 'DISABLE ON SLAVE', 'DISABLE ON REPLICA'])('stays as it is with %s', (state) => {
    const code = ofEvents(`CREATE EVENT \`e\` ON SCHEDULE EVERY 1 DAY ${state} DO SELECT 1`);
    expect(withEventsDisabled(code)).toEqual(code);
  });

  it.each([
    ['DELETE FROM shop.customer', true],
    ['DELETE FROM Shop . customer', true],
    ['DELETE FROM `shop` . customer', true],
    ["PREPARE s FROM 'DELETE FROM `shop`.customer'", true],
    ["EXECUTE IMMEDIATE 'DELETE FROM shop.customer'", true],
    ['DELETE FROM customer', false],
    ['DELETE FROM shop', false],
    ['SELECT c.shop.x FROM c', false],
    ["INSERT INTO note VALUES ('shop.example.com')", false],
  ])('names the database of its source: %s', (body, names) => {
    expect(namersOf(ofEvents(`CREATE EVENT \`e\` ON SCHEDULE EVERY 1 DAY DO ${body}`), 'shop')).toEqual(
      names ? ['event e'] : [],
    );
  });
});

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'events' }, () => {
    let server: TestMysql;
    const folder = suiteResource(() => temporaryFolder());
    let events: RunEvent[] = [];

    const context = () =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: {
            app: {
              snapshot: { src_url: server.url('app'), dst_url: server.url('app_dev') },
              sanitize: { dst_url: server.url('app_safe'), override_query: 'UPDATE ran SET at = NULL' },
            },
          },
        },
        events,
      });
    const warnings = () =>
      events.flatMap((event) => (event.event === 'warning' ? [`${event.code}: ${event.message}`] : []));
    async function states(database: string): Promise<Record<string, string>> {
      const rows = await server.sql<{ name: string; status: string }>(
        '',
        `SELECT EVENT_NAME AS name, STATUS AS status FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '${database}' ORDER BY 1`,
      );
      return Object.fromEntries(
        rows.map(({ name, status }) => [name, status.replace(/^(SLAVE|REPLICA).*/, 'ELSEWHERE')]),
      );
    }
    async function loaded(request: Partial<LoadRequest> = {}) {
      const running = context();
      const planned = await planLoad(running, { target: 'app', original: true, cpus: 1, ...request });
      await withDetails(applyLoad(running, planned));
      return planned.plan;
    }

    beforeAll(async () => {
      // Due events run at once.
      server = await startMysql(flavour, ['--event-scheduler=ON']);
      await server.createDatabase('app');
      await server.sql(
        'app',
        'CREATE TABLE ran (id INT AUTO_INCREMENT PRIMARY KEY, at DATETIME)',
        "CREATE EVENT running ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' COMMENT 'ENABLE; DO' DO INSERT INTO ran (at) VALUES (NOW())",
        "CREATE EVENT naming ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM app.ran",
        "CREATE EVENT once ON SCHEDULE AT '2037-01-01' DO DELETE FROM ran",
        'CREATE EVENT resting ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM ran',
      );
    }, 240_000);

    beforeEach(() => {
      events = [];
    });

    afterAll(async () => {
      await server?.stop();
    });

    it('a build warns of those that name the database of the source', async () => {
      await build(context(), { target: 'app', cpus: 1 });
      expect(warnings()).toEqual([
        expect.stringMatching(/^names_source_database: .*event naming names the database "app"/),
      ]);
    });

    it('a load disables them, says so in the plan, and --events lets them run', async () => {
      const plan = await loaded();
      expect(plan.warnings).toContainEqual({
        code: 'events_disabled',
        message: expect.stringMatching(/^3 events .*naming, once, running\. .*--events/),
      });
      expect(plan.warnings).toContainEqual({
        code: 'names_source_database',
        message: expect.stringContaining('naming'),
      });
      const disabled = { naming: 'DISABLED', once: 'DISABLED', resting: 'DISABLED', running: 'DISABLED' };
      expect(await states('app_dev')).toEqual(disabled);
      const enabling = await loaded({ events: true });
      expect(enabling.warnings).toContainEqual({ code: 'events_enabled', message: expect.stringContaining('running') });
      const enabled = { ...disabled, naming: 'ENABLED', once: 'ENABLED', running: 'ENABLED' };
      expect(await states('app_dev')).toEqual(enabled);
      // What was there is put back as it was.
      const running = context();
      await applyUndo(running, await planUndo(running, { target: 'app' }));
      expect(await states('app_dev')).toEqual(disabled);
      await applyUndo(running, await planUndo(running, { target: 'app' }));
      expect(await states('app_dev')).toEqual(enabled);
      expect(await states('app')).toEqual(enabled);
    });

    it('a sanitized snapshot has them too, and its database has them disabled', async () => {
      const running = context();
      const planned = await planSanitize(running, { target: 'app' });
      await withDetails(applySanitize(running, planned));
      expect(Object.keys(await states('app_safe'))).toEqual(['naming', 'once', 'resting', 'running']);
      expect(Object.values(await states('app_safe'))).not.toContain('ENABLED');
      await loaded({ original: false, events: true });
      expect(await states('app_dev')).toMatchObject({ running: 'ENABLED', resting: 'DISABLED' });
      await loaded({ original: false });
      expect(await states('app_dev')).toMatchObject({ running: 'DISABLED', resting: 'DISABLED' });
    });

    it('an SQL file in a new database has them disabled as well', async () => {
      const file = join(folder.path, 'events.sql');
      await writeFile(file, "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO SET @a = 1;\n");
      await loaded({ file });
      expect(await states('app_dev')).toEqual({ e: 'DISABLED' });
      await loaded({ file, events: true });
      expect(await states('app_dev')).toEqual({ e: 'ENABLED' });
    });

    it('one whose time is past by the time of the load is gone there too, with a warning', async () => {
      const { id } = await build(context(), { target: 'app', cpus: 1 });
      await changeDefinitions(join(folder.path, 'work'), {
        id,
        change: (definitions: CodeDefinitions) => {
          for (const event of definitions.events) event.create = event.create.replace("AT '2037", "AT '2001");
        },
      });
      await loaded({ snapshot: id });
      expect(await states('app_dev')).toEqual({ naming: 'DISABLED', resting: 'DISABLED', running: 'DISABLED' });
      expect(warnings()).toContainEqual(expect.stringMatching(/^event_past: .*once/));
    });
  });
}
