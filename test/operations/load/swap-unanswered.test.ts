import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import { interrupted, toUserError } from '../../../src/runtime/errors.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../helpers/proxies/statement-proxy.ts';

describeWithPostgres('a swap that the server commits', () => {
  it('is stated when its answer is lost, also by an interruption', async () => {
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
    const load = async (signal = context.signal) => {
      let isSwap = false;
      const report = (event: { event: string; step?: string }) => {
        isSwap ||= event.event === 'step' && event.step === 'swap';
      };
      const planned = await planLoad(context, { target: 'app', cpus: 1 });
      proxy.arm('unanswered', (text) => isSwap && text.startsWith('COMMIT'));
      return applyLoad({ ...context, report, signal }, planned).then(
        () => null,
        (thrown) => toUserError(thrown),
      );
    };
    try {
      expect(await load()).toMatchObject({ code: 'swap_incomplete', hint: expect.stringContaining(IS_NEW) });
      expect(await server.psql('copy', { sql: 'SELECT count(*) FROM item' })).toBe('1\n');
      proxy.disarm();
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      const controller = new AbortController();
      proxy.onWithheld = () => controller.abort(interrupted());
      expect(await load(controller.signal)).toMatchObject({
        code: 'interrupted',
        hint: expect.stringContaining(IS_NEW),
      });
      expect(await server.psql('copy', { sql: 'SELECT count(*) FROM item' })).toBe('1\n');
    } finally {
      await proxy.stop();
      await server.stop();
    }
  }, 60_000);
});

const IS_NEW = 'copy is the new database. To restore the previous one: tool undo';
