import type { Runner } from '../../process/runner.ts';
import { unlessAborted } from '../../process/unless-aborted.ts';
import type { EngineContext } from '../engine-context.ts';

/** Cached by runner: installed programs do not change during an operation. */
export function toolFinder<Tool>(
  script: string,
  read: (lines: string[]) => Tool[],
): (context: EngineContext) => Promise<Tool[]> {
  const found = new WeakMap<Runner, Promise<Tool[]>>();

  async function detectTools(runner: Runner): Promise<Tool[]> {
    const { stdout } = await runner.run({ file: '/bin/sh', args: ['-c', script] });
    return read(stdout.split('\n'));
  }

  return ({ runner, signal }) => {
    const detected = found.get(runner) ?? detectTools(runner);
    found.set(runner, detected);
    detected.catch(() => found.delete(runner));
    return unlessAborted(detected, signal);
  };
}
