import type { Runner } from '../../process/runner.ts';
import { unlessAborted } from '../../process/unless-aborted.ts';
import type { EngineContext } from '../engine.ts';

/** Looks for client programs once a runner: what it finds does not change while it lives, and one operation asks often. */
export function toolFinder<Tool>(
  script: string,
  read: (lines: string[]) => Tool[],
): (context: EngineContext) => Promise<Tool[]> {
  const found = new WeakMap<Runner, Promise<Tool[]>>();

  async function look(runner: Runner): Promise<Tool[]> {
    const { stdout } = await runner.run({ file: '/bin/sh', args: ['-c', script] });
    return read(stdout.split('\n'));
  }

  return ({ runner, signal }) => {
    const looking = found.get(runner) ?? look(runner);
    found.set(runner, looking);
    // That they could not be looked for says nothing of the next time.
    looking.catch(() => found.delete(runner));
    return unlessAborted(looking, signal);
  };
}
