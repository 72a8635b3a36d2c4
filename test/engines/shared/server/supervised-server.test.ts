import { expect, test } from 'vitest';
import { startSupervised } from '../../../../src/engines/shared/server/supervised-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

/** Ignores signals for half a second, as a server does before it has set its handlers. */
const SLOW = 'print STDERR "up\\n"; select(undef, undef, undef, 0.5); $SIG{QUIT} = sub { exit 0 }; sleep 60';

test('a server that ignores its first signal ends', async () => {
  await using folder = await temporaryFolder();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const server = startSupervised(testContext({ settings: {} }), {
    ...{ words: ['perl', '-e', SLOW], directory: folder.path, user: undefined, lastSignal: 'QUIT' },
    onErrorLine: () => resolve(),
  });
  await started;
  await server.stop('QUIT');
  expect(await server.ended).toMatchObject({ exitCode: 0 });
});
