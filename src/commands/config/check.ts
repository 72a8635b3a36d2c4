import { defineCommand } from '../../cli/command.ts';
import type { CheckReport } from '../../results/configuration/configuration-results.ts';
import { EXIT, type ExitCode } from '../../runtime/errors.ts';

export const configCheckCommand = defineCommand({
  name: 'config check',
  summary: 'list problems of the configuration and missing requirements',
  group: 'Set up',
  options: [{ flags: '--offline', description: 'skip checks that need a network' }],
  examples: [{ command: 'tool config check --json', does: 'print problems with line and column' }],
  json: 'document',
  async run(invocation) {
    const { checkText } = await import('../../cli/printers/check.ts');
    const { check } = await import('../../operations/configuration/check/check.ts');
    const { globals, options, tableOptions } = invocation;
    const { offline = false } = options;
    const { report, text } = await check({
      ...{ ...invocation, file: globals.config, offline, clock: () => new Date() },
      untrusted: !globals.trust,
    });
    return {
      data: report,
      text: checkText(report, { text, style: tableOptions().style }),
      quotes: true,
      exit: exitOf(report),
    };
  },
});

/** Returns the exit code that a command which needs the keys would end with. */
function exitOf({ ok, problems }: CheckReport): ExitCode {
  if (ok) return EXIT.done;
  const isOfBucket = problems.every(({ severity, code }) => severity === 'warning' || code === 'bucket_missing');
  return isOfBucket ? EXIT.unreachable : EXIT.configuration;
}
