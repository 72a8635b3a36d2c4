import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { interrupted, toUserError } from '../../../src/runtime/errors.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { type Fault, startStatementProxy } from '../../helpers/proxies/statement-proxy.ts';

describeWithPostgres('a load', () => {
  it('states a swap whose answer is lost, also when interrupted, and begins none when a session before it is refused', async () => {
    await using folder = await temporaryFolder();
    const server = await startPostgres();
    const proxy = await startStatementProxy('postgres', Number(new URL(server.url('copy')).port));
    const through = new URL(server.url('copy'));
    through.port = String(proxy.port);
    through.searchParams.set('sslmode', 'disable');
    const snapshot = { src_url: server.url('source'), dst_url: through.href };
    const context = testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
    await server.createDatabase('source');
    await server.psql('source', { sql: 'CREATE TABLE item (id integer PRIMARY KEY); INSERT INTO item VALUES (1)' });
    await build(context, { target: 'app' });
    await server.createDatabase('copy');
    const load = async ({ signal = context.signal, fault = LOST, inPlace = false }: Attempt = {}) => {
      const done = new Set<string>();
      const report = (event: RunEvent) => {
        if (event.event === 'step') done.add(`${event.step} ${event.state}`);
      };
      const planned = await planLoad(context, { target: 'app', cpus: 1, inPlace });
      let isCommitted = false;
      proxy.arm(fault.fault, (text) => {
        isCommitted ||= text.startsWith('COMMIT');
        return done.has(fault.after) && text.startsWith(fault.statement) && (isCommitted || !fault.isLate);
      });
      return applyLoad({ ...context, report, signal }, planned).then(
        () => null,
        (thrown) => toUserError(thrown),
      );
    };
    try {
      // The destination's rights are read meanwhile.
      const refused = {
        fault: 'refused',
        after: 'check done',
        statement: "SELECT set_config('client_encoding'",
      } as const;
      expect(await load({ fault: refused })).toMatchObject({ code: 'statement_refused' });
      expect(await server.psql('copy', { sql: `SELECT to_regclass('item') IS NULL` })).toBe('t\n');
      expect(await load()).toMatchObject({ code: 'swap_incomplete', hint: expect.stringContaining(IS_NEW) });
      expect(await server.psql('copy', { sql: 'SELECT count(*) FROM item' })).toBe('1\n');
      proxy.disarm();
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      const controller = new AbortController();
      proxy.onWithheld = () => controller.abort(interrupted());
      expect(await load({ signal: controller.signal })).toMatchObject({
        code: 'interrupted',
        hint: expect.stringContaining(IS_NEW),
      });
      expect(await server.psql('copy', { sql: 'SELECT count(*) FROM item' })).toBe('1\n');
      proxy.onWithheld = null;
      for (const { fault, code } of IN_PLACE) {
        await server.psql('copy', { sql: 'DELETE FROM item' });
        const hint = 'copy is the new database. A load in place keeps no previous one.';
        expect(await load({ fault, inPlace: true })).toMatchObject({ code, hint });
        expect(await server.psql('copy', { sql: 'SELECT count(*) FROM item' })).toBe('1\n');
      }
    } finally {
      await proxy.stop();
      await server.stop();
    }
  }, 60_000);
});

const IS_NEW = 'copy is the new database. To restore the previous one: tool undo';

const LOST = { fault: 'unanswered', after: 'swap started', statement: 'COMMIT' } as const;

/** The statement after COMMIT is refused; the answer to COMMIT is lost. */
const IN_PLACE = [
  {
    fault: { fault: 'refused', after: 'restore started', statement: "SELECT '", isLate: true },
    code: 'restore_failed',
  },
  { fault: { fault: 'unanswered', after: 'restore started', statement: 'COMMIT' }, code: 'connection_lost' },
] as const;

interface Attempt {
  signal?: AbortSignal;
  fault?: { fault: Fault; after: string; statement: string; isLate?: boolean };
  inPlace?: boolean;
}
