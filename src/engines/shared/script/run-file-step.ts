import { withStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';

/** Runs an SQL file as a step of the run; resolves with its number of statements. */
export function withFileStep({ report }: Pick<EngineContext, 'report'>, file: string, run: () => Promise<number>) {
  const step = {
    step: 'restore',
    label: `Run ${file}`,
    done: (statements: number) => `Ran ${formatNumberOf(statements, 'statement')} of ${file}`,
  };
  return withStep(report, step, run);
}
