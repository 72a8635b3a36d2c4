import { withStep } from '../../../runtime/events.ts';
import { describeStatement, type Statement } from '../../../sanitize/statement.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';

type ReportContext = Pick<EngineContext, 'report'>;

/** Runs the statements of a query as one step; `onRun` reports each that has run. */
export async function withQueryStep(
  { report }: ReportContext,
  statements: Statement[],
  run: (onRun: (statement: Statement) => void) => Promise<void>,
): Promise<void> {
  const count = formatNumberOf(statements.length, 'statement');
  let done = 0;
  await withStep(report, { step: 'query', label: `Run ${count}`, done: `Ran ${count}` }, () =>
    run((statement) => {
      done += 1;
      const current = describeStatement(statement);
      report({ event: 'progress', step: 'query', done, total: statements.length, unit: 'statements', current });
    }),
  );
}

export async function withTracesStep({ report }: ReportContext, run: () => Promise<void>): Promise<void> {
  const remnants = 'remnants of the old values';
  await withStep(report, { step: 'traces', label: `Remove ${remnants}`, done: `Removed ${remnants}` }, run);
}
