import { it } from 'vitest';
import { statementWorld } from '../contracts/statements.ts';
import { SERVER_KINDS, startAnyServer } from '../helpers/any-server.ts';
import { describeWithKind } from '../helpers/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`statements/${kind}`);
  if (part.isEmpty) continue;
  describeWithKind(kind, 'an operation whose statement fails', () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startAnyServer(kind));
    const world = suiteResource(() => statementWorld(server, folder.path));

    it(
      part.title('leaves the destination old or new, as its message states; undo and the next run work'),
      { timeout: part.timeout },
      () => part.each((round) => world.round(round)),
    );
  });
}
