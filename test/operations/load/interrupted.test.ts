import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import { interrupted, toUserError } from '../../../src/runtime/errors.ts';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { watchServer } from '../../helpers/databases/watched-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../helpers/proxies/statement-proxy.ts';

/** Statements of a load with which the interruptions come: the first one, and some of the last ones. */
const FIRST = 1;
const LAST = 32;
const EVERY = process.env.TEST_FULL === undefined ? 8 : 1;
const WAYS = { postgres: [{}, { inPlace: true }], mariadb: [{}] } satisfies Record<string, Partial<LoadRequest>[]>;

for (const kind of ['postgres', 'mariadb'] as const) {
  describeWithKind(kind, 'an interrupted load', () => {
    it.each(WAYS[kind])(
      'states whether the destination was replaced: %j',
      async (way: Partial<LoadRequest>) => {
        await using folder = await temporaryFolder();
        const server = await startAnyServer(kind);
        const proxy = await startStatementProxy(kind, Number(new URL(server.url('source')).port));
        const watch = await watchServer(server);
        const url = (database: string): string => {
          const through = new URL(server.url(database));
          through.port = String(proxy.port);
          through.searchParams.set('sslmode', kind === 'postgres' ? 'disable' : 'DISABLED');
          return through.href;
        };
        const snapshot = { src_url: url('source'), dst_url: url('copy') };
        const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
        const context = () => testContext({ settings });
        const load = async (signal?: AbortSignal) => {
          const planned = await planLoad(context(), { target: 'app', cpus: 1, ...way });
          return applyLoad({ ...context(), ...(signal && { signal }) }, planned);
        };
        const undo = async () => applyUndo(context(), await planUndo(context(), { target: 'app' }));
        const state = async () => {
          await watch.quiet();
          return watch.facts('copy');
        };
        try {
          await server.create('source');
          await server.run('source', [
            'CREATE TABLE item (id integer PRIMARY KEY)',
            'INSERT INTO item VALUES (1), (2)',
          ]);
          await build(context(), { target: 'app' });
          await server.create('copy');
          await server.run('copy', MINE);
          const before = await state();
          const restore = () => (way.inPlace ? server.run('copy', ['DROP TABLE item', ...MINE]) : undo());
          await load();
          const wanted = await state();
          await restore();
          // Only now an older undo copy goes.
          proxy.arm('refused');
          await load();
          const { statements } = proxy.disarm();
          await restore();
          const last = Array.from({ length: LAST / EVERY }, (_, index) => statements - index * EVERY);
          const said = new Set<string>();
          for (const at of [FIRST, ...last]) {
            const interruption = new AbortController();
            proxy.arm(async () => interruption.abort(interrupted()), at);
            const error = await load(interruption.signal).then(
              () => null,
              (thrown) => toUserError(thrown),
            );
            const { spoiled } = proxy.disarm();
            const now = await state();
            const where = `${at} of ${statements}: ${spoiled}\n${error?.code}: ${error?.hint}`;
            expect([before, wanted].includes(now), where).toBe(true);
            if (error === null) {
              expect(now === wanted, where).toBe(true);
            } else {
              expect(error, where).toMatchObject({ code: 'interrupted', exit: 130 });
              const text = now === before ? 'copy is unchanged' : 'copy is the new database';
              expect(error.hint, where).toContain(text);
              said.add(text);
            }
            if (now === wanted) await restore();
          }
          expect(said).toContain('copy is unchanged');
        } finally {
          await watch[Symbol.asyncDispose]();
          await proxy.stop();
          await server.stop();
        }
      },
      180_000,
    );
  });
}

const MINE = ['CREATE TABLE mine (id integer PRIMARY KEY)'];
